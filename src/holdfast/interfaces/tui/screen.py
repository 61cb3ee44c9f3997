"""The review screen's decisions: one key each.

What a decision means is the project's business; this module asks, says what came of it and keeps the place.
"""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from holdfast.curation.decisions import Standing
from holdfast.curation.queue import Item, Look
from holdfast.curation.undo import Step
from holdfast.errors import Contradicts, HoldfastError, NotFound
from holdfast.interfaces.tui import page
from holdfast.interfaces.tui.dialogs import HowBoth, Into, Line, Yes
from holdfast.interfaces.tui.editor import Editor
from holdfast.interfaces.tui.showing import Showing
from holdfast.interfaces.tui.tray import Act, named
from holdfast.interfaces.tui.typed import split
from holdfast.model.memory import Memory
from holdfast.security.person import doubt
from holdfast.values import replace

CANDIDATES = ("proposed", "suggested")
SEEN = ("type", "statement", "details", "tags", "applies_to", "supersedes", "compatible_with", "expires_at")
WISHED = {
    "supersede": "supersedes",
    "keep_both": "compatible_with",
    "applies_to": "applies_to",
    "expires": "expires_at",
}


class Reviewing(Showing):
    """The queue and the item, and a key for each decision."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "approve", "approve"),
        Binding("r", "reject", "reject"),
        Binding("e", "edit", "edit"),
        Binding("m", "merge", "merge"),
        Binding("u", "undo", "undo"),
        Binding("A", "approve_all", "approve all"),
    ]

    async def action_approve(self) -> None:
        item = self._free_item()
        if item is None:
            return
        if item.reason == "contradicts":
            await self._ask_how(item)
        elif item.reason == "expired":
            question = Line(f"Until when does {item.id} hold?", "90d, 12h, 2027-01-01 or never", value="90d")
            self.app.push_screen(question, partial(self._approve_until, item))
        else:
            await self._approve(item)

    async def _approve_until(self, item: Item, when: str | None) -> None:
        if when:
            await self._approve(item, expires=when)

    async def _approve(self, item: Item, **wish: Any) -> None:
        self._say(f"Approving {item.id}…")
        try:
            done = await self._hands.do(partial(self._accept, item, wish))
        except Contradicts as error:
            await self._ask_how(item, error)
        except (HoldfastError, OSError) as error:
            self._complain(error)
        else:
            verb = "deprecated" if done.status == "deprecated" else "approved"
            self._decided(item, Act(verb, (done.id,)), (*_uncounted([done]), *done.notes))

    def _accept(self, item: Item, wish: dict[str, Any]) -> Standing:
        """Approve what was on the screen, and nothing else; in the other thread."""
        done = self._desk.accept(item.id, **wish)
        if item.reason == "proposed" and _differ(item.standing.memory, done.memory, wish):
            self._desk.undo()
            self._outdated = True
            raise HoldfastError(
                f"{item.id} was changed while you looked at it, and is not approved", hint="Read it again."
            )
        if wish.get("supersede") or self._waiting is None:
            self._outdated = True
        else:
            self._waiting.against.add(done)
        return done

    async def _ask_how(self, item: Item, error: Contradicts | None = None) -> None:
        self._outdated = True  # whatever contradicts it may have been approved a moment ago
        found = await self._attempt(partial(self._look, item))
        if found is None:
            return
        if not found.look.conflicts:
            self._complain(error or NotFound(f"nothing contradicts {item.id} any more", hint="Skip it with s."))
            return
        self._keep(item, found)
        self._say("")
        question = HowBoth(found.look.conflicts, no="reject" if item.reason in CANDIDATES else "deprecate")
        self.app.push_screen(question, partial(self._resolve, item, found.look))

    async def _resolve(self, item: Item, look: Look, how: str | None) -> None:
        others = [conflict.other.id for conflict in look.conflicts]
        if how == "supersede":
            await self._approve(item, supersede=others)
        elif how == "reject":
            self._ask_reason(item)
        elif how == "both":
            asked = Line(
                f"Where does {item.id} apply?",
                "Paths inside the repository, apart by commas; empty if everywhere",
                value=", ".join(item.standing.memory.applies_to),
            )
            self.app.push_screen(asked, partial(self._keep_both, item))

    async def _keep_both(self, item: Item, paths: str | None) -> None:
        if paths is not None:
            await self._approve(item, keep_both=True, applies_to=split(paths))

    def action_reject(self) -> None:
        if item := self._free_item():
            self._ask_reason(item)

    def _ask_reason(self, item: Item) -> None:
        question = f"Reject {item.id}: why?"
        if item.reason not in CANDIDATES:
            question = f"Deprecate {item.id}: why does it no longer hold?"
        asked = Line(question, "Enter decides, with or without a reason; Escape leaves it as it was")
        self.app.push_screen(asked, partial(self._reject, item))

    async def _reject(self, item: Item, reason: str | None) -> None:
        if reason is None:
            return
        candidate = item.reason in CANDIDATES
        act = self._desk.reject if candidate else self._desk.retire
        done = await self._attempt(partial(act, item.id, reason=reason))
        if done is not None:
            self._outdated = True
            self._decided(item, Act("rejected" if candidate else "deprecated", (item.id,)))

    def action_edit(self) -> None:
        if item := self._free_item():
            self.app.push_screen(Editor(item.standing.memory), partial(self._edit, item))

    async def _edit(self, item: Item, changes: dict[str, Any] | None) -> None:
        if not changes:
            self._say("Nothing was changed")
            return
        done = await self._attempt(partial(self._desk.edit_memory, item.id, **changes))
        if done is None:
            return
        self._looks.pop(item.id, None)
        act = Act("edited", (item.id,))
        if done.status != "candidate":  # what was accepted once is approved anew by its change
            self._outdated = True
            self._decided(item, act)
            return
        new = replace(item, standing=replace(item.standing, memory=done.memory))
        self._tray.put(new)
        self._tray.acts.append(act)
        self._say(f"Edited {item.id}; it still waits (u takes it back)", "green")
        self._show(self._tray.place(item.id))

    async def action_merge(self) -> None:
        item = self._free_item()
        if item is None:
            return
        found = self._looks.get(item.id) or await self._attempt(partial(self._look, item))
        if found is not None and self._waiting is not None:
            known = {one.id: one.memory.statement for one in self._waiting.known.standings}
            same = [(name, page.one_line(known.get(name, ""))) for name in found.look.same]
            self.app.push_screen(Into(item.id, same), partial(self._merge, item))

    async def _merge(self, item: Item, into: str | None) -> None:
        if not into:
            return
        done = await self._attempt(partial(self._desk.join, item.id, into))
        if done is not None:
            for one in self._tray.items:
                if one.id == done.id:  # another candidate has its evidence now
                    self._tray.put(replace(one, standing=replace(one.standing, memory=done.memory)))
            self._outdated = True
            self._decided(item, Act("merged", (item.id,)), (f"into {done.id}",))

    def action_approve_all(self) -> None:
        # What contradicts something, or came from elsewhere, is looked at one by one.
        items = [item for item in self._tray.shown if item.reason not in ("contradicts", "elsewhere")]
        if not items or self._free_item() is None:
            return
        fitting = f" that fit {self._tray.filter.text}" if self._tray.filter.text else ""
        counted = Counter(item.reason for item in items)
        kinds = ", ".join(f"{number} {reason}" for reason, number in counted.items())
        question = f"Approve all {len(items)}{fitting} ({kinds})?"
        hint = "What contradicts something, or cites nothing where it must, is left and named"
        self.app.push_screen(Yes(question, hint), partial(self._approve_many, items))

    def _approve_many(self, items: list[Item], agreed: bool | None) -> None:
        if agreed:
            self._busy = True
            self._say(f"Approving {len(items)}…")
            self._approve_each(items)

    @work
    async def _approve_each(self, items: list[Item]) -> None:
        try:
            found = await self._attempt(partial(self._accept_all, items))
        finally:
            self._busy = False
        if found is None:
            return
        left, notes = found
        self._looks.clear()
        ids = tuple(item.id for item in items if item.id not in left)
        if ids:
            self._tray.acts.append(Act("approved", ids))
        said = f"Approved {len(ids)}" + (" (u takes them back)" if ids else "")
        if left:
            said += f"; left {named(sorted(left))}"
        self._say(said, "green" if ids else "yellow", next(iter((*notes, *left.values())), ""))
        self._show(0)

    def _accept_all(self, items: list[Item]) -> tuple[dict[str, str], list[str]]:
        """Approve what was listed, as it was listed; gives what was left and why. In the other thread."""
        now = {item.id: item.standing.memory for item in self._desk.queue().items}
        same = [item for item in items if now.get(item.id) == item.standing.memory]
        changed = {item.id for item in items} - {item.id for item in same}
        left = {name: f"{name} was changed since it was listed" for name in changed}
        done = self._desk.accept_all(same)
        self._read()
        return left | dict(done.left), _uncounted(done.done)

    async def action_undo(self) -> None:
        if self._busy:
            return
        act = self._tray.acts[-1] if self._tray.acts else None
        taken, refused = await self._hands.do(partial(self._take_back, len(act.ids) if act else 1))
        self._looks.clear()
        ids = [step.id for step in taken]
        if taken:
            self._tray.untake(ids)
            self._say(f"Taken back: {taken[-1].action} {named(ids)}", "green")
            self._show(self._tray.place(ids[-1]))
        if refused is not None:
            self._complain(refused)

    def _take_back(self, steps: int) -> tuple[list[Step], HoldfastError | OSError | None]:
        """Undo so many decisions, as far as it goes; in the other thread."""
        taken: list[Step] = []
        refused = None
        try:
            for _ in range(steps):
                taken.append(self._desk.undo())
        except (HoldfastError, OSError) as error:
            refused = error
        if taken:
            self._read()
        return taken, refused

    # What came of it.

    def _free_item(self) -> Item | None:
        """The selected item, unless something is under way."""
        return None if self._busy else self._list.item

    def _decided(self, item: Item, act: Act, notes: Iterable[str] = ()) -> None:
        """The item waits no more; the next one takes its place."""
        at = self._list.selected
        self._tray.take([item.id])
        self._tray.acts.append(act)
        self._looks.clear()
        said = f"{act.done.capitalize()} {named(act.ids)} (u takes it back)"
        self._say(said, "green", "; ".join(notes))
        self._show(at)


def _uncounted(done: Iterable[Standing]) -> list[str]:
    """What to say if an approval does not count as a person's."""
    if all(one.trust == "T0" or one.status != "accepted" for one in done):
        return []
    why = doubt(terminal=True, environ=os.environ) or "no person was seen at a terminal"
    return [f"not counted as approved by a person: {why}; use another terminal"]


def _differ(seen: Memory, now: Memory, wish: Mapping[str, Any]) -> bool:
    """Whether what was approved is not what was on the screen, but for what the reviewer wished."""
    wished = {WISHED[name] for name in wish}
    return any(getattr(seen, name) != getattr(now, name) for name in SEEN if name not in wished)
