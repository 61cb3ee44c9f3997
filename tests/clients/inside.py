"""Run one client and the scripted model in a network that has loopback and nothing else.

    unshare --net python -m tests.clients.inside SPEC.json

Started by `Client.start`, which writes the file and reads what is added to it. No client here can reach
anybody: the namespace has no way out, the environment holds no key, and HOME is a folder of the test's own.
"""

import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.clients.model import Model, serve

PORT = 8765
_SIOCSIFFLAGS, _UP_AND_RUNNING = 0x8914, 0x1 | 0x40
_SET_CHILD_SUBREAPER = 36


def main(file: Path) -> int:
    spec = json.loads(file.read_text())
    _loopback_up()
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1)  # what the client leaves in the background becomes our child
    model = Model(spec["script"], spec["prompt"])
    serve(model, PORT)
    with open(spec["out"], "wb") as out:
        client = subprocess.Popen(
            spec["argv"],
            cwd=spec["cwd"],
            env=spec["env"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code = _killed(client, model, spec) if spec["kill"] else _waited(client, spec)
    _left_behind(spec)
    if spec["whole"]:
        _wait_for_all(spec["timeout"])
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    spec |= {"code": code, "asked": model.asked, "cpu": used.ru_utime + used.ru_stime}
    file.write_text(json.dumps(spec))
    return 0


def _waited(client: subprocess.Popen[bytes], spec: dict[str, float]) -> int:
    try:
        return client.wait(spec["timeout"])
    except subprocess.TimeoutExpired:
        os.killpg(client.pid, signal.SIGKILL)
        return -signal.SIGALRM


def _killed(client: subprocess.Popen[bytes], model: Model, spec: dict[str, float]) -> int:
    """Let the client come to the step that never ends, and kill it with all it started, like a power cut."""
    arrived = model.hanging.wait(spec["timeout"])
    time.sleep(1)  # what it writes behind its own back
    os.killpg(client.pid, signal.SIGKILL)
    client.wait()
    return -signal.SIGKILL if arrived else -signal.SIGALRM


def _wait_for_all(seconds: float) -> None:
    """Wait for what works in the background, such as our readers: its time is part of the session's."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            time.sleep(0.05)


def _left_behind(spec: dict[str, Any]) -> None:
    """End what a client leaves running, by its home: Cline starts a daemon. Our own readers go on."""
    home = f"HOME={spec['env']['HOME']}".encode()
    for running in Path("/proc").glob("[0-9]*"):
        try:
            ours = home in (running / "environ").read_bytes().split(b"\0")
            if ours and b"cline" in (running / "cmdline").read_bytes().split(b"\0")[0]:
                os.kill(int(running.name), signal.SIGKILL)
        except OSError:
            pass  # it ended by itself


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug:
        fcntl.ioctl(plug, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _UP_AND_RUNNING))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
