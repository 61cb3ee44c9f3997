"""Proofs of approval: the body of a person's yes, published beside the text that it is about.

The envelope of an approval names its body by a salted hash, and bodies are private: another clone could not
tell which text was approved. A proof is that body with its salt, as a tracked file that can be checked
against the envelope. It travels only with the text it is about, and `erase` deletes it with that text.
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
    """The text of a memory in some tree: a whole file, or one entry of a file that holds several."""

    path: str
    blob: str
    text: str
    whole: bool = False  # a file that holds several

    @property
    def id(self) -> str:
        found = None if self.whole else _ID.search(self.text)
        return found[1] if found else ""

    def parse(self) -> Memory | None:
        """The memory; None if the text cannot be read as one."""
        try:
            return memory_files.parse(self.text, self.path)
        except BrokenEntry:
            return None

    def digest(self) -> str | None:
        """The hash of what it says."""
        memory = self.parse()
        return None if memory is None else memory_files.digest(memory)


def texts(repo: Repo, files: Mapping[str, bytes]) -> Iterator[ProvenText]:
    """Every memory of some files, by path and bytes; a file that holds several comes as a whole, too."""
    for path, data in files.items():
        file = ProvenText(path, repo.hash_blob(data), data.decode("utf-8", "replace"))
        if markdown_document.is_single(file.text):
            yield file
        else:
            yield replace(file, whole=True)
            for piece in markdown_document.pieces(file.text):
                yield ProvenText(path, repo.hash_blob(piece.text.encode("utf-8")), piece.text)


def digests(repo: Repo, blobs: Collection[str]) -> dict[str, str]:
    """The hash of what each of these files says, as far as git has them and they can be read."""
    files = [ProvenText("", blob, data.decode("utf-8", "replace")) for blob, data in repo.blobs(blobs).items()]
    return {file.blob: said for file in files if (said := file.digest())}


def render(stored: bytes) -> bytes:
    """The proof of a body as the private store holds it: its salt in hexadecimal, then its JSON."""
    return stored[:SALT_BYTES].hex().encode("ascii") + b"\n" + stored[SALT_BYTES:] + b"\n"


def read(name: str, data: bytes) -> dict[str, Any] | None:
    """The body that a proof of this name holds; None if it is not the one that the name commits to."""
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
    """Whether an approval is about this very text; its layout does not matter."""
    said = body.get("approves")
    return body.get("blob") == text.blob or (isinstance(said, str) and said == text.digest())


def changes(
    repo: Repo,
    *,
    given: Iterable[tuple[str, bytes]],
    touched: Collection[str],
    proved: Mapping[str, str],
    files: Mapping[str, bytes],
) -> dict[str, bytes | None]:
    """The proofs that a commit has to bring, and those (None) that it has to take away.

    `given` are approvals that it publishes: the memory and the stored body. `files` are the memory files as
    they will be, `touched` the memories whose text it changes, `proved` the proofs of the commit before by
    path and blob. An approval of a text that is not published has no proof: nobody may learn of that text.
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
