"""Our hooks and our server in agents' settings: which file says what, put in and taken out.

What is ours is known by the command alone: it names our launcher, or `holdfast-hook`. Somebody's own groups, handlers
and servers are never touched; a group in which somebody put a handler beside ours loses only ours. The commands, and
the matchers and timeouts in client_settings.txt, are part of what Codex's user approves: a change of any of them
silences that hook until it is approved again. They stay as they are; what happens inside may change.
"""

import json
import os
import re
import shlex
from collections.abc import Mapping
from typing import Any

from holdfast.capture.wiring import config_text
from holdfast.capture.wiring.config_text import ConfigTextEdit, JsonDocument, JsonNode, JsonPart, NotPlain, our_server
from holdfast.capture.wiring.user_homes import FOUND, OTHERWISE, UserHomes, hook_command
from holdfast.patterns import PatternFile, regex, text_beside
from holdfast.values import dict_of, dicts_of, field, frozen

HOOKS, SERVERS, SERVER = "hooks", "mcpServers", "holdfast"
PLACES = (SERVERS, "mcp")  # opencode has its own name for it
MADE = "written by `holdfast connect`"  # stands in each file that is ours alone
_EVENT = r"[a-z]{1,32} [A-Za-z]+"
_PROGRAM = r"""(?:holdfast-hook|['"]?(?:/|[A-Za-z]:)[^\n]*/holdfast/hook['"]?)"""
_OURS = regex(  # the bare command is how earlier versions wrote it, and how a user's own settings have it
    rf"{_PROGRAM} {_EVENT}"
    rf"|command -v (?P<program>{_PROGRAM}) {re.escape(FOUND)}(?P=program) {_EVENT}{re.escape(OTHERWISE)}"
)


@frozen
class WantedSettings:
    """What of ours a settings file says, or must say: a group for each event, and how our server starts."""

    hooks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    server: Mapping[str, Any] | None = None
    place: str = SERVERS

    def whole(self) -> dict[str, Any]:
        """A file that says only this."""
        hooks = {event: [dict(group)] for event, group in self.hooks.items()}
        servers = {SERVER: dict(self.server)} if self.server is not None else {}
        return {key: value for key, value in ((HOOKS, hooks), (self.place, servers)) if value}

    def __bool__(self) -> bool:
        return bool(self.hooks) or self.server is not None


def our_command(command: object) -> bool:
    """Whether a hook's command is ours, in either scope and wherever our data lay then."""
    return isinstance(command, str) and _OURS.fullmatch(command) is not None


def find_ours(text: str) -> WantedSettings:
    """What of ours the file says; NotPlain if it cannot be read."""
    document = config_text.read_json(text)
    hooks: dict[str, Any] = {}
    for event in _events(document):
        for group in event.node.parts:
            if any(map(_is_ours, _handlers(group))):
                hooks.setdefault(event.key or "", group.node.value)
    for place in PLACES:
        server = _server(document, place)
        if server is not None and our_server(server.node.value):
            return WantedSettings(hooks, server.node.value, place)
    return WantedSettings(hooks)


def put_ours(text: str, wanted: WantedSettings) -> list[ConfigTextEdit]:
    """The edits after which the file says what is wanted, and of the rest what it said before."""
    document = config_text.read_json(text)
    new: dict[str, Any] = {}  # members that the whole object lacks
    edits = _put_hooks(document, wanted, new) + _put_server(document, wanted, new)
    if new:
        edits += config_text.add_parts(document, document.root, new.items())
    done = config_text.sparing(document, edits)
    _prove(text, done, wanted)
    return done


def take_ours(text: str) -> list[ConfigTextEdit]:
    """The edits that take all of ours out; what is empty then, and only then, goes with it."""
    document = config_text.read_json(text)
    edits: list[ConfigTextEdit] = []
    gone = [*_empty_hooks(document, edits), *(one for at in PLACES for one in _empty_servers(document, edits, at))]
    edits += config_text.remove_parts(document.root, gone) if gone else []
    edits = config_text.sparing(document, edits)
    _prove(text, edits, WantedSettings())
    return edits


def is_bare(text: str) -> bool:
    """Whether nothing is said in it."""
    return config_text.read_json(text).root.value in ({}, [])


def _put_hooks(document: JsonDocument, wanted: WantedSettings, missing: dict[str, Any]) -> list[ConfigTextEdit]:
    hooks = _container(document.root, HOOKS)
    if hooks is None:
        missing |= {HOOKS: wanted.whole()[HOOKS]} if wanted.hooks else {}
        return []
    edits: list[ConfigTextEdit] = []
    new: dict[str, Any] = {}
    unwanted = [event for event in hooks.parts if event.key not in wanted.hooks]
    for event, group in wanted.hooks.items():
        part = config_text.member(hooks, event)
        if part is None:
            new[event] = [dict(group)]
        elif isinstance(part.node.value, list):
            edits += _put_group(document, part, dict(group))
        else:
            raise NotPlain(f'"{part.key}" is not a list there')
    leaving = [event for event in unwanted if event.node.parts and all(map(_all_ours, event.node.parts))]
    if 0 < len(leaving) < len(hooks.parts):
        edits += config_text.remove_parts(hooks, leaving)
        unwanted = [event for event in unwanted if event not in leaving]
    for part in unwanted:
        edits += _drop_handlers(part)
    return edits + (config_text.add_parts(document, hooks, new.items()) if new else [])


def _put_group(document: JsonDocument, groups: JsonPart, group: Mapping[str, Any]) -> list[ConfigTextEdit]:
    whole = [one for one in groups.node.parts if _all_ours(one)]
    edits = [edit for one in groups.node.parts if not _all_ours(one) for edit in _from_group(one)]
    if not whole:
        return edits + config_text.add_parts(document, groups.node, [(None, group)])
    if whole[0].node.value != group:
        edits.append(config_text.replace_value(document, whole[0], group))
    return edits + (config_text.remove_parts(groups.node, whole[1:]) if whole[1:] else [])


def _put_server(document: JsonDocument, wanted: WantedSettings, missing: dict[str, Any]) -> list[ConfigTextEdit]:
    servers = _container(document.root, wanted.place) if wanted.server is not None else None
    if wanted.server is None or servers is None:
        missing |= {wanted.place: {SERVER: dict(wanted.server)}} if wanted.server is not None else {}
        return []
    there = config_text.member(servers, SERVER)
    if there is None:
        return config_text.add_parts(document, servers, [(SERVER, dict(wanted.server))])
    if not our_server(there.node.value):
        raise NotPlain(f'it has a server "{SERVER}" that is not ours')
    same = there.node.value == wanted.server
    return [] if same else [config_text.replace_value(document, there, dict(wanted.server))]


def _empty_hooks(document: JsonDocument, edits: list[ConfigTextEdit]) -> list[JsonPart]:
    """Take our handlers out; gives `hooks` itself if nothing else is in it."""
    hooks = config_text.member(document.root, HOOKS)
    events = _events(document)
    leaving = [event for event in events if event.node.parts and all(map(_all_ours, event.node.parts))]
    for event in events:
        edits += [] if event in leaving else _drop_handlers(event)
    if not leaving or hooks is None:
        return []
    if len(leaving) == len(hooks.node.parts):
        return [hooks]
    edits += config_text.remove_parts(hooks.node, leaving)
    return []


def _empty_servers(document: JsonDocument, edits: list[ConfigTextEdit], place: str) -> list[JsonPart]:
    servers, ours = config_text.member(document.root, place), _server(document, place)
    if servers is None or ours is None or not our_server(ours.node.value):
        return []
    if len(servers.node.parts) == 1:
        return [servers]
    edits += config_text.remove_parts(servers.node, [ours])
    return []


def _drop_handlers(event: JsonPart) -> list[ConfigTextEdit]:
    if not isinstance(event.node.value, list):
        return []
    whole = [group for group in event.node.parts if _all_ours(group)]
    edits = config_text.remove_parts(event.node, whole) if whole else []
    return edits + [edit for group in event.node.parts if group not in whole for edit in _from_group(group)]


def _from_group(group: JsonPart) -> list[ConfigTextEdit]:
    handlers = config_text.member(group.node, HOOKS) if isinstance(group.node.value, dict) else None
    ours = [part for part in _handlers(group) if _is_ours(part)]
    return config_text.remove_parts(handlers.node, ours) if handlers and ours else []


def _events(document: JsonDocument) -> list[JsonPart]:
    hooks = _container(document.root, HOOKS)
    return [part for part in hooks.parts if isinstance(part.node.value, list)] if hooks else []


def _server(document: JsonDocument, place: str) -> JsonPart | None:
    servers = _container(document.root, place)
    return config_text.member(servers, SERVER) if servers else None


def _container(root: JsonNode, key: str) -> JsonNode | None:
    if not isinstance(root.value, dict):
        raise NotPlain("it is not an object")
    part = config_text.member(root, key)
    if part is not None and not isinstance(part.node.value, dict):
        raise NotPlain(f'"{key}" is not an object there')
    return part.node if part else None


def _handlers(group: JsonPart) -> tuple[JsonPart, ...]:
    part = config_text.member(group.node, HOOKS) if isinstance(group.node.value, dict) else None
    return part.node.parts if part and isinstance(part.node.value, list) else ()


def _all_ours(group: JsonPart) -> bool:
    handlers = _handlers(group)
    return bool(handlers) and all(map(_is_ours, handlers))


def _is_ours(handler: JsonPart) -> bool:
    value = handler.node.value
    return isinstance(value, dict) and our_command(value.get("command"))


def _prove(text: str, edits: list[ConfigTextEdit], wanted: WantedSettings) -> None:
    """Refuse rather than write a file that says anything else than before, but for what is ours."""
    after = config_text.apply_edits(text, edits)
    if config_text.read_json(text).comments != config_text.read_json(after).comments:
        raise NotPlain("it cannot be changed without losing a comment")
    if _without_ours(text) != _without_ours(after) or find_ours(after) != wanted:
        raise NotPlain("it cannot be changed without changing what is not ours")


def _without_ours(text: str) -> Any:
    """What a file says beside what is ours, empty places left out."""
    value = config_text.read_json(text).root.value
    hooks = value.get(HOOKS)
    if isinstance(hooks, dict):
        value[HOOKS] = {event: left for event, groups in hooks.items() if (left := _theirs(groups)) != []}
    for place in PLACES:
        if isinstance(value.get(place), dict) and our_server(value[place].get(SERVER)):
            del value[place][SERVER]
    return {key: inner for key, inner in value.items() if key not in (HOOKS, *PLACES) or inner != {}}


def _theirs(groups: Any) -> Any:
    if not isinstance(groups, list):
        return groups
    kept = []
    for group in groups:
        handlers = group.get(HOOKS) if isinstance(group, dict) else None
        if not isinstance(handlers, list):
            kept.append(group)
            continue
        left = [one for one in handlers if not (isinstance(one, dict) and our_command(one.get("command")))]
        if left or not handlers:
            kept.append({**group, HOOKS: left})
    return kept


TOML, OWN = "toml", "own"
_TABLES = PatternFile(__file__)


@frozen
class ClientHook:
    """One event a client calls us for."""

    event: str  # as the client calls it
    timeout: int
    matcher: str | None = None
    ours: str = ""  # as we call it, if that differs

    @property
    def called(self) -> str:
        return self.ours or self.event


@frozen
class ClientSettingsFile:
    """One settings file of a client, and what of ours belongs into it."""

    path: str  # the whole path
    shown: str
    kind: str  # json or toml; own if it is ours alone
    hooks: bool = False
    server: bool = False
    inside: bool = False  # whether it belongs to the work tree
    comments: bool = False  # whether the client reads JSON with comments
    spare: bool = False  # whether one that is there already will do

    @property
    def what(self) -> str:
        """What of ours stands in it, in words."""
        if self.kind == OWN:
            return "package mark" if self.spare else "hooks"
        return "hooks and MCP server" if self.hooks and self.server else "hooks" if self.hooks else "MCP server"


def hooks_of(client: str) -> list[ClientHook]:
    """The events a client calls us for."""
    rows = (row.split() for row in _TABLES.lines(f"hooks_{client}"))
    found = ((named.partition("="), timeout, matcher) for named, timeout, *matcher in rows)
    return [
        ClientHook(event, int(timeout), next(iter(matcher), None), ours) for (event, _, ours), timeout, matcher in found
    ]


def settings_of(client: str, scope: str, homes: UserHomes, top: str) -> list[ClientSettingsFile]:
    """The files of a client that hold our hooks and our server in this scope; none if it has no such scope."""
    inside, found = scope == "project", []
    for name, *ours in (row.split() for row in _TABLES.lines(f"{scope}_{client}")):
        path = os.path.join(top if inside else homes.folders[client], *name.split("/"))
        shown, kind = name if inside else homes.shown(path), OWN if OWN in ours else name.rpartition(".")[2]
        comments = client in _TABLES.words("comments")
        flags = ("hooks" in ours, "server" in ours, inside, comments, "spare" in ours)
        found.append(ClientSettingsFile(path, shown, kind, *flags))
    return found


def wanted_settings(client: str, scope: str, setting: ClientSettingsFile, homes: UserHomes) -> WantedSettings:
    """What this file must say."""
    hooks = {hook.event: _group(homes, client, scope, hook) for hook in hooks_of(client)} if setting.hooks else {}
    place = "mcp" if client == "opencode" else SERVERS
    return WantedSettings(hooks, server_entry(client, scope, homes) if setting.server else None, place)


def server_entry(client: str, scope: str, homes: UserHomes) -> dict[str, Any]:
    """How a client starts our server; none is configured to use it without asking."""
    command, args = (homes.mcp, []) if scope == "user" else ("holdfast", ["mcp"])
    start: dict[str, Any] = {"command": command, "args": args}
    match client:
        case "codex":
            return {**start, "omit_tools_from": ["deferred"]}  # else no request of the model names the tools
        case "claude":
            return {"type": "stdio", **start}
        case "copilot":
            return {"type": "local", **start, "tools": ["*"]}
        case "opencode":
            return {"type": "local", "command": [command, *args], "enabled": True}
        case "cline":
            return {"transport": {"type": "stdio", **start}}
    return start


def _group(homes: UserHomes, client: str, scope: str, hook: ClientHook) -> dict[str, Any]:
    named = {"name": "holdfast"} if client == "gemini" else {}
    command = hook_command(homes, client, hook.called, scope)
    if client == "kimi":
        return {"event": hook.event, "command": command, "timeout": hook.timeout}
    handlers = [{**named, "type": "command", "command": command, "timeout": hook.timeout}]
    return {"matcher": hook.matcher, "hooks": handlers} if hook.matcher else {"hooks": handlers}


# ── files that are ours alone ────────────────────────────────────────────────────────────────────


def own_text(client: str, scope: str, setting: ClientSettingsFile, homes: UserHomes) -> str:
    """The text of a file that is ours alone."""
    name = os.path.basename(setting.path)
    program = homes.hook if scope == "user" else "holdfast-hook"
    match client, setting.spare:
        case "opencode", True:
            packages = {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}
            lock = {"name": MADE, "lockfileVersion": 3, "requires": True, "packages": packages}
            return config_text.new_json(lock) if name.endswith(".json") else f"{MADE}\n"
        case "copilot", _:
            hooks = {hook.event: [_copilot_hook(homes, scope, hook)] for hook in hooks_of(client)}
            return config_text.new_json({"version": 1, "hooks": hooks})
        case "cline", _:
            called = next(hook.called for hook in hooks_of(client) if hook.event == name)
            return _filled("client_cline.sh", program=shlex.quote(program), event=called)
    tools = {"opencode": ["edit", "write", "patch", "apply_patch", "bash"], "pi": ["edit", "write", "bash"]}[client]
    template, ask = f"client_{client}{os.path.splitext(name)[1]}", text_beside(__file__, "client_ask.js")
    return _filled(template, ask=ask, client=client, command=json.dumps([program]), tools=json.dumps(tools))


def own_mode(client: str) -> int:
    """Cline runs the files in its folder of hooks."""
    return 0o755 if client == "cline" else 0o644


def is_own(data: bytes) -> bool:
    """Whether a file is one of ours: it says so, or it has hooks of ours and no others."""
    text = data.decode("utf-8", "replace")
    if MADE in text:
        return True
    try:
        hooks = dict_of(dict_of(json.loads(text)).get(HOOKS))
    except (ValueError, RecursionError):
        return False
    commands = [handler.get("bash") for handlers in hooks.values() for handler in dicts_of(handlers)]
    return bool(commands) and all(map(our_command, commands))


def _copilot_hook(homes: UserHomes, scope: str, hook: ClientHook) -> dict[str, Any]:
    return {"type": "command", "bash": hook_command(homes, "copilot", hook.called, scope), "timeoutSec": hook.timeout}


def _filled(template: str, **words: str) -> str:
    text = text_beside(__file__, template)
    for name, word in words.items():
        text = text.replace(f"@{name}@", word)
    return text
