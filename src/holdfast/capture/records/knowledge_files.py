"""Where records and notes lie, and reading them: bounded, as text only, and through no link.

Nothing here decides what a text means. A file that cannot be read is named with the reason and left alone.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence

from holdfast.errors import BadInput, HoldfastError
from holdfast.patterns import regex
from holdfast.store import fsio
from holdfast.values import frozen

MAX_FILE = 512 * 1024  # bytes; a guess: notes written by people are far smaller
MAX_FILES, MAX_DEPTH = 2000, 4  # a guess: bounds the time in a large tree
ADR_FOLDERS = (
    *("docs/adr", "doc/adr", "docs/adrs", "docs/decisions", "doc/decisions"),
    *("docs/architecture/decisions", "doc/architecture/decisions", "docs/architecture/adr", "adr", "adrs"),
)
ADR_TOOLS = ".adr-dir"  # names the folder, if adr-tools is configured to use another
NOTE_FILES = (
    *("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md", "MEMORY.md", "CONVENTIONS.md"),
    *(".github/copilot-instructions.md", ".cursorrules"),
)
NOTE_FOLDERS = ((".cursor/rules", ".mdc"), (".claude/rules", ".md"))

_GROUP = regex(r"# Task Group:.*")
_APPLIES = regex(r"applies_to:\s*(.*)")
_ASIDE = regex(r"(?:scope|applies_to):.*|#{2,3} Task \d+.*")
_ASIDE_SECTION = regex(r"#{2,4}\s+(?:rollout_summary_files|keywords|related skills)\b.*", re.IGNORECASE)
_TASK_MARK = regex(r"(?:\s*\[Task [\d, ]{1,20}\]){1,9}\s*$")


@frozen
class KnowledgeText:
    """A file that was read."""

    path: str  # from the top of the work tree, or the full path of a file outside
    text: str


@frozen
class SkippedKnowledge:
    """Something that was not taken, and why."""

    path: str
    reason: str


def adr_folders(top: str) -> list[str]:
    """The folders of this work tree that hold decision records."""
    named = read(os.path.join(top, ADR_TOOLS), ADR_TOOLS)
    own = [named.text.strip()] if isinstance(named, KnowledgeText) and "\n" not in named.text.strip() else []
    full = [os.path.join(top, *folder.split("/")) for folder in (*own, *ADR_FOLDERS) if folder]
    return list(dict.fromkeys(path for path in full if os.path.isdir(path) and _is_inside(top, path)))


def note_files(top: str) -> list[str]:
    """The files of notes that this work tree has."""
    found = [os.path.join(top, *name.split("/")) for name in NOTE_FILES]
    for folder, ending in NOTE_FOLDERS:
        found += _below(os.path.join(top, *folder.split("/")), (ending,))
    return [path for path in found if os.path.lexists(path) and _is_inside(top, os.path.dirname(path))]


def claude_folders(config: str, tops: Iterable[str]) -> list[str]:
    """Where Claude keeps what it noted about these work trees."""
    names = dict.fromkeys(re.sub(r"[^A-Za-z0-9]", "-", top) for top in tops)
    found = [os.path.join(config, "projects", name, "memory") for name in names]
    return [path for path in found if os.path.isdir(path)]


def codex_file(home: str) -> str:
    """Where Codex keeps its handbook, of all repositories together."""
    return os.path.join(home, "memories", "MEMORY.md")


def about_these_trees(text: str, tops: Sequence[str]) -> tuple[str, int]:
    """Codex's handbook with only the groups about these work trees, and how many others there are.

    Line numbers stay; what Codex notes for itself (which rollouts, which keywords) is blanked too.
    """
    rows, others = [], 0
    ours = aside = False
    lines = text.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines):
        if _GROUP.fullmatch(line):
            ours, aside = _applies(lines[number + 1 : number + 12], tops), False
            others += not ours
        elif line.startswith("#"):
            aside = _ASIDE_SECTION.fullmatch(line) is not None
        keep = ours and not aside and not _ASIDE.fullmatch(line) and not _GROUP.fullmatch(line)
        rows.append(_TASK_MARK.sub("", line) if keep else "")
    return "\n".join(rows), others


def listed(path: str, endings: tuple[str, ...] = (".md",)) -> list[str]:
    """The files a path names: itself, or those below it in the order of their names."""
    if os.path.isdir(path):
        return _below(path, endings)
    if not os.path.lexists(path):
        raise BadInput(f"there is no file or folder {path}", hint="Check the name.")
    return [path]


def read(full: str, shown: str) -> KnowledgeText | SkippedKnowledge:
    """A file's text, or why it is not read."""
    try:
        facts = os.lstat(full)
        if stat.S_ISLNK(facts.st_mode):
            return SkippedKnowledge(shown, "it is a symbolic link, and links are not followed")
        if facts.st_size > MAX_FILE:
            return SkippedKnowledge(shown, f"it has {facts.st_size:,} bytes; at most {MAX_FILE:,} are read")
        text = fsio.read(full, limit=MAX_FILE).decode("utf-8")
    except UnicodeDecodeError:
        return SkippedKnowledge(shown, "it is not UTF-8 text")
    except (OSError, HoldfastError) as error:
        return SkippedKnowledge(shown, str(getattr(error, "strerror", None) or error))
    return SkippedKnowledge(shown, "it is not text") if "\x00" in text else KnowledgeText(shown, text)


def shown(top: str, full: str) -> str:
    """A path as people know it: from the top of the work tree, or in full if it lies elsewhere."""
    folder, name = os.path.split(full)
    relative = os.path.relpath(os.path.join(os.path.realpath(folder), name), os.path.realpath(top))
    return full if relative.startswith(os.pardir + os.sep) else relative.replace(os.sep, "/")


def _below(folder: str, endings: tuple[str, ...]) -> list[str]:
    return list(_walk(folder, endings, MAX_DEPTH))[:MAX_FILES]


def _walk(folder: str, endings: tuple[str, ...], depth: int) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            there = sorted(entries, key=lambda entry: entry.name)
    except OSError:  # not there, or not ours to read
        return
    for entry in there:
        if entry.is_dir(follow_symlinks=False):
            if depth > 1 and not entry.name.startswith("."):
                yield from _walk(entry.path, endings, depth - 1)
        elif entry.name.endswith(endings):
            yield entry.path


def _applies(lines: Sequence[str], tops: Sequence[str]) -> bool:
    said = next((found[1] for line in lines if (found := _APPLIES.match(line))), "").partition("; reuse_rule")[0]
    ends = r"(?=$|[/;,`\"')]| and\b| or\b|\s*$)"
    return any(re.search(rf"(?<![\w./-]){re.escape(top.rstrip('/'))}{ends}", said) for top in tops)


def _is_inside(top: str, path: str) -> bool:
    relative = os.path.relpath(os.path.realpath(path), os.path.realpath(top))
    return relative != os.pardir and not relative.startswith(os.pardir + os.sep)
