"""Connecting a client: which of its files change and how, planned first so that it can be shown, then done.

One scope only: Codex calls a hook that stands in the user's and in the project's file twice, and takes in
twice what it says. What stands in the repository, the instruction block, is `capture.instructions`'s.
"""

import contextlib
import os
from collections.abc import Iterable, Sequence

from holdfast.capture.instructions import files
from holdfast.capture.instructions.connect import Change, difference
from holdfast.capture.instructions.files import File
from holdfast.capture.wiring import clients, json_text, launchers, own_command, record, settings, toml_text
from holdfast.capture.wiring.clients import TOML, Setting
from holdfast.capture.wiring.homes import CLIENTS, SCOPES, Homes
from holdfast.capture.wiring.json_text import Edit
from holdfast.capture.wiring.record import Kept, Record
from holdfast.errors import BadInput, Busy, HoldfastError, ReadOnlyStore
from holdfast.store import fsio
from holdfast.values import field, frozen, mutable, replace

_BY_HAND = "Mend it, or put it in by hand: docs/connect.md shows the lines."


@frozen
class Step:
    """One file and the bytes to come; `kept` is what lets us take them out again."""

    tools: tuple[str, ...]
    file: File
    after: bytes | None
    what: str
    kept: Kept | None = None
    launcher: bool = False
    removing: bool = False

    @property
    def change(self) -> Change:
        """What becomes of the file, for people."""
        diff = () if self.after == self.file.data else difference(self.file.path, self.file.data, self.after)
        return Change(self.tools, self.file.path, self._action, diff, what=self.what)

    @property
    def _action(self) -> str:
        if self.after == self.file.data:
            return "absent" if self.removing else "keep"
        if self.removing:
            return "delete" if self.after is None else "remove"
        if self.file.data is None:
            return "create"
        return "add" if self.kept is not None and self.kept.spans and not self._was_ours() else "refresh"

    def _was_ours(self) -> bool:
        return self.launcher or bool(self.file.data and _ours(self.file.path, self.file.data))


@mutable
class Wiring:
    """All that connecting or disconnecting clients does outside the instruction blocks."""

    homes: Homes
    record: Record
    steps: list[Step] = field(default_factory=list)
    commands: list[own_command.Command] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple([step.change for step in self.steps] + [one.change for one in self.commands])

    def carry_out(self) -> None:
        """Do it: launchers first, so that no setting ever names what is not there; when removing, last."""
        try:
            self._carry_out()
        except ReadOnlyStore as error:
            hint = "Make that folder writable, or choose other settings with --scope."
            raise ReadOnlyStore(str(error), hint=hint) from error

    def _carry_out(self) -> None:
        self.record = record.load(self.homes.record)  # another clone may have connected something meanwhile
        for step in sorted(self.steps, key=lambda step: step.launcher == step.removing):
            if step.after != step.file.data:
                _write(step)
            _remember(self.record, step)
        for command in self.commands:
            self.notes += command.run(self.homes, self.record)
        self.record.save()
        if self.steps and self.steps[0].removing:
            with contextlib.suppress(OSError):
                fsio.ops.rmdir(self.homes.data)


def connect(names: Iterable[str], scope: str | None, homes: Homes, top: str) -> Wiring:
    """What must change so that these clients call us and know our server, in one scope."""
    done = Wiring(homes, record.load(homes.record))
    for name in names:
        where = _scope(name, scope, homes, top)
        for setting in clients.settings_of(name, where, homes, top):
            done.steps.append(_put(name, where, setting, homes, done.record))
        if where == "user":
            done.commands += own_command.adding(name, homes, done.record)
            _launch(done, name)
        else:
            done.notes += _not_on_the_path(homes)
    return done


def disconnect(names: Sequence[str], scope: str | None, homes: Homes, top: str) -> Wiring:
    """What must change so that these clients know nothing of us; launchers go with the last of them."""
    done = Wiring(homes, record.load(homes.record))
    for name in names:
        for where in SCOPES if scope is None else (scope,):
            for setting in clients.settings_of(name, where, homes, top):
                step = _taken(name, setting, done.record)
                if step is not None and step.file.real not in {one.file.real for one in done.steps}:
                    done.steps.append(step)
        if scope != "project":
            done.commands += own_command.removing(name, homes, done.record)
    if scope != "project":
        _unlaunch(done, names, top)
    return done


def scopes(name: str, homes: Homes, top: str) -> tuple[str, ...]:
    """The scopes in which a client's files hold anything of ours; one that cannot be read holds nothing."""
    found: dict[str, str] = {}
    for scope in SCOPES:
        for setting in clients.settings_of(name, scope, homes, top):
            with contextlib.suppress(HoldfastError, OSError):
                file = _look(setting, top)
                if file.data is not None and _ours(file.path, file.data):
                    found.setdefault(file.real, scope)
    return tuple(scope for scope in SCOPES if scope in found.values())


def connected(homes: Homes, top: str) -> list[str]:
    """The clients whose settings hold anything of ours, in any scope."""
    return [name for name in CLIENTS if scopes(name, homes, top)]


def as_wanted(name: str, scope: str, homes: Homes, top: str) -> bool:
    """Whether a client's files in this scope, and the launchers, are just as connecting would leave them."""
    try:
        done = connect([name], scope, homes, top)
    except (HoldfastError, OSError):
        return False
    return all(step.after == step.file.data for step in done.steps)


def _scope(name: str, asked: str | None, homes: Homes, top: str) -> str:
    """The scope to use: the one asked for, else the one in use, else the user's."""
    there = scopes(name, homes, top)
    scope = asked or ("project" if "project" in there else "user")
    others = [one for one in there if one != scope]
    if others and not _same_files(name, homes, top):
        (other,) = others
        where = ", ".join(setting.shown for setting in clients.settings_of(name, other, homes, top))
        raise BadInput(
            f"{name} is connected in {other} scope already ({where}); in both it would be called twice",
            hint=f"Take that out first: holdfast disconnect {name} --scope {other}",
        )
    return scope


def _same_files(name: str, homes: Homes, top: str) -> bool:
    """Whether both scopes are one place, as where CODEX_HOME lies in the repository."""
    one, other = (
        {os.path.realpath(setting.path) for setting in clients.settings_of(name, scope, homes, top)} for scope in SCOPES
    )
    return bool(one & other)


def _put(name: str, scope: str, setting: Setting, homes: Homes, kept: Record) -> Step:
    file = _look(setting, None)
    wanted = clients.wanted(name, scope, setting, homes)
    if file.data is None:
        text = new_text(setting, wanted)
        made = Kept(record.digest(text.encode()), ((0, len(text)),), made=True, folders=file.folders)
        return Step((name,), file, text.encode(), setting.what, made)
    text = file.data.decode()
    edits = _edits(setting, text, wanted)
    after = json_text.apply(text, edits)
    return Step((name,), file, after.encode(), setting.what, _kept(file, after, edits, kept))


def new_text(setting: Setting, wanted: settings.Wanted) -> str:
    """A settings file of our own."""
    if setting.kind == TOML:
        return toml_text.table(wanted.server or {})
    return json_text.new_document(wanted.whole())


def _edits(setting: Setting, text: str, wanted: settings.Wanted) -> list[Edit]:
    try:
        if setting.kind == TOML:
            return json_text.difference(text, toml_text.put(text, wanted.server or {}))
        if not text.removeprefix(json_text.BOM).strip():
            return [Edit(len(text), len(text), json_text.new_document(wanted.whole()))]
        if json_text.read(text).comments and not setting.comments:
            raise json_text.NotPlain("it has comments, and its client reads plain JSON")
        return settings.put(text, wanted)
    except (json_text.NotPlain, toml_text.NotPlain) as why:
        raise BadInput(f"{setting.shown}: {why}; it is left alone", hint=_BY_HAND) from None


def _kept(file: File, after: str, edits: Sequence[Edit], kept: Record) -> Kept | None:
    """How to undo it: from what was kept before if the file is as we left it, else from here on."""
    assert file.data is not None
    before = kept.fits(file.real, file.data)
    if not edits:
        return before or kept.files.get(file.real)
    if before is None and _ours(file.path, file.data):
        return None  # ours is in it already and nobody knows how the file was without
    spans = record.moved(before.spans if before else (), edits)
    if spans is None:
        return None
    base = before or Kept("")
    return replace(base, left=record.digest(after.encode()), spans=spans)


def _taken(name: str, setting: Setting, kept: Record) -> Step | None:
    file = _look(setting, None)
    if file.data is None or not _ours(file.path, file.data):
        return None
    text, before = file.data.decode(), kept.fits(file.real, file.data)
    if before is not None:
        after: bytes | None = None if before.made else record.cut(text, before.spans).encode()
    else:
        after = _without(setting, text, kept.files.get(file.real))
    return Step((name,), file, after, setting.what, kept.files.get(file.real), removing=True)


def _without(setting: Setting, text: str, kept: Kept | None) -> bytes | None:
    """The file without what is ours by its command; one that says nothing then was ours, for all we know."""
    try:
        if setting.kind == TOML:
            after = toml_text.take(text)
            bare = not after.removeprefix(json_text.BOM).strip()
        else:
            after = json_text.apply(text, settings.take(text))
            bare = settings.empty(after)
    except (json_text.NotPlain, toml_text.NotPlain) as why:
        raise BadInput(f"{setting.shown}: {why}; it is left alone", hint="Take our lines out by hand.") from None
    return None if bare and (kept is None or kept.made) else after.encode()


def _look(setting: Setting, top: str | None) -> File:
    if setting.inside:
        root = setting.path.removesuffix(os.path.join(*setting.shown.split("/")))
        return files.look(top or root, setting.shown)
    return files.look_at(setting.path, setting.shown)


def _ours(path: str, data: bytes) -> bool:
    """Whether a settings file holds anything of ours; what cannot be read holds nothing we could take out."""
    text = data.decode()
    try:
        if path.endswith(".toml"):
            return toml_text.found(text) is not None
        return bool(settings.found(text))
    except (json_text.NotPlain, toml_text.NotPlain):
        return False


def _launch(done: Wiring, name: str) -> None:
    for path, text in launchers.texts(done.homes).items():
        there = [index for index, step in enumerate(done.steps) if step.file.real == path]
        if there:
            step = done.steps[there[0]]
            done.steps[there[0]] = replace(step, tools=(*step.tools, name))
            continue
        file = File(done.homes.shown(path), path, launchers.read(path), launchers.MODE)
        done.steps.append(Step((name,), file, text, "launcher", launcher=True))


def _unlaunch(done: Wiring, names: Sequence[str], top: str) -> None:
    """Take the launchers away if no client names them any more."""
    left = [name for name in CLIENTS if name not in names and "user" in scopes(name, done.homes, top)]
    told = [name for name in done.record.told if name not in names]
    if left or told:
        return
    for path in launchers.texts(done.homes):
        data = launchers.read(path)
        if data is not None:
            file = File(done.homes.shown(path), path, data, launchers.MODE)
            done.steps.append(Step(tuple(names), file, None, "launcher", launcher=True, removing=True))


def _not_on_the_path(homes: Homes) -> list[str]:
    if homes.programs.get("holdfast-hook"):
        return []
    return ["project scope names the bare command holdfast-hook, and it is not on your PATH"]


def _write(step: Step) -> None:
    if step.launcher and step.after is not None:
        launchers.write(step.file.real, step.after)
        return
    now = _now(step.file.real)
    if now != step.file.data and not step.launcher:
        raise Busy(f"{step.file.path} changed while this was planned", hint="Run it again.")
    if step.after is None:
        files.delete(step.file, folders=step.kept.folders if step.kept else 0)
    else:
        files.write(step.file, step.after)


def _now(path: str) -> bytes | None:
    try:
        return fsio.read(path, limit=files.MAX_FILE)
    except FileNotFoundError:
        return None


def _remember(kept: Record, step: Step) -> None:
    if step.launcher:
        return
    if step.removing or step.kept is None:
        kept.files.pop(step.file.real, None)
    else:
        kept.files[step.file.real] = step.kept
