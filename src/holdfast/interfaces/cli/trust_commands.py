"""`holdfast trust`: whether what people accepted upstream may speak here; asked once per clone.

What `holdfast trust` says, in sentences and as objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.interfaces.cli.invocation import Invocation, answer, as_json, confirm, here, on_a_terminal
from holdfast.interfaces.cli.output import flush, picked, say, show, wants_json
from holdfast.interfaces.cli.phrases import count
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from holdfast.project import Project, git_sync
    from holdfast.store.trusted_upstream import TrustedUpstream

NOT_ASKED = "Nothing was changed: only a person can trust an upstream, in a terminal."


def trust_text(found: git_sync.Trust) -> str:
    """What is trusted, what agents are shown, and what to do about the rest."""
    follows = f"follows {found.upstream.name}" if found.upstream else "has no remote branch to trust."
    first = f"No upstream is trusted. This clone {follows}"
    if found.trusted is not None:
        first = f"Trusted: {found.trusted.name}, by {found.trusted.by} on {found.trusted.ts[:10]}"
        first = first if found.void is None else f"No upstream is trusted: {found.void}"
    rows = [first, f"  {count(found.speaking, 'memory', 'are')} shown to agents"]
    if found.foreign:
        are = "is" if found.foreign == 1 else "are"
        many, every = count(found.foreign, "memory"), found.upstream is not None and not found.counts
        rows.append(f"  {many} came by git and {are} not shown to agents: not approved here")
        rows.append("  approve one: holdfast review accept ID")
        rows += ["  approve all that people accepted upstream: holdfast trust (in a terminal)"] if every else []
    return "\n".join(rows) + "\n"


def state_unasked(found: git_sync.Trust) -> str:
    """The same where nobody can be asked: it says that nothing came of it, and who can do it."""
    if found.counts or found.upstream is None:
        return trust_text(found)
    rows = (row for row in trust_text(found).splitlines() if "holdfast trust" not in row)
    return "\n".join([*rows, NOT_ASKED]) + "\n"


def explained(found: git_sync.Trust) -> str:
    """What a yes means, before it is asked for."""
    before = f"{found.void}\n" if found.void else ""
    return (
        f"{before}From now on, agents here are shown what people accepted and merged into that branch, also "
        "after each fetch. Say yes only if you trust everybody who can merge into it."
    )


def revoked(before: TrustedUpstream | None) -> str:
    if before is None:
        return "No upstream was trusted.\n"
    return f"Not trusted any more: {before.name}\nWhat was accepted in this clone itself is still shown to agents.\n"


def state_object(found: git_sync.Trust) -> dict[str, Any]:
    """The same for programs; `trusted` says whether it counts."""
    return {
        "trusted": found.counts,
        "void": found.void,
        **{name: getattr(found.trusted, name, None) for name in ("by", "ts", "remote", "url", "branch")},
        **picked(found, "upstream", "speaking", "foreign"),
    }


@root.group("trust", invoke_without_command=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@as_json
@here
@click.pass_context
def trust(context: click.Context, place: Invocation, yes: bool) -> None:
    """Let agents use what people approved upstream.

    It asks once per clone, on a terminal, and is valid for one remote, its URL and its default branch. Without
    a terminal it shows what is trusted.
    """
    if context.invoked_subcommand is not None:
        return
    with place.project() as project:
        if yes or (on_a_terminal() and not wants_json()):
            _ask(project, yes=yes)
        else:
            show(project.sync.trust_state(), state_unasked, state_object)


def _ask(project: Project, *, yes: bool) -> None:
    state = project.sync.trust_state()
    if state.counts:
        show(state, trust_text, state_object)
        return
    project.sync.may_trust()
    if state.upstream is not None and not yes:
        flush()
        say(explained(state))
        confirm(f"Trust {state.upstream.name}?", yes=yes)
    show(project.sync.trust(), trust_text, state_object)


@answer(trust, "status", trust_text, state_object)
def status(project: Project) -> object:
    """Show what is trusted."""
    return project.sync.trust_state()


trust.add_command(status, "list")  # the name others know it by


@answer(trust, "revoke", revoked, lambda before: {"revoked": before})
def revoke(project: Project) -> object:
    """Stop trusting the upstream."""
    return project.sync.revoke_trust()
