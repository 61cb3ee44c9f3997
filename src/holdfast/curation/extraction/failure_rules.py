"""Rules for failures: root causes (facts), dead ends, and commands that worked only in another way (facts).

Of commands, only a change of *how* counts: another program for the same work, a wrapper, a variable, an option. A
command that failed and later worked unchanged says something about the files; one with another target is other work.
The patterns are in failure_rules.txt.
"""

from __future__ import annotations

import re
import shlex

from holdfast.curation.extraction.candidate_claim import SentenceClaim, SentenceParts, bare, capital, content
from holdfast.model.text import has_hidden
from holdfast.model.utterance import MAX_STATEMENT, ExtractedMemory, TriedCommand
from holdfast.patterns import TYPE_CHECKING, PatternFile
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SHAPE = PatternFile(__file__)
_NEAR = 8  # commands; a guess: a later success has other reasons
_MAX_COMMAND = 120  # characters; a guess: a longer command is a script
# The pattern that introduces a cause; whether it is certain.
_CAUSES = {"cause_label": True, "was": True, "turned": True, "reason": True, "problem": False, "happens": False}


def cause_claim(parts: SentenceParts, who: str) -> SentenceClaim | None:
    """Returns the cause a sentence names, if any; a reason that was split off is part of it."""
    plain = parts.plain_whole()
    for shape, firm in _CAUSES.items():
        if found := getattr(_SHAPE, shape).match(plain):
            return _cause_claim(_cause(shape, parts.whole, found), plain[found.end() :], who, firm=firm)
    failed = who == "user" and parts.why and _SHAPE.failed.match(parts.plain)
    if failed or _SHAPE.turned_to_be.match(plain) or _SHAPE.caused.match(plain):
        return _cause_claim(parts.whole, plain, who, firm=False)
    return None


def _cause(shape: str, whole: str, found: re.Match[str]) -> str:
    """Returns the cause alone; with its subject if it needs one: "a race" is no sentence."""
    rest = bare(whole[found.end() :])
    needs_subject = found.groupdict().get("of") or len(content(rest)) < 3
    return whole if needs_subject or (shape == "was" and re.match(r"an?\b", rest, re.I)) else rest


def _cause_claim(text: str, plain: str, who: str, *, firm: bool) -> SentenceClaim | None:
    """Returns the fact; `may_stand` checks the cause, not the words that introduce it."""
    if len(content(text)) < 3:
        return None
    confidence = (0.8 if who == "user" else 0.65) if firm else (0.75 if who == "user" else 0.55)
    return SentenceClaim("fact", capital(bare(text)), "", plain, "root cause", confidence)


def dead_end_claim(parts: SentenceParts, who: str) -> SentenceClaim | None:
    """Returns the approach that was tried and dropped, if a sentence reports one with the reason."""
    sure, plain = 0.8 if who == "user" else 0.65, parts.plain
    if found := _SHAPE.dead_end_label.match(plain):
        return _dead_end(parts.after(found.end()), sure)
    if found := _SHAPE.tried.match(parts.plain_whole()):
        why = parts.why or parts.whole[slice(*found.span("but"))]
        has_reason = len(content(why)) >= 2
        if not _is_named(found) or (not has_reason and sure < 0.7):
            return None
        return _dead_end(parts, sure if has_reason else 0.55, why=why, main=found["what"])
    if found := _SHAPE.works_not.match(plain) or _SHAPE.was_dropped.match(plain):
        return _dead_end(parts, sure) if parts.why and _is_named(found) else None
    if found := _SHAPE.is_dead_end.match(plain):
        return _dead_end(parts, sure) if _is_named(found) else None
    if (found := _SHAPE.dropped.match(plain)) and _is_named(found):
        firm = parts.why or (who == "user" and _SHAPE.for_good.match(found["how"]))
        return _dead_end(parts, sure) if firm else None
    return None


def _is_named(found: re.Match[str]) -> bool:
    return bool(content(found["what"])) and not _SHAPE.unnamed.match(found["what"])


def _dead_end(parts: SentenceParts, sure: float, *, why: str = "", main: str = "") -> SentenceClaim:
    return SentenceClaim("dead-end", capital(parts.whole), why or parts.why, main or parts.plain, "dead end", sure)


@frozen
class _Line:
    """A command as typed, its variables, its wrappers, and its targets."""

    shown: str
    how: tuple[tuple[str, ...], tuple[str, ...]]  # variables and wrappers
    program: str
    options: frozenset[str]
    targets: tuple[str, ...]
    tried: TriedCommand


def retried(tried: Sequence[TriedCommand]) -> Iterator[ExtractedMemory]:
    """Yields a fact for each command that worked after a similar one had failed."""
    lines = [line for one in tried if (line := _line(one))]
    worked = {line.shown for line in lines if line.tried.exit_status == 0}
    reported: set[str] = set()
    for place, line in enumerate(lines):
        if line.tried.exit_status != 0 or line.shown in reported:
            continue
        near = lines[max(0, place - _NEAR) : place]
        failed = [one for one in near if one.shown not in worked and _is_like(one, line)]
        if failed and (fact := _retry_fact(line, failed[-1])):
            reported.add(line.shown)
            yield fact


def _retry_fact(line: _Line, failed: _Line) -> ExtractedMemory | None:
    statement = f"`{line.shown}` works here; `{failed.shown}` fails (exit {failed.tried.exit_status})"
    if len(statement) > MAX_STATEMENT or has_hidden(statement):
        return None
    sure = 0.7 if failed.tried.exit_status in (126, 127) else 0.6
    return ExtractedMemory("fact", statement, "", line.shown, line.tried.turn, "agent", "retried command", sure)


def _line(tried: TriedCommand) -> _Line | None:
    """Returns the parts of a simple command; None for a compound one, whose exit status says too little."""
    shown = _SHAPE.cd.sub("", tried.command).strip()
    bare = _SHAPE.noise.sub("", shown)
    if not bare or len(shown) > _MAX_COMMAND or _SHAPE.compound.search(bare) or tried.exit_status is None:
        return None
    try:
        words = shlex.split(bare)
    except ValueError:
        return None
    return _parse_words(bare, words, tried)


def _parse_words(shown: str, words: list[str], tried: TriedCommand) -> _Line | None:
    start = next((n for n, word in enumerate(words) if not _SHAPE.variable.match(word)), len(words))
    variables, words = tuple(words[:start]), words[start:]
    wrappers = _SHAPE.words("wrappers")
    head = next((n for n, word in enumerate(words[:-1]) if word not in wrappers), len(words) - 1)
    if not words or _name(words[head]) in _SHAPE.words("looks"):
        return None
    rest = words[head + 1 :]
    options = frozenset(word for word in rest if word.startswith("-") and not _SHAPE.quiet.match(word))
    targets = tuple(word for word in rest if not word.startswith("-"))
    return _Line(shown, (variables, tuple(words[:head])), words[head], options, targets, tried)


def _name(program: str) -> str:
    return program.rsplit("/", 1)[-1]


def _is_like(failed: _Line, worked: _Line) -> bool:
    """Whether both do the same work in different ways."""
    if failed.tried.exit_status in (0, None) or failed.targets != worked.targets:
        return False
    if failed.program != worked.program:
        same = any({failed.program, worked.program} <= set(names.split()) for names in _SHAPE.lines("programs"))
        return same or _name(failed.program) == _name(worked.program)
    # With status 1 and fewer options, the failing part may simply have been left out.
    fewer = failed.tried.exit_status == 1 and failed.options - worked.options
    return (failed.how, failed.options) != (worked.how, worked.options) and not fewer
