"""`holdfast reconcile`: what git moved, and fork, carry or drop; asked on a terminal, else by option."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.interfaces.cli import reconciling_words as words
from holdfast.interfaces.cli.command import command
from holdfast.interfaces.cli.output import flush, say, show, wants_json
from holdfast.interfaces.cli.place import Place, on_a_terminal
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.capture.reconciling import Choice, Report
    from holdfast.git.reconcile import Orphan
    from holdfast.project import Project

    Answers = dict[str, Callable[[str | None], Choice | Orphan]]

CHANGES = "changes"
LEFT = "left"  # an option without a name: what this work tree left behind


def _named(value: str | None) -> str | None:
    return None if value in (None, LEFT) else value


@command(root, "reconcile")
@click.option(
    "--fork",
    is_flag=False,
    flag_value=LEFT,
    metavar="[SESSION]",
    help="Go on here with copies of what is open in the session left on another branch.",
)
@click.option(
    "--carry",
    is_flag=False,
    flag_value=LEFT,
    metavar="[NAME]",
    help="Move a session's open items here; `changes`: let those from after a rewind stay, or come back; "
    "a lost line: take over what it left.",
)
@click.option(
    "--drop",
    is_flag=False,
    flag_value=LEFT,
    metavar="[NAME]",
    help="End the session left behind; `changes`: set aside what came after this point; a lost line: let go of it.",
)
@click.option("--apply", is_flag=True, help="Cite the commits that rewritten ones became.")
@click.option("--all", "everything", is_flag=True, help="List also what was told before.")
def reconcile(place: Place, apply: bool, everything: bool, **answers: str | None) -> None:
    """Explain what git moved or left, and choose."""
    fork, carry, drop = answers["fork"], answers["carry"], answers["drop"]
    if sum(map(bool, (fork, carry, drop, apply))) > 1:
        raise click.UsageError("--fork, --carry, --drop and --apply do not go together.")
    with place.project() as project:
        if fork:
            _show(project.fork(_named(fork)))
        elif carry:
            _show(project.carry(_named(carry)), words.carried)
        elif drop:
            _show(project.drop(_named(drop)), words.dropped)
        elif apply:
            _show(project.reanchor())
        else:
            report = project.reconcile()
            show(report, words.everything if everything else words.reconciled, words.report_object)
            if on_a_terminal() and not wants_json():
                flush()
                _ask(project, report)


def _show(done: Choice | Orphan, of_orphan: Callable[[Orphan], str] = words.orphan) -> None:
    from holdfast.git.reconcile import Orphan

    if isinstance(done, Orphan):
        show(done, of_orphan, words.orphan_object)
    else:
        show(done, words.chosen, words.choice_object)


def _ask(project: Project, report: Report) -> None:
    """Each question once; leaving it open is an answer, too."""
    answers: Answers = {"fork": project.fork, "carry": project.carry, "drop": project.drop}
    some = {name: answer for name, answer in answers.items() if name != "fork"}
    for one in (one for one in report.sessions if one.left):
        fitting = some if one.gone else answers
        _choose(f"{one.session.id} was left on {words.place_of(one.session)}", fitting, one.session.id)
    if report.stranded:
        _choose(f"{words.changes(report.stranded)} from after this point of history", some, CHANGES)
    moved = [cite for cite in report.cited if cite.state == "moved" and cite.kind in words.MENDED]
    if moved and click.confirm("Cite the commits that rewritten ones became?", default=True, err=True):
        _show(project.reanchor())


def _choose(question: str, answers: Answers, name: str | None) -> None:
    say(question)
    choice = click.Choice([*answers, "leave"])
    said = click.prompt("What shall become of it?", type=choice, default="leave", err=True)
    if said in answers:
        _show(answers[said](name))
