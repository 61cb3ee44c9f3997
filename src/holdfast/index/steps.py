"""Whether a question takes several steps: it names one thing and asks for another kind of thing.

"Which decision led to the change that broke test_pool?" names a test and asks for a decision: no words of
the answer stand in it. Most questions name what they ask for. Nothing is imported but our own: the quick
path leaves such a question to the full one, which walks the graph for it.
"""

from holdfast.index.names import is_identifier

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.index.asked import Asked

_KINDS = {
    "decision": "decision", "decided": "decision", "task": "task", "run": "run", "session": "session",
    "commit": "commit", "change": "commit", "fact": "fact", "invariant": "invariant",
    "assumption": "assumption", "dead-end": "dead-end", "turn": "turn", "document": "doc", "function": "code",
}  # fmt: skip
_ASKING = ("which", "what", "whose")


def wanted_kind(asked: "Asked") -> str | None:
    """The kind of thing that a question asks for, as in "which decision …"; None if it does not say."""
    words = [word.strip("?,.:;\"'").casefold() for word in asked.text.split()]
    for place, word in enumerate(words):
        if word in _ASKING:
            for following in words[place + 1 : place + 4]:
                kind = _KINDS.get(following) or _KINDS.get(following.removesuffix("s"))
                if kind:
                    return kind
    return None


def names_identifier(asked: "Asked") -> bool:
    """Whether a question names something by what nobody says by chance: an id, a path, a symbol."""
    return bool(asked.paths) or any(is_identifier(word) for word in asked.words)


def takes_several(asked: "Asked") -> bool:
    """Whether a question names one thing and asks for a thing of another kind."""
    return names_identifier(asked) and wanted_kind(asked) is not None
