"""Proofs of approval: the body of an approval event, published beside the approved text.

The event's envelope names its body by a salted hash, and bodies are private: without a proof, another clone
cannot tell which text was approved. A proof is that body with its salt, as a tracked file that can be checked
against the envelope. It is published only together with that text, and `erase` deletes both.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from holdfast.errors import BrokenEntry
from holdfast.git.repo import Repo
from holdfast.model.memory import Memory
from holdfast.patterns import regex
from holdfast.store import layout, markdown_document, memory_files
from holdfast.store.format import MAX_BODY, SALT_BYTES, body_name
from holdfast.values import frozen, grouped, replace

_ID = regex(r"^id:[ \t]*[\"']?([\w.-]+)", re.MULTILINE)


@frozen
class ProvenText:
    """The text of a memory in a tree: a whole file, or one entry of a file that holds several."""

    path: str
    blob: str
    text: str
    whole: bool = False  # a file that holds several

    @property
    def id(self) -> str:
        found = None if self.whole else _ID.search(self.text)
        return found[1] if found else ""

    def parse(self) -> Memory | None:
        """Returns the memory; None if the text cannot be parsed."""
        try:
            return memory_files.parse(self.text, self.path)
        except BrokenEntry:
            return None

    def digest(self) -> str | None:
        """Returns the hash of the memory's content, whatever its layout; None if it cannot be parsed."""
        memory = self.parse()
        return None if memory is None else memory_files.digest(memory)


def texts(repo: Repo, files: Mapping[str, bytes]) -> Iterator[ProvenText]:
    """Yields every memory of the files (path to bytes), and each file of several entries as a whole, too."""
    for path, data in files.items():
        file = ProvenText(path, repo.hash_blob(data), data.decode("utf-8", "replace"))
        if markdown_document.is_single(file.text):
            yield file
        else:
            yield replace(file, whole=True)
            for piece in markdown_document.pieces(file.text):
                yield ProvenText(path, repo.hash_blob(piece.text.encode("utf-8")), piece.text)


def digests(repo: Repo, blobs: Collection[str]) -> dict[str, str]:
    """Returns the content hash of each blob; leaves out what git does not have and what cannot be parsed."""
    files = [ProvenText("", blob, data.decode("utf-8", "replace")) for blob, data in repo.blobs(blobs).items()]
    return {file.blob: digest for file in files if (digest := file.digest())}


def render(stored: bytes) -> bytes:
    """Returns the proof of a body as the private store holds it: its salt in hexadecimal, then its JSON."""
    return stored[:SALT_BYTES].hex().encode("ascii") + b"\n" + stored[SALT_BYTES:] + b"\n"


def read(name: str, data: bytes) -> dict[str, Any] | None:
    """Returns the body in a proof; None if its hash does not match the proof's name."""
    salt, _, rest = data.partition(b"\n")
    try:
        stored = bytes.fromhex(salt.decode("ascii")) + rest.removesuffix(b"\n")
        if len(salt) != 2 * SALT_BYTES or len(rest) > MAX_BODY + 1 or body_name(stored) != name:
            return None
        body = json.loads(stored[SALT_BYTES:])
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def fits(body: Mapping[str, Any], text: ProvenText) -> bool:
    """Returns whether an approval is about this text; differences of layout do not matter."""
    digest = body.get("approves")
    return body.get("blob") == text.blob or (isinstance(digest, str) and digest == text.digest())


def changes(
    repo: Repo,
    *,
    given: Iterable[tuple[str, bytes]],
    touched: Collection[str],
    proved: Mapping[str, str],
    files: Mapping[str, bytes],
) -> dict[str, bytes | None]:
    """Returns the proofs that a commit must add, and those it must delete (None).

    `given` holds the approvals that the commit publishes: memory id and stored body. `files` are the memory files
    after the commit, `touched` the memories whose text it changes, `proved` the proofs of the parent commit (path
    to blob). An approval of an unpublished text gets no proof, because the proof would reveal that text.
    """
    approvals = list(given)
    names = {*touched, *(name for name, _ in approvals)}
    found = grouped((one.id, one) for one in texts(repo, files) if one.id in names)
    result: dict[str, bytes | None] = {}
    old = {path: blob for path, blob in proved.items() if path.split("/")[2] in names}
    data = repo.blobs(old.values())
    for path, blob in old.items():
        name, body = path.split("/")[2], read(path.rpartition("/")[2], data.get(blob, b""))
        if body is None or not any(fits(body, one) for one in found.get(name, ())):
            result[path] = None
    for name, stored in approvals:
        proof, body_id = render(stored), body_name(stored)
        body = read(body_id, proof)
        if body is not None and any(fits(body, one) for one in found.get(name, ())):
            result[layout.proof_path(name, body_id)] = proof
    return result
