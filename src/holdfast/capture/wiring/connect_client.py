"""Connecting a client: which of its settings files change and how, planned first so that it can be shown, then done.

One scope only: Codex calls a hook that stands in the user's and in the project's file twice, and reads twice what it
says. Claude Code keeps the servers of a user in ~/.claude.json, together with account data. We never open that file:
`claude mcp add` is the way its maker gives, and `claude mcp remove` undoes it. The instruction block in the repository
is `connect_files`' business; what is ours in which file is `connection_record`'s to keep.
"""

import contextlib
import os
import shlex
import subprocess
from collections.abc import Iterable, Sequence

from holdfast.capture.wiring import client_settings, config_text, connect_files, user_homes
from holdfast.capture.wiring.client_settings import OWN, TOML, ClientSettingsFile
from holdfast.capture.wiring.config_text import ConfigTextEdit
from holdfast.capture.wiring.connect_files import AgentFile, ConnectionChange, difference
from holdfast.capture.wiring.connection_record import ConnectionRecord, WiredFile, cut, digest, load, moved
from holdfast.capture.wiring.user_homes import CLIENTS, SCOPES, UserHomes
from holdfast.errors import BadInput, Busy, HoldfastError, ReadOnlyStore
from holdfast.store import fsio
from holdfast.store.layout import Layout
from holdfast.values import field, frozen, mutable, replace

PATIENCE = 30  # seconds; a guess: an agent's own command to add a server takes one or two
CLAUDE_FILE = "~/.claude.json"
_ADD = ("mcp", "add", "--scope", "user", "holdfast", "--")


@frozen
class ClientCommand:
    """One call of a client's own program."""

    tool: str
    program: str
    arguments: tuple[str, ...]
    adding: bool

    @property
    def words(self) -> str:
        """The call as somebody would type it."""
        return shlex.join([self.tool, *self.arguments])

    @property
    def change(self) -> ConnectionChange:
        action, sign = ("add", "+") if self.adding else ("remove", "-")
        return ConnectionChange((self.tool,), CLAUDE_FILE, action, (f"{sign} runs: {self.words}",), what="MCP server")

    def run(self, homes: UserHomes, record: ConnectionRecord) -> list[str]:
        """Make the call; gives a sentence if it did not work, and then nothing is remembered."""
        code, said = self._call(homes, self.arguments)
        if code != 0 and self.adding and "already exists" in said:
            _, there = self._call(homes, ("mcp", "get", "holdfast"))
            if homes.mcp not in there:
                return [f"{self.tool} has a server named holdfast that is not ours; it is left alone"]
        elif code != 0 and (self.adding or "No " not in said):
            reason = said.strip().rpartition("\n")[2][:200]
            return [f"{self.words} did not work ({reason}); run it yourself"]
        record.told = [name for name in record.told if name != self.tool] + [self.tool] * self.adding
        return []

    def _call(self, homes: UserHomes, arguments: tuple[str, ...]) -> tuple[int, str]:
        try:
            done = subprocess.run(
                [self.program, *arguments],
                cwd=homes.home,
                env=dict(homes.environ),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PATIENCE,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return 1, str(error)
        return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


def commands_to_add(name: str, homes: UserHomes, record: ConnectionRecord) -> list[ClientCommand]:
    """The command that adds our server to this client, if that was not done yet and its program is there."""
    program = homes.programs.get(name)
    if name != "claude" or name in record.told or program is None:
        return []
    return [ClientCommand(name, program, (*_ADD, homes.mcp), adding=True)]


def commands_to_remove(name: str, homes: UserHomes, record: ConnectionRecord) -> list[ClientCommand]:
    """The command that removes our server from this client, if we added it."""
    program = homes.programs.get(name)
    if name not in record.told or program is None:
        return []
    return [ClientCommand(name, program, ("mcp", "remove", "--scope", "user", "holdfast"), adding=False)]


def add_by_hand(homes: UserHomes) -> str:
    """What to type where the program was not found."""
    return shlex.join(["claude", *_ADD, homes.mcp])


_BY_HAND = "Mend it, or put it in by hand: docs/reference/connect.md shows the lines."


@frozen
class WiringStep:
    """One file and the bytes to come; `kept` is what lets us take them out again."""

    tools: tuple[str, ...]
    file: AgentFile
    after: bytes | None
    what: str
    kept: WiredFile | None = None
    launcher: bool = False
    removing: bool = False
    was_ours: bool = False  # whether something of ours stood there before

    @property
    def change(self) -> ConnectionChange:
        """What becomes of the file, for people."""
        diff = () if self.after == self.file.data else difference(self.file.path, self.file.data, self.after)
        return ConnectionChange(self.tools, self.file.path, self._action, diff, what=self.what)

    @property
    def _action(self) -> str:
        if self.after == self.file.data:
            return "absent" if self.removing else "keep"
        if self.removing:
            return "delete" if self.after is None else "remove"
        if self.file.data is None:
            return "create"
        return "add" if self.kept is not None and self.kept.spans and not self.was_ours else "refresh"


@mutable
class Wiring:
    """All that connecting or disconnecting clients does outside the instruction blocks."""

    homes: UserHomes
    record: ConnectionRecord
    steps: list[WiringStep] = field(default_factory=list)
    commands: list[ClientCommand] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    store: Layout | None = None  # of the repository it is done for
    joins: list[str] = field(default_factory=list)  # clients whose user-wide hooks serve it from now on
    hears: list[str] = field(default_factory=list)  # of these, those that were silent
    leaves: list[str] = field(default_factory=list)  # and those that no longer serve it
    moves: list[ConnectionChange] = field(default_factory=list)  # the same, for people

    @property
    def changes(self) -> tuple[ConnectionChange, ...]:
        return (*(step.change for step in self.steps), *(one.change for one in self.commands), *self.moves)

    def carry_out(self, folders: int = 0) -> None:
        """Do it: launchers first, so that no setting ever names what is not there; when removing, last.

        `folders` is how many were made for the record, if it is the first that is kept there.
        """
        self.record = load(self.homes.record)  # another clone may have connected something meanwhile
        self.record.folders = self.record.folders or folders
        try:
            for step in (one for one in self.steps if not one.launcher and not one.removing):
                self.record.files.pop(step.file.real, None)
                if step.kept is not None:
                    self.record.files[step.file.real] = step.kept
            self._note_users()
            self.record.save()  # before the files: what a kill leaves half done can be taken out to the byte
            for step in sorted(self.steps, key=lambda step: step.launcher == step.removing):
                if step.after != step.file.data:
                    _write(step)
                if step.removing:
                    self.record.files.pop(step.file.real, None)
            for command in self.commands:
                self.notes += command.run(self.homes, self.record)
            self.record.save()
        except ReadOnlyStore as error:
            hint = "Make that folder writable, or choose other settings with --scope."
            raise ReadOnlyStore(str(error), hint=hint) from error
        if self.steps and self.steps[0].removing:
            connect_files.remove_empty(self.homes.data, max(self.record.folders, 1))

    def _note_users(self) -> None:
        """Let the record and the repository's store say which user-wide hooks serve it."""
        if self.store is None:
            return
        self.record.use(_identity(self.store), join=self.joins, leave=self.leaves)
        for name in self.hears:
            fsio.remove(_silence(self.store, name))
        for name in self.leaves:
            fsio.make_dirs(self.store.silent)
            fsio.replace(_silence(self.store, name), b"")


def _identity(store: Layout) -> str:
    return os.path.realpath(store.private)


def _silence(store: Layout, name: str) -> str:
    return os.path.join(store.silent, name)


def is_silent(store: Layout | None, name: str) -> bool:
    """Whether a client's user-wide hooks are to say and record nothing in this repository."""
    return store is not None and os.path.lexists(_silence(store, name))


def connect(names: Iterable[str], scope: str | None, homes: UserHomes, top: str, store: Layout | None = None) -> Wiring:
    """What must change so that these clients call us and know our server, in one scope."""
    done = Wiring(homes, load(homes.record), store=store)
    for name in names:
        where = _scope(name, scope, homes, top)
        for setting in client_settings.settings_of(name, where, homes, top):
            step = _put(name, where, setting, homes, done.record)
            done.steps += [step] if step is not None else []
        if where == "user":
            done.commands += commands_to_add(name, homes, done.record)
            _launch(done, name)
        elif not homes.programs.get("holdfast-hook"):
            done.notes.append("project scope names the bare command holdfast-hook, and it is not on your PATH")
        _join(done, name, where)
    return done


def disconnect(
    names: Sequence[str], scope: str | None, homes: UserHomes, top: str, store: Layout | None = None
) -> Wiring:
    """What must change so that these clients know nothing of us; launchers go with the last of them.

    Without a scope, the user's own settings stay where other repositories use them: then their hooks are silent in
    this one. With the user's scope they go, whoever uses them.
    """
    done = Wiring(homes, load(homes.record), store=store)
    going = {name: _leaving(done, name, scope, top) for name in names}
    for name, places in going.items():
        for where in places:
            for setting in client_settings.settings_of(name, where, homes, top):
                step = _taken(name, setting, done.record)
                if step is not None and step.file.real not in {one.file.real for one in done.steps}:
                    done.steps.append(step)
        if "user" in places:
            done.commands += commands_to_remove(name, homes, done.record)
    gone = [name for name, places in going.items() if "user" in places]
    if gone:
        _unlaunch(done, gone, top)
    return done


def _join(done: Wiring, name: str, scope: str) -> None:
    """Have this repository counted among those that the user's hooks of a client serve."""
    if done.store is None:
        return
    store = _identity(done.store)
    if scope == "user" and name not in done.record.uses.get(store, ()):
        done.joins.append(name)
    if is_silent(done.store, name):
        done.hears.append(name)
    is_seen = any(name in step.tools and step.after != step.file.data for step in done.steps)
    if name in (*done.joins, *done.hears) and not is_seen:
        done.moves.append(ConnectionChange((name,), done.homes.repository(store), "join"))


def _leaving(done: Wiring, name: str, scope: str | None, top: str) -> tuple[str, ...]:
    """The scopes in which a client is taken out; where others use the user's, only this repository takes its leave."""
    if scope == "project" or "user" not in scopes(name, done.homes, top):
        return SCOPES if scope is None else (scope,)
    store = _identity(done.store) if done.store else ""
    others = [done.homes.repository(one) for one in done.record.users(name) if one != store]
    done.leaves.append(name)
    if others and scope is None:
        if not is_silent(done.store, name):
            done.moves.append(ConnectionChange((name,), done.homes.repository(store), "leave"))
        used = f"{others[0]} and {len(others) - 1} more" if len(others) > 1 else others[0]
        out = f"holdfast disconnect {name} --scope user"
        done.notes.append(f"{name} stays connected in your own settings for {used}; out of these, too: {out}")
        return ("project",)
    if others:
        done.notes.append(f"{name} is disconnected in {', '.join(others)}, too: your own settings served them")
    return SCOPES if scope is None else (scope,)


def scopes(name: str, homes: UserHomes, top: str, store: Layout | None = None) -> tuple[str, ...]:
    """The scopes in which a client's files hold anything of ours; one that cannot be read holds nothing.

    With a repository's `store`, those that serve it.
    """
    found: dict[str, str] = {}
    for scope in SCOPES if not is_silent(store, name) else SCOPES[1:]:
        for setting in client_settings.settings_of(name, scope, homes, top):
            with contextlib.suppress(HoldfastError, OSError):
                file = _look(setting, top)
                if file.data is not None and _ours(setting, file.data):
                    found.setdefault(file.real, scope)
    return tuple(scope for scope in SCOPES if scope in found.values())


def connected(homes: UserHomes, top: str, store: Layout | None = None) -> list[str]:
    """The clients whose settings hold anything of ours, in any scope that serves a repository."""
    return [name for name in CLIENTS if scopes(name, homes, top, store)]


def as_wanted(name: str, scope: str, homes: UserHomes, top: str) -> bool:
    """Whether a client's files in this scope, and the launchers, are just as connecting would leave them."""
    try:
        done = connect([name], scope, homes, top)
    except (HoldfastError, OSError):
        return False
    return all(step.after == step.file.data for step in done.steps)


def _scope(name: str, asked: str | None, homes: UserHomes, top: str) -> str:
    """The scope to use: the one asked for, else the one in use, else the user's."""
    there = scopes(name, homes, top)
    scope = asked or ("project" if "project" in there else "user")
    if not client_settings.settings_of(name, scope, homes, top):
        raise BadInput(f"{name} has no settings of a repository that we know of", hint="Leave out --scope project.")
    other = next((one for one in there if one != scope), None)
    settings = [client_settings.settings_of(name, one, homes, top) for one in SCOPES]
    files, others = ({os.path.realpath(setting.path) for setting in of} for of in settings)
    if other and not files & others:  # both are one place where CODEX_HOME lies in the repository
        where = ", ".join(setting.shown for setting in client_settings.settings_of(name, other, homes, top))
        raise BadInput(
            f"{name} is connected in {other} scope already ({where}); in both it would be called twice",
            hint=f"Take that out first: holdfast disconnect {name} --scope {other}",
        )
    return scope


def _put(
    name: str, scope: str, setting: ClientSettingsFile, homes: UserHomes, kept: ConnectionRecord
) -> WiringStep | None:
    file = _look(setting, None)
    if setting.kind == OWN:
        return _put_own(name, setting, file, client_settings.own_text(name, scope, setting, homes), kept)
    wanted = client_settings.wanted_settings(name, scope, setting, homes)
    if file.data is None:
        text = new_text(setting, wanted)
        made = WiredFile(digest(text.encode()), ((0, len(text)),), made=True, folders=file.folders)
        return WiringStep((name,), file, text.encode(), setting.what, made)
    text = file.data.decode()
    edits = _edits(setting, text, wanted)
    after = config_text.apply_edits(text, edits)
    return WiringStep(
        (name,),
        file,
        after.encode(),
        setting.what,
        _kept(setting, file, after, edits, kept),
        was_ours=_ours(setting, file.data),
    )


def _put_own(
    name: str, setting: ClientSettingsFile, file: AgentFile, text: str, kept: ConnectionRecord
) -> WiringStep | None:
    """A file that is ours alone; None where somebody's own will do."""
    after = text.encode()
    if file.data is not None and not client_settings.is_own(file.data):
        if setting.spare:
            return None
        raise BadInput(f"{setting.shown} is not ours; it is left alone", hint="Move it out of the way.")
    before = kept.files.get(file.real, WiredFile("", folders=file.folders))
    made = replace(before, left=digest(after), spans=((0, len(after)),), made=True)
    return WiringStep((name,), replace(file, mode=client_settings.own_mode(name)), after, setting.what, made)


def new_text(setting: ClientSettingsFile, wanted: client_settings.WantedSettings) -> str:
    """A settings file of our own."""
    if setting.kind == TOML and setting.hooks:
        return config_text.render_hook_tables([*wanted.hooks.values()])
    if setting.kind == TOML:
        return config_text.render_table(wanted.server or {})
    return config_text.new_json(wanted.whole())


def _edits(setting: ClientSettingsFile, text: str, wanted: client_settings.WantedSettings) -> list[ConfigTextEdit]:
    try:
        if setting.kind == TOML and setting.hooks:
            rows = [*wanted.hooks.values()]
            after = config_text.put_hook_tables(text, rows, client_settings.our_command)
            return config_text.edits_between(text, after)
        if setting.kind == TOML:
            return config_text.edits_between(text, config_text.put_table(text, wanted.server or {}))
        if not text.removeprefix(config_text.BOM).strip():
            return [ConfigTextEdit(len(text), len(text), config_text.new_json(wanted.whole()))]
        if config_text.read_json(text).comments and not setting.comments:
            raise config_text.NotPlain("it has comments, and its client reads plain JSON")
        return client_settings.put_ours(text, wanted)
    except config_text.NotPlain as why:
        raise BadInput(f"{setting.shown}: {why}; it is left alone", hint=_BY_HAND) from None


def _kept(
    setting: ClientSettingsFile, file: AgentFile, after: str, edits: Sequence[ConfigTextEdit], kept: ConnectionRecord
) -> WiredFile | None:
    """How to undo it: from what was kept before if the file is as we left it, else from here on."""
    assert file.data is not None
    before = kept.fits(file.real, file.data)
    if not edits:
        return before or kept.files.get(file.real)
    if before is None and _ours(setting, file.data):
        return None  # ours is in it already and nobody knows how the file was without
    spans = moved(before.spans if before else (), edits)
    return replace(before or WiredFile(""), left=digest(after.encode()), spans=spans) if spans is not None else None


def _taken(name: str, setting: ClientSettingsFile, kept: ConnectionRecord) -> WiringStep | None:
    file = _look(setting, None)
    own = setting.kind == OWN and file.data is not None and client_settings.is_own(file.data)
    if file.data is None or not (own or _ours(setting, file.data)):
        return None
    if own:
        made = kept.files.get(file.real)
        return WiringStep((name,), file, None, setting.what, made, removing=True)
    text, before = file.data.decode(), kept.fits(file.real, file.data)
    if before is not None:
        after: bytes | None = None if before.made else cut(text, before.spans).encode()
    else:
        after = _without(setting, text, kept.files.get(file.real))
    return WiringStep((name,), file, after, setting.what, kept.files.get(file.real), removing=True)


def _without(setting: ClientSettingsFile, text: str, kept: WiredFile | None) -> bytes | None:
    """The file without what is ours by its command; one that says nothing then was ours, for all we know."""
    try:
        if setting.kind == TOML:
            after = config_text.take_table(text)
            after = config_text.take_hook_tables(after, client_settings.our_command)
            bare = not after.removeprefix(config_text.BOM).strip()
        else:
            after = config_text.apply_edits(text, client_settings.take_ours(text))
            bare = client_settings.is_bare(after)
    except config_text.NotPlain as why:
        raise BadInput(f"{setting.shown}: {why}; it is left alone", hint="Take our lines out by hand.") from None
    return None if bare and (kept is None or kept.made) else after.encode()


def _look(setting: ClientSettingsFile, top: str | None) -> AgentFile:
    if setting.inside:
        root = setting.path.removesuffix(os.path.join(*setting.shown.split("/")))
        return connect_files.look(top or root, setting.shown)
    return connect_files.look_at(setting.path, setting.shown)


def _ours(setting: ClientSettingsFile, data: bytes) -> bool:
    """Whether a settings file holds anything of ours; what cannot be read holds nothing we could take out."""
    if setting.kind == OWN:
        return not setting.spare and client_settings.is_own(data)
    text = data.decode()
    try:
        if setting.kind == TOML:
            hooks = config_text.find_hook_tables(text, client_settings.our_command)
            return config_text.find_table(text) is not None or bool(hooks)
        return bool(client_settings.find_ours(text))
    except config_text.NotPlain:
        return False


def _launch(done: Wiring, name: str) -> None:
    for path, text in user_homes.launcher_texts(done.homes).items():
        there = next((index for index, step in enumerate(done.steps) if step.file.real == path), None)
        if there is not None:
            done.steps[there] = replace(done.steps[there], tools=(*done.steps[there].tools, name))
        else:
            file = AgentFile(done.homes.shown(path), path, user_homes.read_launcher(path), user_homes.LAUNCHER_MODE)
            done.steps.append(WiringStep((name,), file, text, "launcher", launcher=True))


def _unlaunch(done: Wiring, names: Sequence[str], top: str) -> None:
    """Take the launchers away if no client names them any more."""
    left = [name for name in CLIENTS if name not in names and "user" in scopes(name, done.homes, top)]
    told = [name for name in done.record.told if name not in names]
    if left or told:
        return
    for path in user_homes.launcher_texts(done.homes):
        data = user_homes.read_launcher(path)
        if data is not None:
            file = AgentFile(done.homes.shown(path), path, data, user_homes.LAUNCHER_MODE)
            done.steps.append(WiringStep(tuple(names), file, None, "launcher", launcher=True, removing=True))


def _write(step: WiringStep) -> None:
    if step.launcher and step.after is not None:
        fsio.write_as(step.file.real, step.after, mode=user_homes.LAUNCHER_MODE)
        return
    try:
        now = fsio.read(step.file.real, limit=connect_files.MAX_FILE)
    except FileNotFoundError:
        now = None
    if now != step.file.data and not step.launcher:
        raise Busy(f"{step.file.path} changed while this was planned", hint="Run it again.")
    if step.after is None:
        connect_files.delete(step.file, folders=step.kept.folders if step.kept else 0)
    else:
        fsio.write_as(step.file.real, step.after, mode=step.file.mode)
