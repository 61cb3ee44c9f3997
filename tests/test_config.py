"""Settings: four layers, and what a pull request may not change."""

import os
from pathlib import Path

import pytest

from holdfast.config import DEFAULTS, KEYS, load
from holdfast.errors import BadSettings, SwitchedOff
from holdfast.project import Project
from tests.conftest import GitRepo


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
    tracked = toml(tmp_path, "a", 'trunk = "team"')
    clone = toml(tmp_path, "b", 'trunk = "clone"')
    user = toml(tmp_path, "c", 'trunk = "user"')
    assert load(tracked=tracked, environ={}).trunk == "team"
    assert load(tracked=tracked, clone=clone, environ={}).trunk == "clone"
    assert load(tracked=tracked, clone=clone, user=user, environ={}).trunk == "user"
    last = load(tracked=tracked, clone=clone, user=user, environ={"HOLDFAST_TRUNK": "now"})
    assert (last.trunk, last.origins["trunk"]) == ("now", "the environment")


@pytest.mark.parametrize(
    ("name", "value"),
    [("review.auto_promote", "0.1"), ("redact.allow", '[".*"]'), ("capture.env", '["TOKEN"]')],
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
    user = toml(tmp_path, "b", '[redact]\nrules = ["mine-[0-9]+"]')
    settings = load(tracked=tracked, user=user, environ={})
    assert settings.redact_rules == ("corp-[0-9]+", "mine-[0-9]+")


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
        with pytest.raises(BadSettings):
            load(tracked=str(bad), environ={})


def test_the_environment_is_read_as_toml_or_text() -> None:
    """`HOLDFAST_REVIEW_AUTO_PROMOTE=0.9 holdfast ...` is how a script says it."""
    settings = load(
        environ={
            "HOLDFAST_REVIEW_AUTO_PROMOTE": "0.9",
            "HOLDFAST_CAPTURE_ENV": "A, B",
        }
    )
    assert settings.auto_promote == 0.9
    assert settings.capture_env == ("A", "B")
    assert load(environ={"HOLDFAST_REVIEW_AUTO_PROMOTE": "off"}).auto_promote is None


def test_every_default_is_a_value_its_own_setting_accepts() -> None:
    """Writing a default down must not be an error."""
    for key in KEYS:
        if key.default is not None:
            assert (
                key.read(list(key.default) if isinstance(key.default, tuple) else key.default) == key.default
            )


def test_what_is_switched_off_is_named_with_the_file_that_says_so(repo: GitRepo, world: Path) -> None:
    """Sent to the wrong file, one finds nothing there to switch on."""
    Project.init(repo.path, commit=True)
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
            Project.open(repo.path).journal()
        assert str(caught.value).startswith(
            f"the journal is switched off (features.journal = false in {named})"
        )
        assert caught.value.hint.endswith(f"in {named}.")
        path.write_text(before or "")
    environ = {**os.environ, "HOLDFAST_FEATURES_SESSIONS": "false"}
    with pytest.raises(SwitchedOff, match=r"sessions are switched off .* in the environment"):
        Project.open(repo.path, environ=environ).session_list()
