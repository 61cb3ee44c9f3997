"""Root causes become facts: "root cause: …", "it turned out that …", "the bug was caused by …".

Dead ends: approaches tried and dropped, with what showed that they lead nowhere.

Commands that had to be retried until they worked: what works here, and what does not.

Only a change of *how* counts: another program for the same work, a wrapper, a variable, an option. The same
line that failed and later worked tells of the files between, a line with another target of other work.
"""

import re
import shlex
from collections.abc import Iterator, Sequence

from holdfast.curation.extraction.candidate_claim import SentenceClaim, SentenceParts, bare, content
from holdfast.model.text import has_hidden
from holdfast.model.utterance import MAX_STATEMENT, ExtractedMemory, TriedCommand
from holdfast.patterns import regex
from holdfast.values import frozen

CAUSE_RULE = "root cause"
_CAUSE_LABEL = regex(
    r"^(?:(?:i )?(?:found|identified) )?(?:(?:the|actual|real)\s+)*(?:root cause|underlying cause"
    r"|culprit)s?(?: analysis)?\s*(?::"
    r"|[–—-])\s*",
    re.I,
)
_WAS = regex(
    r"^the (?:(?:actual|real|underlying)\s+)?(?:root cause|cause"
    r"|culprit)(?: of (?P<of>[^,:]{3,80}?))? (?:is|was)(?: that)?:?\s+",
    re.I,
)
_TURNED = regex(r"^(?:it|as it)?\s*turn(?:s|ed) out(?: that|,)?\s+(?!to be\b|well\b|fine\b|ok)", re.IGNORECASE)
_TURNED_TO_BE = regex(r"^(?!it\b|this\b|that\b)\S.{2,120}? turned out to be\s+", re.IGNORECASE)
_PROBLEM = regex(
    r"^the (?:(?:actual|real|underlying|core|main)\s+)?(?:problem|issue|bug|failure|error|crash|hang|flake"
    r"|flakiness|regression)"
    r"(?: (?:with|in|of) (?P<of>[^,:]{3,80}?))? (?:was|is|comes|came)(?: simply| just| actually)?"
    r" (?:that|caused by|due to|because(?: of)?|from)\s+",
    re.IGNORECASE,
)
_REASON = regex(r"^the reason (?:why |that )?(?P<of>\S[^:]{6,120}?) (?:is|was)(?: that| because)\s+", re.IGNORECASE)
_HAPPENS = regex(
    r"^the (?:(?:actual|real)\s+)?(?:problem|issue|bug|failure|error|crash|hang|flake"
    r"|regression) (?:happens|occurs"
    r"|happened|occurred) because\s+",
    re.IGNORECASE,
)
_CAUSED = regex(
    r"^(?!it\b|this\b|that\b|they\b|which\b)\S.{6,140}? (?:was|is|were|are) (?:caused by|due to (?!be\b)"
    r"|the result of|triggered by)\s+",
    re.IGNORECASE,
)
_FAILED = regex(
    r"^(?!it\b|this\b|that\b|they\b)\S.{6,140}? (?:failed|broke|crashed|hung|timed out|was failing)$", re.IGNORECASE
)


def cause_claim(parts: SentenceParts, who: str) -> SentenceClaim | None:
    """The cause a sentence names, if it names one; a reason split off is part of it."""
    whole = parts.whole
    plain = parts.plain if len(whole) == len(parts.text) else parts.plain + whole[len(parts.text) :]
    for rule in (_CAUSE_LABEL, _WAS, _TURNED, _REASON, _PROBLEM, _HAPPENS):
        if found := rule.match(plain):
            return _cause_claim(_cause(whole, found), plain[found.end() :], who, firm=rule not in (_PROBLEM, _HAPPENS))
    if _TURNED_TO_BE.match(plain) or _CAUSED.match(plain):
        return _cause_claim(whole, plain, who, firm=False)
    if _FAILED.match(parts.plain) and parts.why and who == "user":
        return _cause_claim(whole, plain, who, firm=False)
    return None


def _cause(whole: str, found: re.Match[str]) -> str:
    """The cause alone; with its subject, where the sentence named one that the cause needs."""
    rest = bare(whole[found.end() :])
    if found.groupdict().get("of") or len(content(rest)) < 3:
        return whole
    return (
        whole if found.re.pattern == _WAS.pattern and re.match(r"an?\b", rest, re.I) else rest
    )  # "a race" is no sentence


def _cause_claim(text: str, plain: str, who: str, *, firm: bool) -> SentenceClaim | None:
    """The fact; what is held to account is the cause, not the words that lead to it."""
    if len(content(text)) < 3:
        return None
    confidence = (0.8 if who == "user" else 0.65) if firm else (0.75 if who == "user" else 0.55)
    return SentenceClaim("fact", bare(text)[:1].upper() + bare(text)[1:], "", plain, CAUSE_RULE, confidence)


DEAD_END_RULE = "dead end"
_DEAD_END_LABEL = regex(r"^dead[- ]ends?\s*(?::|[–—-])\s*", re.IGNORECASE)
_TRIED = regex(
    r"^(?:(?:we|i)(?:'ve| have| had)?\s+)?(?:(?:first|initially|already|also|originally|previously"
    r"|once)\s+)?(?:tried|attempted)\s+"
    r"(?!to (?:run|open|read|find|fetch|push|commit|access|look|check|see|start|reach|call you|help|do"
    r"|install it)\b"
    r"|(?:run|open|read|find|fetch|push|committ?|access|look|check|start)ing\b|again\b|it\b|that\b|this\b"
    r"|both\b|everything\b)"
    r"(?P<what>.{4,160}?),?\s+(?:but|however|and (?:it |that |they )?(?:failed|broke|crashed|didn't"
    r"|did not|hung))\b\s*(?P<but>.*)$",
    re.IGNORECASE,
)
_WORKS_NOT = regex(
    r"^(?P<what>\S.{3,160}?) (?:didn't|did not|doesn't|does not|won't|will not|can't|cannot"
    r"|never) work(?:ed)?"
    r"(?: (?:here|there|for us|either|at all|well|reliably|out))?(?P<rest>.*)$",
    re.IGNORECASE,
)
_DROPPED = regex(
    r"^(?:(?:we|i)(?:'ve| have| had)?\s+)?(?P<how>reverted|rolled back|backed out|abandoned|gave up on"
    r"|given up on|dropped"
    r"|scrapped|ruled out|discarded|threw out)\s+(?P<what>\S.{3,160})$",
    re.IGNORECASE,
)
_WAS_DROPPED = regex(
    r"^(?P<what>\S.{3,160}?) (?:was|were|got|has been|had to be) (?:abandoned|reverted|rolled back|dropped"
    r"|rejected|ruled out"
    r"|scrapped|discarded)\b",
    re.IGNORECASE,
)
_IS = regex(
    r"^(?P<what>\S.{3,160}?) (?:is|was|proved|proved to be|turned out to be) a (?:complete )?dead end\b", re.IGNORECASE
)


def dead_end_claim(parts: SentenceParts, who: str) -> SentenceClaim | None:
    """The dead end a sentence tells of, if it tells of one."""
    sure = 0.8 if who == "user" else 0.65
    if found := _DEAD_END_LABEL.match(parts.plain):
        return _dead_end(parts.after(found.end()), parts.why, sure)
    if found := _TRIED.match(_whole(parts)):
        return _tried(parts, found, sure)
    if found := _WORKS_NOT.match(parts.plain) or _WAS_DROPPED.match(parts.plain):
        return _dead_end(parts, parts.why, sure) if parts.why and _named(found) else None
    if found := _IS.match(parts.plain):
        return _dead_end(parts, parts.why, sure) if _named(found) else None
    if (found := _DROPPED.match(parts.plain)) and _named(found):
        firm = parts.why or (who == "user" and re.match(r"g|a|ruled|scrapped", found["how"], re.I))
        return _dead_end(parts, parts.why, sure) if firm else None
    return None


def _whole(parts: SentenceParts) -> str:
    return parts.plain if len(parts.whole) == len(parts.text) else parts.plain + parts.whole[len(parts.text) :]


def _named(found: re.Match[str]) -> bool:
    """Whether what led nowhere is named, so that somebody who was not there knows what to leave alone."""
    return len(content(found["what"])) >= 1 and not re.match(
        r"(?:it|this|that|they|which|what|my|the (?:fix|change)|the (?:\S+ )?(?:attempt|try))\b", found["what"], re.I
    )


def _tried(parts: SentenceParts, found: re.Match[str], sure: float) -> SentenceClaim | None:
    start, end = found.span("but")
    why = parts.why or parts.whole[start:end]
    telling = len(content(why)) >= 2
    if not _named(found) or (not telling and sure < 0.7):
        return None
    return SentenceClaim("dead-end", _told(parts), why, found["what"], DEAD_END_RULE, sure if telling else 0.55)


def _told(parts: SentenceParts) -> str:
    return parts.whole[:1].upper() + parts.whole[1:]


def _dead_end(parts: SentenceParts, why: str, confidence: float) -> SentenceClaim:
    return SentenceClaim("dead-end", _told(parts), why, parts.plain, DEAD_END_RULE, confidence)


RETRY_RULE = "retried command"
_NEAR = 8  # commands: a success further on has other reasons
_MAX_COMMAND = 120
_CD = regex(r"^\s*cd\s+(?:\"[^\"]*\"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*")
_NOISE = regex(r"\s+2>&1\s*$|\s+2>\s*/dev/null\s*$|\s+>\s*/dev/null\s*$")
_COMPOUND = regex(r"[;&|<>\n`]|\$\(")
_VARIABLE = regex(r"^[A-Za-z_]\w*=")
_WRAPPERS = frozenset((
        "sudo", "doas", "env", "time", "nice", "npx", "pnpx", "bunx", "uv", "uvx", "poetry",
        "pipenv", "hatch", "pdm", "rye", "run", "exec", "dlx", "bundle", "python", "python3", "py",
        "-m", "--", "mise", "direnv", "nix-shell", "xvfb-run", "dotenv", "corepack", "tox",
))  # fmt: skip
_PROGRAMS = (  # other names of the same work
    {"python", "python3", "py"}, {"pip", "pip3"}, {"npm", "pnpm", "yarn", "bun"}, {"make", "gmake"},
    {"docker", "podman"}, {"node", "nodejs"}, {"gradle", "./gradlew"}, {"mvn", "./mvnw"},
)  # fmt: skip
_QUIET = regex(  # how much is said or which part is run, not how
    r"^(?:-[qvsxlrhn]+|-vv+|--?(?:quiet|verbose|tb|color|colour|no-header|maxfail|durations|help|version"
    r"|run|k|t|filter|grep|count|lf|ff"
    r"|last-failed|bail|silent|reporter|no-color|short|stat|oneline|name-only|fix|write|amend"
    r"|no-edit)(?:=.*)?|-k|-t|-n\d+|-\d+)$"
)
# They fail when there is nothing to see, and look at another thing the next time.
_LOOKS = frozenset((
        "ls", "cat", "head", "tail", "grep", "rg", "find", "echo", "cd", "pwd", "which", "test",
        "[", "sed", "awk", "wc", "sleep", "kill", "git", "gh", "curl", "wget", "rm", "cp", "mv",
        "mkdir", "diff", "stat", "file", "type",
))  # fmt: skip


@frozen
class _Line:
    """A command as typed, its variables, its wrappers, and what it works on."""

    shown: str
    variables: tuple[str, ...]
    wrappers: tuple[str, ...]
    program: str
    options: frozenset[str]
    targets: tuple[str, ...]
    tried: TriedCommand


def retried(tried: Sequence[TriedCommand]) -> Iterator[ExtractedMemory]:
    """For each command that worked after its like had failed, the fact that says so."""
    lines = [line for one in tried if (line := _line(one))]
    worked = {line.shown for line in lines if line.tried.exit_status == 0}
    told: set[str] = set()
    for place, line in enumerate(lines):
        if line.tried.exit_status != 0 or line.shown in told:
            continue
        failed = [
            one for one in lines[max(0, place - _NEAR) : place] if one.shown not in worked and _is_like(one, line)
        ]
        if failed and (found := _found(line, failed[-1])):
            told.add(line.shown)
            yield found


def _found(line: _Line, failed: _Line) -> ExtractedMemory | None:
    statement = f"`{line.shown}` works here; `{failed.shown}` fails (exit {failed.tried.exit_status})"
    if len(statement) > MAX_STATEMENT or has_hidden(statement):
        return None
    sure = 0.7 if failed.tried.exit_status in (126, 127) else 0.6
    return ExtractedMemory("fact", statement, "", line.shown, line.tried.turn, "agent", RETRY_RULE, sure)


def _line(tried: TriedCommand) -> _Line | None:
    """The parts of a simple command; None for a compound one, whose exit status tells too little."""
    shown = _CD.sub("", tried.command).strip()
    bare = _NOISE.sub("", shown)
    if not bare or len(shown) > _MAX_COMMAND or _COMPOUND.search(bare) or tried.exit_status is None:
        return None
    try:
        words = shlex.split(bare)
    except ValueError:
        return None
    return _parsed(bare, words, tried)


def _parsed(shown: str, words: list[str], tried: TriedCommand) -> _Line | None:
    start = next((n for n, word in enumerate(words) if not _VARIABLE.match(word)), len(words))
    variables, words = tuple(words[:start]), words[start:]
    head = next((n for n, word in enumerate(words[:-1]) if word not in _WRAPPERS), len(words) - 1)
    if not words or words[head].rsplit("/", 1)[-1] in _LOOKS | {"holdfast"}:
        return None
    rest = words[head + 1 :]
    options = frozenset(word for word in rest if word.startswith("-") and not _QUIET.match(word))
    targets = tuple(word for word in rest if not word.startswith("-"))
    return _Line(shown, variables, tuple(words[:head]), words[head], options, targets, tried)


def _is_like(failed: _Line, worked: _Line) -> bool:
    """Whether both do the same work in different ways."""
    if failed.tried.exit_status in (0, None) or failed.targets != worked.targets:
        return False
    if failed.program != worked.program:
        same = any({failed.program, worked.program} <= names for names in _PROGRAMS)
        return same or failed.program.rsplit("/", 1)[-1] == worked.program.rsplit("/", 1)[-1]
    ways = (failed.variables, failed.wrappers, failed.options) != (worked.variables, worked.wrappers, worked.options)
    return ways and not (_sweeps(failed) and failed.options - worked.options)


def _sweeps(line: _Line) -> bool:
    """Whether the line selected what to do: leaving options out may simply leave the failing part out."""
    return bool(line.options) and line.tried.exit_status == 1
