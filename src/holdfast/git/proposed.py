"""What candidates said when they were proposed, as this clone's own log has it.

A candidate is a plain file that anybody may change until somebody decides; its event is not.
"""

from collections.abc import Collection

from holdfast.errors import CorruptLog, TooLarge, UnsafePath
from holdfast.git.clone import Clone
from holdfast.model.memory import Candidate


def changed_since(clone: Clone, candidates: Collection[Candidate]) -> set[str]:
    """The ids of those whose words are not the ones they were proposed with."""
    said: dict[str, set[str]] = {}
    asked = {candidate.id for candidate in candidates}
    for event in clone.own_events() if asked else ():
        if event.kind == "propose" and event.target in asked and event.body:
            said.setdefault(event.target, set()).update(_statement(clone, event.body))
    return {one.id for one in candidates if said.get(one.id) and one.statement not in said[one.id]}


def _statement(clone: Clone, body: str) -> list[str]:
    try:
        statement = (clone.bodies.get(body) or {}).get("statement")
    except (CorruptLog, UnsafePath, TooLarge):  # doctor names it
        return []
    return [statement] if isinstance(statement, str) else []
