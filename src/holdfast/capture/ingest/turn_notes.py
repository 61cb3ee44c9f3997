"""What a turn says besides its prompt and its answers: in commit messages, in code comments, in a person's replies.

Each note is a text and where it stands: `commit`, `plan` (one that a person approved), `answer` (to a question of the
agent), `refusal` (what a person said when they refused a call), `memory` (what the agent wrote into its own memory
files), `comment` (in code), `lesson` (said between a command that failed and one that worked, without an edit
between them) and `undone` (names of code that an edit takes out again, which an earlier edit had put in the place of
others). Lengths are bounded. The patterns are in turn_notes.txt.
"""

import json
import shlex
from collections.abc import Iterator
from itertools import pairwise, takewhile

from holdfast.model.transcript import Call, TranscriptEdit, TranscriptTurn, cut
from holdfast.model.utterance import UNDONE
from holdfast.patterns import PatternFile

MOST = 60  # notes of a turn
MAX_NOTE = 8_000  # characters of one
MAX_UNDONE = 2_000  # characters of an edit that may be taken back: a larger one says more than one thing
_WRAPS = 60  # characters: a shorter line of a comment was not broken for want of room
_SHAPE = PatternFile(__file__)


def turn_notes(turn: TranscriptTurn) -> list[dict[str, str]]:
    """The notes of a turn, in order."""
    told = [note for call in turn.calls for note in _notes(call)]
    told += (("lesson", text) for text in dict.fromkeys(_lessons(turn)))
    found = [{"of": of, "text": cut(text.strip(), MAX_NOTE)} for of, text in told]
    return [note for note in found if note["text"]][:MOST]


class UndoneEdits:
    """The small edits of a session, to see which of them are taken back."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str, str], None] = {}

    def notes(self, turn: TranscriptTurn) -> list[dict[str, str]]:
        """What the edits of a turn take back: the names that only the earlier edits had."""
        found = []
        for edit in (edit for call in turn.calls for edit in call.edits):
            before, after = _small(edit.removed), _small(edit.added)
            if not before or not after or edit.whole:
                continue
            if self._made.pop((edit.path, after, before), True) is None:
                names = {*_SHAPE.between_names.split(before)} - {*_SHAPE.between_names.split(after)}
                found.append({"of": UNDONE, "text": " ".join(sorted(filter(None, names)))})
            else:
                self._made[edit.path, before, after] = None
        return [note for note in found if note["text"]]


def _small(lines: tuple[str, ...]) -> str:
    """Lines that are few enough to say one thing; else nothing."""
    text = "\n".join(line.strip() for line in lines)
    return text if len(text) <= MAX_UNDONE else ""


def _lessons(turn: TranscriptTurn) -> Iterator[str]:
    """What the agent says after a command failed and before the same program works: how the tool is to be used."""
    failed: list[tuple[str, list[str]]] = []
    for step in turn.steps:
        for _, texts in failed:
            texts.append(step.text)
        for call in step.calls:
            if call.edits:  # the code was at fault, not the command
                failed.clear()
            program = _SHAPE.program.match(call.command or "")
            if program is None or call.result is None:
                continue
            if call.result.failed or call.result.exit_status:
                failed.append((program["name"], []))
                continue
            yield from (text for name, texts in failed if name == program["name"] for text in texts)
            failed = [one for one in failed if one[0] != program["name"]]


def _notes(call: Call) -> Iterator[tuple[str, str]]:
    if call.result is None:
        return
    if call.result.refused:
        said = _SHAPE.refused_with.search(call.result.text)
        yield "refusal", call.result.text[said.end() :] if said else ""
        return
    if call.kind == "ask" or _SHAPE.asks.fullmatch(call.name):
        yield from (("answer", f"{asked} {answered}") for asked, answered in _SHAPE.answers.findall(call.result.text))
    if call.command and (message := commit_message(call.command)):
        # What follows on the line may fail, a push; git says that the commit was made.
        told = _SHAPE.committed.findall(call.result.text) if call.result.failed else [message]
        yield "commit", message if any(map(message.startswith, told)) else ""
    if call.result.failed:
        return
    if _SHAPE.plans.fullmatch(call.name):
        yield "plan", _plan(call.text)
    for edit in call.edits:
        yield ("memory", _new_text(edit)) if _SHAPE.memory_file.search(edit.path) else ("comment", _comments(edit))


def commit_message(command: str) -> str:
    """The message that a command gives to `git commit`, without trailers; empty if it gives none."""
    command = command[:20_000]
    if not _SHAPE.commits.search(command):
        return ""
    if found := _SHAPE.here_document.search(command):
        text = found["text"]
    else:
        text = "\n\n".join(_messages(command))
    lines = [line for line in text.replace('\\"', '"').split("\n") if not _SHAPE.trailer.match(line)]
    return "\n".join(lines).strip()


def _messages(command: str) -> list[str]:
    """What `git commit` is given with `-m`, quoted as a shell reads it."""
    shell = shlex.shlex(command[_SHAPE.commits.search(command).start() :], posix=True, punctuation_chars=";&|")  # type: ignore[union-attr]
    shell.whitespace_split, shell.commenters = True, ""
    try:
        words = list(takewhile(lambda word: word.strip(";&|"), shell))
    except ValueError:  # a quotation that does not end
        return [quoted or plain for quoted, plain in _SHAPE.message_option.findall(command)]
    flags = ((_SHAPE.message_flag.fullmatch(word), after) for word, after in pairwise((*words, "")))
    return [flag["short"] or flag["long"] or after for flag, after in flags if flag]


def _plan(text: str) -> str:
    try:
        plan = json.loads(text)
    except ValueError:
        return ""
    found = plan.get("plan") if isinstance(plan, dict) else None
    return found if isinstance(found, str) else ""


def _new_text(edit: TranscriptEdit) -> str:
    before = {*edit.removed, *(edit.kept or ())}
    return "\n".join(line for line in edit.added if line not in before)


def _with_subject(comment: str, below: str) -> str:
    """ "Returns the queue" above a function: with its name, since nobody sees it there later."""
    found = _SHAPE.defines.match(below[:500])
    if found is None or found["name"] in comment or not _SHAPE.has_no_subject.match(comment):
        return comment
    return f"`{found['name']}` {comment[:1].lower()}{comment[1:]}"


def _with_line(block: str, line: str) -> str:
    """A comment with its next line: an empty one and an item begin a paragraph, a short line before ends a sentence."""
    last = block.rpartition("\n")[2]
    if not line or _SHAPE.item.match(line):
        return f"{block.rstrip()}\n\n{line}"
    ends = len(last) < _WRAPS and last[-1:].isalnum() and _SHAPE.new_thought.match(line)
    return f"{block}.\n{line}" if ends else f"{block}\n{line}"


def _comments(edit: TranscriptEdit) -> str:
    """The comments that an edit adds to code, a paragraph each; those of tests say how tests are made."""
    if _SHAPE.no_code.search(edit.path):
        return ""
    before = {*edit.removed, *(edit.kept or ())}
    groups, block, is_new = [], "", False
    for line in (*edit.added, ""):
        if found := _SHAPE.comment.match(line[:500]):
            block, is_new = _with_line(block, found[1].strip()), is_new or line not in before
            continue
        if is_new and len(block) > 30:  # as a whole: of a comment that was mended, the new lines alone say little
            groups.append(_SHAPE.wrapped.sub(" ", _with_subject(block.strip(), line)))
        block, is_new = "", False
    return "\n\n".join(groups)
