"""Redaction: known secrets become `[redacted:<rule>]` before anything is written.

One engine walks bytes from left to right, over output that arrives in pieces as over text that is all there. A
decision at a place depends on a bounded stretch around it, and none is taken before that stretch has arrived: so any
way of cutting the input gives the same output. What a secret looks like is left to `security.rules`.

A whole text is scanned until nothing changes, so redacting it twice changes nothing; output that arrives in pieces is
scanned once.

Stated limits. A match looks at most `REACH` bytes ahead of its anchor; the rest of a token is swallowed, not kept, so
memory stays bounded. A token that never ends is shown again after a while (a quoted value after 4 KiB, a key block
after 16 KiB, any other word after 64 KiB). Colour codes within a secret do not hide it, up to four in a row: more are
not removed, so that the raw bytes behind a bounded stretch of visible ones are bounded too. Words in base64,
percent-encoding and JSON escapes are looked at decoded, at most two codings deep (`security.encoded_words`). Text in
UTF-16, other codings, encrypted secrets, and shapes nobody has named are not seen. A user's own rules are matched on
UTF-8 bytes, and their time is bounded (`security.rules`); text longer than `REACH` is never one of the values a user
allows.

`<private>…</private>` in a text (a prompt, a note, a proposal, a transcript) is dropped before anything is kept. Tags
may be nested; one that is never closed reaches to the end, because text that is missing can be written again. In a
command's output, which arrives in pieces, the shape `private` hides the same stretch.
"""

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from holdfast.errors import ScanFailed
from holdfast.patterns import regex
from holdfast.security.encoded_words import DEEPEST, Coding
from holdfast.security.rule_anchors import HOLD, AnchorHits, none_in
from holdfast.security.rules import REACH, Patience, SecretRest, SecretShape, UserRule, rules_text
from holdfast.values import frozen

_TAG = regex(r"<(/?)private>", re.IGNORECASE)
_OPEN_ANGLE = regex(r"<[^<>]{0,9}\Z")


def without_private(text: str) -> str:
    """The text without what stands between `<private>` and its `</private>`."""
    if _TAG.search(text) is None:
        return text
    kept: list[str] = []
    depth = start = 0
    for tag in _TAG.finditer(text):
        if tag.group(1) and not depth:
            continue  # a closing tag that closes nothing hides nothing
        if not depth:
            before = text[start : tag.start()]
            # It must make no new tag with what comes after the dropped stretch.
            kept.append(before + " " if _OPEN_ANGLE.search(before[-12:]) else before)
        depth += -1 if tag.group(1) else 1
        start = tag.end() if not depth else len(text)
    return "".join(kept) + text[start:]


_COLOUR = rb"\x1b\[[0-9;:?]{0,24}[A-Za-z]"
_COLOURS = regex(rb"(?:%b){1,4}(?!%b)" % (_COLOUR, _COLOUR))
_UNDECIDED = regex(rb"(?:%b)*(?:\x1b(?:\[[0-9;:?]{0,24})?)?" % _COLOUR)
# What stands before may be the end of an escape: `\n`, `\u003d`, `%3D`.
_ESCAPE = regex(rb"(?s:.*)(?:\\[nrtbf]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})")
_LOWER = frozenset(b"abcdefghijklmnopqrstuvwxyz")
_ALPHA = _LOWER | frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
# Of so many random bytes in a row all but a few in a hundred change as often; paths and names of settings do not.
_BLOB, _CHANGES = 36, 15
_LONG_WORD = regex(rb"[A-Za-z0-9_+/-]{%d}" % _BLOB)
_CHANGE = regex(rb"[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])")


class VisibleBytes:
    """The visible bytes: colour codes taken out, with the way back to the raw ones."""

    __slots__ = ("_raw", "_removed", "base", "cuts", "edge", "text")

    def __init__(self, raw: bytes, context: bytes, after_secret: bool, *, final: bool) -> None:
        self._raw = raw
        self.base = len(context)
        self.edge = self.base if after_secret else -1  # where the last redaction ended
        self.cuts: list[int] = []  # visible places where colour codes were taken out
        self._removed: list[int] = [0]  # how many raw bytes were taken out up to the n-th cut
        self.text = context + self._visible(raw, final=final)

    def _visible(self, raw: bytes, *, final: bool) -> bytes:
        if b"\x1b" not in raw:
            return raw
        decided = len(raw) if final else _decided(raw)
        pieces, position = [], 0
        for match in _COLOURS.finditer(raw):
            if match.start() >= decided:
                break
            pieces.append(raw[position : match.start()])
            position = match.end()
            self._removed.append(self._removed[-1] + match.end() - match.start())
            self.cuts.append(self.base + match.end() - self._removed[-1])
        pieces.append(raw[position:decided])
        return b"".join(pieces)

    def _after(self, place: int) -> int:
        """The raw place just after the visible byte before `place`."""
        return place - self.base + self._removed[bisect_left(self.cuts, place)]

    def between(self, start: int, stop: int) -> bytes:
        """The raw bytes from `start` on; codes just before `stop` stay with what comes next."""
        return self._raw[self._after(start) : self._after(stop)]

    def before_secret(self, start: int, secret: int) -> bytes:
        """The raw bytes up to a secret, with the codes that colour it."""
        return self._raw[self._after(start) : secret - self.base + self._removed[bisect_right(self.cuts, secret)]]

    def tail(self, start: int) -> bytes:
        """All raw bytes from `start` on."""
        return self._raw[self._after(start) :]

    def word_starts(self, place: int) -> bool:
        """Whether a word can start here: after no letter, after a colour code or after a redaction."""
        if self.text[place - 1] not in _LETTERS or _ESCAPE.fullmatch(self.text, max(0, place - 8), place):
            return True
        return self._is_parted(place)

    def _is_parted(self, place: int) -> bool:
        cut = bisect_left(self.cuts, place)
        return place in (0, self.edge) or (cut < len(self.cuts) and self.cuts[cut] == place)

    def may_start(self, place: int, shape: SecretShape) -> bool:
        """Whether a shape can start here: where a word does, or a name within one; or anywhere but in a blob."""
        if shape.issued and self._within_blob(place):
            return False
        if not shape.boundary and not shape.beside:
            return True
        return self.word_starts(place) or (shape.beside and self._name_starts(place))

    def _within_blob(self, place: int) -> bool:
        """Whether a long random word goes on here: by chance it holds the beginning of any token."""
        before = self.text[max(0, place - _BLOB) : place]
        if _LONG_WORD.fullmatch(before) is None or before in (before.lower(), before.upper()):
            return False  # ids in hex and names in capitals stand before keys
        return len(_CHANGE.findall(before)) >= _CHANGES and not self._is_parted(place)

    def _name_starts(self, place: int) -> bool:
        """Whether a name starts here within a longer one: `MY_NAME`, `myName`; not `bar` in `scrollbar`."""
        before, here = self.text[place - 1], self.text[place]
        return before not in _ALPHA or (before in _LOWER and here not in _LOWER)


def _decided(raw: bytes) -> int:
    """Where a run of colour codes that may go on begins; a run decides itself within four codes."""
    start = raw.find(b"\x1b", max(0, len(raw) - 192))
    while start != -1:
        if _UNDECIDED.fullmatch(raw, start):
            return start
        start = raw.find(b"\x1b", start + 1)
    return len(raw)


PRIVATE = "private"  # the name of the rule for what a person marked
CUSTOM = "custom"  # the name of every rule a user adds
MAX_DEPTH = 100  # a guess: far below Python's limit of recursion

_PASSES = 8  # one that changes nothing is the last; a rule of the user's that hides our marks never comes to that
_CONTEXT = 64  # bytes kept before the undecided ones, for look-behinds
_NO_REST = SecretRest(rb"", 0)
_MARKER = regex(r"\[redacted:[a-z0-9-]{1,32}\]")
_SECRET_NAME = regex(
    r"(?i)(?:passw(?:or)?d|passphrase|secret|token|credential|"
    r"(?:api|access|private|signing|encryption|account|auth|master|session|deploy)[_-]?key)"
    r"(?:[_-]?(?:value|key|prod|dev|test|live|staging|[0-9]{1,3}))?$"
)
_STANDS_FOR_ONE = regex(r"\$[{(]|\$[A-Za-z_]{1,40}$|\{\{|\{[\w.]{0,40}\}$|<[\w -]{1,40}>$|%[(s]|\*{3,}|\.\.\.")
_NUMBERS, _NESTED = (bool, int, float), (dict, list, tuple)
_SHORT_NAME = 40  # characters; a guess: longer keys are looked at with the patterns
_NO_TOKEN = regex(r"https?://|[.~]{0,2}/|.*\s", re.DOTALL)


class Scanner:
    """Finds known secrets and puts a marker in their place.

    All it remembers between calls is how long the user's rules took: for streams, and apart from them for
    texts, so that an output which is slow to scan does not cost the event that tells of it.
    """

    __slots__ = ("_for_streams", "_for_texts", "_given", "allow", "extra", "key", "private")

    def __init__(self, extra_rules: Sequence[str] = (), allow: Sequence[str] = (), *, private: bool = True) -> None:
        self._given, self.private = (extra_rules, allow), private
        self.extra = tuple(UserRule.read(rule, "redact.rules") for rule in extra_rules)
        self.allow = tuple(UserRule.read(rule, "redact.allow") for rule in allow)
        self._for_streams, self._for_texts = Patience(), Patience()
        said = repr((rules_text(), *extra_rules, "allow", *allow)).encode("utf-8", "surrogatepass")
        self.key = blake2b(said, digest_size=8).hexdigest()  # other rules, another key

    def text(self, text: str) -> str:
        """The text without its secrets, and without what a person marked as private."""
        text = without_private(text) if self.private else text
        data = text.encode("utf-8", "surrogatepass")
        if (clean := self.file(data)) is data:
            return text
        try:
            return clean.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:  # a user's rule cut a character in two
            return clean.decode("utf-8", "replace")

    def lines(self, lines: Sequence[str]) -> list[str]:
        """As many lines without their secrets, which may span several; each line shown alone could not tell."""
        found = self.text("\n".join(lines)).split("\n")
        return [*found, *[""] * len(lines)][: len(lines)]  # a user's rule may take a line break away

    def file(self, data: bytes) -> bytes:
        """A file's bytes without its secrets.

        What is left is scanned again: beside a mark a word can be a token that was none beside the secret.
        """
        for _ in range(_PASSES):
            if self.none_in(data):
                break
            stream = Stream(self, self._for_texts)
            if (clean := stream.feed(data) + stream.finish()) == data:
                break
            data = clean
        return data

    def for_others(self) -> "Scanner":
        """The same rules for text that others wrote, which is indexed or shown but not recorded.

        In it `<private>` is no word to us, since it could mute whatever follows; and the line breaks
        within a secret stay, so that lines keep their numbers.
        """
        return Scanner(*self._given, private=False)

    def none_in(self, data: bytes) -> bool:
        """Whether a quick look shows that there is nothing to hide."""
        return not self.extra and b"\x1b" not in data and none_in(data)

    def value(self, value: Any) -> Any:
        """A JSON value without its secrets, keys included; `{"password": …}` counts as an assignment."""
        return value if self._is_plain(value) else self._value(value, MAX_DEPTH)

    def stream(self) -> "Stream":
        """A redaction of bytes that arrive in pieces."""
        return Stream(self, self._for_streams)

    def allows(self, secret: bytes) -> bool:
        """Whether the user said that exactly this is no secret."""
        return len(secret) <= REACH and any(rule.pattern.fullmatch(secret) for rule in self.allow)

    def _is_plain(self, value: Any) -> bool:
        """Whether one look at all its words together shows that there is nothing to look for."""
        words: list[str] = []
        if self.extra or not _collect(value, words, MAX_DEPTH):
            return False
        return self.none_in("\n".join(words).encode("utf-8", "surrogatepass"))

    def _value(self, value: Any, depth: int) -> Any:
        if depth == 0:
            raise ScanFailed(f"a value is nested more than {MAX_DEPTH} levels deep and was not scanned")
        match value:
            case str():
                return self.text(value)
            case None | bool() | int() | float():
                return value
            case dict():
                return self._object(value, depth)
            case list() | tuple():
                return self._array(value, depth)
        raise ScanFailed(f"a {type(value).__name__} is not a JSON value and was not scanned")

    def _object(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        clean: dict[str, Any] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise ScanFailed(f"a key of type {type(key).__name__} is not a JSON key and was not scanned")
            name = self.text(key)
            if name in clean:  # two secrets as keys read the same once redacted; neither value may go
                name = next(new for n in range(2, len(value) + 2) if (new := f"{name}#{n}") not in clean)
            named = self._named(key, item)
            clean[name] = self._value(item, depth - 1) if named is None else named
        return clean

    def _array(self, value: Sequence[Any], depth: int) -> list[Any]:
        clean: list[Any] = []
        for place, item in enumerate(value):
            before = value[place - 1] if place else None
            flag = before.lstrip("-") if isinstance(before, str) and before.startswith("-") else ""
            named = self._named(flag, item) if " " not in flag and "=" not in flag else None
            clean.append(self._value(item, depth - 1) if named is None else named)
        return clean

    def _named(self, key: str, item: Any) -> str | None:
        """The marker for a value that its name alone shows to be a secret."""
        found = _SECRET_NAME.search(key)
        if found is None or not isinstance(item, str) or _STANDS_FOR_ONE.match(item) or _MARKER.search(item):
            return None
        password = found.group().lower().startswith("pass")
        is_none = len(item) < (4 if password else 8) or (not password and _NO_TOKEN.match(item))
        if is_none or self.allows(item.encode("utf-8", "surrogatepass")):
            return None
        return f"[redacted:{'password' if password else 'secret'}]"


def _collect(value: Any, words: list[str], depth: int) -> bool:
    """Gather every word of a value; False where a name shows a secret or something is no JSON."""
    if isinstance(value, str):
        words.append(value)
        return not (value.startswith("-") and _SECRET_NAME.search(value))
    if value is None or isinstance(value, _NUMBERS):
        return True
    if depth == 0 or not isinstance(value, _NESTED):
        return False
    if isinstance(value, dict):
        if not all(map(_is_plain_name, value)):
            return False
        words.extend(value)
        value = value.values()
    for item in value:
        if type(item) is str and not item.startswith("-"):  # most of them, without a call for each
            words.append(item)
        elif not _collect(item, words, depth - 1):
            return False
    return True


def _is_plain_name(key: Any) -> bool:
    """Whether this is the name of no secret; the same short names come again and again."""
    if not isinstance(key, str):
        return False
    return _is_plain_short(key) if len(key) < _SHORT_NAME else _SECRET_NAME.search(key) is None


@lru_cache(maxsize=4096)
def _is_plain_short(key: str) -> bool:
    return _SECRET_NAME.search(key) is None


@frozen
class _Secret:
    start: int
    end: int
    rule: str
    rest: SecretRest

    def moved(self, by: int) -> "_Secret":
        return _Secret(self.start + by, self.end + by, self.rule, self.rest)


class Stream:
    """Redacts bytes as they arrive; what cannot be decided yet is held back, at most a few KiB."""

    def __init__(self, scanner: Scanner, patience: Patience, depth: int = 0) -> None:
        self._scanner, self._patience, self._depth = scanner, patience, depth
        self.hidden: dict[str, int] = {}  # how often each rule hid something, the first that did so first
        self._read: dict[str, int] = {}  # how far a word of each coding was looked at
        self._again: list[tuple[int, Coding]] = []  # where long encoded words are looked at once more
        self._held = b""  # raw bytes whose fate is open
        self._context = b""  # the visible bytes before them
        self._after_secret = False  # the held bytes follow a redaction directly
        self._found: list[tuple[int, _Secret]] = []  # secrets further on, counted from the held bytes
        self._rest: SecretRest | None = None  # we are inside a secret that goes on
        self._left = 0

    def feed(self, data: bytes) -> bytes:
        """What is certain after these bytes."""
        return self._advance(data, final=False)

    def finish(self) -> bytes:
        """What was held back; nothing may follow."""
        return self._advance(b"", final=True)

    def _advance(self, data: bytes, *, final: bool) -> bytes:
        try:
            return self._step(self._held + data, final=final)
        except (RecursionError, MemoryError, re.error, OverflowError) as problem:
            raise ScanFailed(f"the secret scanner stopped: {type(problem).__name__}") from problem

    def _step(self, raw: bytes, *, final: bool) -> bytes:
        view = VisibleBytes(raw, self._context, self._after_secret, final=final)
        self._found = [(view.base + start, secret.moved(view.base)) for start, secret in self._found]
        position = self._go_on(view, view.base, final=final)
        out = [self._breaks(view, view.base, position)]
        view.edge = position if self._after_secret else view.edge
        scanner, decode = self._scanner, self._depth < DEEPEST
        hits = AnchorHits(
            view.text, position, scanner.extra, self._patience, cuts=view.cuts, decode=decode, final=final
        )
        self._again = [(view.base + place, coding) for place, coding in self._again]
        self._read = {name: view.base + end for name, end in self._read.items()}
        for place, coding in self._again:
            hits.again(place, coding)
        if self._after_secret:
            hits.after(position)
        limit = len(view.text) - (0 if final else REACH if scanner.extra else HOLD)  # where what can be decided ends
        while self._rest is None:
            limit = self._look(view, hits, position, limit, final=final)
            if not self._found or self._found[0][0] >= limit:
                break
            secret = self._found.pop(0)[1]
            if secret.end <= position:  # it lay within one that was hidden before
                continue
            start = max(position, secret.start)
            out += (view.before_secret(position, start), b"[redacted:%b]" % secret.rule.encode())
            self.hidden[secret.rule] = self.hidden.get(secret.rule, 0) + 1
            self._rest, self._left = secret.rest, secret.rest.limit
            position = view.edge = self._go_on(view, secret.end, final=final)
            out.append(self._breaks(view, start, position))
            hits.after(position)
        return b"".join(out) + self._keep(view, position, limit, final=final)

    def _breaks(self, view: VisibleBytes, start: int, stop: int) -> bytes:
        return b"" if self._scanner.private else b"\n" * view.text.count(b"\n", start, stop)

    def _look(self, view: VisibleBytes, hits: AnchorHits, position: int, limit: int, *, final: bool) -> int:
        """Decide all anchors before the next secret: the words that show one may hold another."""
        while (hit := hits.peek(position)) is not None and hit[0] < limit:
            start, shape = hit
            if self._found and start >= self._found[0][0]:
                break
            if not final and start + REACH > len(view.text):
                return start
            hits.take()
            if isinstance(shape, Coding):
                secret = self._within(view, hits, start, shape)
            else:
                secret = self._secret(view, start, shape)
            if secret is not None:
                insort(self._found, (secret.start, secret), key=lambda found: found[0])
        return limit

    def _secret(self, view: VisibleBytes, start: int, shape: SecretShape | UserRule) -> "_Secret | None":
        """The secret at this anchor, if it is one."""
        if isinstance(shape, UserRule):
            match = self._patience.match(shape, view.text, start)
            name, group, rest = CUSTOM, 0, _NO_REST
        elif not view.may_start(start, shape):
            return None
        else:
            match = shape.compiled().match(view.text, start)
            name, group = shape.name, (match.lastindex or 0) if match else 0
            rest = shape.rests[group - 1]
        if match is None or match.end(group) == match.start(group):
            return None
        if name == PRIVATE and not self._scanner.private:
            return None
        if self._scanner.allow and self._allowed(view, match.group(group), match.end(group), rest):
            return None
        return _Secret(match.start(group), match.end(group), name, rest)

    def _within(self, view: VisibleBytes, hits: AnchorHits, start: int, coding: Coding) -> "_Secret | None":
        """The whole encoded word here, if what it says holds a secret."""
        if start < self._read.get(coding.name, 0) and (start, coding) not in self._again:
            return None  # it lies within a word that was looked at
        word = coding.read(view.text, start)
        if word is None:
            return None
        self._read[coding.name] = word.end
        rule = self._said(word.text)
        if rule is None:
            if word.again is not None:
                self._again = [(word.again, coding), *(later for later in self._again if later[0] > start)]
                hits.again(word.again, coding)
            return None
        if self._scanner.allow and self._allowed(view, view.text[start : word.end], word.end, coding.rest):
            return None
        return _Secret(start, word.end, rule, coding.rest)

    def _said(self, text: bytes) -> str | None:
        """The rule that finds a secret in decoded text."""
        if not self._scanner.extra and none_in(text):
            return None
        inner = Stream(self._scanner, self._patience, self._depth + 1)
        inner.feed(text)
        inner.finish()
        return next(iter(inner.hidden), None)

    def _allowed(self, view: VisibleBytes, secret: bytes, end: int, rest: SecretRest) -> bool:
        if not rest.until and (more := rest.compiled().match(view.text, end, end + rest.limit)):
            secret += more.group()
        return self._scanner.allows(secret)

    def _go_on(self, view: VisibleBytes, position: int, *, final: bool) -> int:
        """Swallow what still belongs to the secret before `position`."""
        if self._rest is None:
            return position
        rest, text = self._rest, view.text
        stop = min(position + self._left, len(text))
        if rest.until:  # a terminator closes it, which may be arriving
            match = rest.compiled().search(text, position, stop)
            done = match is not None or final or stop < len(text)
            end = match.end() if match else stop if done else max(position, stop - HOLD)
        else:
            match = rest.compiled().match(text, position, stop)
            end = match.end() if match is not None else position
            done = end + rest.ahead <= len(text) or rest.limit == 0  # an escape may be arriving byte by byte
        self._left -= end - position
        if done or final or self._left == 0:
            self._rest = None
        return end

    def _keep(self, view: VisibleBytes, position: int, limit: int, *, final: bool) -> bytes:
        """Hold back what is open and give what is certain."""
        if final:
            self._held = b""
            return view.tail(position)
        stop = max(position, limit if self._rest is None else position)
        self._held = view.tail(stop)
        self._found = [(start - stop, secret.moved(-stop)) for start, secret in self._found]
        self._again = [(place - stop, coding) for place, coding in self._again if place >= stop]
        self._read = {name: end - stop for name, end in self._read.items() if end > stop}
        self._after_secret = stop == view.edge
        self._context = view.text[max(0, stop - _CONTEXT) : stop]
        return view.between(position, stop) if stop > position else b""
