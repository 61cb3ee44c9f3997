"""Where a claim holds: in tests, in production, on Windows, for version 2, under a condition.

Two claims that name surroundings of one kind and have none in common do not meet.
"""

from holdfast.model.claims.words import STOP, Token, canonical, several, terms
from holdfast.patterns import regex

Scope = tuple[tuple[str, frozenset[str]], ...]  # kind of surroundings, and which


def _group(name: str, text: str) -> dict[str, tuple[str, frozenset[str]]]:
    """Each `word=member+member` or `word` as (kind, members)."""
    found = {}
    for item in text.split():
        word, _, members = item.partition("=")
        found[canonical(word)] = (name, frozenset((members or word).split("+")))
    return found


KINDS = {
    **_group(
        "environment",
        "production=prod staging=stage preprod=stage qa=stage development=dev dev=dev local=dev locally=dev"
        " laptop=dev ci=ci test=unit+integration+e2e unittests=unit integrationtests=integration e2e=e2e"
        " sandbox=sandbox",
    ),
    **_group("system", "windows linux macos=mac mac=mac ios android ubuntu=linux debian=linux"),
    **_group("side", "frontend backend mobile=mobile"),
    **_group("age", "new=new legacy=old old=old existing=old"),
    **_group("exposure", "public=public internal=internal private=internal admin=admin external=public"),
    **_group("source", "python=python typescript=ts javascript=js golang=go rust=rust java=java"),
}
_VERSION = regex(r"v\d{1,3}\Z")
_METHODS = several("GET POST PUT PATCH DELETE HEAD")
_CODE = several("code files modules module packages projects scripts services sources file part repo")
_WRITTEN = terms("write implement rewrite port code program build")


def scopes(words: tuple[Token, ...], condition: tuple[Token, ...]) -> Scope:
    """The surroundings that a clause and its condition name."""
    found: dict[str, set[str]] = {}
    for at, word in enumerate(words):
        if _VERSION.match(word.low):
            found.setdefault("version", set()).add(word.low)
        elif word.raw in _METHODS:
            found.setdefault("method", set()).add(word.low)
        elif word.stem in KINDS and _is_scope(words, at, KINDS[word.stem][0]):
            found.setdefault(KINDS[word.stem][0], set()).update(KINDS[word.stem][1])
    for word in condition:
        if word.stem in KINDS:
            found.setdefault(KINDS[word.stem][0], set()).update(KINDS[word.stem][1])
        if word.low not in STOP:
            found.setdefault("condition", set()).add(word.stem)
    return tuple((name, frozenset(members)) for name, members in found.items())


def _is_scope(words: tuple[Token, ...], at: int, kind: str) -> bool:
    """Whether a word says where something holds, and is not itself what is spoken of."""
    before = words[at - 1].low if at else ""
    following = words[at + 1].low if at + 1 < len(words) else ""
    match kind:
        case "source":
            written = any(word.stem in _WRITTEN for word in words)
            return following in _CODE or (before in ("in", "for") and not written)
        case "age" | "exposure":
            return following not in ("", ",", "key", "keys")
        case "system":
            return before in ("on", "for", "in", "under", "") or following in ("users", "builds", "machines")
        case _:
            return True
