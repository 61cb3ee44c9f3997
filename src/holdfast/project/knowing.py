"""Knowing: memories proposed, approved, turned down."""

import contextlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from holdfast.curation import review
from holdfast.curation.decisions import Reviewer, Standing
from holdfast.curation.propose import propose
from holdfast.errors import NeedsReview
from holdfast.model.memory import Accepted, Candidate
from holdfast.project.viewing import Viewing


class Knowing(Viewing):
    """What people decide that the project knows."""

    def remember(
        self,
        statement: str,
        *,
        kind: str = "fact",
        details: str = "",
        evidence: Iterable[str] = (),
        confidence: float | None = None,
        layer: str | None = None,
        tags: Iterable[str] = (),
        applies_to: Iterable[str] = (),
        supersedes: Iterable[str] = (),
        expires: str | datetime | None = None,
        source: str | None = None,
        id: str | None = None,  # noqa: A002 - the field's own name
        accept: bool = False,
        reviewer: str | None = None,
    ) -> Standing:
        """Propose a memory; it counts once it is reviewed, or at once with `accept`.

        `evidence` names runs, commits or tracked paths; `expires` is a moment or a time from now (30d).
        """
        made = propose(
            self.clone,
            statement=statement,
            kind=kind,
            details=details,
            evidence=[evidence] if isinstance(evidence, str) else evidence,
            confidence=confidence,
            layer=layer,
            tags=tags,
            applies_to=applies_to,
            supersedes=supersedes,
            expires_at=expires,
            source=source,
            id=id,
        )
        if accept:
            return self.accept(made.id, reviewer=reviewer)
        if self.settings.auto_promote is not None:
            with contextlib.suppress(NeedsReview):
                return self.promote_fact(made.id)
        waiting = {standing.id: standing for standing in review.waiting(self.clone)}
        return waiting.get(made.id) or Standing(made, "accepted")

    def promote_fact(
        self, fact: Mapping[str, Any] | Candidate | Accepted | str, *, reviewer: str | None = None
    ) -> Standing:
        """Approve a fact (its fields, itself, or its id).

        Without a reviewer the settings' threshold decides; below it, a candidate is left and NeedsReview
        is raised.
        """
        who = self._reviewer(reviewer) if reviewer is not None else None
        if isinstance(fact, Mapping) and isinstance(fact.get("evidence"), str):
            fact = {**fact, "evidence": [fact["evidence"]]}
        done = review.promote(self.clone, fact, reviewer=who, threshold=self.settings.auto_promote)
        self._render_quietly()
        return done

    def candidates(self) -> list[Standing]:
        """What waits for a decision: candidates, and entries written or edited by hand.

        What another clone erased and this one still holds is named among the notices.
        """
        self.clone.notes.extend(
            f"{name} was erased in another clone and is still held here; to delete it: holdfast erase {name}"
            for name in review.erased_elsewhere(self.clone)
        )
        return [*review.waiting(self.clone), *self.facts().unreviewed]

    def accept(self, identity: str, *, reviewer: str | None = None) -> Standing:
        """Approve a candidate, or an entry as it stands in the work tree."""
        done = review.accept(self.clone, identity, self._reviewer(reviewer))
        self._render_quietly()
        return done

    def reject(self, identity: str, *, reason: str = "", reviewer: str | None = None) -> Standing:
        """Turn a candidate down; the same words are not proposed again."""
        return review.reject(self.clone, identity, reason, self._reviewer(reviewer))

    def retire(self, identity: str, *, reason: str = "", reviewer: str | None = None) -> Standing:
        """Say that an accepted memory no longer holds; its file stays and says so."""
        done = review.retire(self.clone, identity, reason, self._reviewer(reviewer))
        self._render_quietly()
        return done

    def _reviewer(self, name: str | None) -> Reviewer:
        return Reviewer(
            name or self.clone.repo.text("config", "user.name", ok=(0, 1)) or "unknown", self._person
        )
