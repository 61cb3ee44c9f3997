"""Make the plugins: a Claude Code plugin, a Codex plugin, a Gemini extension and a skill, from one source.

    python plugins/build.py            write them
    python plugins/build.py --check    say which differ from what would be written, and end with 1

The hooks and the server are those of `holdfast connect --scope project` (holdfast.capture.wiring.client_settings);
the words are source/SKILL.md and source/README.md. Nothing else below this folder is edited by hand.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))

from holdfast import __version__  # noqa: E402
from holdfast.capture.wiring import client_settings, user_homes  # noqa: E402

NAME = "holdfast"
SAID = "The memory a project keeps of the agents that work on it, in its own git repository."
OWNER = {"name": "Holdfast"}
NOBODY = user_homes.homes_of({"HOME": os.sep}, python="python3", package="")  # project scope names no path of anybody


def everything() -> dict[str, str]:
    """Each file of the plugins, by its path below this folder, and its text."""
    skill = (HERE / "source" / "SKILL.md").read_text(encoding="utf-8")
    files = {**_claude(), **_codex(), **_gemini(skill), "skill/holdfast/SKILL.md": skill}
    readme = (HERE / "source" / "README.md").read_text(encoding="utf-8")
    for plugin, name in (("claude", "Claude Code"), ("codex", "Codex"), ("gemini", "Gemini CLI")):
        files[f"{plugin}/skills/holdfast/SKILL.md"] = skill
        files[f"{plugin}/README.md"] = readme.replace("AGENT", name)
    return files


def _claude() -> dict[str, str]:
    manifest = {"name": NAME, "version": __version__, "description": SAID, "author": OWNER, "license": "Apache-2.0"}
    return {
        "claude/.claude-plugin/plugin.json": _json(manifest),
        "claude/hooks/hooks.json": _json({"description": SAID, "hooks": _hooks("claude")}),
        "claude/.mcp.json": _json({"mcpServers": {NAME: _server("claude")}}),
        ".claude-plugin/marketplace.json": _json(
            {
                "name": NAME,
                "owner": OWNER,
                "metadata": {"description": SAID},
                "plugins": [{"name": NAME, "source": "./claude", "description": SAID}],
            }
        ),
    }


def _codex() -> dict[str, str]:
    manifest = {
        "name": NAME,
        "version": __version__,
        "description": SAID,
        "author": OWNER,
        "license": "Apache-2.0",
        "skills": "./skills/",
        "hooks": "./hooks/hooks.json",
        "mcpServers": "./.mcp.json",
    }
    listed = {"name": NAME, "source": {"source": "local", "path": "./codex"}, "category": "Productivity"}
    return {
        "codex/.codex-plugin/plugin.json": _json(manifest),
        "codex/hooks/hooks.json": _json({"description": SAID, "hooks": _hooks("codex")}),
        "codex/.mcp.json": _json({"mcpServers": {NAME: _server("codex")}}),
        ".agents/plugins/marketplace.json": _json({"name": NAME, "plugins": [listed]}),
    }


def _gemini(skill: str) -> dict[str, str]:
    words = skill.split("---\n", 2)[2].lstrip()
    manifest = {
        "name": NAME,
        "version": __version__,
        "description": SAID,
        "contextFileName": "GEMINI.md",
        "mcpServers": {NAME: _server("gemini")},
    }
    return {
        "gemini/gemini-extension.json": _json(manifest),
        "gemini/hooks/hooks.json": _json({"hooks": _hooks("gemini")}),
        "gemini/GEMINI.md": words,
    }


def _hooks(client: str) -> dict[str, Any]:
    setting = client_settings.settings_of(client, "project", NOBODY, os.sep)[0]
    wanted = client_settings.wanted_settings(client, "project", setting, NOBODY)
    return {event: [dict(group)] for event, group in wanted.hooks.items()}


def _server(client: str) -> dict[str, Any]:
    return client_settings.server_entry(client, "project", NOBODY)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def differing(folder: Path = HERE) -> list[str]:
    """The files that are not as they would be written, and those that nobody would write."""
    files = everything()
    there = {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.parts[len(folder.parts)] not in ("source", "build.py", "README.md", "__pycache__")
    }
    wrong = [name for name, text in files.items() if name not in there or (folder / name).read_text() != text]
    return sorted([*wrong, *(there - files.keys())])


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the plugins from one source.")
    parser.add_argument("--check", action="store_true", help="only say what differs")
    if parser.parse_args().check:
        for name in (found := differing()):
            sys.stdout.write(f"{name} is not what build.py makes\n")
        return 1 if found else 0
    for name, text in everything().items():
        path = HERE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
