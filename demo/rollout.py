"""A short session as Codex would have kept it, made up for the demo."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

THREAD = "019c0000-0000-7000-8000-0000000000d3"
WROTE = ("def total(cents: list[int]) -> int:", "    return sum(cents)")
PATCH = "\n".join(("*** Begin Patch", "*** Add File: checkout.py", *(f"+{row}" for row in WROTE), "*** End Patch", ""))


def write(home: Path, repository: Path, *, ago: timedelta = timedelta(hours=2)) -> None:
    """Put the session where Codex keeps them, and what it wrote into the repository."""
    (repository / "checkout.py").write_text("\n".join((*WROTE, "")), encoding="utf-8")
    began = datetime.now(UTC) - ago
    folder = home / ".codex" / "sessions" / began.strftime("%Y/%m/%d")
    folder.mkdir(parents=True)
    rows = [
        ("session_meta", {"id": THREAD, "cwd": str(repository), "cli_version": "0.104.0", "source": "cli"}),
        *_said("user", "Add up the prices at the checkout. Never use floats for money."),
        *_ran("call_1", "pytest -q", 1, "E   ModuleNotFoundError: No module named 'checkout'\n1 failed"),
        _item({"type": "custom_tool_call", "name": "apply_patch", "input": PATCH, "call_id": "call_2"}),
        _item({"type": "custom_tool_call_output", "call_id": "call_2", "output": "Success."}),
        *_ran("call_3", "pytest -q", 0, "3 passed in 0.1s"),
        *_said("assistant", "Done, in whole cents. We decided to round once, at the end of an order."),
    ]
    lines = []
    for number, (kind, payload) in enumerate(rows):
        ts = (began + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        payload = {"timestamp": ts, "originator": "codex_cli_rs", **payload} if not number else payload
        lines.append(json.dumps({"timestamp": ts, "type": kind, "payload": payload}, separators=(",", ":")))
    name = f"rollout-{began:%Y-%m-%dT%H-%M-%S}-{THREAD}.jsonl"
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _item(payload: dict[str, object]) -> tuple[str, dict[str, object]]:
    return "response_item", payload


def _said(role: str, text: str) -> list[tuple[str, dict[str, object]]]:
    kind = "input_text" if role == "user" else "output_text"
    return [_item({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})]


def _ran(call: str, command: str, code: int, output: str) -> list[tuple[str, dict[str, object]]]:
    told = f"Chunk ID: aa\nWall time: 0.4 seconds\nProcess exited with code {code}\nOutput:\n{output}\n"
    arguments = json.dumps({"cmd": command})
    return [
        _item({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call}),
        _item({"type": "function_call_output", "call_id": call, "output": told}),
    ]
