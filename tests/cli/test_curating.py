"""The commands with which people decide what the project knows, typed as a person and as an agent would."""

import json
import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.curation.propose import propose
from holdfast.errors import Contradicts
from holdfast.interfaces import quick
from holdfast.model.evidence import Provenance
from holdfast.project import Project
from tests.cli.test_main import on_a_terminal
from tests.conftest import Cli, GitRepo, make_repo, redirected, whole

CODE = """\
import os

TIMEOUT = 30


class Store:
    def open(self):
        return os.open("x", 0)

    def close(self):
        pass
"""
MADE: list[Path] = []  # made by the first test, copied by the others
STANDING = {
    *("id", "type", "statement", "details", "layer", "tags", "source", "confidence", "evidence"),
    *("applies_to", "supersedes", "compatible_with", "expires_at", "status", "path", "blob", "trust"),
    *("receipts", "notes"),
}
WAITING = STANDING | {
    *("line", "provenance", "suggests", "because", "reason", "proposed_at", "branch", "said"),
    *("conflicts", "same", "diff"),
}


@pytest.fixture
def repo(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    """A project on a branch, with something to cite."""
    if not MADE:
        made = make_repo(tmp_path_factory.mktemp("curating") / "repo")
        made.commit("src/db.py", CODE)
        Project.init(made.path, commit=True)
        made.git("switch", "-q", "-c", "work")
        MADE.append(made.path)
    return GitRepo(Path(shutil.copytree(MADE[0], tmp_path / "repo", symlinks=True)))


@pytest.fixture
def person(repo: GitRepo) -> Project:
    """What somebody at a terminal can do, without the terminal."""
    return Project.open(repo.path, person=True)


def made(cli: Cli, *words: str) -> dict[str, Any]:
    return dict(json.loads(cli(*words, "--json").out))


def remember(cli: Cli, statement: str, *more: str) -> str:
    return str(made(cli, "remember", statement, "--evidence", "README", *more)["id"])


def items(cli: Cli, *words: str) -> list[dict[str, Any]]:
    return list(made(cli, *words)["items"])


def one_sentence(error: str) -> str:
    """An error's sentence; the hint follows, and nothing else does."""
    said, hint, *more = [*error.splitlines(), ""]
    assert said.startswith("error: ")
    assert not hint or hint.startswith("hint: ")
    assert more in ([], [""]), error
    return said


def hash_of(repo: GitRepo, text: str) -> str:
    return repo.git("hash-object", "--stdin", data=text.encode())


ENTRY = """\
---
id: {id}
#
type: {type}
#
status: accepted
#
layer: {layer}
#
tags: {tags}
#
source: {source}
#
confidence: {confidence}
#
evidence: [{evidence}]
#
applies_to: {applies_to}
#
supersedes: []
#
compatible_with: []
#
expires_at: null
#
---
{body}
"""


def test_every_type_becomes_an_entry_in_the_format_of_the_design(cli: Cli, repo: GitRepo, person: Project) -> None:
    """Other tools, and people in a pull request, read these files."""
    head = repo.git("rev-parse", "HEAD")
    lines, method = hash_of(repo, "TIMEOUT = 30\n"), hash_of(repo, "".join(CODE.splitlines(True)[6:8]))
    name = "symbol:src/db.py#Store.open"
    plain = {"layer": "null", "tags": "[]", "confidence": "null", "applies_to": "[]", "source": "null"}
    cases: list[tuple[list[str], dict[str, str]]] = [
        (
            ["decision", "Jobs wait in Postgres.", "--why", "One database to back up.", "--tag", "db",
             "--layer", "L2", "--applies-to", "src/db.py", "--evidence", "src/db.py:3"],
            {"evidence": f'"lines:src/db.py:3-3@{lines}"', "tags": "[db]", "layer": "L2",
             "applies_to": "[src/db.py]",
             "body": "Decision: Jobs wait in Postgres.\n\nRationale: One database to back up."},
        ),
        (
            ["assumption", "A disk is there.", "--why", "It was.", "--falsified-by", "An OSError.",
             "--evidence", "src/db.py#Store.open", "--confidence", "0.7"],
            {"evidence": f'"{name}@{method}"', "confidence": "0.7",
             "body": "Assumption: A disk is there.\n\nRationale: It was.\n\nFalsified by: An OSError."},
        ),
        (
            ["invariant", "Every write goes through Store.", "--evidence", head[:10]],
            {"evidence": f"commit:{head}", "source": f"commit:{head}",
             "body": "Invariant: Every write goes through Store."},
        ),
        (
            ["dead-end", "Redis streams lost messages.", "--instead", "Skip locked rows.",
             "--evidence", "HEAD"],
            {"evidence": f"commit:{head}", "source": f"commit:{head}",
             "body": "Dead end: Redis streams lost messages.\n\nInstead: Skip locked rows."},
        ),
    ]  # fmt: skip
    for (kind, *words), fields in cases:
        found = made(cli, "remember", "--type", kind, *words)
        assert (found["status"], found["type"], found["trust"]) == ("candidate", kind, None)
        assert found.keys() >= STANDING
        person.memory.accept(found["id"])
        shown = made(cli, "show", found["id"])
        assert shown["text"] == ENTRY.format(**{**plain, **fields, "id": found["id"], "type": kind})
        assert re.fullmatch(rf"\.holdfast/memory/{kind}s/[a-z0-9-]+-{found['id']}\.md", shown["path"])
        assert found["id"] in cli("facts", "--type", kind).out
        assert found["id"] not in cli("facts").out
    assert len(items(cli, "facts", "--type", "all")) == len(cases)
    assert cli("facts").out.startswith("No facts yet.")
    assert one_sentence(cli("remember", "x", "--falsified-by", "y", ok=False).err)
    assert cli("remember", "x", "--type", "rumour", ok=False).code == 2
    assert one_sentence(cli("remember", "x", "--evidence", "src/db.py#Nobody", ok=False).err)


def test_show_tells_how_a_memory_stands(cli: Cli, repo: GitRepo, person: Project) -> None:
    """Who looks a memory up wants to know whether it may be believed, and who said so."""
    cited = ("--evidence", "src/db.py#Store.open")
    name = remember(cli, "The store opens quickly.", "--type", "assumption", *cited)
    out = cli("show", name).out
    assert re.search(r"state: +candidate", out)
    assert re.search(r"evidence: +README \(unchanged\)", out)
    person.memory.accept(name)
    out = cli("show", "ASM").out
    assert re.search(r"state: +accepted", out)
    assert re.search(r"trust: +approved by a person", out)
    assert re.search(r"updated: +just now \(\d{4}-\d\d-\d\d \d\d:\d\d UTC\)", out)
    assert re.search(r"history: +propose just now, accept just now", out)
    repo.commit("src/db.py", CODE.replace('"x"', '"y"'))
    out = cli("show", name).out
    assert re.search(r"state: +stale", out)
    assert re.search(r"evidence: +src/db.py#Store.open \(changed\)", out)
    fields = made(cli, "show", name)["fields"]
    assert (fields["status"], fields["trust"], fields["type"]) == ("stale", "T0", "assumption")
    assert sorted(fields["evidence"].values()) == ["changed", "holds"]
    (waits,) = items(cli, "review", "list", "--waits-as", "stale")
    assert (waits["id"], waits["reason"]) == (name, "stale")
    assert waits.keys() >= STANDING | {"reason", "diff", "conflicts", "said"}
    assert any(row.startswith("-") and '"x"' in row for row in waits["diff"])
    out = cli("review", "list").out
    assert "evidence changed" in out and "README (unchanged)" in out
    assert out.count("changed since") == 1, "said once, in words"
    person.memory.accept(name)
    assert made(cli, "show", name)["fields"]["status"] == "accepted"
    said = cli("remember", "Backups run at night.", "--evidence", "nothing", ok=False)
    assert (said.code, one_sentence(said.err)[:13]) == (13, "error: nothin")
    run = person.log.run_command(["true"], prompt="No, use pnpm, not npm.", environ={})
    out = cli("show", items(cli, "review", "list")[0]["id"]).out
    assert f"run:{run.run_id}#1 No, use pnpm, not npm." in out


def test_what_may_contradict_is_said_when_it_is_accepted(cli: Cli, person: Project) -> None:
    """Both would be given to agents as rules, and nobody was told."""
    old = remember(cli, "Once a label is queued, later labels never replace the queued label.")
    person.memory.accept(old)
    new = remember(cli, "A later label replaces the label that is queued.")
    done = cli("review", "accept", new)
    assert done.code == 0 and f"may contradict {old}" in done.err and "holdfast review undo" in done.err
    person.memory.undo()
    person.memory.retire(old)
    assert "may contradict" not in cli("review", "accept", new).err, "it does not hold any more"


def test_a_memory_that_could_not_be_accepted_at_once_is_said_to_be_stored(cli: Cli) -> None:
    """An error alone lets people type the same again, or believe that nothing was kept."""
    answer = cli("remember", "Nobody can check this.", "--accept", ok=False)
    assert answer.code == 24 and re.search(r"^FCT-\w+ is stored as a candidate and waits for review$", answer.err, re.M)
    assert "Nobody can check this." in cli("review", "list", "--all").out


def test_what_is_known_in_other_words_is_not_shown_as_if_it_were_new(cli: Cli, person: Project) -> None:
    """`accepted` beside somebody else's words reads as if one's own had been accepted."""
    old = remember(cli, "Labels are stored in the printer's queue.")
    person.memory.accept(old)
    said = cli("remember", "Labels are stored in the queue of the printer.")
    assert f"{old} says this already; nothing new was proposed" in said.err and items(cli, "review", "list") == []


def test_what_is_less_likely_is_counted_and_shown_when_asked_for(cli: Cli) -> None:
    """A queue that begins with doubtful sentences is not read to its end."""
    doubtful = remember(cli, "Labels are printed twice.", "--confidence", "0.4", "--evidence", "README")
    sure = remember(cli, "Parcels are weighed at night.", "--confidence", "0.8", "--evidence", "README")
    out = cli("review", "list").out
    assert sure in out and "evidence:" in out and doubtful not in out
    assert "1 more, less likely: holdfast review list --all" in out
    above, below = cli("review", "list", "--all").out.split("1 less likely")
    assert sure in above and doubtful in below and "evidence:" not in below
    assert doubtful in cli("review", "list", "--type", "fact").out, "a filter asks for all that fits"
    listed = items(cli, "review", "list")
    assert {one["id"]: one["likely"] for one in listed} == {sure: True, doubtful: False}
    cli("review", "reject", sure, "--reason", "no")
    assert "less likely" not in cli("review", "list").out, "alone it is shown as any other"


def test_a_rule_that_points_to_what_is_not_there_waits_below_what_can_be_saved(cli: Cli, person: Project) -> None:
    """Its words were clear to those who were there, and to nobody else."""
    said = "Never print a label twice. Do not touch or reprint those unless the carrier explicitly asks."
    person.log.run_command(["true"], prompt=said, environ={})
    found = {one["statement"]: one["likely"] for one in items(cli, "review", "list")}
    assert found["Never print a label twice"] and not found[max(found, key=len)] and len(found) == 2


def test_what_no_person_approved_is_said_in_the_list(cli: Cli, person: Project) -> None:
    """An agent's own yes looks like a person's otherwise."""
    own, approved = remember(cli, "Labels are printed twice."), remember(cli, "Parcels are weighed at night.")
    cli("review", "accept", own, CLAUDECODE="1")
    person.memory.accept(approved)
    rows = {name: row for row in cli("memories").out.splitlines() for name in (own, approved) if name in row}
    assert rows[own].endswith("not approved by a person") and "approved" not in rows[approved]


def test_all_means_what_the_list_shows(cli: Cli) -> None:
    """Somebody who accepts all has read what was shown to them, and no more."""
    doubtful = remember(cli, "Labels are printed twice.", "--confidence", "0.4", "--evidence", "README")
    sure = remember(cli, "Parcels are weighed at night.", "--confidence", "0.8", "--evidence", "README")
    done = cli("review", "accept", "--all")
    assert sure in done.out and doubtful not in done.out
    assert "1 memory that `review list` does not show" in done.err and "--min-confidence 0" in done.err
    assert [one["id"] for one in items(cli, "review", "list")] == [doubtful]
    other = remember(cli, "Bags are sorted by hand.", "--confidence", "0.9", "--evidence", "README")
    done = cli("review", "accept", "--all", "--min-confidence", "0")
    assert doubtful in done.out and other in done.out, "a filter says what is meant"


def test_what_contradicts_is_refused_with_both_texts_until_it_is_resolved(cli: Cli, person: Project) -> None:
    """Two decisions that deny each other would each be told to somebody."""
    old = remember(cli, "Use Postgres for the job queue.", "--type", "decision")
    person.memory.accept(old)
    other = person.memory.remember("Use SQLite for sessions.", kind="decision", evidence=["README"], accept=True).id
    with pytest.raises(Contradicts, match=old):
        person.memory.edit(other, statement="Never use Postgres for the job queue.")
    person.memory.retire(other)
    new = remember(cli, "The job queue must not use Postgres.", "--type", "decision")
    refused = cli("review", "accept", new, ok=False)
    assert refused.code == 42
    said = one_sentence(refused.err)
    assert all(part in said for part in (new, old, "must not use Postgres", "Use Postgres for the job queue"))
    assert all(way in refused.err for way in (f"--supersede {old}", "--keep-both", f"review reject {new}"))
    beside = cli("review", "list").out
    assert f"contradicts {old}" in beside
    assert re.search(r"The job queue must not use Postgres\. +Use Postgres for the job queue\.", beside)
    (waits,) = items(cli, "review", "list")
    assert waits.keys() >= WAITING
    (conflict,) = waits["conflicts"]
    assert {*conflict} == {"id", "status", "statement", "kind", "why"}
    assert (conflict["id"], conflict["status"]) == (old, "accepted")
    done = person.memory.accept(new, keep_both=True, applies_to=["src/db.py"])
    assert (done.memory.compatible_with, done.memory.applies_to) == ((old,), ("src/db.py",))
    assert items(cli, "review", "list") == [], "somebody looked at both"
    person.memory.undo()
    assert cli("review", "accept", new, "--supersede", "DEC-none", ok=False).code == 13
    person.memory.accept(new, supersede=[old])
    assert {one["id"]: one["status"] for one in items(cli, "facts", "--type", "decision")} == {
        new: "accepted",
        old: "superseded",
        other: "deprecated",
    }
    person.memory.undo()
    assert "rejected" in cli("review", "reject", new, "--reason", "no").out
    again = cli("remember", "Postgres must not be used for the job queue.", "--type", "decision", ok=False)
    assert (again.code, "in other words" in again.err) == (14, True)


def test_many_are_decided_at_once_by_a_filter(cli: Cli, person: Project) -> None:
    """A hundred candidates of one import are one decision, not a hundred."""
    tabs = remember(cli, "Use tabs.", "--type", "decision", "--tag", "style")
    port = remember(cli, "The API listens on 8080.", "--tag", "style")
    remember(cli, "Tests need Postgres 16.", "--tag", "db", "--confidence", "0.9")
    cli("remember", "Trust me.", "--tag", "style")
    for words in (
        ["accept"],
        ["accept", "--tag", "style"],
        ["accept", tabs, "--tag", "style"],
        ["accept", tabs, "--all"],
        ["accept", "--all", "--keep-both"],
        ["reject", tabs, "--type", "fact"],
        ["reject"],
    ):
        refused = cli("review", *words, ok=False)
        assert (refused.code, bool(one_sentence(refused.err))) == (14, True), words
    assert [one["id"] for one in items(cli, "review", "list", "--min-confidence", "0.5")] != []
    done = made(cli, "review", "accept", "--all", "--tag", "style", "--type", "fact")
    assert [one["id"] for one in done["items"]] == [port]
    assert "has no evidence" in done["left"][0]["why"]
    said = cli("review", "accept", "--all", "--tag", "style").out
    assert "Agents are not shown it: no person approved it" in said
    assert f"To approve it, type in a terminal where no agent runs: holdfast review accept {tabs}\n" in said
    assert "1 memory accepted." in said and "1 memory left:" in said and tabs in said
    assert "1 memory rejected." in cli("review", "reject", "--all", "--tag", "db", "--reason", "it is 15").out
    assert cli("remember", "Tests need Postgres 16.", "--evidence", "README", ok=False).code == 14
    assert [one["tags"] for one in items(cli, "review", "list")] == [["style"]]


def test_a_person_changes_what_was_accepted_and_takes_it_back(cli: Cli, repo: GitRepo, person: Project) -> None:
    """Knowledge that cannot be corrected in a minute is not corrected at all."""

    def type_in(*words: str) -> str:
        code, screen = on_a_terminal(repo.path, *words)
        assert code == 0, screen
        return screen

    def stands(name: str) -> tuple[str, str]:
        fields = made(cli, "show", name)["fields"]
        return fields["status"], fields["trust"]

    name = remember(cli, "Tests need Postgres 15.")
    assert "accepted: Tests need Postgres 15." in type_in("review", "accept", name)
    assert stands(name) == ("accepted", "T0")
    log = cli("log").out
    again = type_in("review", "accept", name).replace("\r", "").strip()
    assert again.endswith("accepted already, nothing changed: Tests need Postgres 15.") and "\n" not in again
    assert cli("log").out == log
    assert "approved again" in type_in("edit", "FCT", "--statement", "Tests need Postgres 16.", "--why", "CI.")
    shown = made(cli, "show", name)
    assert shown["text"].endswith("---\nFact: Tests need Postgres 16.\n\nRationale: CI.\n")
    assert stands(name) == ("accepted", "T0")
    assert "undone: the last edit" in type_in("review", "undo")
    assert made(cli, "show", name)["text"].endswith("---\nFact: Tests need Postgres 15.\n")
    person.memory.deprecate(name, reason="it is 17 now")
    assert stands(name)[0] == "deprecated"
    person.memory.undo()
    assert stands(name) == ("accepted", "T0")


def test_a_rule_without_a_place_says_where_agents_get_it(repo: GitRepo, person: Project) -> None:
    """Who approves "never use pytest here" means every task, also one that shares no word with it."""
    rule = person.memory.remember("Never use pytest here.", kind="invariant").id
    code, screen = on_a_terminal(repo.path, "review", "accept", rule)
    assert code == 0 and "where its words fit their task" in screen
    task = ("context", "--for", "Charge for heavy parcels")
    assert "pytest" not in on_a_terminal(repo.path, *task)[1]
    hinted = re.search(r"holdfast (edit \S+ --applies-to '\*\*')", screen)
    assert hinted, screen
    code, screen = on_a_terminal(repo.path, *shlex.split(hinted[1]))
    assert code == 0, screen
    assert "pytest" in on_a_terminal(repo.path, *task)[1]
    placed = person.memory.remember("Sockets are closed.", kind="invariant", evidence=["src/db.py"]).id
    assert "where its words fit" not in on_a_terminal(repo.path, "review", "accept", placed)[1]


def test_an_agents_word_about_what_was_accepted_waits(cli: Cli, repo: GitRepo, person: Project) -> None:
    """An agent that could silence a rule would do so whenever the rule is in its way."""
    name = remember(cli, "Never log a password.", "--type", "invariant")
    person.memory.accept(name)
    edited = cli("edit", name, "--statement", "Log passwords.", ok=False)
    assert (edited.code, "supersede" in edited.err) == (23, True)
    assert cli("edit", name, ok=False).code == 14
    assert "promoted" not in cli("review", "accept", name).out
    kinds = [row.partition(" ")[2] for row in made(cli, "show", name)["fields"]["history"]]
    assert kinds == ["propose", "accept"], "its yes adds nothing to a person's"
    for words in (["deprecate", "INV"], ["review", "retire", "INV"], ["deprecate", name, "--reason", "again"]):
        assert "suggests it; a person decides" in cli(*words, "--reason", "It is in my way.").out
    (waits,) = items(cli, "review", "list")
    assert (waits["reason"], waits["suggests"], waits["conflicts"]) == ("suggested", f"deprecate:{name}", [])
    assert "suggested: It is in my way." in cli("review", "list").out
    assert cli("review", "accept", waits["id"], ok=False).code == 23, "nor may it accept its own suggestion"
    assert made(cli, "show", name)["fields"]["trust"] == "T0"
    newer = made(cli, "supersede", "INV", "Never log a secret.", "--evidence", "README", "--why", "Keys, too.")
    assert (newer["status"], newer["supersedes"], newer["type"]) == ("candidate", [name], "invariant")
    cli("review", "accept", newer["id"])
    assert made(cli, "show", name)["fields"]["status"] == "accepted", "what nobody approved silences nothing"
    assert name in cli("context").out
    person.memory.accept(waits["id"])
    assert made(cli, "show", name)["fields"]["status"] == "deprecated"
    assert person.memory.undo().action == "retire"
    assert made(cli, "show", name)["fields"]["trust"] == "T0"


def test_taking_a_confirmation_back_takes_no_approval_away(cli: Cli, repo: GitRepo, person: Project) -> None:
    """Whoever confirms twice and undoes once still approved it once."""
    name = remember(cli, "Tests need Postgres 16.")
    person.memory.accept(name)
    person.sync.publish()
    person.memory.accept(name)
    assert (person.memory.undo().action, person.memory.get(name).trust) == ("accept", "T0")


def test_a_candidate_is_merged_into_what_says_the_same(cli: Cli, person: Project) -> None:
    """Evidence that is turned down as a duplicate would be lost."""
    first = remember(cli, "Tests need Postgres 16.")
    person.memory.accept(first)
    other = made(cli, "remember", "CI has a Postgres server.", "--evidence", "src/db.py:3")["id"]
    assert cli("review", "merge", other, first, ok=False).code == 23, "an agent may not"
    person.memory.join(other, first)
    assert len(person.memory.get(first).memory.evidence) == 2
    assert items(cli, "review", "list") == []
    assert one_sentence(cli("review", "merge", first, first, ok=False).err)
    assert person.memory.undo().action == "join"
    assert [one["id"] for one in items(cli, "review", "list")] == [other]
    assert len(person.memory.get(first).memory.evidence) == 1


def quickly(cli: Cli, *words: str) -> str | None:
    """What the quick path prints, or None if it steps aside."""
    here = os.getcwd()
    os.chdir(cli.cwd)
    try:
        with redirected(b"") as (out, _):
            code = quick.main([*words])
            return whole(out) if code == 0 else None
    finally:
        os.chdir(here)


def test_the_badge_says_how_many_wait_and_nothing_more(cli: Cli) -> None:
    """It stands in a shell's prompt: a second word would be in everybody's way, every second."""
    assert (cli("status", "--badge").out, quickly(cli, "status", "--badge")) == ("", "")
    for number, said in enumerate(("Ports are odd.", "Use tabs.", "The API speaks JSON."), 1):
        remember(cli, said)
        told = "1 candidate waits\n" if number == 1 else f"{number} candidates wait\n"
        answer = cli("status", "--badge")
        assert (answer.out, answer.err) == (told, "")
        assert quickly(cli, "status", "--badge") == told
    assert made(cli, "status", "--badge")["candidates"] == 3
    begun = cli("session", "start", "go on")
    assert begun.err.splitlines()[-1] == "3 candidates wait"
    assert "candidate" not in begun.out


def test_stats_counts_memories_in_one_line(cli: Cli, person: Project) -> None:
    """A line for each of ten thousand memories is no statistic."""
    for said in ("Ports are odd.", "Hosts have odd names."):
        person.memory.accept(remember(cli, said))
    assert "recalled" not in cli("stats").out
    for word in ("odd", "odd", "hosts"):
        cli("recall", word)
    out = cli("stats").out
    assert re.search(r"^2 memories recalled, 5 times in all since \d{4}-", out, re.MULTILINE)
    assert "Model calls" not in out and "FCT" not in out
    found = made(cli, "stats")
    assert found["memories"]["recalled"] == {"memories": 2, "times": 5}
    assert found["model"] == {"calls_today": 0, "calls_per_day": None}


def test_review_without_a_terminal_lists_and_opens_no_screen(cli: Cli, person: Project) -> None:
    """A script that waits for a key hangs for ever."""
    assert cli("review").out == "Nothing waits for review.\n"
    name = remember(cli, "Use tabs.", "--type", "decision", "--why", "The team voted.")
    listed = cli("review").out
    assert listed == cli("review", "list").out
    assert "Rationale: The team voted." in listed and name in listed
    assert not any(line != line.rstrip() for line in listed.splitlines())
    assert "\x1b" not in cli.spawn("review").out
    assert items(cli, "review")[0].keys() >= WAITING
    assert one_sentence(cli("review", "undo", ok=False).err)
    assert one_sentence(cli("review", "accept", "DEC-nobody", ok=False).err)


def found_in_a_session(project: Project, statement: str, details: str, **more: Any) -> str:
    """A candidate as an import leaves it, with the sentences that stood around it."""
    run = "run:20260201T100001Z-aaaaaa"
    said, rests = Provenance(run, 1, statement), ["README"]
    given = {"statement": statement, "details": details, "evidence": rests, "source": run, "provenance": [said]}
    return propose(project.clone, **given, **more).id


AROUND = "The page polls every second.\n\nA lease ends after a minute."


@pytest.mark.parametrize("confidence", [0.9, 0.3])
def test_nobody_approves_what_they_were_not_shown(cli: Cli, person: Project, confidence: float) -> None:
    """What `accept` puts into the memory is on the screen before, and once more in its answer."""
    body = f"Rationale: one file.\n\n{AROUND}"
    name = found_in_a_session(person, "Jobs wait in `jobs.db`.", body, confidence=confidence)
    listed = cli("review", "list", *(["--all"] if confidence < 0.5 else [])).out
    accepted = cli("review", "accept", name).out
    for part in filter(None, body.splitlines()):
        assert part in listed and part in accepted
    assert accepted.startswith(f"{name}  accepted: Jobs wait in `jobs.db`.\n")


def test_a_long_body_is_counted_and_its_rest_can_be_seen(cli: Cli, person: Project) -> None:
    """A hundred lines push the question off the screen; a silent cut approves them unseen."""
    name = remember(cli, "Jobs wait in `jobs.db`.\n\n" + "\n".join(f"Step {n} of it." for n in range(1, 101)))
    for said in (cli("review", "list").out, cli("review", "accept", name).out):
        assert "Step 16 of it." in said and "Step 17 of it." not in said
        assert f"… 84 more lines of it: holdfast show {name}\n" in said
    assert "Step 100 of it." in cli("show", name).out


NOISE = (
    "File changes that matter for checkpointing only exist when `SaveChanges` is called.",
    'The error message has changed from "cannot specify both" to "cannot specify multiple".',
    "Never store commit hashes as primary links to session data.",
    "The checkpoint id is immutable once it is made.",
    "The `entire explain` command only queries local branches.",
)


def test_a_common_verb_alone_is_no_contradiction(cli: Cli, person: Project) -> None:
    """The first list that a newcomer sees warned three times, three times for nothing."""
    for said in NOISE:
        found_in_a_session(person, said, "", confidence=0.8)
    readme = remember(cli, "Every change is described in the README.")
    assert "may contradict" not in cli("review", "list").out
    person.memory.accept(readme)
    assert "may contradict" not in cli("review", "list").out


def test_a_pair_is_shown_once_in_a_list(cli: Cli, person: Project) -> None:
    """Ten lines for one question hide the next one."""
    for said in NOISE:
        found_in_a_session(person, said, "", confidence=0.8)
    names = [remember(cli, f"Print jobs wait in the depot's queue for {n} seconds at most.") for n in (5, 60)]
    listed = cli("review", "list").out
    assert listed.count("contradict") == 1 and all(listed.count(f"  {name}") >= 1 for name in names)
    assert [len(item["rivals"]) for item in items(cli, "review", "list") if item["id"] in names] == [1, 1]


def test_many_accepted_at_once_are_shown_whole(cli: Cli, person: Project) -> None:
    """`--all` is where nobody looks twice."""
    names = [found_in_a_session(person, f"Jobs of kind {n} wait in `jobs{n}.db`.", AROUND) for n in range(2)]
    said = cli("review", "accept", "--all").out
    assert all(name in said for name in names) and said.count("A lease ends after a minute.") == 2


def test_curate_suggests_and_does_nothing_by_itself(cli: Cli, repo: GitRepo, person: Project) -> None:
    """Memory that prunes itself forgets what somebody needed."""
    one = remember(cli, "Tests need Postgres 16.", "--evidence", "src/db.py#Store.open")
    person.memory.accept(one)
    assert cli("curate").out == "1 memory, no problems found.\n"
    repo.git("rm", "-q", "src/db.py", "README")
    repo.git("commit", "-q", "-m", "gone")
    looked = made(cli, "curate", "--dry-run")
    (finding,) = looked["items"]
    assert (finding["topic"], finding["ids"], finding["candidate"]) == ("stale", [one], None)
    assert finding["suggests"] == f"deprecate:{one}"
    assert person.memory.waiting() == 1, "the stale one, and nothing was suggested"
    out = cli("curate").out
    assert "Stale (1):" in out and "1 suggestion waits for you: holdfast review" in out
    assert cli("curate").out == out, "suggested once"
    (waits,) = items(cli, "review", "list", "--waits-as", "suggested")
    assert waits["because"].startswith("all its evidence is gone")
    assert waits["said"][0]["source"] == "curate"
    assert made(cli, "show", one)["fields"]["status"] == "stale"
    cli("review", "reject", waits["id"])
    assert "suggest" not in cli("curate").out, "somebody said no"


def test_next_says_what_a_task_rests_on_and_no_longer_holds(cli: Cli, repo: GitRepo, person: Project) -> None:
    """Work on a broken assumption is work for nothing."""
    said = ("remember", "Opening is quick.", "--type", "assumption", "--evidence", "src/db.py#Store.open")
    name = made(cli, *said)["id"]
    person.memory.accept(name)
    task = made(cli, "task", "add", "Build the cache", "--rests-on", "ASM")["id"]
    assert one_sentence(cli("task", "add", "x", "--rests-on", "NOPE", ok=False).err)
    assert "shaky" not in cli("next").out
    assert made(cli, "next")["shaky"] == []
    repo.commit("src/db.py", CODE.replace('"x"', '"y"'))
    assert quickly(cli, "next") is None, "a kept answer knows nothing of files"
    out = cli("next").out
    assert f"{task}  based on {name}, which is stale: src/db.py#Store.open has changed" in out
    (shaky,) = made(cli, "next")["shaky"]
    assert (shaky["id"], shaky["memory"], shaky["status"]) == (task, name, "stale")
    person.memory.accept(name)
    assert "shaky" not in cli("next").out


def test_connected_tools_that_do_not_know_yet_are_named(cli: Cli, repo: GitRepo, person: Project, world: Path) -> None:
    """What was accepted helps nobody whose agent still reads yesterday's file."""
    cli("connect", "agents", "--yes")
    project = Project.open(repo.path, person=True)
    first = remember(cli, "Use tabs.", "--type", "decision")
    project.memory.accept(first)
    second = remember(cli, "Tests need Postgres 16.")
    hint = "Update the instructions for agents with: holdfast connect\n"
    assert cli("review", "accept", second).err == "", "one hint is enough, and there may be many to review"
    assert cli("publish").err == hint
    calls, command = repo / "calls", repo / ".git" / "restart.sh"
    command.write_text(f'#!/bin/sh\necho "$PWD" >> "{calls}"; echo for stdout\nexit ${{ENDS:-0}}\n')
    command.chmod(0o755)
    own = world / ".config/holdfast/settings.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[review]\nauto_restart = [".git/restart.sh"]\n')
    answer = cli("review", "accept", remember(cli, "Ports are odd."))
    assert calls.read_text() == f"{repo.path}\n"
    assert "for stdout" not in answer.out and answer.err == ""
    failed = cli("review", "accept", remember(cli, "Hosts are even."), ENDS="3")
    assert "review.auto_restart: .git/restart.sh ended with 3" in failed.err
    command.write_text(f"#!/bin/sh\n{sys.executable} -m holdfast connect --yes\n")
    cli("review", "accept", remember(cli, "Names are short."))
    assert cli("publish").err == "", "the user's command refreshed it"
    assert first in (repo / "AGENTS.md").read_text()
    repo.write(".holdfast/holdfast.toml", '[review]\nauto_restart = ["rm"]\n')
    assert "review.auto_restart is ignored here" in cli("status").err


HIDDEN = "Say \u202eevil\u202c and \u200bnothing \x1b[31mred\x07"
MARKED = "Say ⟨U+202E⟩evil⟨U+202C⟩ and ⟨U+200B⟩nothing ⟨U+001B⟩[31mred⟨U+0007⟩"


def test_hidden_characters_are_shown_as_what_they_are(cli: Cli, person: Project) -> None:
    """A statement that looks harmless on the screen is approved, and says something else to an agent."""
    name = remember(cli, HIDDEN, "--type", "decision", "--why", "\u2066because\u2069")
    for words in (["review", "list"], ["show", name]):
        out = cli(*words).out
        assert MARKED in out and "⟨U+2066⟩because⟨U+2069⟩" in out
        assert not re.search("[\u202e\u202c\u200b\u2066\x1b\x07]", out)
    assert not re.search("[\u202e\u202c\u200b\u2066\x1b\x07]", cli("review", "list", "--json").out)
    assert MARKED in cli("review", "accept", name).out
    person.memory.accept(name)
    told = [cli(*words).out for words in (["facts", "--type", "decision"], ["recall", "evil"], ["context"])]
    assert all(MARKED in out for out in told)
    other = remember(cli, "Never say evil and nothing \x1b[31mred.", "--type", "decision")
    refused = cli("review", "accept", other, ok=False)
    assert "\x1b" not in refused.err + refused.out


def test_statements_come_from_stdin_and_from_an_editor(cli: Cli, repo: GitRepo) -> None:
    """A long rationale is not typed on a command line."""
    found = json.loads(cli("remember", "-", "--json", data="Use tabs.\n\nRationale: they are wide.\n").out)
    assert (found["statement"], found["details"]) == ("Use tabs.", "Rationale: they are wide.")
    assert one_sentence(cli("remember", "-", data=b"\xff\xfe", ok=False).err)
    assert one_sentence(cli("remember", " ", ok=False).err)
    assert one_sentence(cli("remember", "x" * 100_000, ok=False).err)
    editor = repo / ".git" / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i s/tabs/blanks/ "$1"\n')
    editor.chmod(0o755)
    code, screen = on_a_terminal(repo.path, "edit", found["id"], EDITOR=str(editor), VISUAL=str(editor))
    assert code == 0, screen
    shown = json.loads(cli("show", found["id"], "--json").out)
    assert shown["text"].endswith("Fact: Use blanks.\n\nRationale: they are wide.\n")
    assert repo.status() == ""


def test_a_session_of_now_is_not_hours_old(cli: Cli, person: Project) -> None:
    """Its day alone begins at midnight."""
    person.log.run_command(["true"], prompt="Never print a label twice, because the carrier charges it.", environ={})
    assert "(just now, run:" in cli("review", "list").out


def test_doctor_says_nothing_of_what_was_superseded(cli: Cli, repo: GitRepo, person: Project) -> None:
    """Nobody is shown it, so there is nothing to decide."""
    old = person.memory.remember("Use tabs.", kind="decision", evidence=["README"], accept=True).id
    new = person.memory.remember("Use spaces.", kind="decision", evidence=["README"], accept=True, supersedes=[old]).id
    repo.commit("README", "another text\n")
    said = cli("doctor").out
    assert f"{new} is stale" in said and f"{old} is stale" not in said


def test_all_that_accept_approves_stands_in_the_list(cli: Cli, repo: GitRepo) -> None:
    """Text that was never on the screen must not become a rule for agents."""
    name = remember(cli, "Ports are odd.", "--why", "the proxy owns the even ones", "--evidence", "README")
    assert "the proxy owns the even ones" in cli("review", "list").out and name
