"""Trusting: the one upstream whose trunk may speak here, and what came from elsewhere."""

from holdfast.errors import NeedsReview
from holdfast.git import upstream
from holdfast.git.upstream import Upstream
from holdfast.project.viewing import Viewing
from holdfast.store.trusted_upstream import TrustedUpstream
from holdfast.values import frozen


@frozen
class Trust:
    """What is trusted here, and what that leaves silent."""

    trusted: TrustedUpstream | None
    void: str | None  # why what was trusted counts for nothing
    upstream: Upstream | None  # what could be trusted
    speaking: int  # memories that may be told unasked
    foreign: int  # memories that came by git, and that nobody here or in a trusted trunk approved

    @property
    def counts(self) -> bool:
        return self.trusted is not None and self.void is None


class Trusting(Viewing):
    """Whom this clone believes."""

    def trust_state(self) -> Trust:
        """What is trusted, whether it still counts, and how much came from elsewhere."""
        held = upstream.held(self.clone)
        found = self.knowledge()
        return Trust(
            trusted=held.trusted if held else None,
            void=held.void if held else None,
            upstream=upstream.find(self.clone.repo, self.clone.trunk),
            speaking=sum(one.trust == "T0" for one in found.trusted),
            foreign=sum(one.trust == "T4" for one in (*found.trusted, *found.stale, *found.unreviewed)),
        )

    def may_trust(self) -> None:
        """Refuse unless a person asks: an agent that trusts an upstream could let anything speak."""
        if self._person:
            return
        raise NeedsReview(
            f"only a person may trust an upstream: {self._no_person}",
            hint="Open another terminal, outside the agent, and run: holdfast trust",
        )

    def trust(self) -> Trust:
        """Trust the trunk of this clone's upstream: what people accepted there speaks here as well."""
        self.may_trust()
        name = self.clone.repo.text("config", "user.name", ok=(0, 1)) or "unknown"
        upstream.trust(self.clone, by=name)
        self._render_quietly()
        return self.trust_state()

    def trust_revoke(self) -> TrustedUpstream | None:
        """Trust no upstream any more; gives what was trusted."""
        before = upstream.revoke(self.clone)
        self._render_quietly()
        return before
