"""What a client's user allowed, and what is left for them to do: read where the client keeps it, never written.

Codex runs a hook only after its user approved this very definition in `/hooks`; it keeps a hash of the definition in
config.toml. Gemini CLI reads a project's settings only in folders its user trusts. Nothing is approved for anybody.
"""

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.capture.wiring import client_settings, config_text, connect_client, connection_record
from holdfast.capture.wiring.user_homes import UserHomes
from holdfast.errors import TooLarge, UnsafePath
from holdfast.store import fsio
from holdfast.values import dict_of, dicts_of, list_of

LIMIT = 1 << 22  # bytes; a guess: settings are far smaller
_SESSION_END = 1  # seconds a hook has there unless it says more
_USUAL = 600  # seconds that Codex waits for a hook unless told otherwise


def unapproved(hooks_file: str, homes: UserHomes) -> tuple[str, ...]:
    """The events whose hook of ours in this file Codex's user has not approved as it stands now."""
    kept = _toml(os.path.join(homes.folders["codex"], "config.toml"))
    approved = dict_of(dict_of(kept.get("hooks")).get("state"))
    waiting = []
    for event, index, group in _groups(hooks_file):
        for number, handler in enumerate(group["hooks"]):
            if not client_settings.our_command(handler.get("command")):
                continue  # whatever its words are: some cannot even be hashed
            given = dict_of(approved.get(f"{hooks_file}:{_label(event)}:{index}:{number}"))
            if given.get("trusted_hash") != fingerprint(event, group, handler) or given.get("enabled") is False:
                waiting.append(event)
    return tuple(waiting)


def fingerprint(event: str, group: Mapping[str, Any], handler: Mapping[str, Any]) -> str:
    """The hash by which Codex knows one hook: event, matcher, command, timeout."""
    timeout = handler.get("timeout", _SESSION_END if event == "SessionEnd" else _USUAL)
    known = {"type": "command", "command": handler.get("command"), "timeout": timeout}
    said: dict[str, Any] = {"event_name": _label(event), "hooks": [{**known, "async": bool(handler.get("async"))}]}
    if group.get("matcher") is not None:
        said["matcher"] = group["matcher"]
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def gemini_trusts(top: str, homes: UserHomes) -> bool:
    """Whether Gemini CLI's user trusts this folder or one above it."""
    given = _json(os.path.join(homes.folders["gemini"], "trustedFolders.json"))
    here = os.path.realpath(top)
    if given.get(here) == "DO_NOT_TRUST":
        return False
    for folder, word in given.items():
        trusted = os.path.dirname(folder) if word == "TRUST_PARENT" else folder
        if word in ("TRUST_FOLDER", "TRUST_PARENT") and (here + os.sep).startswith(trusted.rstrip(os.sep) + os.sep):
            return True
    return False


def trusts(client: str, top: str, homes: UserHomes) -> bool:
    """Whether a client's user trusts this folder, so that it reads what the repository says of hooks."""
    folder, here = homes.folders[client], os.path.realpath(top)
    if client == "gemini":
        return gemini_trusts(top, homes)
    if client == "copilot":
        return here in list_of(_json(os.path.join(folder, "config.json")).get("trustedFolders"))
    said = _json(os.path.join(folder, "trust.json"))  # pi's: the nearest folder that is named decides
    named = [at for at in said if (here + os.sep).startswith(at.rstrip(os.sep) + os.sep)]
    return bool(named) and said[max(named, key=len)] is True


TRUSTING = {  # clients that read a repository's hooks only where their user trusts it, and how that is said
    "gemini": "Gemini CLI reads .gemini/settings.json only in a folder you trust: /permissions trust",
    "copilot": "Copilot CLI passes over .github/hooks without a word until you trust the folder: start copilot here",
    "pi": "pi passes over .pi/extensions without a word until you trust the project: start pi here",
}


def switched_off(client: str, homes: UserHomes) -> str | None:
    """The setting by which its user switched all hooks off, in words; None if they are on."""
    folder = homes.folders[client]
    if client not in ("codex", "claude", "gemini"):  # of the others no such setting is known
        return None
    if client == "codex":
        features = dict_of(_toml(os.path.join(folder, "config.toml")).get("features"))
        return "[features] hooks = false in config.toml" if features.get("hooks") is False else None
    said = _json(os.path.join(folder, "settings.json"))
    if client == "claude":
        return '"disableAllHooks" in settings.json' if said.get("disableAllHooks") is True else None
    return '"hooksConfig" in settings.json' if dict_of(said.get("hooksConfig")).get("enabled") is False else None


def in_two_files(homes: UserHomes) -> bool:
    """Whether Codex's user keeps hooks in config.toml: beside hooks.json it warns, and runs both."""
    hooks = _toml(os.path.join(homes.folders["codex"], "config.toml")).get("hooks")
    return bool(dict_of(hooks).keys() - {"state"})


def _groups(path: str) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    for event, groups in dict_of(_json(path).get("hooks")).items():
        for index, group in enumerate(list_of(groups)):
            if isinstance(group, dict) and isinstance(group.get("hooks"), list):
                yield (event, index, {**group, "hooks": dicts_of(group["hooks"])})


def _toml(path: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(fsio.read(path, limit=LIMIT).decode().removeprefix(config_text.BOM))
    except (OSError, ValueError, TooLarge, UnsafePath):
        return {}


def _json(path: str) -> Mapping[str, Any]:
    try:
        return dict_of(config_text.read_json(fsio.read(path, limit=LIMIT).decode()).root.value)
    except (OSError, ValueError, TooLarge, UnsafePath):
        return {}


def _label(event: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", event).lower()


OPENCODE_NOTE = (
    "opencode would wait for npm beside our plug-in, so a package-lock.json says that nothing is missing; "
    "for a plug-in of your own, run `npm install @opencode-ai/plugin` in that folder"
)
CODEX_NOTE = "Codex keeps new hooks silent until you approve them: start codex here, type /hooks and trust ours"


def steps_left(client: str, scope: str, homes: UserHomes, top: str) -> list[str]:
    """What is left to do for this client, in the order in which to do it."""
    off = switched_off(client, homes)
    notes = [f"{client} has all hooks switched off ({off}); ours are silent until they are on"] if off else []
    match client, scope:
        case "codex", _:
            notes += [CODEX_NOTE] if events_to_approve("codex", scope, homes, top) else []
            if scope == "project":
                notes.append("Codex reads .codex/ only in a project you trust; it asks when it starts there")
            elif in_two_files(homes):
                notes.append("Codex warns of hooks in config.toml and in hooks.json; it runs both")
        case "claude", "project":
            notes.append("Claude Code asks once whether to start the server of .mcp.json")
        case "claude", _ if not homes.programs.get("claude"):  # else its own command said what did not work
            if by_hand := server_command("claude", scope, homes):
                notes.append(f"claude is not on your PATH; to add the MCP server, run: {by_hand}")
        case _, "project" if client in TRUSTING and not trusts(client, top, homes):
            notes.append(TRUSTING[client])
        case "opencode", _:
            notes.append(OPENCODE_NOTE)
    return notes


def events_to_approve(client: str, scope: str, homes: UserHomes, top: str) -> tuple[str, ...] | None:
    """The events that wait for an approval; None where a client asks for none."""
    if client == "codex":
        file = client_settings.settings_of(client, scope, homes, top)[0].path
        return unapproved(os.path.abspath(file), homes)
    if client in TRUSTING and scope == "project":
        waiting = tuple(hook.event for hook in client_settings.hooks_of(client)) or ("all",)
        return () if trusts(client, top, homes) else waiting
    return None


def server_command(client: str, scope: str, homes: UserHomes) -> str | None:
    """The command that adds our MCP server to a client that keeps it beside its credentials; None if done.

    We never look there: what counts is whether the client's own command was run for us.
    """
    if client != "claude" or scope != "user" or client in connection_record.load(homes.record).told:
        return None
    return "holdfast connect claude" if homes.programs.get(client) else connect_client.add_by_hand(homes)
