"""Finds the lines that a session wrote in the work tree, and cites them as evidence.

A memory that cites the wrong lines looks better founded than it is, so in doubt nothing is cited. Evidence cites the
text of the session's own commits: a session may be imported long after its code has changed.
"""

import contextlib
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Any

from holdfast.capture.ingest.run_files import CYCLES, LINES, turns_of
from holdfast.curation.extraction import session_statements, statement_shapes
from holdfast.errors import HoldfastError
from holdfast.git.clone import Clone
from holdfast.git.evidence_check import may_be_cited, resolve, states
from holdfast.git.tracked_files import paths_mentioned, paths_spelled, places, stored
from holdfast.model.evidence import Evidence, FileEvidence, is_oid
from holdfast.model.spans import source_text, symbols
from holdfast.model.spans.file_version import FileVersion
from holdfast.model.transcript import line_hash, telling_lines
from holdfast.model.utterance import ExtractedMemory
from holdfast.patterns import regex
from holdfast.recall.applicable_memories import stems
from holdfast.store import capsule, fsio
from holdfast.values import frozen

# The limits below are guesses, except where a reason is given.
MAX_FILE = 4 << 20  # bytes; larger files are data and not code
MAX_SPAN = 40  # lines cited: in a longer span, most lines have nothing to do with the statement
MOST = 3  # files cited: each changes at some time, and makes the memory stale
MOST_TRIED = 500  # words of calls that are tried as paths: with the next, bounds the reads of file names
DEEPEST = 16  # folders of a path inside the repository
MOST_READ = 40  # files of a session in which a name is searched: bounds the reads of files
_REPORTS = ("closing-report", "agents-words", "plan", "commit-message", "request", "failed-command")  # momentary
_TOLD = ("closing-report", "agents-words", "plan")  # an agent's words, which no code and no commit states
_BEGINS = 40  # letters of a comment: its first row, as comments are wrapped after 60 and more
_SHORT = 3  # letters: a shorter name appears anywhere by chance
_TESTS = regex(r"(?i)(^|/)tests?(/|$)|_test\.|\.test\.|\.spec\.|(^|/)test_")
_DOCUMENTS = regex(r"(?i)\.(?:md|mdx|txt|rst|adoc)$")
_HUMPS = regex(r"\b[A-Z][a-z0-9]+(?:[A-Z]\w*)+")
_LACKS = regex(r"(?i)\b(?:never|not|without|no|only|nie|kein\w*|nicht|ohne)\b|n't\b|不|没有")
_COMMITTED = 3600  # seconds after its last turn in which people commit the work of a session
_REPLACED = regex(
    r"(?i)\b(?:instead|rather than|no longer|not|never|replac|remov|renam|drop|delet|deprecat)|\bfrom\b.*\bto\b|n't\b"
)
_BLANK = regex(r"\s")
_WORD = regex(r"[\w.@+/-]{1,4096}")
_OF_A_FILE = 3  # words that a whole file must share with a statement that names nothing in it
_SHARED = 2  # words that lines must share with a statement that does not name their file: one is chance


@frozen
class Rests:
    """A file that a statement relies on, and whether its lines are still there."""

    path: str
    state: str  # holds, changed, gone
    words: str


class WrittenFiles:
    """The current files of the work tree, each read once."""

    def __init__(self, top: str) -> None:
        self._top = top
        self._lines: dict[str, tuple[str, ...] | None] = {}
        self._turns: dict[str, list[Mapping[str, Any]]] = {}

    def turns(self, folder: str) -> list[Mapping[str, Any]]:
        """Returns the rows of a run's turns."""
        if folder not in self._turns:
            self._turns[folder] = list(turns_of(folder))
        return self._turns[folder]

    def rests(self, path: str, wrote: frozenset[str]) -> Rests:
        """Returns whether a file and the lines that were written into it are still there."""
        now = self.now(path)
        if now is None:
            return Rests(path, "gone", "the file is gone")
        if not wrote:
            return Rests(path, "holds", "the file is there")
        kept = len(wrote.intersection(map(line_hash, now)))
        words = f"{kept:,} of {len(wrote):,} lines written in the session are still there"
        return Rests(path, "holds" if kept == len(wrote) else "changed", words)

    def now(self, path: str) -> tuple[str, ...] | None:
        """Returns the lines of a file; None if it cannot be read."""
        if path not in self._lines:
            try:
                data = fsio.read(os.path.join(self._top, *path.split("/")), limit=MAX_FILE)
                self._lines[path] = tuple(data.decode("utf-8", "replace").split("\n"))
            except (OSError, HoldfastError):
                self._lines[path] = None
        return self._lines[path]

    def saw(self, folder: str, names: Sequence[str]) -> bool:
        """Whether the inputs or outputs of a run's calls contain one of these names."""
        all_texts = (text for _, *texts in _calls(folder) for text in texts)
        return any(name in text for text in all_texts for name in names)

    def files_read(self, folder: str, turn: int) -> list[str]:
        """Returns files that the calls up to a turn name, the last first; the repository may have been elsewhere."""
        inputs = (given for at, given, _ in _calls(folder) if at <= turn)
        words = dict.fromkeys(word for given in inputs for word in _WORD.findall(given))
        last = (word for word in reversed(words) if "." in word.rpartition("/")[2])
        there = filter(None, (self._ending_of(word) for word in islice(last, MOST_TRIED)))
        return list(dict.fromkeys(islice(there, MOST_READ)))

    def _ending_of(self, word: str) -> str:
        """Returns the longest end of a path that is a file here: `docs/README.md` is not the `README.md` beside it."""
        parts = word.split("/")
        ends = ("/".join(parts[skipped:]) for skipped in range(max(0, len(parts) - DEEPEST), len(parts)))
        return next((end for end in ends if ".." not in end and self.now(end)), "")


class LookedAtFiles(WrittenFiles):
    """The same for a session that is not imported: its turns and the texts of its calls are in memory."""

    def __init__(self, top: str) -> None:
        super().__init__(top)
        self.rows: list[Mapping[str, Any]] = []
        self.texts: list[str] = []
        self._turns[""] = self.rows

    def saw(self, folder: str, names: Sequence[str]) -> bool:  # noqa: ARG002 - there is one session, in no folder
        return any(name in text for text in self.texts for name in names)


@frozen
class _Committed:
    """The version of a file in a commit."""

    text: FileVersion
    blob: str


class SessionFiles:
    """The files of a run as its commits left them; git runs once for each commit and each file."""

    def __init__(self, clone: Clone, folder: str, files: WrittenFiles) -> None:
        self.clone, self.folder, self.files = clone, folder, files
        self._blobs: dict[tuple[str, str], str | None] = {}
        self._texts: dict[tuple[str, str], _Committed | None] = {}
        self._cited: dict[ExtractedMemory, list[Evidence]] = {}

    def cited(self, found: ExtractedMemory) -> list[Evidence]:
        """Returns evidence for a find: the lines of its turn, else the symbols and files that it is about."""
        if found not in self._cited:
            self._cited[found] = _cited_lines(self, found) or _cited_names(self, found)
        return self._cited[found]

    def committed(self, path: str, turn: int) -> _Committed | None:
        """Returns a file as it was after a turn; None if no commit in this clone has it."""
        commit = self._commit(path, turn)
        for name in (path, *self._names_before(path)) if commit else ():
            if (found := self._read(commit or "", name)) is not None:
                return found
        return None

    def _commit(self, path: str, turn: int) -> str | None:
        """Returns the commit with the work of a turn: its own last one, else the next of the run.

        After the run's last commit, that one counts for files that the run did not write again. Without commits it is
        the one that the run started from.
        """
        rows = [(int(row["turn"]), row) for row in self.files.turns(self.folder)]
        commits = [(at, str(row["commits"][-1])) for at, row in rows if row["commits"]]
        if later := [oid for at, oid in commits if at >= turn]:
            return later[0]
        at, last = commits[-1] if commits else (0, self._first_head)
        return None if any(path in row["files"] for n, row in rows if n > at) else last

    @cached_property
    def _first_head(self) -> str | None:
        anchor = capsule.read_context(self.folder).get("anchor")
        head = anchor.get("head") if isinstance(anchor, dict) else None
        return head if isinstance(head, str) else None

    def _names_before(self, path: str) -> list[str]:
        """Returns the names that a file had when the run wrote it, if it was renamed since."""
        return [old for old, new in self._renamed.items() if new == path]

    @cached_property
    def _renamed(self) -> dict[str, str]:
        wrote = dict.fromkeys(path for row in self.files.turns(self.folder) for path in row["files"])
        gone = [path for path in wrote if self.files.now(path) is None][:MOST_READ]
        return {old: place.path for old, place in places(self.clone.repo, gone).items()} if gone else {}

    def _read(self, commit: str, path: str) -> _Committed | None:
        key = (commit, path)
        if key not in self._texts:
            blob = self._blob(commit, path)
            data = stored(self.clone.repo, [blob]).get(blob) if blob else None
            self._texts[key] = _Committed(FileVersion(path, data), blob) if blob and data is not None else None
        return self._texts[key]

    def _blob(self, commit: str, path: str) -> str | None:
        """Returns the blob of a path in a commit; reads those of all files of the run at once."""
        if (commit, path) not in self._blobs:
            wrote = (one for row in self.files.turns(self.folder) for one in row["files"])
            asked = list(dict.fromkeys([path, *wrote]))[:MOST_READ]
            found: dict[str, str] = {}
            with contextlib.suppress(HoldfastError):  # a commit of another clone, or one that was rewritten
                found = self.clone.repo.blobs_at(commit, asked) if is_oid(commit) else {}
            self._blobs |= {(commit, one): found.get(one) for one in asked}
        return self._blobs[commit, path]


def _calls(folder: str) -> Iterator[tuple[int, str, str]]:
    """Yields the turn of each step of a run, with the inputs and the outputs of its calls; skips damaged rows."""
    for row in capsule.read_rows(folder, CYCLES):
        with contextlib.suppress(LookupError, TypeError):
            calls, results = row["proposal"]["calls"], row["result"]["calls"]
            yield row["turn"], "\n".join(one["input"] for one in calls), "\n".join(one["output"] for one in results)


def _cited_lines(session: SessionFiles, found: ExtractedMemory) -> list[Evidence]:
    """Returns evidence for the lines that a find is about: written in its turn, and all still there."""
    files, receipts = session.files, list[Evidence]()
    for path, wrote in written(session.folder, found.turn):
        if len(receipts) == MOST:
            break
        if not wrote or files.rests(path, wrote).state != "holds":
            continue
        then = session.committed(path, found.turn)
        now = files.now(path) or () if then is None else [line.decode("utf-8", "replace") for line in then.text.lines]
        span = _about(found.statement, path, now, wrote)
        if span is not None:
            with contextlib.suppress(HoldfastError):  # not tracked, or not fit to be cited
                named = _Named("lines", path, f"{span[0]}-{span[1]}")
                cut = then and then.text.cite_lines(*span, size=len(then.blob))
                receipts.append(may_be_cited(session.clone, cut) if cut else resolve(session.clone, str(named)))
    return receipts


@frozen
class _Named:
    """The subject of a find: a symbol, some lines, or a whole file."""

    kind: str  # symbol, lines, file
    path: str
    part: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.path}" + {"symbol": "#", "lines": ":", "file": ""}[self.kind] + self.part


def _receipt(session: SessionFiles, turn: int, named: _Named) -> Evidence:
    """Returns the evidence as the session left it; if that is unknown, as it is now."""
    then = session.committed(named.path, turn) if named.kind != "lines" else None  # lines were found unchanged
    if then is not None and named.kind == "file":
        return may_be_cited(session.clone, FileEvidence(then.text.path, then.blob))
    if then is not None:
        with contextlib.suppress(HoldfastError):  # the symbol had another name then
            return may_be_cited(session.clone, then.text.cite_symbol(named.part, size=len(then.blob)))
    return resolve(session.clone, str(named))


def _cited_names(session: SessionFiles, found: ExtractedMemory) -> list[Evidence]:
    """Returns evidence for the symbols and files that a find is about, if its lines cannot be cited.

    The find names them, or its turn wrote into the symbol. Files of its own turn come first, then those of later turns,
    which carried it out, then earlier ones; if none of these contains a name of the find, files that the run read, and
    last any file that defines the name: who only mentions it, in a comment perhaps, is no evidence. A whole file is the
    last resort: it changes soon.
    """
    clone, folder, files = session.clone, session.folder, session.files
    rows = [(int(row["turn"]), list(row["files"])) for row in files.turns(folder)]
    own = [path for turn, paths in rows if turn == found.turn for path in paths]
    others = [path for turn, paths in rows if turn > found.turn for path in paths]
    others += [path for turn, paths in rows if turn < found.turn for path in paths]
    there = [path for path in dict.fromkeys((*own, *others)) if files.now(path) is not None][:MOST_READ]
    names = list(dict.fromkeys((*_names(found.statement), *_names(found.details))))
    if not any(_names_some(files, path, names) for path in there):
        there += [path for path in files.files_read(folder, found.turn) if _names_some(files, path, names)]
    elsewhere = []
    if not any(_names_some(files, path, names) for path in there):
        elsewhere = [path for path in _naming(clone, files, _names(found.statement)) if path not in there]
    # Tested code is better evidence than its test, and code better than a document about it.
    for paths in (there, elsewhere):
        paths.sort(key=lambda path: (_TESTS.search(path) is not None, _DOCUMENTS.search(path) is not None))
    bases = {word.rsplit("/", 1)[-1] for word in paths_spelled(found.statement)}
    spelled = [path for path in there if path.rsplit("/", 1)[-1] in bases]
    cited = list(_comment(found.words, there, files)) if found.rule == statement_shapes.COMMENT_RULE else []
    code = [path for path in there if not _DOCUMENTS.search(path)]
    for paths in (spelled or code, elsewhere):
        cited = cited or [_Named("symbol", path, name) for path in paths for name in _defined(files, path, names)]
    cited += [_Named("file", path) for path in spelled]
    if not cited:
        text = f"{found.statement}\n{found.details}"
        cited = [_Named("symbol", path, name) for path, name in _written_into(folder, found.turn, text, files)]
        near = [path for path in there if path in own] or there
        written_code = [path for path in near if path in code]
        shares = _sharing_words(text, written_code, files) or _sharing_words(text, near, files)
        cited += [_Named("file", path) for path in shares]
    receipts: list[Evidence] = []
    for one in cited:
        if len(receipts) == MOST or (receipts and one.kind == "file"):
            break
        with contextlib.suppress(HoldfastError):  # not tracked, ambiguous, or not fit to be cited
            receipts.append(_receipt(session, found.turn, one))
    return receipts


def still_stands(session: SessionFiles, found: ExtractedMemory) -> bool:
    """Whether some of the code that a find names is here, or its session saw none of it here.

    A dead end is worth knowing after its code is gone, and statements of a person or of a memory file do not report
    code. A comment counts as gone with its words.
    """
    clone, folder, files = session.clone, session.folder, session.files
    rows = files.turns(folder)
    if found.kind != "dead-end" and _is_mended(clone, files, rows, found):
        return False
    if found.rule in _TOLD and statement_shapes.describes(found.kind, found.statement) and _has_moved(session, found):
        return False
    wrote = [path for row in rows for path in row["files"] if files.now(path) is not None]
    if not wrote or found.kind == "dead-end" or found.who == "user" or found.rule == "memory-file":
        return True  # without such files they were not of this repository, and the state is unknown
    if found.rule == statement_shapes.COMMENT_RULE:
        return any(_in_comments(found.words, files.now(path) or ()) for path in wrote)
    spelled = {name.removesuffix("()").strip("`") for name in session_statements.code_names(found.statement)}
    names = sorted(name for name in spelled if len(name) > _SHORT and not _BLANK.search(name))
    if not names or paths_mentioned(clone.repo, [found.statement])[found.statement]:
        return True
    lasts = [last if len(last := name.rpartition(".")[2]) > _SHORT else name for name in names]
    if _is_missing(clone, files, folder, lasts, found):
        return False
    options = [part for last in lasts for part in ("-e", last)]
    here, in_head = ("--untracked", *options), ("--recurse-submodules", *options, "HEAD")  # HEAD for sparse checkouts
    if any(clone.repo.attempt("grep", "-qF", *where).returncode != 1 for where in (here, in_head)):
        return True
    named = [f"*{name}*" for name in names]
    return bool(clone.repo.run("ls-files", "-z", "--", *named)) or not files.saw(folder, lasts)


def _has_moved(session: SessionFiles, found: ExtractedMemory) -> bool:
    """Whether code that a find cites changed after its session: nobody checked it since."""
    cites = [str(one) for one in session.cited(found)] if session.folder else []  # no run: nothing was committed
    return any(state in ("changed", "gone") for state in states(session.clone, cites).values())


def _is_missing(clone: Clone, files: WrittenFiles, folder: str, names: Sequence[str], found: ExtractedMemory) -> bool:
    """Whether at least half of the code that a find names is gone, though the session saw it."""
    if _REPLACED.search(found.statement):  # replaced code is expected to be gone
        return False
    gone = [
        name
        for name in names
        if clone.repo.attempt("grep", "-qF", "--untracked", "-e", name).returncode == 1
        and files.saw(folder, [name])
        and not clone.repo.run("ls-files", "-z", "--", f"*{name}*")
    ]
    return 2 * len(gone) >= len(names)


def _is_mended(clone: Clone, files: WrittenFiles, rows: Sequence[Mapping[str, Any]], found: ExtractedMemory) -> bool:
    """Whether the code of a reported fault was changed afterwards, in its session or since, or this is unknown.

    An agent's statement about code that its session changes later counts as such a fault, however it is worded:
    "counts returned parcels as sold" has no word for a fault.
    """
    row = next((row for row in rows if row["turn"] == found.turn), None)
    if row is None:
        return False
    said = datetime.fromisoformat(str(row["ts"])).timestamp()
    if found.rule in _REPORTS and statement_shapes.calls_for_change(found.statement, found.who):
        changes = list(_changes(clone, files, _names(found.statement)))
        return not changes or max(changes) > said  # in doubt it is not proposed
    until = None if statement_shapes.may_be_fault(found.statement) else str(rows[-1].get("ended") or rows[-1]["ts"])
    before_edits = not row.get("wrote") or found.rule == "agents-words"
    if until is not None and not (before_edits and found.who == "agent" and _describes(found)):
        return False
    last = datetime.fromisoformat(until).timestamp() + _COMMITTED if until else float("inf")
    return any(said < changed <= last for changed in _changes(clone, files, _names(found.statement)))


def _describes(found: ExtractedMemory) -> bool:
    return found.kind == "fact" or _LACKS.search(found.statement) is not None


def _changes(clone: Clone, files: WrittenFiles, names: Sequence[str]) -> Iterator[int]:
    """Yields when each line of the functions of these names was written."""
    for path in _naming(clone, files, names) if names else ():
        for name in _defined(files, path, names):
            one = symbols.fitting(path, _symbols(files, path), name)[0]
            blame = clone.repo.attempt("blame", "-w", "--line-porcelain", "-L", f"{one.first},{one.last}", "--", path)
            yield from (int(row[12:]) for row in blame.stdout.split(b"\n") if row.startswith(b"author-time "))


def _in_comments(words: str, lines: Sequence[str]) -> bool:
    """Whether a file contains these words of a comment, however they are wrapped."""
    own = words.partition("` ")[2] if words.startswith("`") else words
    text = "".join(filter(str.isalnum, "".join(lines)))
    return "".join(filter(str.isalnum, own[1:])) in text


def _comment(words: str, paths: Sequence[str], files: WrittenFiles) -> Iterator[_Named]:
    """Yields the line of a comment, found by its start, if only one line has it."""
    own = words.partition("` ")[2] or words  # after the name of the code below it
    begins = own[1:_BEGINS].rpartition(" ")[0] or own
    for path in paths:
        found = [at for at, line in enumerate(files.now(path) or (), 1) if begins in line]
        if len(found) == 1:
            yield _Named("lines", path, f"{found[0]}-{found[0]}")


def _naming(clone: Clone, files: WrittenFiles, names: Sequence[str]) -> list[str]:
    """Returns the files of the repository with most of these names; none if there are many such files."""
    options = [part for name in names for part in ("-e", name)]
    listed = clone.repo.attempt("grep", "-lzIF", *options).stdout if options else b""
    paths = [os.fsdecode(path) for path in listed.split(b"\0")[:-1]][:MOST_READ]
    held = {path: sum(_names_some(files, path, [name]) for name in names) for path in paths}
    best = [path for path in paths if held[path] == max(held.values())]
    return best if len(best) <= MOST else []


def _names(text: str) -> list[str]:
    """Returns the names of code in a text, the longest first."""
    spelled = {name.removesuffix("()") for name in (*session_statements.code_names(text), *_HUMPS.findall(text))}
    return sorted((one for one in spelled if len(one) > _SHORT), key=lambda one: (-len(one), one))


def _names_some(files: WrittenFiles, path: str, names: Sequence[str]) -> bool:
    text = "\n".join(files.now(path) or ())
    return any(name in text for name in names)


def _symbols(files: WrittenFiles, path: str) -> list[source_text.Symbol]:
    return symbols.symbols(path, [line.encode("utf-8", "replace") for line in files.now(path) or ()]) or []


def _defined(files: WrittenFiles, path: str, names: Sequence[str]) -> list[str]:
    """Returns the names that a file defines exactly once."""
    text = "\n".join(files.now(path) or ())
    wanted = [name for name in names if name in text]
    known = _symbols(files, path) if wanted else []
    return [name for name in wanted if len(symbols.fitting(path, known, name)) == 1]


def _sharing_words(text: str, paths: Sequence[str], files: WrittenFiles) -> list[str]:
    """Returns the file that shares most words with a statement; a word counts less the more files have it.

    A document must share half of them: a plan or a diary shares some with everything.
    """
    words = frozenset(stems(text))
    shared = {path: words.intersection(stems(f"{path} " + "\n".join(files.now(path) or ()))) for path in paths}
    often = Counter(word for some in shared.values() for word in some)
    least = {path: max(_OF_A_FILE, len(words) / 2 if _DOCUMENTS.search(path) else 0) for path in paths}
    score = {path: sum(1 / often[word] for word in some) for path, some in shared.items() if len(some) >= least[path]}
    return [path for path in score if score[path] == max(score.values())][:1]


def _written_into(folder: str, turn: int, text: str, files: WrittenFiles) -> list[tuple[str, str]]:
    """Returns the symbol with lines of a turn that shares most words with the statement; none if few lines remain."""
    words, best = frozenset(stems(text)), (False, 0, "", "")
    for path, wrote in written(folder, turn):
        now = files.now(path) or ()
        standing = [at for at, line in enumerate(now, 1) if line_hash(line) in wrote]
        if 2 * len(standing) < len(wrote):
            continue
        for one in _symbols(files, path):
            if any(one.first <= at <= one.last for at in standing):
                shared = len(words.intersection(stems(f"{one.name} " + "\n".join(now[one.first - 1 : one.last]))))
                if shared >= _SHARED:  # tested code before its test
                    best = max(best, (not _TESTS.search(path), shared, path, one.name))
    return [best[2:]] if best[1] else []


def written(folder: str, turn: int) -> Iterator[tuple[str, frozenset[str]]]:
    """Yields the files that a turn of a run wrote, each with hashes of the lines; skips damaged rows."""
    try:
        with open(os.path.join(folder, *LINES.split("/")), "rb") as file:
            for line in file:
                try:
                    row = json.loads(line)
                    if row["turn"] == turn:
                        yield str(row["path"]), frozenset(row["added"]) - frozenset(row["removed"])
                except (ValueError, LookupError, TypeError, RecursionError):
                    continue
    except OSError:
        return


def _about(text: str, path: str, now: Sequence[str], wrote: frozenset[str]) -> tuple[int, int] | None:
    """Returns the first and last line, from 1, of the written part that fits the statement best; None in doubt."""
    words = frozenset(stems(text))
    parts = list(_parts(now, wrote))
    shares = [words.intersection(stems("\n".join(now[first:last]))) for first, last in parts]
    most = max(map(len, shares), default=0)
    best = [part for part, shared in zip(parts, shares, strict=True) if len(shared) == most]
    if len(best) != 1 or (most < _SHARED and path not in paths_spelled(text)):
        return None
    first, last = best[0]
    if last - first > MAX_SPAN:  # from the first line that shares a word with the statement to the last
        near = [at for at in range(first, last) if not words.isdisjoint(stems(now[at]))]
        first, last = (near[0], near[-1] + 1) if near else best[0]
    often = Counter(map(str.strip, now))
    alone = any(often[line.strip()] == 1 for line in telling_lines(now[first:last]))
    return (first + 1, last) if alone and last - first <= MAX_SPAN else None


def _parts(now: Sequence[str], wrote: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yields ranges of adjacent written lines; trivial lines, such as a bracket, do not separate them."""
    first = last = -1
    for at, line in enumerate(now):
        if line_hash(line) in wrote:
            first, last = (at if first < 0 else first), at + 1
        elif first >= 0 and telling_lines([line]):
            yield first, last
            first = -1
    if first >= 0:
        yield first, last
