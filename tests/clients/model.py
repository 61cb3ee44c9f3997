"""A model that says what a script tells it, in the four ways that agents ask: OpenAI (two), Anthropic and Google.

A script is a list of steps; each request of the main conversation gets the next. A step is

    {"text": "…"}                                 an answer
    {"calls": [{"name": "Bash", "args": {…}}]}    tool calls, by the names the client offers
    {"hang": true}                                no answer, ever: for a client that is to be killed
    {…, "helper": true}                           for a sub-agent: who was not asked what the client was asked

Requests that clients make beside the conversation (titles, routing) get a short answer and no step. Every
request is kept, so that a test can look at what truly reached the model.
"""

import itertools
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = dict[str, Any]
Event = tuple[str | None, dict[str, Any]]
DONE: Step = {"text": "There is nothing more to do."}
# Gemini CLI asks which model to take; others ask for a title, and take anything.
BESIDE = {"complexity_reasoning": "none", "complexity_score": 1, "reasoning": "none", "model_choice": "flash"}


class Model:
    """What was asked so far, and what is said next."""

    def __init__(self, script: Sequence[Step], prompt: str = "") -> None:
        self._script, self._prompt = list(script), json.dumps(prompt)[1:-1]
        self._names, self._own = itertools.count(1), secrets.token_hex(6)
        self._lock = threading.Lock()
        self.asked: list[dict[str, Any]] = []
        self.hanging = threading.Event()

    def next_step(self, path: str, body: dict[str, Any], *, main: bool) -> Step:
        with self._lock:
            self.asked.append({"path": path, "main": main, "body": body})
            if not main:
                return {"text": json.dumps(BESIDE)}
            helper = self._prompt not in json.dumps(body)
            at = next((n for n, one in enumerate(self._script) if one.get("helper", False) is helper), None)
            step = DONE if at is None else self._script.pop(at)
        if step.get("hang"):
            self.hanging.set()
            time.sleep(3600)
        return step

    def name(self, prefix: str) -> str:
        """A name that no model ever gave before: by its name a step is known wherever its transcript goes."""
        return f"{prefix}_{self._own}{next(self._names):04}"


def openai(model: Model, step: Step) -> Iterator[Event]:
    """A stream of /v1/responses."""
    answer = {"id": model.name("resp"), "object": "response", "status": "in_progress", "output": []}
    yield "response.created", {"type": "response.created", "response": answer}
    items: list[dict[str, Any]] = []
    if step.get("text"):
        content = [{"type": "output_text", "text": step["text"], "annotations": []}]
        items.append({"type": "message", "id": model.name("msg"), "role": "assistant", "content": content})
    for call in step.get("calls", ()):
        words = {"name": call["name"], "arguments": json.dumps(call["args"]), "call_id": model.name("call")}
        words |= {"namespace": call["namespace"]} if "namespace" in call else {}
        items.append({"type": "function_call", "id": model.name("fc"), **words})
    for index, item in enumerate(items):
        yield ("response.output_item.done", {"type": "response.output_item.done", "output_index": index, "item": item})
    used = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    whole = {**answer, "status": "completed", "output": items, "usage": used}
    yield "response.completed", {"type": "response.completed", "response": whole}


def chat(model: Model, step: Step) -> Iterator[Event]:
    """A stream of /v1/chat/completions."""
    calls = [
        {
            "index": n,
            "id": model.name("call"),
            "type": "function",
            "function": {"name": one["name"], "arguments": json.dumps(one["args"])},
        }
        for n, one in enumerate(step.get("calls", ()))
    ]
    head = {
        "id": model.name("chatcmpl"),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": "scripted",
    }
    delta = {"role": "assistant", "content": step.get("text") or None, **({"tool_calls": calls} if calls else {})}
    used = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    why = "tool_calls" if calls else "stop"
    yield None, {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield None, {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": why}]}
    yield None, {**head, "choices": [], "usage": used}


def anthropic(model: Model, step: Step) -> Iterator[Event]:
    """A stream of /v1/messages."""
    blocks: list[tuple[dict[str, Any], dict[str, Any]]] = []
    if step.get("text"):
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": step["text"]}))
    for call in step.get("calls", ()):
        head = {"type": "tool_use", "id": model.name("toolu"), "name": call["name"], "input": {}}
        blocks.append((head, {"type": "input_json_delta", "partial_json": json.dumps(call["args"])}))
    used = {"input_tokens": 10, "output_tokens": 1}
    head = {"id": model.name("msg"), "type": "message", "role": "assistant", "model": "scripted", "content": []}
    begun = {**head, "stop_reason": None, "stop_sequence": None, "usage": used}
    yield "message_start", {"type": "message_start", "message": begun}
    for index, (block, delta) in enumerate(blocks):
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": block}
        yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    why = {"stop_reason": "tool_use" if step.get("calls") else "end_turn", "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": why, "usage": {"output_tokens": 5}}
    yield "message_stop", {"type": "message_stop"}


def google(model: Model, step: Step) -> Iterator[Event]:
    """A stream of models/…:streamGenerateContent; the one part is also the answer of :generateContent."""
    parts: list[dict[str, Any]] = [{"text": step["text"]}] if step.get("text") else []
    for call in step.get("calls", ()):
        parts.append({"functionCall": {"id": model.name("call"), "name": call["name"], "args": call["args"]}})
    used = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    said = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    yield None, {"candidates": [said], "usageMetadata": used, "modelVersion": "scripted"}


def wire_of(path: str, body: dict[str, Any]) -> tuple[Callable[[Model, Step], Iterator[Event]] | None, bool]:
    """Who asks, and whether this is the conversation itself: only that offers tools."""
    if path.endswith("/responses"):
        return openai, True
    if path.endswith("/chat/completions"):
        return chat, bool(body.get("tools"))
    if path.endswith("/messages"):
        return anthropic, bool(body.get("tools"))
    if "generateContent" in path or "GenerateContent" in path:
        return google, bool(body.get("tools"))
    return None, False


def serve(model: Model, port: int) -> ThreadingHTTPServer:
    """Answer on loopback until the process ends."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
            pass

        def do_GET(self) -> None:
            self._send(404, b"{}", "application/json")

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = json.loads(data or b"{}")
            path = self.path.partition("?")[0]
            wire, main = wire_of(path, body)
            if wire is None:
                self._send(404, b"{}", "application/json")
                return
            events = list(wire(model, model.next_step(path, body, main=main)))
            streams = body.get("stream") or "streamGenerateContent" in path
            if streams:
                done = b"data: [DONE]\n\n" if wire is chat else b""
                self._send(200, b"".join(map(_spelled, events)) + done, "text/event-stream")
            else:
                self._send(200, json.dumps(_whole(wire, events)).encode(), "application/json")

        def _send(self, status: int, data: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def _spelled(event: Event) -> bytes:
    name, data = event
    return (f"event: {name}\n" if name else "").encode() + b"data: " + json.dumps(data).encode() + b"\n\n"


def _whole(wire: object, events: list[Event]) -> dict[str, Any]:
    """The answer to a request that asks for no stream."""
    if wire is chat:
        said, ended = events[0][1]["choices"][0]["delta"], events[1][1]["choices"][0]
        choice = {"index": 0, "message": said, "finish_reason": ended["finish_reason"]}
        return {**events[0][1], "object": "chat.completion", "choices": [choice], "usage": events[2][1]["usage"]}
    if wire is not anthropic:
        return events[-1][1]
    text = "".join(data["delta"].get("text", "") for name, data in events if name == "content_block_delta")
    head = dict(events[0][1]["message"])
    return {**head, "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
