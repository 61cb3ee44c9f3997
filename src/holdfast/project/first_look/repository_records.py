"""Finds statements in the repository itself: in its commits and, if agents left no history, in its documents."""

import os
import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from holdfast.capture.agents import specstory
from holdfast.capture.records import adr, entire, knowledge_files, notes
from holdfast.curation import extraction
from holdfast.git.repo import Repo
from holdfast.model import utterance
from holdfast.model.utterance import ExtractedMemory
from holdfast.patterns import regex
from holdfast.project.first_look.agent_records import TriedCommit, TriedPlace, TriedQuote
from holdfast.values import replace

MAX_COMMITS = 3000  # a guess: bounds the time for very active repositories
MAX_MESSAGE = 6000  # characters; a guess: longer messages are lists of merged commits
_REVERT = regex(r'^(?:Revert|revert) "(?P<what>.+)"$|^revert(?:\([^)]*\))?!?: (?P<short>.+)$')
_FIX = regex(r"\W*(?:bug ?|hot)?fix(?:e[sd])?\b(?!-)", re.IGNORECASE)
_BECAUSE = regex(r"\b(?:because|since|as|due to)\b[^.]{10,200}", re.IGNORECASE)
_TRAILER = regex(
    r"^(?:[A-Z][\w-]+: .*|(?:- |  )(?:dependency|update)-[a-z]+: .*|This reverts commit .*|\(cherry picked from .*)$",
    re.MULTILINE,
)
README = ("README.md", "README.markdown", "CONTRIBUTING.md", "docs/adr/README.md")


def commits(repo: Repo, *, since: datetime, most: int = MAX_COMMITS) -> list[TriedCommit]:
    """Returns the commits on HEAD since a time, the newest first."""
    if repo.head().oid is None:
        return []
    form = "--format=%x01%H%x00%cI%x00%s%x00%b%x00"
    command = ("log", f"--max-count={most}", f"--since={since.isoformat()}", form)
    out = repo.attempt(*command, "--name-only", "-z", "HEAD", "--").stdout.decode("utf-8", "surrogateescape")
    return [commit for row in out.split("\x01")[1:] if (commit := _parsed(row))]


def _parsed(row: str) -> TriedCommit | None:
    fields = row.split("\0")
    if len(fields) < 5:
        return None
    oid, when, subject, body, *files = fields
    try:
        at = datetime.fromisoformat(when)
    except ValueError:
        at = None
    return TriedCommit(oid, subject, at, tuple(name.lstrip("\n") for name in files if name.strip()), body[:MAX_MESSAGE])


def tracked(repo: Repo) -> frozenset[str]:
    """Returns the paths that git tracks here."""
    return frozenset(os.fsdecode(name) for name in repo.run("ls-files", "-z").split(b"\0") if name)


def kept_by_others(repo: Repo) -> tuple[str, ...]:
    """Returns the tools that kept sessions in this repository, as `holdfast import` names them."""
    history = os.path.isdir(os.path.join(repo.top, *specstory.FOLDER.split("/")))
    return (*(["entire"] if entire.tips(repo) else []), *(["specstory"] if history else []))


def of_commits(log: Sequence[TriedCommit]) -> Iterator[TriedQuote]:
    """Yields statements of commit messages: reasons, and reverts."""
    for commit in log:
        place = TriedPlace("git", commit.oid, None, commit.when.isoformat() if commit.when else None)
        for found in _statements(commit):
            # Guesses: messages are short and seldom say why, and confidence was measured on agents' sessions only.
            less = replace(found, confidence=min(found.confidence, 0.7) - 0.1)
            yield TriedQuote(less, place, {}, (commit,))


def _statements(commit: TriedCommit) -> list[ExtractedMemory]:
    """Returns the statements of a message: with a body as in an agent's session, a bare subject only by cue words."""
    if reverted := _reverted(commit):
        return [reverted]
    body = _TRAILER.sub("", commit.body).strip()
    if _FIX.match(commit.subject):  # it describes the fault, which is over
        return []
    if not body:
        found = extraction.find_claims([utterance.Utterance("agent", commit.subject, 0)])
    else:
        message = f"{commit.subject}\n\n{body}"
        turn = utterance.Utterance("agent", message, 0, source="commit", files=commit.files, wrote=True)
        found = [one for one in extraction.find_claims([turn]) if one.confidence >= utterance.LIKELY]
    return found[:3]  # a guess: one message, few claims


def _reverted(commit: TriedCommit) -> ExtractedMemory | None:
    found = _REVERT.match(commit.subject)
    if found is None:
        return None
    what = (found["what"] or found["short"] or "").strip().rstrip(".")
    reason = _BECAUSE.search(_TRAILER.sub("", commit.body))
    why = " ".join(reason[0].split()) if reason else ""
    statement = f"Tried and taken back: {what}"[: utterance.MAX_STATEMENT]
    return ExtractedMemory("dead-end", statement, why, commit.subject[: utterance.MAX_WORDS], 0, "agent", "revert", 0.6)


def of_documents(top: str) -> Iterator[TriedQuote]:
    """Yields statements of decision records, notes for agents and the README, each with its file and line."""
    for folder in knowledge_files.adr_folders(top):
        for full in knowledge_files.listed(folder):
            yield from _record(top, full)
    seen = set()
    for full in (*knowledge_files.note_files(top), *(os.path.join(top, *name.split("/")) for name in README)):
        shown = knowledge_files.shown(top, full)
        if shown not in seen and os.path.isfile(full):
            seen.add(shown)
            yield from _notes(full, shown)


def _record(top: str, full: str) -> Iterator[TriedQuote]:
    text = knowledge_files.read(full, knowledge_files.shown(top, full))
    if isinstance(text, knowledge_files.SkippedKnowledge):
        return
    try:
        one = adr.read_record(text.text, text.path)
    except adr.NotARecord:
        return
    if one.status in ("accepted", "proposed") and not one.hidden:
        found = ExtractedMemory("decision", one.statement, "", one.words[:300], one.line, "agent", "record", 0.8)
        yield _quote(found, one.path)


def _quote(found: ExtractedMemory, path: str) -> TriedQuote:
    return TriedQuote(found, TriedPlace("file", path, found.turn, None), {path: frozenset()})


def _notes(full: str, shown: str) -> Iterator[TriedQuote]:
    text = knowledge_files.read(full, shown)
    if isinstance(text, knowledge_files.SkippedKnowledge):
        return
    prose = os.path.basename(shown) in ("README.md", "README.markdown", "CONTRIBUTING.md")
    try:
        found = notes.look(text.text, shown).notes
    except notes.NotNotes:
        return
    for one in found:
        if one.hidden or (prose and one.kind == "fact"):
            continue  # most lists in a README are features
        # Guesses: a note's rule is surer than its facts, and a README is written for other readers.
        weight = 0.5 if prose else 0.65 if one.kind != "fact" else 0.4
        yield _quote(ExtractedMemory(one.kind, one.statement, "", one.words, one.line, "agent", "note", weight), shown)
