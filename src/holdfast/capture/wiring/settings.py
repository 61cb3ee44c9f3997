"""Our hooks and our server in a settings file of JSON: what must be there, put in and taken out by its spans.

What is ours is told by the command alone: it names our launcher, or `holdfast-hook`. Somebody's own groups,
handlers and servers are never touched; a group in which somebody put a handler beside ours loses only ours.
"""

import re
from collections.abc import Mapping
from typing import Any

from holdfast.capture.wiring import json_text
from holdfast.capture.wiring.homes import FINDING, OTHERWISE
from holdfast.capture.wiring.json_text import Document, Edit, Node, NotPlain, Part
from holdfast.patterns import regex
from holdfast.values import field, frozen

HOOKS, SERVERS, SERVER = "hooks", "mcpServers", "holdfast"
_EVENT = r"(?:codex|claude|gemini) [A-Za-z]+"
_OURS = regex(  # the bare command is how earlier versions wrote it
    rf"""(?:holdfast-hook|['"]?(?:/|[A-Za-z]:).*/holdfast/hook['"]?) {_EVENT}"""
    rf"|{re.escape(FINDING)}holdfast-hook {_EVENT}{re.escape(OTHERWISE)}"
)
_SERVER = regex(r"(?:holdfast|(?:/|[A-Za-z]:).*/holdfast/mcp)")


@frozen
class Wanted:
    """What a settings file must say: a group for each event, and how our server starts."""

    hooks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    server: Mapping[str, Any] | None = None

    def whole(self) -> dict[str, Any]:
        """A file that says only this."""
        found: dict[str, Any] = {}
        if self.hooks:
            found[HOOKS] = {event: [dict(group)] for event, group in self.hooks.items()}
        if self.server is not None:
            found[SERVERS] = {SERVER: dict(self.server)}
        return found


@frozen
class Ours:
    """What of ours a settings file says."""

    hooks: Mapping[str, Any]  # an event: our group as it stands there
    server: Mapping[str, Any] | None

    def __bool__(self) -> bool:
        return bool(self.hooks) or self.server is not None


def our_command(command: object) -> bool:
    """Whether a hook's command is ours, in either scope and wherever our data lay then."""
    return isinstance(command, str) and _OURS.fullmatch(command) is not None


def our_server(entry: object) -> bool:
    """Whether a server of our name is ours too."""
    return isinstance(entry, dict) and _SERVER.fullmatch(str(entry.get("command", ""))) is not None


def found(text: str) -> Ours:
    """What of ours the file says; NotPlain if it cannot be read."""
    document = json_text.read(text)
    hooks: dict[str, Any] = {}
    for event in _events(document):
        for group in event.node.parts:
            if any(map(_is_ours, _handlers(group))):
                hooks.setdefault(event.key or "", group.node.value)
    server = _server(document)
    return Ours(hooks, server.node.value if server and our_server(server.node.value) else None)


def put(text: str, wanted: Wanted) -> list[Edit]:
    """The edits after which the file says what is wanted, and of the rest what it said before."""
    document = json_text.read(text)
    edits = _put_hooks(document, wanted) + _put_server(document, wanted)
    top = [edit for edit in edits if isinstance(edit, dict)]
    done = [edit for edit in edits if isinstance(edit, Edit)]
    if top:
        members = {key: value for one in top for key, value in one.items()}
        done += json_text.add_members(document, document.root, members)
    done = json_text.sparing(document, done)
    _prove(text, done, wanted)
    return done


def take(text: str) -> list[Edit]:
    """The edits that take all of ours out; what is empty then, and only then, goes with it."""
    document = json_text.read(text)
    edits: list[Edit] = []
    gone = [*_empty_hooks(document, edits), *_empty_servers(document, edits)]
    edits += json_text.remove(document.root, gone) if gone else []
    edits = json_text.sparing(document, edits)
    _prove(text, edits, Wanted())
    return edits


def empty(text: str) -> bool:
    """Whether nothing is said in it."""
    return json_text.read(text).root.value in ({}, [])


def _put_hooks(document: Document, wanted: Wanted) -> list[Any]:
    hooks = _container(document.root, HOOKS, dict)
    if hooks is None:
        return [{HOOKS: wanted.whole()[HOOKS]}] if wanted.hooks else []
    edits, new = [], {}
    unwanted = [event for event in hooks.parts if event.key not in wanted.hooks]
    for event, group in wanted.hooks.items():
        part = json_text.member(hooks, event)
        if part is None:
            new[event] = [dict(group)]
        else:
            edits += _put_group(document, _array(part), dict(group))
    leaving = [event for event in unwanted if event.node.parts and all(map(_all_ours, event.node.parts))]
    if 0 < len(leaving) < len(hooks.parts):
        edits += json_text.remove(hooks, leaving)
        unwanted = [event for event in unwanted if event not in leaving]
    for part in unwanted:
        edits += _drop_handlers(part)
    if new:
        edits += json_text.add_members(document, hooks, new)
    return edits


def _put_group(document: Document, groups: Part, group: Mapping[str, Any]) -> list[Edit]:
    whole = [one for one in groups.node.parts if _all_ours(one)]
    edits = [edit for one in groups.node.parts if not _all_ours(one) for edit in _from_group(one)]
    if not whole:
        return edits + json_text.add_items(document, groups.node, [group])
    if whole[0].node.value != group:
        edits.append(json_text.replace(document, whole[0], group))
    return edits + (json_text.remove(groups.node, whole[1:]) if whole[1:] else [])


def _put_server(document: Document, wanted: Wanted) -> list[Any]:
    if wanted.server is None:
        return []
    servers = _container(document.root, SERVERS, dict)
    if servers is None:
        return [{SERVERS: {SERVER: dict(wanted.server)}}]
    there = json_text.member(servers, SERVER)
    if there is None:
        return list(json_text.add_members(document, servers, {SERVER: dict(wanted.server)}))
    if not our_server(there.node.value):
        raise NotPlain(f'it has a server "{SERVER}" that is not ours')
    return [] if there.node.value == wanted.server else [json_text.replace(document, there, dict(wanted.server))]


def _empty_hooks(document: Document, edits: list[Edit]) -> list[Part]:
    """Take our handlers out; gives `hooks` itself if nothing else is in it."""
    hooks = json_text.member(document.root, HOOKS)
    events = _events(document)
    leaving = [event for event in events if event.node.parts and all(map(_all_ours, event.node.parts))]
    for event in events:
        edits += [] if event in leaving else _drop_handlers(event)
    if not leaving or hooks is None:
        return []
    if len(leaving) == len(hooks.node.parts):
        return [hooks]
    edits += json_text.remove(hooks.node, leaving)
    return []


def _empty_servers(document: Document, edits: list[Edit]) -> list[Part]:
    servers, ours = json_text.member(document.root, SERVERS), _server(document)
    if servers is None or ours is None or not our_server(ours.node.value):
        return []
    if len(servers.node.parts) == 1:
        return [servers]
    edits += json_text.remove(servers.node, [ours])
    return []


def _drop_handlers(event: Part) -> list[Edit]:
    if not isinstance(event.node.value, list):
        return []
    whole = [group for group in event.node.parts if _all_ours(group)]
    edits = json_text.remove(event.node, whole) if whole else []
    return edits + [edit for group in event.node.parts if group not in whole for edit in _from_group(group)]


def _from_group(group: Part) -> list[Edit]:
    handlers = json_text.member(group.node, HOOKS) if isinstance(group.node.value, dict) else None
    ours = [part for part in _handlers(group) if _is_ours(part)]
    return json_text.remove(handlers.node, ours) if handlers and ours else []


def _events(document: Document) -> list[Part]:
    hooks = _container(document.root, HOOKS, dict)
    return [part for part in hooks.parts if isinstance(part.node.value, list)] if hooks else []


def _server(document: Document) -> Part | None:
    servers = _container(document.root, SERVERS, dict)
    return json_text.member(servers, SERVER) if servers else None


def _container(root: Node, key: str, kind: type) -> Node | None:
    if not isinstance(root.value, dict):
        raise NotPlain("it is not an object")
    part = json_text.member(root, key)
    if part is not None and not isinstance(part.node.value, kind):
        raise NotPlain(f'"{key}" is not an object there')
    return part.node if part else None


def _array(part: Part) -> Part:
    if not isinstance(part.node.value, list):
        raise NotPlain(f'"{part.key}" is not a list there')
    return part


def _handlers(group: Part) -> tuple[Part, ...]:
    part = json_text.member(group.node, HOOKS) if isinstance(group.node.value, dict) else None
    return part.node.parts if part and isinstance(part.node.value, list) else ()


def _all_ours(group: Part) -> bool:
    handlers = _handlers(group)
    return bool(handlers) and all(map(_is_ours, handlers))


def _is_ours(handler: Part) -> bool:
    value = handler.node.value
    return isinstance(value, dict) and our_command(value.get("command"))


def _prove(text: str, edits: list[Edit], wanted: Wanted) -> None:
    """Refuse rather than write a file that says anything else than before, but for what is ours."""
    after = json_text.apply(text, edits)
    if json_text.read(text).comments != json_text.read(after).comments:
        raise NotPlain("it cannot be changed without losing a comment")
    theirs, now = _without_ours(text), _without_ours(after)
    ours = found(after)
    if theirs != now or dict(ours.hooks) != dict(wanted.hooks) or ours.server != wanted.server:
        raise NotPlain("it cannot be changed without changing what is not ours")


def _without_ours(text: str) -> Any:
    """What a file says beside what is ours, empty places left out."""
    value = json_text.read(text).root.value
    hooks = value.get(HOOKS)
    if isinstance(hooks, dict):
        value[HOOKS] = {event: _theirs(groups) for event, groups in hooks.items()}
        value[HOOKS] = {event: groups for event, groups in value[HOOKS].items() if groups != []}
    if isinstance(value.get(SERVERS), dict) and our_server(value[SERVERS].get(SERVER)):
        del value[SERVERS][SERVER]
    return {key: inner for key, inner in value.items() if key not in (HOOKS, SERVERS) or inner != {}}


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
