"""Hooks and MCP server in agents' own settings: written once, told by bytes, and gone without a trace."""

import errno
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.capture.wiring import client_settings, client_trust, connect_client, connection_record, user_homes
from holdfast.capture.wiring.connect_client import Wiring
from holdfast.capture.wiring.user_homes import CLIENTS, SCOPES, UserHomes, homes_of
from holdfast.errors import BadInput, Busy, ReadOnlyStore, UnsafePath
from holdfast.store import fsio

GOLDEN = Path(__file__).parent.parent / "golden" / "wiring"
PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(connect_client.__file__))))

# What the real Codex 0.166.0 (`hooks/list`) says of the hooks in golden/wiring/user-codex-hooks.json.
APPROVED = {
    "PreToolUse": "8148a56502ebb4b6ce8ea57e18d0f096093efba53811f3c60aa511cec9b6ec1a",
    "PermissionRequest": "31f2966f3a45779441c4c22bfce84e89388cc71ad45fed12a9fbfc03655baf06",
    "PreCompact": "3bc6b01bb5bc2debe9f3c567615a2e616f0307358e86c34337d2a67d065c19e9",
    "SessionStart": "5c3a29e15cd12a90f480d651ac5ef9d6ec4e46563c3be513cd9eeb82a1317728",
    "SessionEnd": "e9cae4e8fd8ce8651744c35bd672b164104812290053e215eb7e5334ca7e66f7",
    "UserPromptSubmit": "1b2c2ba7e4ed5e89ee33f0f784884d0106733fb237c65ffe8ad5d05afcc29341",
    "SubagentStart": "5f8254d4efa35e8d0ade2a07cd5a7231c1c254440d928d253f98cea4f4c9fa6f",
    "SubagentStop": "fa960838f7b425f0c70415b142821a897d9101f756d3b090b0c710d62d72b50b",
    "Stop": "b53296d5db07a20d02bc5fba18d2dbe8238d379b7fbe3498fcdc4fcd429f2b45",
}
FOREIGN = {
    "json": (
        b"",
        b"{}",
        b"{\r\n}\r\n",
        b"\xef\xbb\xbf{ }\n\n",
        b'{"theme":"dark","hooks":{},"mcpServers":{}}',
        b'{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": [{"command": "mine"}]}\n\t\t]\n\t}\n}',
    ),
    "toml": (b"", b'model = "x"', b"# mine\r\n\r\n[a]\r\nb = 1\r\n", b"\xef\xbb\xbfa = 1\n\n\n"),
}


class Rig:
    """A user's home and a work tree, and agents connected in them."""

    def __init__(self, folder: Path) -> None:
        self.home, self.top, self.bin = folder / "a home", folder / "work", folder / "bin"
        for made in (self.home, self.top, self.bin, self.home / ".local" / "share"):
            made.mkdir(parents=True)

    def user(self, python: str = sys.executable, **more: str) -> UserHomes:
        environ = {"HOME": str(self.home), "PATH": f"{self.bin}:/usr/bin:/bin", **more}
        return homes_of(environ, python=python, package=PACKAGE)

    def connect(self, *names: str, scope: str | None = None, python: str = sys.executable) -> Wiring:
        done = connect_client.connect(names, scope, self.user(python), str(self.top))
        done.carry_out()
        return done

    def disconnect(self, *names: str, scope: str | None = None) -> Wiring:
        done = connect_client.disconnect(names or CLIENTS, scope, self.user(), str(self.top))
        done.carry_out()
        return done

    def files(self, name: str, scope: str) -> list[client_settings.ClientSettingsFile]:
        return client_settings.settings_of(name, scope, self.user(), str(self.top))

    def everything(self) -> dict[str, object]:
        """All files and folders with their bytes and modes."""
        return dict(self._walk())

    def _walk(self) -> Iterator[tuple[str, object]]:
        for place in (self.home, self.top):
            for folder, _, names in os.walk(place):
                yield folder, ""
                for name in names:
                    path = os.path.join(folder, name)
                    mode = stat.S_IMODE(os.lstat(path).st_mode)
                    yield path, (Path(path).read_bytes(), mode, os.path.islink(path))


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("name", CLIENTS)
def test_settings_look_as_they_always_did(name: str, scope: str) -> None:
    """Codex forgets what its user approved if one byte of a hook's definition changes."""
    user = homes_of({"HOME": "/home/ada"}, python="/usr/bin/python3", package="/opt/holdfast")
    for setting in client_settings.settings_of(name, scope, user, "/w"):
        golden = GOLDEN / f"{scope}-{name}-{os.path.basename(setting.path).lstrip('.')}"
        if setting.kind == client_settings.OWN:
            text = client_settings.own_text(name, scope, setting, user)
        else:
            text = connect_client.new_text(setting, client_settings.wanted_settings(name, scope, setting, user))
        assert text == golden.read_text()


def test_codex_knows_our_hooks_by_these_hashes() -> None:
    """The doctor must say the same as Codex about what is approved."""
    hooks = json.loads((GOLDEN / "user-codex-hooks.json").read_text())["hooks"]
    found = {
        event: client_trust.fingerprint(event, groups[0], groups[0]["hooks"][0]) for event, groups in hooks.items()
    }
    assert found == {event: f"sha256:{one}" for event, one in APPROVED.items()}


NONE = [("kimi", "project"), ("cline", "project")]  # no such settings were ever seen
WAYS = [(name, scope) for name in CLIENTS for scope in SCOPES if (name, scope) not in NONE]


@pytest.mark.parametrize(("name", "scope"), NONE)
def test_a_client_without_settings_of_a_repository_says_so(rig: Rig, name: str, scope: str) -> None:
    """Who asks for it must not believe that it was done."""
    with pytest.raises(BadInput, match="no settings of a repository"):
        rig.connect(name, scope=scope)


@pytest.mark.parametrize(("name", "scope"), WAYS)
def test_every_file_is_given_back_to_the_byte(rig: Rig, name: str, scope: str) -> None:
    """Who tries it and thinks again must find everything as it was."""
    before = rig.everything()
    rig.connect(name, scope=scope)
    assert connect_client.scopes(name, rig.user(), str(rig.top)) == (scope,)
    assert rig.connect(name).steps and all(step.change.action == "keep" for step in rig.connect(name).steps)
    rig.disconnect(name)
    assert rig.everything() == before, "files and folders of our own are gone"
    for number in range(max(map(len, FOREIGN.values()))):
        for setting in rig.files(name, scope):
            if setting.kind == client_settings.OWN:
                continue
            os.makedirs(os.path.dirname(setting.path), exist_ok=True)
            texts = FOREIGN[setting.kind]
            Path(setting.path).write_bytes(texts[number % len(texts)])
            os.chmod(setting.path, 0o640)
        before = rig.everything()
        rig.connect(name, scope=scope)
        assert connect_client.as_wanted(name, scope, rig.user(), str(rig.top))
        rig.disconnect(name)
        assert rig.everything() == before


def called_by(file: Path) -> list[str]:
    """The commands that a settings file of ours makes its client run."""
    text = file.read_text()
    if text.startswith("#!"):
        return [text]
    quoted = r'("(?:[^"\\]|\\.)*")'
    words = re.findall(rf'"(?:command|bash)": {quoted}|^command = {quoted}$', text, re.MULTILINE)
    found = [json.loads(one or other) for one, other in words]
    return [one for one in found if re.search("hook'? [a-z]+ [A-Z]", one)]


@pytest.mark.parametrize("shell", [shell for shell in ("sh", "bash", "zsh", "fish") if shutil.which(shell)])
def test_a_hook_of_the_repository_succeeds_silently_without_holdfast(rig: Rig, shell: str) -> None:
    """Who clones the project may have no Holdfast, and another client that reads the same file refuses every
    tool call whose hook fails."""
    program = str(shutil.which(shell))
    shutil.copy(str(shutil.which("true")), rig.bin / "true")  # nothing else is on the PATH
    asked = {"PATH": str(rig.bin), "HOME": str(rig.home)}
    large = json.dumps({"tool_input": "x" * 300_000}).encode()  # more than a pipe holds
    commands = []
    for name, scope in WAYS:
        rig.connect(name, scope=scope)
        found = [one for setting in rig.files(name, scope) for one in called_by(Path(setting.path))]
        rig.disconnect(name)  # and with it the launchers
        assert len(found) == len(client_settings.hooks_of(name)) or name in ("opencode", "pi")
        commands += [] if scope == "user" and name in user_homes.BARE else found
    for command in commands if shell == "sh" else commands[:2]:
        done = subprocess.run([program, "-c", command], input=large, env=asked, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), command
    hook = rig.bin / "holdfast-hook"
    for code in (0, 1, 2):
        hook.write_text(f'#!/bin/sh\n/bin/cat >/dev/null\necho "{{}} $*"\necho why >&2\nexit {code}\n')
        hook.chmod(0o755)
        done = subprocess.run([program, "-c", commands[0]], input=large, env=asked, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"{} codex SessionStart\n", b"why\n")


@pytest.mark.parametrize("name", user_homes.BARE)
def test_hooks_in_the_earlier_words_are_known_and_renewed(rig: Rig, name: str) -> None:
    """Repositories hold the bare command, which failed where Holdfast is not installed."""
    [setting] = [one for one in rig.files(name, "project") if one.hooks]
    os.makedirs(os.path.dirname(setting.path))
    Path(setting.path).write_text('{\n  "theirs": [1, 2]\n}\n')
    before = rig.everything()
    rig.connect(name, scope="project")
    now = Path(setting.path).read_text()
    earlier = now.replace("command -v holdfast-hook >/dev/null 2>&1 && ", "").replace(" || true", "")
    assert earlier != now
    Path(setting.path).write_text(earlier)
    assert connect_client.scopes(name, rig.user(), str(rig.top)) == ("project",)
    assert not connect_client.as_wanted(name, "project", rig.user(), str(rig.top))

    rig.connect(name)
    assert Path(setting.path).read_text() == now
    rig.disconnect(name)
    assert rig.everything() == before
    rig.connect(name, scope="project")
    Path(setting.path).write_text(earlier)
    rig.disconnect(name)
    assert rig.everything() == before


@pytest.mark.parametrize("name", CLIENTS)
def test_what_somebody_wrote_since_stays(rig: Rig, name: str) -> None:
    """Agents write into these files themselves: their own lines are not ours to take."""
    rig.connect(name)
    for setting in rig.files(name, "user"):
        path = Path(setting.path)
        if setting.kind == client_settings.OWN:
            continue
        text = path.read_text()
        added = text + '\n[b]\nc = "d"\n' if setting.kind == "toml" else text.replace("{", '{\n  "theme": "dark",', 1)
        path.write_text(added)
    rig.disconnect(name)
    for setting in rig.files(name, "user"):
        if setting.kind == client_settings.OWN:
            assert not Path(setting.path).exists()
            continue
        text = Path(setting.path).read_text()
        assert text.strip() == '[b]\nc = "d"' if setting.kind == "toml" else json.loads(text) == {"theme": "dark"}


@pytest.mark.parametrize(("name", "file"), [("pi", "extensions/holdfast.ts"), ("cline", "hooks/PreToolUse")])
def test_a_file_of_somebody_in_our_place_is_left_alone(rig: Rig, name: str, file: str) -> None:
    """Cline has one file an event: one that its user wrote is not ours to replace."""
    theirs = Path(rig.user().folders[name], file)
    theirs.parent.mkdir(parents=True)
    theirs.write_text("#!/bin/sh\necho mine\n")
    before = rig.everything()
    with pytest.raises(BadInput, match="is not ours; it is left alone"):
        rig.connect(name)
    rig.disconnect(name)
    assert rig.everything() == before


def test_opencode_need_not_wait_for_npm_beside_our_plugin(rig: Rig) -> None:
    """Where a plug-in lies and no lock file names its package, opencode 1.18.33 starts 84 s late without a network."""
    folder = Path(rig.user().folders["opencode"])
    rig.connect("opencode")
    lock = json.loads((folder / "package-lock.json").read_text())
    assert "@opencode-ai/plugin" in lock["packages"][""]["dependencies"] and (folder / "node_modules").is_dir()
    rig.disconnect("opencode")
    folder.mkdir(parents=True)
    (folder / "package-lock.json").write_text("{}\n")
    rig.connect("opencode")
    assert (folder / "package-lock.json").read_text() == "{}\n", "one of its user's own says more than ours"
    rig.disconnect("opencode")
    assert (folder / "package-lock.json").read_text() == "{}\n"


HOOKS = ["", "#!/bin/sh\nread line; echo said to $2\n", "#!/bin/sh\nexit 3\n", "#!/bin/sh\nkill -9 $$\n"]


@pytest.mark.skipif(shutil.which("node") is None, reason="the plug-ins are JavaScript")
@pytest.mark.parametrize("name", ["opencode", "pi"])
@pytest.mark.parametrize("hook", HOOKS, ids=["missing", "speaks", "fails", "dies"])
def test_a_plugin_never_throws_and_passes_on_what_our_hook_says(rig: Rig, name: str, hook: str) -> None:
    """A plug-in that throws stops opencode and pi; one that loses what we say is no use."""
    rig.connect(name)
    launcher = Path(rig.user().hook)
    launcher.unlink()
    if hook:
        launcher.write_text(hook)
        launcher.chmod(0o755)
    [plugin] = [Path(one.path) for one in rig.files(name, "user") if one.kind == client_settings.OWN and not one.spare]
    shutil.copy(plugin, rig.bin / "plugin.mjs")
    shutil.copy(Path(__file__).parent / f"plugin_{name}.mjs", rig.bin / "drive.mjs")
    done = subprocess.run(["node", "drive.mjs"], cwd=rig.bin, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    at_prompt, at_edit, at_read, odd = json.loads(done.stdout)
    says = "echo" in hook
    assert at_prompt == (["said to UserPromptSubmit"] if says else [])
    assert at_edit == ("done\n\nsaid to PreToolUse" if says else "done") and at_read == "done"
    assert odd == "no throw"


def test_a_lost_record_costs_no_more_than_an_empty_place(rig: Rig) -> None:
    """The record is ours alone; another clone has none and must still be able to take us out."""
    setting = rig.files("claude", "project")[0]
    os.makedirs(os.path.dirname(setting.path))
    Path(setting.path).write_text('{\n  "theme": "dark"\n}\n')
    rig.connect("claude", scope="project")
    os.unlink(rig.user().record)
    rig.disconnect("claude")
    assert Path(setting.path).read_text() == '{\n  "theme": "dark"\n}\n'
    assert not (rig.top / ".mcp.json").exists()
    rig.connect("claude")
    Path(rig.user().record).write_text("[not json")
    rig.disconnect("claude")
    assert not (rig.home / ".claude/settings.json").exists(), "a file that says nothing any more was ours"


@pytest.mark.parametrize("spans", [[["a", "b"]], [[1]], [[1, 2, 3]], [None], 5])
def test_a_damaged_record_is_as_good_as_none(rig: Rig, spans: object) -> None:
    """Who edits it by hand, or loses half of it, must still get the files back."""
    setting = rig.files("gemini", "user")[0]
    os.makedirs(os.path.dirname(setting.path))
    Path(setting.path).write_text('{\n  "theme": "dark"\n}\n')
    rig.connect("gemini")
    record = Path(rig.user().record)
    said = json.loads(record.read_text())
    for one in said["files"].values():
        one["spans"] = spans
    record.write_text(json.dumps(said))
    assert connection_record.load(str(record)).files == {}
    rig.disconnect("gemini")
    assert json.loads(Path(setting.path).read_text()) == {"theme": "dark"}


def test_a_record_of_a_later_version_still_gives_back_every_byte(rig: Rig) -> None:
    """What it keeps beyond ours is no reason to forget how a file was."""
    setting, before = rig.files("gemini", "user")[0], b'{ "hooks" : { }, "theme":"dark"}'
    os.makedirs(os.path.dirname(setting.path))
    Path(setting.path).write_bytes(before)
    rig.connect("gemini")
    record = Path(rig.user().record)
    said = json.loads(record.read_text())
    for one in said["files"].values():
        one["since"] = "2027-01-01"
    record.write_text(json.dumps(said))
    rig.disconnect("gemini")
    assert Path(setting.path).read_bytes() == before


def test_one_scope_only(rig: Rig) -> None:
    """Codex calls a hook twice that stands in both files, and takes in twice what it says."""
    rig.connect("codex", scope="project")
    assert {step.file.path for step in rig.connect("codex").steps} == {".codex/hooks.json", ".codex/config.toml"}
    with pytest.raises(BadInput, match=r"connected in project scope already .*called twice") as refused:
        rig.connect("codex", scope="user")
    assert "holdfast disconnect codex --scope project" in refused.value.hint
    assert not (rig.home / ".codex").exists()
    rig.disconnect("codex", scope="user")
    assert (rig.top / ".codex/hooks.json").exists()
    rig.disconnect("codex", scope="project")
    rig.connect("codex", scope="user")
    assert connect_client.scopes("codex", rig.user(), str(rig.top)) == ("user",)


def test_a_home_inside_the_repository_is_one_place(rig: Rig) -> None:
    """Some set CODEX_HOME to the repository's own .codex; that is not two scopes."""
    user = rig.user(CODEX_HOME=str(rig.top / ".codex"))
    for _ in range(2):
        connect_client.connect(["codex"], "user", user, str(rig.top)).carry_out()
    assert connect_client.scopes("codex", user, str(rig.top)) == ("user",)
    connect_client.disconnect(["codex"], None, user, str(rig.top)).carry_out()
    assert not (rig.top / ".codex").exists()


def test_commands_stay_when_python_moves(rig: Rig) -> None:
    """A new virtual environment must not silence what Codex's user approved."""
    rig.connect("codex", "claude")
    settings = {path: data for path, data in rig.everything().items() if "/holdfast/" not in path}
    rig.connect("codex", "claude", python="/opt/new/bin/python")
    assert {path: data for path, data in rig.everything().items() if "/holdfast/" not in path} == settings
    assert "python=/opt/new/bin/python\n" in Path(rig.user().hook).read_text()
    assert not connect_client.as_wanted("codex", "user", rig.user(), str(rig.top)), "the doctor sees another python"


def test_launchers_go_with_the_last_who_names_them(rig: Rig) -> None:
    """A setting must never name a program that is not there."""
    rig.connect("codex", "gemini")
    rig.disconnect("codex")
    assert os.access(rig.user().hook, os.X_OK) and os.access(rig.user().mcp, os.X_OK)
    rig.disconnect("gemini")
    assert not os.path.lexists(rig.user().data)


def test_a_launcher_never_stands_in_an_agents_way(rig: Rig) -> None:
    """An exit code of 2 would swallow somebody's prompt."""
    rig.connect("codex")
    stdin = b'{"session_id":"s","hook_event_name":"SessionStart","cwd":"/"}'
    command = json.loads((rig.home / ".codex/hooks.json").read_text())["hooks"]["SessionStart"][0]["hooks"][0]

    def run() -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(command["command"], shell=True, input=stdin, capture_output=True, check=False)

    done = run()
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    text = user_homes.launcher_texts(rig.user(python="/nowhere/python"))[rig.user().hook]
    fsio.write_as(rig.user().hook, text, mode=user_homes.LAUNCHER_MODE)
    done = run()
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), "silent where Python is gone"


def test_a_link_in_the_home_is_followed_and_stays(rig: Rig) -> None:
    """People keep their settings in a repository of their own and link to it."""
    real = rig.home / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text("{}\n")
    (rig.home / ".claude").mkdir()
    (rig.home / ".claude/settings.json").symlink_to(real)
    rig.connect("claude")
    assert (rig.home / ".claude/settings.json").is_symlink() and "holdfast" in real.read_text()
    rig.disconnect("claude")
    assert (rig.home / ".claude/settings.json").is_symlink() and real.read_text() == "{}\n"


def test_a_link_of_the_repository_is_not_followed_out_of_it(rig: Rig) -> None:
    """A pull request must not choose which file of yours is written over."""
    (rig.top / ".claude").mkdir()
    (rig.home / "secret.json").write_text("{}")
    (rig.top / ".claude/settings.json").symlink_to(rig.home / "secret.json")
    with pytest.raises(UnsafePath):
        rig.connect("claude", scope="project")
    assert (rig.home / "secret.json").read_text() == "{}"


def test_nothing_is_written_if_one_file_cannot_be(rig: Rig) -> None:
    """Half a connection is worse than none: hooks without the launcher they name."""
    (rig.home / ".gemini").mkdir()
    (rig.home / ".gemini/settings.json").write_text('{\n  "a": 1,\n}\n')
    before = rig.everything()
    with pytest.raises(BadInput, match=r"~/.gemini/settings.json: line 3 .*; it is left alone"):
        rig.connect("codex", "gemini")
    assert rig.everything() == before


class _ReadOnly(fsio.Syscalls):
    """A disk on which nothing can be made or opened to be written."""

    def open(self, path: str, flags: int, mode: int) -> int:  # noqa: ARG002
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    def mkdir(self, path: str, mode: int) -> None:  # noqa: ARG002
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)


def test_a_home_that_cannot_be_written_is_named(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose home is read-only must not be sent to look at the repository."""
    monkeypatch.setattr(fsio, "ops", _ReadOnly())
    with pytest.raises(ReadOnlyStore, match="a home") as refused:
        rig.connect("claude")
    assert "that folder" in refused.value.hint and ".git" not in refused.value.hint


def test_comments_are_kept_where_the_client_reads_them_and_refused_where_not(rig: Rig) -> None:
    """Gemini's users write comments; Codex would not start with one, whoever wrote it."""
    commented = '{\n  // mine\n  "a": 1 // one\n}\n'
    for folder, name in ((".gemini", "settings.json"), (".codex", "hooks.json")):
        (rig.home / folder).mkdir()
        (rig.home / folder / name).write_text(commented)
    rig.connect("gemini")
    now = (rig.home / ".gemini/settings.json").read_text()
    assert now.startswith('{\n  // mine\n  "a": 1, // one\n  "hooks": {') and "holdfast/hook" in now
    rig.disconnect("gemini")
    assert (rig.home / ".gemini/settings.json").read_text() == commented
    with pytest.raises(BadInput, match=r"~/.codex/hooks.json: it has comments"):
        rig.connect("codex")


def test_a_file_that_changes_meanwhile_is_not_overwritten(rig: Rig) -> None:
    """Agents save their settings while they run."""
    (rig.home / ".claude").mkdir()
    file = rig.home / ".claude/settings.json"
    file.write_text("{}")
    planned = connect_client.connect(["claude"], None, rig.user(), str(rig.top))
    file.write_text('{"theme": "dark"}')
    with pytest.raises(Busy, match="changed while this was planned"):
        planned.carry_out()
    assert file.read_text() == '{"theme": "dark"}'


def program(rig: Rig, body: str) -> None:
    """A program `claude` on the path that keeps what it was asked."""
    path = rig.bin / "claude"
    path.write_text(f'#!/bin/sh\necho "$@" >> "$HOME/asked"\n{body}\n')
    path.chmod(0o755)


def test_claude_is_told_of_the_server_by_its_own_command(rig: Rig) -> None:
    """~/.claude.json holds account data: we never open it."""
    program(rig, "exit 0")
    done = rig.connect("claude")
    (change,) = [change for change in done.changes if change.path == "~/.claude.json"]
    assert change.diff[0].startswith("+ runs: claude mcp add --scope user holdfast -- ")
    rig.connect("claude")
    rig.disconnect("claude")
    asked = (rig.home / "asked").read_text().splitlines()
    assert asked == [f"mcp add --scope user holdfast -- {rig.user().mcp}", "mcp remove --scope user holdfast"], (
        "once each"
    )


def test_a_command_that_fails_is_said_and_not_remembered(rig: Rig) -> None:
    """A server that was not added must not be remembered as added."""
    program(rig, "echo no disk >&2; exit 1")
    (note,) = rig.connect("claude").notes
    assert re.search(r"claude mcp add .* did not work \(no disk\); run it yourself", note)
    assert connection_record.load(rig.user().record).told == []


@pytest.mark.parametrize("whose", ["ours", "theirs"])
def test_a_server_of_our_name_is_removed_only_if_it_is_ours(rig: Rig, whose: str) -> None:
    """Somebody may have a server named holdfast; taking ours out must not take theirs."""
    there = rig.user().mcp if whose == "ours" else "/opt/other"
    program(rig, f'case "$2" in get) echo "{there}" ;; *) echo it already exists >&2; exit 1 ;; esac')
    done = rig.connect("claude")
    assert (done.notes == []) is (whose == "ours")
    assert connection_record.load(rig.user().record).told == (["claude"] if whose == "ours" else [])


def test_hooks_that_are_switched_off_are_told(rig: Rig) -> None:
    """Connected, approved and silent: only a setting nobody remembers says why."""
    off = {
        "codex": ("config.toml", "[features]\nhooks = false\n"),
        "claude": ("settings.json", '{"disableAllHooks": true}'),
        "gemini": ("settings.json", '{"hooksConfig": {"enabled": false}}'),
    }
    for name, (file, text) in off.items():
        assert client_trust.switched_off(name, rig.user()) is None
        path = Path(rig.user().folders[name]) / file
        path.parent.mkdir()
        path.write_text(text)
        assert "switched off" in client_trust.steps_left(name, "user", rig.user(), str(rig.top))[0]
    (rig.home / ".codex/config.toml").write_text('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "mine"\n')
    assert "runs both" in client_trust.steps_left("codex", "user", rig.user(), str(rig.top))[-1]


def test_approval_is_read_and_never_given(rig: Rig) -> None:
    """Hooks run outside the sandbox: whether they may is their user's to say."""
    rig.connect("codex")
    top, user, config = str(rig.top), rig.user(), rig.home / ".codex/config.toml"
    assert "trusted_hash" not in config.read_text()
    assert len(client_trust.events_to_approve("codex", "user", user, top) or ()) == len(APPROVED)
    assert "type /hooks and trust ours" in client_trust.steps_left("codex", "user", user, top)[0]
    file = str(rig.home / ".codex/hooks.json")
    hooks = json.loads(Path(file).read_text())["hooks"]
    with config.open("a") as out:
        for event, groups in hooks.items():
            label = re.sub("(?<!^)([A-Z])", r"_\1", event).lower()
            hashed = client_trust.fingerprint(event, groups[0], groups[0]["hooks"][0])
            out.write(f'\n[hooks.state."{file}:{label}:0:0"]\ntrusted_hash = "{hashed}"\n')
    assert client_trust.events_to_approve("codex", "user", user, top) == ()
    assert client_trust.steps_left("codex", "user", user, top) == []
    hooks["Stop"][0]["hooks"][0]["timeout"] = 6
    Path(file).write_text(json.dumps({"hooks": hooks}))
    assert client_trust.events_to_approve("codex", "user", user, top) == ("Stop",)


def test_a_hook_of_others_in_words_that_cannot_be_hashed_is_passed_over(rig: Rig) -> None:
    """Half a character in somebody else's hook must stop neither `connect` nor `doctor`."""
    file = rig.home / ".codex/hooks.json"
    file.parent.mkdir()
    file.write_text(r'{"hooks":{"Stop":[{"matcher":"\ud83d","hooks":[{"type":"command","command":"say \ud83d"}]}]}}')
    assert client_trust.unapproved(str(file), rig.user()) == ()
    rig.connect("codex")
    waiting = client_trust.events_to_approve("codex", "user", rig.user(), str(rig.top))
    assert sorted(waiting or ()) == sorted(APPROVED)


def test_gemini_trusts_folders(rig: Rig) -> None:
    """A project's settings are not even read in a folder that is not trusted."""
    user, top = rig.user(), str(rig.top)
    assert not client_trust.gemini_trusts(top, user)
    (rig.home / ".gemini").mkdir()
    file = rig.home / ".gemini/trustedFolders.json"
    for said, trusted in (
        ({top: "TRUST_FOLDER"}, True),
        ({str(rig.top.parent): "TRUST_FOLDER"}, True),
        ({str(rig.top / "sub"): "TRUST_PARENT"}, True),
        ({str(rig.top.parent): "TRUST_FOLDER", top: "DO_NOT_TRUST"}, False),
        ({top + "x": "TRUST_FOLDER"}, False),
        ([1], False),
    ):
        file.write_text(json.dumps(said))
        assert client_trust.gemini_trusts(top, user) is trusted
