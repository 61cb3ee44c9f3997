"""What memories, hits and runs say, in the words of one line: each thing once, nothing that says nothing."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.model.evidence import CommitEvidence, RunEvidence, parse
from holdfast.patterns import regex

_DETAILS = 1000  # characters of the further paragraphs that are looked at
_LABELS = ("Falsified by", "Instead")
_PARAGRAPH = regex(rf"\n\s*\n|\n(?=(?:Rationale|{'|'.join(_LABELS)}):)")
_WORD = regex(r"[^\W_]+")
# What the wrapper says of a run that said nothing of itself; nobody who asks means these words.
_WRAPPER = regex(
    r".*? (?:ended with exit code \d+(?: \(signal \d+\))?|was cut short: its wrapper was killed)"
    r"(?: after [\d.]+ s)?(?:; [\d,]+ files? changed)?",
    re.DOTALL,
)


def explained(details: str, *, statement: str = "") -> str:
    """A memory's further paragraphs: why it holds, what would falsify it, what to do instead.

    What `statement` says already, which tells why often enough, is not said again.
    """
    said, known = [], _plain(statement)
    for paragraph in _PARAGRAPH.split(details[:_DETAILS]):
        words = " ".join(paragraph.split()).removeprefix("Rationale:").strip()
        label = next((label for label in _LABELS if words.startswith(f"{label}:")), "")
        if words and (label or _plain(words) not in known):
            said.append(label.lower() + words[len(label) :])
    *first, last = said or [""]
    return "; ".join([*(words.rstrip(".") for words in first), last])


def _plain(words: str) -> str:
    """Words to compare: as whole words, without what stands between them."""
    return f" {' '.join(_WORD.findall(words.casefold()))} "


def cited(evidence: Iterable[str]) -> tuple[str, ...]:
    """The files that evidence is of."""
    there = [one for text in evidence if not isinstance(one := parse(text), RunEvidence | CommitEvidence)]
    return tuple(dict.fromkeys(one.path for one in there))


def beside(title: str, text: str) -> str:
    """What a text says beside a title; most texts begin with it."""
    known, said = title.rstrip("… "), text.strip("… ")
    if said.startswith(known):
        return said[len(known) :].lstrip(" .:;")
    return "" if said in known else text


def of_run(body: Mapping[str, Any]) -> str:
    """What a run says it did and what it was for; nothing of what its wrapper says of any run."""
    outputs = body.get("outputs")
    summary = outputs.get("summary") if isinstance(outputs, dict) else body.get("summary")
    said = [text for text in (summary, body.get("prompt")) if isinstance(text, str)]
    own = [" ".join(text.split()) for text in said if not _WRAPPER.fullmatch(text)]
    return ": ".join(text for text in own if text)
