"""Finds stack traces in a question: which lines are frames, which files they name, which words are specific.

Agents paste whole traces. Specific are the error's type, its message and the innermost frames of the project's own
code; the rest is the same in every trace. Imports nothing: the quick path reads every question with this.
"""

MAX_LINES = 600  # of a question; a guess: longer traces repeat themselves
OWN_FRAMES = 3  # own frames whose function counts as a word; a guess: of the others only the file counts
_FOREIGN = (
    "site-packages/", "dist-packages/", "node_modules/", "<frozen", "node:", "/usr/lib/", "/lib/python",
    "java.base/", "/rustc/", "/go/src/", "/pkg/mod/", "vendor/", "<anonymous>", "<string>", "<stdin>",
)  # fmt: skip
_NO_WORDS = (
    "Traceback (most recent call last)", "Stack trace:", "stack backtrace:", "goroutine ", "During handling",
    "The above exception", "note: run with", "created by ", "exit status ", "[signal ",
)  # fmt: skip
_WRAPPED = "\"'`<>()[]{},;“”«»"


class TraceFrame:
    """One line of a trace: the file it names and, if given, the function."""

    __slots__ = ("function", "innermost_last", "path")

    def __init__(self, path: str, function: str, *, innermost_last: bool) -> None:
        self.path, self.function, self.innermost_last = path, function, innermost_last

    @property
    def is_own(self) -> bool:
        path = self.path.replace("\\", "/")
        if path.startswith("internal/") and path.endswith("js"):  # Node's own; in Go such a folder is ours
            return False
        return bool(path) and not any(part in path for part in _FOREIGN)


def without_frames(text: str) -> tuple[str, list[str]]:
    """Returns the text without the frames of its stack traces, and their files, the innermost first.

    A text with fewer than two frames is unchanged.
    """
    lines = text.splitlines()[:MAX_LINES]
    frames = [frame_of(line) for line in lines]
    _name_gos(lines, frames)
    found = [frame for frame in frames if frame is not None]
    if len(found) < 2:
        return text, []
    kept = [line for number, line in enumerate(lines) if _says(line, number, frames)]
    own = [frame for frame in found if frame.is_own]
    if found[0].innermost_last:
        own.reverse()
    functions = [frame.function for frame in own[:OWN_FRAMES] if frame.function]
    return "\n".join([*kept, *functions]), list(dict.fromkeys(frame.path for frame in own))


def _name_gos(lines: list[str], frames: "list[TraceFrame | None]") -> None:
    """Gives Go's frames their functions, which Go prints on the line above; that line is then a frame too."""
    for number in range(1, len(lines)):
        frame, above = frames[number], lines[number - 1].strip()
        if frame is None or not frame.path.endswith(".go") or frame.function or frames[number - 1]:
            continue
        called = above.removeprefix("created by ").partition(" in goroutine ")[0]
        name = (called.rpartition("(")[0] if called.endswith(")") else called).rpartition("/")[2]
        if "." in name and " " not in name:
            frame.function = name
            frames[number - 1] = TraceFrame("", "", innermost_last=False)


def _says(line: str, number: int, frames: list[TraceFrame | None]) -> bool:
    """Whether a line is not a frame, nor Python's code below one, nor a phrase of every trace."""
    if frames[number] is not None or line.strip(" ^~-|") == "" or line.strip().startswith(_NO_WORDS):
        return False
    above = frames[number - 1] if number else None
    below_code = number > 1 and frames[number - 2] is not None and not line[:1].strip()
    return not (line[:1] in (" ", "\t") and (above is not None or below_code))


def frame_of(line: str) -> TraceFrame | None:
    """Returns the frame in a line of a trace of Python, JavaScript, Java, Go, Rust or a debugger."""
    bare = line.strip()
    if bare.startswith('File "') and '", line ' in bare:
        path, _, rest = bare[6:].partition('", line ')
        return TraceFrame(path, rest.partition(", in ")[2].strip("<>"), innermost_last=True)
    if bare.startswith("at "):
        return _at(bare[3:])
    if bare.startswith("#") and " in " in bare and bare[1:2].isdigit():  # a debugger's
        function, _, rest = bare.partition(" in ")[2].partition(" ")
        return TraceFrame(place_of(rest.split()[-1]) if rest.strip() else "", function, innermost_last=False)
    if line[:1] in ("\t", " ") and _is_gos(bare):
        return TraceFrame(place_of(bare.split()[0]), "", innermost_last=False)
    return None


def _is_gos(bare: str) -> bool:
    """Whether a line is the second of a Go frame: a file and a line, and mostly an offset in the function."""
    place, _, rest = bare.partition(" ")
    return " +0x" in bare or (".go:" in place and not rest and place.rpartition(":")[2].isdigit())


def _at(rest: str) -> TraceFrame | None:
    """Returns the frame in `foo (lib/a.js:3:1)`, `com.foo.Bar.run(Bar.java:12)` or `./src/x.rs:12:5`."""
    before, opened, inside = rest.rpartition("(")
    place = place_of(inside.rstrip(")") if opened else rest.rpartition(" ")[2])
    if not place and not opened:
        return None
    function = before.strip().removeprefix("async ").removeprefix("new ")
    if place.endswith((".java", ".kt", ".scala")) and "/" not in place:  # the package is the folder
        if function.startswith(("java.", "javax.", "jdk.", "sun.", "kotlin.", "scala.")):
            return TraceFrame("", "", innermost_last=False)
        folders = function.split("/")[-1].split(".")[:-2]
        return TraceFrame("/".join([*folders, place]), ".".join(function.split(".")[-2:]), innermost_last=False)
    return TraceFrame(place, function, innermost_last=False)


def place_of(word: str) -> str:
    """Returns the path in a word such as `src/x.ts:12:5`, `file:///a/b.py` or `"a/b.c",`; empty if none."""
    return line_of(word)[0]


def line_of(word: str) -> tuple[str, int]:
    """Returns the path in a word, and the line it names; 0 if none."""
    word, line = word.strip(_WRAPPED).rstrip(".,").removeprefix("file://"), ""
    for _ in range(2):  # line and column
        head, colon, tail = word.rpartition(":")
        if colon and (tail.isdigit() or not tail):
            word, line = head, tail or line
    word = word.rstrip(".,:")
    if not is_path(word):
        return "", 0
    return word.replace("\\", "/"), int(line) if line.isascii() and 0 < len(line) < 9 else 0


def is_path(word: str) -> bool:
    """Whether a word looks like a file's path: folders, or a name with an extension."""
    if "://" in word or len(word) > 512 or not any(c.isalnum() for c in word):
        return False
    stem, dot, ending = word.replace("\\", "/").rsplit("/", 1)[-1].rpartition(".")
    has_ending = bool(dot and stem and 0 < len(ending) <= 5 and ending.isalnum() and not ending.isdigit())
    return has_ending or ("/" in word.strip("/") and " " not in word)


def endings(path: str) -> list[str]:
    """Returns the names a path may be stored by, the longest first: traces name files from their root."""
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    pieces = [piece for piece in path.split("/") if piece not in ("", ".")]
    rooted = path.startswith(("/", "~", "..")) or path[1:2] == ":"
    prefixed = pieces[:1] in (["a"], ["b"])  # the prefixes of `git diff`
    starts = range(len(pieces)) if rooted else range(2 if prefixed and len(pieces) > 1 else 1)
    return [name for name in ["/".join(pieces[start:]) for start in starts] if name][:16]
