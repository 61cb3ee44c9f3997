"""How many lines `why` answers, and how rightly, on real sessions whose commits are known: python -m bench.why REPO

python -m bench.why REPO                     lines of all commits with known sessions that are still there
python -m bench.why REPO --part 0/2          only of every second session: develop on one part, report on the other
python -m bench.why REPO --without 0/2       these sessions are not recorded: nobody may be named for their lines
python -m bench.why REPO --folders           transcripts lie in folders named by what the commits' trailers name
python -m bench.why REPO --keep FOLDER       keep the clone, so that the next measurement need not import again

REPO is a repository with a branch of checkpoints: `<2>/<10 hex digits>/<n>/full.jsonl` is a transcript of Claude Code,
`metadata.json` beside it names its session, and a commit's trailer names the checkpoint by its twelve digits. So it is
known from which sessions a commit came; which of its lines a person typed nobody knows. The repository is cloned, so no
reflog tells of these commits, and paths in the transcripts are made the clone's. Without --folders a transcript has the
name of its session, as the agent names it, and nothing leads from a trailer to it.

An answer is right if it names a session that the checkpoint lists for the file and whose transcript shows a call that
wrote the file. Where the list has a session and no transcript shows such a call, a helper or a command wrote it: these
lines are counted apart. Files that are not listed are left out, for an agent that commits everything takes along what
others left. So are lines without a letter or a digit: nobody asks about them. Sessions that share records are copies of
one conversation.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.capture.agents import dialect
from holdfast.capture.ingest.intake import TranscriptIntake
from holdfast.errors import HoldfastError
from holdfast.project import Project
from holdfast.recall.why import recorded_runs
from holdfast.recall.why.line_reasons import LIKELY, WhyAnswer
from holdfast.store import capsule

PLACE = re.compile(r"(..)/([0-9a-f]{10})/(\d+)/metadata\.json")
DATED = re.compile(r"\d{4}-\d\d-\d\d-")
WROTE = re.compile(rb'"(?:file_path|filePath)":"(/[^"\\]+)"')
WINDOWS = re.compile(rb'("(?:file_path|filePath|cwd)":")([A-Za-z]:\\\\[^"]*")')
UUID = re.compile(rb'"uuid":"([0-9a-f-]{36})"')
EDIT = re.compile(rb'"name":"(?:Edit|MultiEdit|Write|NotebookEdit)"')
CWD = re.compile(rb'"cwd":"(/[^"\\]+)"')
BARS = {"answered": 0.75, "stated": 0.99, "likely": 0.90}


@dataclass(frozen=True)
class SessionPart:
    """A session as it was when a checkpoint was made."""

    when: str
    place: str
    text: bytes


@dataclass
class Checkpoints:
    """What a branch of checkpoints holds."""

    parts: dict[str, list[SessionPart]] = field(default_factory=lambda: defaultdict(list))  # of a session
    writers: dict[str, dict[str, set[str]]] = field(default_factory=lambda: defaultdict(dict))  # checkpoint, file
    touched: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # files of a session
    same: dict[str, str] = field(default_factory=dict)  # a session that was resumed or forked: the first of its copies
    wrote: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # whole paths, by the first copy


def git(folder: str | Path, *args: str, stdin: bytes = b"") -> bytes:
    return subprocess.run(["git", "-C", str(folder), *args], check=True, capture_output=True, input=stdin).stdout


def read_checkpoints(repo: str, branch: str) -> Checkpoints:
    """All checkpoints; one of which a transcript is not here is left out."""
    rows = (row.split("\t") for row in git(repo, "ls-tree", "-r", branch).decode().splitlines())
    blobs = {path: facts.split(" ")[2] for facts, path in rows}
    names = list(dict.fromkeys(blobs.values()))
    known = git(repo, "cat-file", "--batch-check=%(objecttype)", stdin="\n".join(names).encode()).decode().split("\n")
    here = {name for name, kind in zip(names, known, strict=False) if kind == "blob"}
    found, lost = Checkpoints(), set()
    for path in sorted(blobs):
        name = PLACE.fullmatch(path)
        if name is None:
            continue
        checkpoint, transcript = name[1] + name[2], blobs.get(path.replace("metadata.json", "full.jsonl"))
        if blobs[path] not in here or transcript not in here:
            lost.add(checkpoint)
            continue
        facts = json.loads(git(repo, "cat-file", "blob", blobs[path]))
        text = WINDOWS.sub(_as_posix, git(repo, "cat-file", "blob", transcript))
        if not text.startswith(b'{"') or b'"sessionId"' not in text:  # of another agent
            lost.add(checkpoint)
            continue
        session = DATED.sub("", facts["session_id"])
        found.parts[session].append(SessionPart(facts.get("created_at") or "", f"{name[1]}/{name[2]}/{name[3]}", text))
        for file in facts.get("files_touched") or ():
            found.writers[checkpoint].setdefault(file, set()).add(session)
            found.touched[session].add(file)
    for checkpoint in lost:
        found.writers.pop(checkpoint, None)
    first: dict[bytes, str] = {}
    for session in sorted(found.parts):
        records = {name for part in found.parts[session] for name in UUID.findall(part.text)}
        copied = next((first[name] for name in records if name in first), session)
        found.same[session] = found.same.get(copied, copied)
        calls = {row for part in found.parts[session] for row in part.text.splitlines() if EDIT.search(row)}
        found.wrote[found.same[session]].update(path for row in calls for path in written_paths(row))
        first |= dict.fromkeys(records - first.keys(), session)
    return found


def written_paths(row: bytes) -> Iterator[str]:
    """The files that the calls of one record write."""
    content = json.loads(row).get("message", {}).get("content")
    for block in content if isinstance(content, list) else ():
        given = block.get("input") if EDIT.search(json.dumps(block, separators=(",", ":")).encode()) else None
        if isinstance(given, dict):
            yield str(given.get("file_path") or given.get("notebook_path")).replace("\\", "/")


def _as_posix(found: re.Match[bytes]) -> bytes:
    return found[1] + b"/" + found[2].replace(b"\\\\", b"/")


def top_of(text: bytes, touched: set[str]) -> bytes | None:
    """The folder of the repository as a transcript spells it, by the files that the session wrote."""
    tops: Counter[bytes] = Counter()
    for path in set(WROTE.findall(text)):
        tops.update(path[: -len(name) - 1] for name in map(os.fsencode, touched) if path.endswith(b"/" + name))
    cwd = CWD.search(text)
    return tops.most_common(1)[0][0] if tops else cwd[1] if cwd else None


def lay_out(found: Checkpoints, folder: Path, top: Path, *, folders: bool) -> Iterator[Path]:
    """The transcripts as an agent keeps them, one a session, or as the checkpoints have them."""
    for session, parts in found.parts.items():
        parts.sort(key=lambda one: one.when)
        whole = b"".join(dict.fromkeys(row for one in parts for row in one.text.splitlines(keepends=True)))
        old = top_of(whole, found.touched[session])
        texts = {f"{one.place}/full.jsonl": one.text for one in parts} if folders else {f"{session}.jsonl": whole}
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(re.sub(re.escape(old) + rb"(?=[/\"\s\\])", os.fsencode(top), text) if old else text)
            yield path


def is_in(session: str, part: str) -> bool:
    """Whether a session belongs to a part of them, such as 0/2."""
    number, parts = map(int, part.split("/"))
    return int(session[:8], 16) % parts == number


def prepare(repo: str, found: Checkpoints, folder: Path, *, folders: bool) -> Path:
    """A clone with every session taken in."""
    top = folder / Path(repo).resolve().parent.name.rpartition("+")[2]
    git(".", "clone", "-q", "--no-hardlinks", "--no-checkout", repo, str(top))
    git(top, "reset", "-q")
    # A copy may lack some large files, which nobody asks about.
    subprocess.run(["git", "-C", str(top), "checkout-index", "-afq"], check=False, capture_output=True)
    Project.init(top)
    clone = Project.open(top).clone
    ingest, began, runs = TranscriptIntake(clone), time.monotonic(), 0
    for path in lay_out(found, folder / "transcripts", top, folders=folders):
        try:
            taken = ingest.take_in(dialect("claude"), str(path), ended=True)
            runs += len(taken.runs) if taken else 0
        except (HoldfastError, ValueError, LookupError) as error:
            print(f"  {path.name}: {error!r}", file=sys.stderr)
    ingest.close()
    print(f"  {len(found.parts)} sessions became {runs} runs in {time.monotonic() - began:.0f} s")
    return top


Known = dict[tuple[str, str], set[str]]  # commit and file: the sessions that wrote it; none: no transcript shows it


def truth(top: Path, found: Checkpoints, trailer: str, part: str) -> Known:
    """The sessions of commits, file by file, as far as all their transcripts are here."""
    shape = f"--format=%H %(trailers:key={trailer},valueonly,separator=%x20)"
    known: Known = {}
    for oid, *names in (row.split() for row in git(top, "log", "--no-merges", shape, "HEAD").decode().splitlines()):
        for name in names if all(name in found.writers for name in names) else ():
            for file, sessions in found.writers[name].items():
                firsts = {found.same[session] for session in sessions}
                shown = {one for one in firsts if any(path.endswith(f"/{file}") for path in found.wrote[one])}
                if is_in(min(shown or firsts), part):
                    known.setdefault((oid, file), set()).update(shown)
    return known


class Tally:
    """Answers, counted by what they say."""

    def __init__(self, project: Project, known: Known, found: Checkpoints) -> None:
        self._clone, self._known, self._same = project.clone, known, found.same
        self._recorded = {found.same[session] for session in found.parts}
        self._sessions: dict[str, str] = {}
        self._count: Counter[tuple[bool, str, bool | None]] = Counter()
        self._unshown: Counter[bool] = Counter()  # lines whose writer no transcript shows: whether somebody is named
        self._reasons: Counter[str] = Counter()
        self.wrong: list[str] = []

    def add(self, path: str, one: WhyAnswer) -> None:
        sessions = self._known.get((one.commit.oid, path)) if one.commit else None
        if sessions is None:
            return
        size = sum(any(map(str.isalnum, text)) for text in one.text)
        named = [one.run.id] if one.run else [by.run for by in one.maybe] if one.state == LIKELY else []
        if not sessions:
            self._unshown[bool(named)] += size
            return
        right = {self._session(run) for run in named} <= sessions if named else None
        kind = LIKELY if one.state == LIKELY else "stated"
        known = not sessions.isdisjoint(self._recorded)
        self._count[known, kind, right] += size
        if right is False and one.commit:
            said, meant = (
                " ".join(sorted(name[:8] for name in names)) for names in ({*map(self._session, named)}, sessions)
            )
            place = f"{one.state:8} {path}:{one.first}-{one.last} {one.commit.oid[:10]}"
            self.wrong.append(f"{size:4} {place} said {said}, known {meant}: {one.text[0].strip()[:60]}")
        if right is None and known:
            self._reasons[f"{one.state}: {one.reason}"] += size

    def _session(self, run: str) -> str:
        if run not in self._sessions:
            folder = recorded_runs.folder_of(self._clone, run)
            context = capsule.read_json(folder, capsule.CONTEXT) if folder else None
            agent = context.get("agent") if isinstance(context, dict) else None
            told = agent if isinstance(agent, dict) else {}
            session = str(told.get("parent") or told.get("session") or "")
            self._sessions[run] = self._same.get(session, session)
        return self._sessions[run]

    def table(self) -> str:
        total, strange = (sum(n for key, n in self._count.items() if key[0] is known) for known in (True, False))
        rows, answered = [f"  {total} lines of commits with recorded sessions, {strange} of commits with others"], 0
        for kind in ("stated", LIKELY):
            right, wrong, there = (
                self._count[key] for key in ((True, kind, True), (True, kind, False), (False, kind, False))
            )
            answered += right + wrong
            share, sure = (right + wrong) / (total or 1), right / ((right + wrong + there) or 1)
            told = f"{right:7} right, {wrong} wrong, {there} for others' lines"
            rows.append(f"  {kind:9}{share:6.1%} of lines, {sure:6.1%} right (bar {BARS[kind]:.0%}): {told}")
        rows.append(f"  {'answered':9}{answered / (total or 1):6.1%} of lines (bar {BARS['answered']:.0%})")
        unshown = (
            f"  {self._unshown.total()} more lines that no transcript shows as written, {self._unshown[True]} answered"
        )
        return "\n".join([*rows, unshown, *(f"  {n:7}  {reason}" for reason, n in self._reasons.most_common())])


def main() -> int:
    """Print the table."""
    options = argparse.ArgumentParser(description="How many lines `why` answers, and how rightly.")
    options.add_argument("repo")
    options.add_argument("--branch", default="entire/checkpoints/v1")
    options.add_argument("--trailer", default="Entire-Checkpoint")
    options.add_argument("--part", default="0/1")
    options.add_argument("--without", default="1/1")
    options.add_argument("--folders", action="store_true")
    options.add_argument("--keep", type=Path)
    options.add_argument("--wrong", type=int, default=0, help="how many wrong answers are shown")
    given = options.parse_args()
    try:
        found = read_checkpoints(given.repo, given.branch)
    except subprocess.CalledProcessError:
        print(f"{given.repo} has no branch {given.branch} with recorded sessions: `why` is not measured.")
        return 1
    for session in [session for session in found.parts if is_in(found.same[session], given.without)]:
        del found.parts[session]
    with tempfile.TemporaryDirectory() as scratch:
        folder = (given.keep or Path(scratch)).resolve()
        top = next((place.parent for place in folder.glob("*/.git")), None)
        top = top or prepare(given.repo, found, folder, folders=given.folders)
        known = truth(top, found, given.trailer, given.part)
        project = Project.open(top)
        tally, began = Tally(project, known, found), time.monotonic()
        files = sorted({file for _, file in known if (top / file).is_file()})
        for path in files:
            try:
                for one in project.recall.why(path).why.answers:
                    tally.add(path, one)
            except HoldfastError as error:
                print(f"  {path}: {error}", file=sys.stderr)
    print(tally.table())
    print(f"  {len(files)} files of {len({oid for oid, _ in known})} commits asked in {time.monotonic() - began:.0f} s")
    print("\n".join(sorted(tally.wrong, reverse=True)[: given.wrong]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
