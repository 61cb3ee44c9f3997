"""Labelled sessions: what a maintainer would keep of each, and what only looks like it.

A folder holds sets. Of each set: `<name>.jsonl`, the items to keep (session, kind, statement, importance, and `keys`:
groups of patterns of which a candidate must match one each, and `not`, of which it must match none);
`<name>-sessions.jsonl`, the sessions for which the items are complete; `junk-<rest>.jsonl`, what is tempting and wrong
(session, class, text). `<name>` begins with `gold-`. The transcripts lie in `<rest without gold->` or in
`../transcripts`, by the agent's name.

Or single statements that somebody judged: `judged-<name>.jsonl`, rows of session, words and label. `A`: worth keeping
as it is worded, `B`: in other words, each with its importance (`A1` to `A3`), `F`: over, because the session changed
it, `C`: not worth keeping.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.capture.agents import dialect, specstory
from holdfast.capture.ingest.run_files import said_in_turn
from holdfast.model.transcript import TranscriptQuotes
from holdfast.model.utterance import TriedCommand, Utterance

_COMMON = "a an the of to in on is are be it this that and or for with by as at we i you can was so if not no"


@dataclass
class LabelledSession:
    """A session with what should be kept of it."""

    of: str  # the set
    name: str
    items: list[dict[str, Any]]
    junk: list[dict[str, Any]]
    heard: list[Utterance | TriedCommand] = field(default_factory=list)

    @property
    def project(self) -> str:
        """Sessions of one project talk alike: they are held out together."""
        return re.split(r"[-.]", self.name.partition("/")[2])[0]

    def is_junk(self, text: str) -> bool:
        """Whether a text is nearly one that is known to be wrong."""
        have = _words(text)
        for entry in self.junk:
            want = _words(entry["text"])
            both = len(want & have)
            if want and both >= 0.75 * len(want) and both >= 0.5 * len(have):
                return True
        return False

    def found_in(self, text: str) -> list[dict[str, Any]]:
        """The items that a text says."""
        return [] if self.is_junk(text) else [item for item in self.items if says(text, item)]


def says(text: str, item: dict[str, Any]) -> bool:
    """Whether a text says what an item wants: a mechanical stand-in for a reader."""
    plain = text.replace("**", "")
    if any(re.search(bad, plain, re.IGNORECASE) for bad in item.get("not", ())):
        return False
    return all(any(re.search(one, plain, re.IGNORECASE) for one in group) for group in item["keys"])


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9_./-]+", text.lower())) - set(_COMMON.split())


@dataclass
class JudgedSession:
    """A session of which some statements were judged."""

    name: str
    labels: dict[str, str]  # by the statement's words
    heard: list[Utterance | TriedCommand]

    project = LabelledSession.project


def judged_sessions(folder: Path) -> Iterator[JudgedSession]:
    """All judged sessions of a folder, with their words."""
    labels: dict[str, dict[str, str]] = {}
    for path in sorted(folder.glob("judged-*.jsonl")):
        for row in _rows(path):
            labels.setdefault(row["session"], {})[row["words"]] = row["label"]
    for name, of in labels.items():
        yield JudgedSession(name, of, list(heard(folder / name, name.partition("/")[0])))


def labelled_sessions(folder: Path) -> Iterator[LabelledSession]:
    """All labelled sessions of a folder, with their words."""
    for listed in sorted(folder.glob("gold-*-sessions.jsonl")):
        name = listed.name.removesuffix("-sessions.jsonl")
        rest = name.removeprefix("gold-")
        items, junk = _rows(folder / f"{name}.jsonl"), _rows(folder / f"junk-{rest}.jsonl")
        places = (folder / rest, folder.parent / "transcripts")
        for row in _rows(listed):
            session = row["session"]
            path = next((place / session for place in places if (place / session).exists()), None)
            if path is None:
                raise SystemExit(f"{session} of {listed.name} is in neither {places[0]} nor {places[1]}")
            keep, wrong = ([one for one in some if one["session"] == session] for some in (items, junk))
            yield LabelledSession(rest, session, keep, wrong, list(heard(path, session.partition("/")[0])))


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def heard(path: Path, agent: str) -> Iterator[Utterance | TriedCommand]:
    """What a transcript says, as an import of it hears it."""
    quotes = TranscriptQuotes()
    tool = specstory.DIALECT if agent == "specstory" else dialect(agent)
    for number, turn in enumerate(tool.read(str(path), 0, None), 1):
        yield from said_in_turn(quotes.out_of(turn), number)
