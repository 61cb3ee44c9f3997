"""Splits entry files: each entry of a file that holds several is treated as if it had its own file.

An entry's blob is the hash of its own text, so that editing another entry does not undo its approval;
and only entries that differ from HEAD count as edited by hand. A file's only entry is the whole file.
"""

from collections.abc import Iterable, Iterator

from holdfast.errors import BrokenEntry
from holdfast.git.repo import Repo
from holdfast.git.visible_entries import Sighting
from holdfast.model.memory import Memory
from holdfast.store import markdown_document, memory_files
from holdfast.store.markdown_document import EntryPiece, is_single, is_unmerged
from holdfast.values import frozen, replace


@frozen
class FileEntry:
    """One entry as it is here: its own sighting, and its place in the file.

    The sighting's `edited` is still that of the whole file.
    """

    sighting: Sighting
    file: Sighting
    line: int = 1
    start: int = 0

    def parse(self) -> Memory:
        """Returns the memory; raises BrokenEntry with the line in the file."""
        return memory_files.parse(self.sighting.text, self.sighting.path, line=self.line)


def placed(repo: Repo, sightings: Iterable[Sighting]) -> Iterator[FileEntry]:
    """Yields every entry of some files."""
    for sighting in sightings:
        if is_single(sighting.text) or is_unmerged(sighting.text):
            yield FileEntry(sighting, sighting)
        else:
            yield from apart(repo, sighting)


def apart(repo: Repo, file: Sighting) -> Iterator[FileEntry]:
    """Yields the entries of one file."""
    found = markdown_document.pieces(file.text)
    if len(found) == 1:
        yield FileEntry(file, file)
        return
    blobs = repo.blobs(repo.blobs_at("HEAD", [file.path]).values()) if file.origin == "edit" else {}
    earlier = (markdown_document.pieces(data.decode("utf-8", "replace")) for data in blobs.values())
    before = {piece.text for pieces in earlier for piece in pieces}
    theirs = None if file.clash is None else by_id(file.clash, file.path)
    for piece in found:
        yield _one(repo, file, piece, before, theirs)


def _one(repo: Repo, file: Sighting, piece: EntryPiece, before: set[str], theirs: dict[str, str] | None) -> FileEntry:
    blob = repo.hash_blob(piece.text.encode("utf-8", "replace"))
    own = replace(file, text=piece.text, blob=blob, origin="tree" if piece.text in before else file.origin)
    if theirs is not None:
        clash = theirs.get(_id_of(piece.text, file.path), "")
        own = replace(own, clash=None if clash == piece.text else clash)
    return FileEntry(own, file, piece.line, piece.start)


def by_id(text: str, path: str) -> dict[str, str]:
    """Returns the texts of a file's entries by id; an entry that cannot be parsed has the id ""."""
    return {_id_of(piece.text, path): piece.text for piece in markdown_document.pieces(text)}


def _id_of(text: str, path: str) -> str:
    try:
        return memory_files.parse(text, path).id
    except BrokenEntry:
        return ""
