"""The plugins that are committed are what their one source makes."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

from holdfast.capture.wiring import client_settings
from holdfast.interfaces import command_table

PLUGINS = Path(__file__).resolve().parent.parent / "plugins"


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_plugins", PLUGINS / "build.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_plugins_are_what_the_script_makes(build: ModuleType) -> None:
    """Somebody who installs an old plugin gets hooks that nobody calls any more."""
    assert build.differing() == [], "run: python plugins/build.py"


@pytest.mark.parametrize("client", ["claude", "codex", "gemini"])  # those that have plugins of this form
def test_a_plugin_calls_the_same_hooks(client: str) -> None:
    """One source: what `connect` writes and what a plugin brings must not part."""
    hooks = json.loads((PLUGINS / client / "hooks" / "hooks.json").read_text())["hooks"]
    assert [*hooks] == [hook.event for hook in client_settings.hooks_of(client)]
    for event, ((group,),) in zip(hooks, ([hooks[event]] for event in hooks), strict=True):
        assert (
            group["hooks"][0]["command"]
            == f"command -v holdfast-hook >/dev/null 2>&1 && holdfast-hook {client} {event} || true"
        )


def test_the_skill_names_commands_that_are_there() -> None:
    """An agent that is told of a command that does not exist gives up on all of them."""
    text = (PLUGINS / "source" / "SKILL.md").read_text()
    named = {words.split()[1] for words in text.split("`") if words.startswith("holdfast ")}
    assert named <= set(command_table.commands()) and len(named) > 6
    assert len(text.splitlines()[2]) < 1024, "what tells an agent when to use it is cut there"
