"""Adopting lines that another clone of the project recorded, after its store was brought here.

A branch of the same name is the same work: its records become visible on that branch here. What
belongs to a branch that is not here stays an orphan, which `reconcile` lists.
"""

from holdfast.git import lines
from holdfast.git.clone import Clone
from holdfast.git.lines import Inherit, Known
from holdfast.git.moved import seen
from holdfast.values import replace


def adopt(clone: Clone, before: set[str]) -> list[str]:
    """Let branches here see what lines of the same name brought; gives the names of those branches."""
    known, configured = lines.known(clone.layout), lines.configured(clone.repo)
    mine = {ref: identity for ref, (identity, _) in configured.items() if identity in known}
    adopted = []
    brought = [line for identity, line in known.items() if identity not in before]
    seen.keep_names(clone, seen.FOREIGN, seen.names(clone, seen.FOREIGN) | {line.id for line in brought})
    for line in brought:
        home = mine.get(line.refs[-1]) if line.refs else None
        if home is not None and home != line.id:
            _join(clone, known[home], line)
            adopted.append(line.refs[-1].removeprefix("refs/heads/"))
    clone.forget_line()
    return adopted


def _join(clone: Clone, here: Known, brought: Known) -> None:
    wider = (*here.inherits, Inherit(brought.id, None), *brought.inherits)
    lines.save(clone.layout, replace(here, inherits=tuple(dict.fromkeys(wider))))
    lines.save(clone.layout, replace(brought, dropped=True))
