"""Settings: four layers, and what a pull request may not change."""

import json
import os
from pathlib import Path

import pytest

from holdfast.config import DEFAULTS, KEYS, Key, load
from holdfast.errors import BadSettings, SwitchedOff
from holdfast.project import Project
from tests.conftest import Cli, GitRepo, init


def toml(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_nothing_set_gives_the_defaults(tmp_path: Path) -> None:
    """A fresh clone works without a single setting."""
    settings = load(tracked=str(tmp_path / "no"), clone=None, user=None, environ={})
    assert settings.values == DEFAULTS.values
    assert settings.warnings == ()
    assert settings.auto_promote is None


def test_each_layer_goes_over_the_one_before(tmp_path: Path) -> None:
    """A person's own choice counts more than the team's, and this command's most."""
    files = [toml(tmp_path, f"{n}", f"[index]\nmax_file = {n}\n") for n in (2001, 2002, 2003)]
    tracked, clone, user = files
    assert load(tracked=tracked, environ={}).number("index.max_file") == 2001
    assert load(tracked=tracked, clone=clone, environ={}).number("index.max_file") == 2002
    assert load(tracked=tracked, clone=clone, user=user, environ={}).number("index.max_file") == 2003
    last = load(tracked=tracked, clone=clone, user=user, environ={"HOLDFAST_INDEX_MAX_FILE": "2004"})
    assert (last.number("index.max_file"), last.origins["index.max_file"]) == (2004, "the environment")


@pytest.mark.parametrize(
    ("name", "value"), [("review.auto_promote", "0.1"), ("redact.allow", '[".*"]'), ("capture.env", '["TOKEN"]')]
)
def test_a_pull_request_cannot_weaken_anything(tmp_path: Path, name: str, value: str) -> None:
    """Whoever merges a pull request must not start to trust or to leak by it."""
    section, key = name.split(".")
    text = f"[{section}]\n{key} = {value}\n"
    from_tracked = load(tracked=toml(tmp_path, "t", text), environ={})
    assert from_tracked.values == DEFAULTS.values
    assert len(from_tracked.warnings) == 1
    assert name in from_tracked.warnings[0]
    assert load(clone=toml(tmp_path, "c", text), environ={}).values[name] != DEFAULTS.values[name]


def test_rules_for_secrets_add_up(tmp_path: Path) -> None:
    """A personal rule must not switch off the rules of the team."""
    tracked = toml(tmp_path, "a", '[redact]\nrules = ["corp-[0-9]+"]')
    clone = toml(tmp_path, "b", '[redact]\nrules = ["here-[0-9]+"]')
    user = toml(tmp_path, "c", '[redact]\nrules = ["mine-[0-9]+"]')
    settings = load(tracked=tracked, clone=clone, user=user, environ={})
    assert settings.redact_rules == ("here-[0-9]+", "mine-[0-9]+")
    assert settings.shared_rules == ("corp-[0-9]+",)


def test_names_nobody_knows_are_said_not_fatal(tmp_path: Path) -> None:
    """A typing error that stays silent is found months later."""
    path = toml(tmp_path, "a", 'trunck = "main"\n[review]\nauto = 1\n')
    settings = load(tracked=path, environ={"HOLDFAST_REVIEW_AUTOPROMOTE": "1", "HOLDFAST_RUN_ID": "x"})
    assert [w.split()[-1] for w in settings.warnings[:2]] == ["trunck", "review.auto"]
    assert "HOLDFAST_REVIEW_AUTOPROMOTE" in settings.warnings[2]
    assert len(settings.warnings) == 3


@pytest.mark.parametrize(
    "text",
    [
        "trunk = 3",
        "[review]\nauto_promote = 2",
        "[review]\nauto_promote = true",
        "[capture]\nmax_output = '1 MB'",
        "[capture]\nmax_output = true",
        "[redact]\nrules = [1]",
        "review = true",
        "not toml",
        "a = '" + "x" * 70_000 + "'",
    ],
)
def test_a_wrong_value_names_file_and_key(tmp_path: Path, text: str) -> None:
    """An error that does not say where costs the reader an hour."""
    path = toml(tmp_path, "settings.toml", text)
    with pytest.raises(BadSettings) as caught:
        load(clone=path, environ={})
    assert path in str(caught.value)


def test_a_link_or_a_folder_is_not_a_settings_file(tmp_path: Path) -> None:
    """A pull request must not point the settings at a file outside the repository."""
    real = toml(tmp_path, "real", 'trunk = "x"')
    (tmp_path / "link").symlink_to(real)
    for bad in (tmp_path / "link", tmp_path):
        settings = load(tracked=str(bad), environ={})
        assert settings.values == DEFAULTS.values and "it is ignored" in settings.warnings[0]
        with pytest.raises(BadSettings):
            load(clone=str(bad), environ={})


# What a pull request might write for any setting; no value is more than data to whoever gets it.
HOSTILE = (
    *("--git-dir", "--output=/tmp/x", "$(touch pwned)", "; touch pwned", "../../x", "/etc/passwd", "origin/evil"),
    *("", " ", "\0", "[a-z]", ".", "x" * 5000, "é\u202e", "refs/heads/../x", "@{-1}", "HEAD", "minilm"),
    *(0, 1, -1, 1024, 10**12, 0.5, True, False),
    *([], ["[a-z]"], [""], ["invariants"], ["facts"], ["touch", "pwned"], [["deep"]], {"a": 1}),
)
SHARED = ("features.tasks", "features.sessions", "features.journal", "index.commits", "index.docs", "index.code")
SHARED += ("index.max_file", "index.exclude")


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_a_pull_request_may_tighten_and_nothing_else(tmp_path: Path, key: Key) -> None:
    """It must not mute, redirect or rewrite what people approved, nor stop any command."""
    section, _, name = key.name.rpartition(".")
    for value in HOSTILE:
        text = f"{json.dumps(name)} = {_as_toml(value)}\n"
        path = toml(tmp_path, "t", f"[{section}]\n{text}" if section else text)
        found = load(tracked=path, environ={})
        changed = {one for one in DEFAULTS.values if found.values[one] != DEFAULTS.values[one]}
        if key.name in SHARED:
            assert changed <= {key.name}
        elif key.name == "capture.max_output":
            assert found.max_output <= DEFAULTS.max_output and changed <= {key.name}
        else:
            assert not changed, (value, found.values)
        said_nothing = value in (True, 1, [], "", " ")  # a default, or an empty list
        assert changed or found.shared_rules or found.warnings or said_nothing, value
    assert key.untracked == (key.name not in (*SHARED, "capture.max_output", "redact.rules"))


def _as_toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_as_toml(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    return json.dumps(value)


def test_a_broken_tracked_file_costs_its_settings_and_a_warning(tmp_path: Path) -> None:
    """One wrong line in a pull request must not take everybody's context away."""
    broken = ("not toml", "[index]\ncode = 'no'\ndocs = false\n", "\xff", "a = " + "[" * 30_000, "index = 1")
    for text in broken:
        path = tmp_path / "t"
        path.write_bytes(text.encode("latin-1"))
        found = load(tracked=str(path), environ={})
        assert any("it is ignored" in warning for warning in found.warnings), text
        assert found.values == {**DEFAULTS.values, "index.docs": "docs" not in text}
        with pytest.raises(BadSettings):
            load(user=str(path), environ={})


APPROVED = "Never store card numbers in the session table."
MUTING = (
    '[context]\nsections = ["facts"]\nbudget = 200\n',
    '[redact]\nrules = ["[a-z]", "Never store [a-z ]+", "card numbers in", "(?:a|b)", "Nev.*"]\n',
    'trunk = "--git-dir"\n[features]\ntasks = false\nsessions = false\njournal = false\n',
    "this line is broken\n",
    '[index]\nexclude = ["*", ".holdfast/**"]\ncode = false\ndocs = false\nmax_file = 1024\n',
    "[session]\nbudget = 100\ncondense_after = 2\n[capture]\nmax_output = 1024\n",
)


def test_what_a_person_approved_is_told_whatever_a_pull_request_sets(cli: Cli, repo: GitRepo) -> None:
    """An invariant that a setting can silence protects nothing."""
    init(repo.path, commit=True)
    Project.open(repo.path, person=True).memory.remember(APPROVED, kind="invariant", accept=True)
    for text in MUTING:
        repo.write(".holdfast/holdfast.toml", text)
        for asked in (("context",), ("recall", "card numbers")):
            answer = cli(*asked)
            assert APPROVED in answer.out, (text, asked, answer)
    views = (repo / ".holdfast/view").rglob("*.md")
    assert not [view for view in views if "redacted" in view.read_text()]


def test_a_shared_rule_cleans_what_agents_say(cli: Cli, repo: GitRepo) -> None:
    """A team's own kind of token is removed in every clone, without anybody's doing."""
    init(repo.path, commit=True)
    repo.write(".holdfast/holdfast.toml", '[redact]\nrules = ["corp-[0-9a-f]{32}", "[0-9]+", "the"]\n')
    token = "corp-" + "0f" * 16
    answer = cli("run", "--", "echo", f"deploy 42 with {token} to the host")
    assert "redact.rules holds '[0-9]+', which does not begin with 3 fixed characters" in answer.err
    assert "redact.rules holds 'the', which matches ordinary text" in answer.err
    assert token in answer.out
    kept = b"".join(path.read_bytes() for path in (repo / ".git/holdfast/runs").rglob("*") if path.is_file())
    assert token.encode() not in kept and b"deploy 42 with [redacted" in kept and b"to the host" in kept


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("model.command", '["touch"]'), ("review.auto_restart", '"touch x"'), ("retrieval.model", '"touch"')),
        *(("retrieval.model", '["touch", "x"]'), ("retrieval.model", '"/bin/true"')),
        *(("retrieval.retriever", '"other"'), ("retrieval.graph", '"other"')),
    ],
)
def test_what_starts_a_program_is_read_from_the_users_own_file(tmp_path: Path, name: str, value: str) -> None:
    """A private store may have come with a copied folder; then its commands are a stranger's."""
    section, key = name.split(".")
    text = f"[{section}]\n{key} = {value}\n"
    clone = load(clone=toml(tmp_path, "c", text), user=str(tmp_path / "mine.toml"), environ={})
    assert clone.values == DEFAULTS.values
    assert f"{name} is ignored here, because it starts a program; put it into {tmp_path}" in clone.warnings[0]
    assert load(user=toml(tmp_path, "u", text), environ={}).values[name] != DEFAULTS.values[name]


def test_a_clone_may_choose_among_the_models_that_are_there(tmp_path: Path) -> None:
    """A folder or a known name starts nothing."""
    for value in ("minilm", "off", str(tmp_path)):
        text = f"[retrieval]\nmodel = {json.dumps(value)}\n"
        assert load(clone=toml(tmp_path, "c", text), environ={}).retrieval_model == value


def test_the_environment_is_read_as_toml_or_text() -> None:
    """`HOLDFAST_REVIEW_AUTO_PROMOTE=0.9 holdfast ...` is how a script says it."""
    settings = load(environ={"HOLDFAST_REVIEW_AUTO_PROMOTE": "0.9", "HOLDFAST_CAPTURE_ENV": "A, B"})
    assert settings.auto_promote == 0.9
    assert settings.capture_env == ("A", "B")
    assert load(environ={"HOLDFAST_REVIEW_AUTO_PROMOTE": "off"}).auto_promote is None


def test_every_default_is_a_value_its_own_setting_accepts() -> None:
    """Writing a default down must not be an error."""
    for key in KEYS:
        if key.default is not None:
            assert key.read(list(key.default) if isinstance(key.default, tuple) else key.default) == key.default


def test_what_is_switched_off_is_named_with_the_file_that_says_so(repo: GitRepo, world: Path) -> None:
    """Sent to the wrong file, one finds nothing there to switch on."""
    init(repo.path, commit=True)
    own = world / ".config" / "holdfast" / "settings.toml"
    cases = {
        repo.path / ".holdfast" / "holdfast.toml": ".holdfast/holdfast.toml",
        repo.path / ".git" / "holdfast" / "settings.toml": ".git/holdfast/settings.toml",
        own: str(own),
    }
    for path, named in cases.items():
        before = path.read_text() if path.exists() else None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("[features]\njournal = false\n")
        with pytest.raises(SwitchedOff) as caught:
            Project.open(repo.path).context.journal()
        assert str(caught.value).startswith(f"the journal is switched off (features.journal = false in {named})")
        assert caught.value.hint.endswith(f"in {named}.")
        path.write_text(before or "")
    environ = {**os.environ, "HOLDFAST_FEATURES_SESSIONS": "false"}
    with pytest.raises(SwitchedOff, match=r"sessions are switched off .* in the environment"):
        Project.open(repo.path, environ=environ).sessions.all()


def test_a_name_that_looks_like_a_number_is_a_name() -> None:
    """A project may be called by a commit, and one in a hundred of those reads as a float."""
    given = {"HOLDFAST_DATABASE_PROJECT": "12e4567", "HOLDFAST_DATABASE_URL": '"postgresql://ann@/x"'}
    settings = load(environ=given)
    assert settings.database_project == "12e4567" and settings.database_url == "postgresql://ann@/x"
