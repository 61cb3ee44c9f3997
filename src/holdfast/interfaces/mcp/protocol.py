"""The wire of MCP: JSON-RPC 2.0 messages read from hostile lines, and what each version of it knows.

Standard library only, and of that only json: this is loaded before a client has said hello.
"""

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # oldest first
NEWEST = VERSIONS[-1]
BATCHES = VERSIONS[:2]  # what came later has no arrays of messages
ANNOTATED, STRUCTURED = VERSIONS[1], VERSIONS[2]  # since when tools are described so, and results may be
MAX_LINE = 1 << 20  # bytes; a guess: a request is far smaller
MAX_BATCH = 100  # a guess: bounds the work of one message

PARSE, REQUEST, METHOD, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
NO_RESOURCE, BUSY = -32002, -32000


class Refused(Exception):
    """A message that gets an error instead of a result."""

    def __init__(self, code: int, message: str, data: "Any" = None) -> None:
        super().__init__(message)
        self.code, self.data = code, data


def read(line: bytes) -> "Any":
    """The value on a line; Refused if it is no JSON, or JSON that nobody means well with."""
    if len(line) > MAX_LINE:
        raise Refused(REQUEST, f"a message may have {MAX_LINE:,} bytes, and this one has more")
    try:
        return json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except RecursionError:
        raise Refused(PARSE, "this JSON is nested too deeply") from None
    except ValueError as error:  # JSONDecodeError and UnicodeDecodeError are such, and so is a giant number
        raise Refused(PARSE, f"this is not JSON: {str(error)[:120]}") from None


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def written(message: "Any") -> bytes:
    """A message as a line; what is no ASCII is escaped, so no character can break or steer it."""
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


def is_request_id(value: "Any") -> bool:
    """Whether something may name a request: a text or a whole number."""
    return (isinstance(value, str) and len(value) <= 1024) or (isinstance(value, int) and not isinstance(value, bool))


def is_answer(message: "Any") -> bool:
    """Whether a message answers one of our own requests."""
    return isinstance(message, dict) and "method" not in message and ("result" in message or "error" in message)


def check(message: "Any") -> tuple[str, "dict[str, Any]"]:
    """The method and the params of a request or notification; Refused if it is neither."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Refused(REQUEST, 'a message is an object with "jsonrpc": "2.0"')
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str):
        raise Refused(REQUEST, "a request names its method")
    if "id" in message and not is_request_id(message["id"]):
        raise Refused(REQUEST, "a request's id is a text or a whole number")
    if not isinstance(params, dict):
        raise Refused(PARAMS, "params is an object")
    return method, params


def result(identity: "Any", value: "Any") -> "dict[str, Any]":
    return {"jsonrpc": "2.0", "id": identity, "result": value}


def error(identity: "Any", refused: Refused) -> "dict[str, Any]":
    said: dict[str, Any] = {"code": refused.code, "message": str(refused)}
    if refused.data is not None:
        said["data"] = refused.data
    return {"jsonrpc": "2.0", "id": identity, "error": said}


def negotiated(asked: "Any") -> str:
    """The version to speak: the one asked for if we know it, else the newest we know."""
    if not isinstance(asked, str):
        raise Refused(PARAMS, "initialize names a protocolVersion", {"supported": list(VERSIONS)})
    return asked if asked in VERSIONS else NEWEST
