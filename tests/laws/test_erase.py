"""Law 14: an erased body is gone from files, index, views and recall, and the log still verifies."""

import json
import os
import shutil
from pathlib import Path

import pytest

from holdfast.curation import candidates
from holdfast.errors import NotFound, PublishRefused
from holdfast.git import erase
from holdfast.model.event import EventDraft
from holdfast.model.memory import Accepted
from holdfast.project import Project
from holdfast.store import fsio, memory_files
from tests.conftest import init

SECRET = "the lighthouse keeper's umbrella is violet"


@pytest.fixture
def project(repo, inside) -> Project:
    init(repo.path, commit=True)
    return Project.open(repo.path)


def everything_on_disk(*tops: Path) -> bytes:
    """All bytes below some folders, git's own objects left out: what was committed is history."""
    found = []
    for top in tops:
        for folder, folders, files in os.walk(top):
            if os.path.basename(folder) == ".git":
                folders[:] = ["holdfast"]
            for name in files:
                found.append(Path(folder, name).read_bytes())
    return b"\0".join(found)


def assert_gone(words: str, *tops: Path) -> None:
    assert words.encode() not in everything_on_disk(*tops)
    assert b"lighthouse" not in everything_on_disk(*tops), "a token of the erased text is left"


def test_an_erased_event_is_gone_everywhere_and_the_log_verifies(project, repo, world):
    """Somebody pasted what must not be kept; the log must not force them to keep it."""
    run = project.write_log({"task": "T-1", "outputs": {"summary": SECRET}})
    assert project.recall("lighthouse"), "it can be found before"
    project.views.render_log()

    done = project.sync.erase(run)

    assert done.removed
    assert_gone(SECRET, repo.path, world / ".cache")
    assert project.recall("lighthouse") == []
    assert [event["body_state"] for event in project.log.events() if event["run_id"] == run][:1] == ["erased"]
    assert Project.open(repo.path).health.doctor().verdict == "ok"


def test_an_erased_memory_goes_with_the_next_publish(project, repo, world):
    """A shared fact must leave the tree too, not only this clone's store."""
    fact = project.memory.remember(SECRET, evidence=["README"], accept=True)
    project.sync.publish()
    assert SECRET in everything_on_disk(repo.path).decode("utf-8", "replace")

    done = project.sync.erase(fact.id)

    assert any("history" in held for held in done.still_held), "what git keeps is said plainly"
    assert any(said.startswith("kept copy of .holdfast/memory/facts/") for said in done.removed)
    assert not project.memory.facts().standings, "hidden at once"
    Project.open(repo.path).sync.publish()
    assert_gone(SECRET, repo.path, world / ".cache")
    assert repo.status() == ""
    assert Project.open(repo.path).health.doctor().verdict == "ok"


def test_erasing_one_memory_says_and_writes_nothing_of_another(project, repo):
    """Who reads that a second memory went as well looks for harm that was not done."""
    fact, other = (
        project.memory.remember(words, evidence=["README"], accept=True).id for words in (SECRET, "Harmless it is.")
    )
    project.sync.publish()
    done = project.sync.erase(fact)
    assert fact in "".join(done.removed) and fact in "".join(done.still_held)
    assert other not in "".join((*done.removed, *done.still_held))
    assert all(fact in change.path for change in project.clone.changes())


def test_what_a_merge_brings_back_is_deleted_again(project, repo, world):
    """A colleague's old branch must not resurrect what was erased."""
    fact = project.memory.remember(SECRET, evidence=["README"], accept=True)
    project.sync.publish()
    repo.git("branch", "old")
    project.sync.erase(fact.id)
    Project.open(repo.path).sync.publish()
    path = repo.git("log", "-1", "--diff-filter=D", "--name-only", "--format=", "--", ".holdfast/memory")

    repo.git("checkout", "-q", "old", "--", path)
    repo.git("commit", "-qm", "bring it back")
    again = Project.open(repo.path)

    assert again.recall("lighthouse") == []
    assert not again.memory.facts().standings
    again.sync.publish()
    assert path not in repo.git("ls-tree", "-r", "--name-only", "HEAD")


def test_an_old_export_does_not_bring_it_back(project, repo, world, tmp_path):
    """A backup taken before the erase is the likeliest way for it to return."""
    run = project.write_log({"outputs": {"summary": SECRET}})
    kept = project.write_log({"outputs": {"summary": "something harmless"}})
    project.sync.export_bundle(str(tmp_path / "backup"))
    project.sync.erase(run)

    Project.open(repo.path).sync.import_bundle(str(tmp_path / "backup"))

    assert_gone(SECRET, repo.path, world / ".cache")
    assert [hit.id for hit in Project.open(repo.path).recall("harmless")] == [kept]


def test_a_waiting_candidate_can_be_erased(project, repo, world):
    """Not everything that must go was ever accepted."""
    candidate = project.memory.remember(SECRET)

    project.sync.erase(candidate.id)

    assert_gone(SECRET, repo.path, world / ".cache")
    assert project.memory.candidates() == []


def test_an_erase_cut_short_is_finished_by_the_next_command(project, repo, world):
    """A crash must not leave half of it behind and nobody to tell."""
    run = project.write_log({"outputs": {"summary": SECRET}})
    journal = Path(project.clone.layout.erasing)
    journal.write_text(f'{{"kind": "run", "id": "{run}"}}')
    shutil.rmtree(world / ".cache", ignore_errors=True)

    again = Project.open(repo.path)

    assert any("finished erasing" in note for note in again.notices)
    assert not journal.exists()
    assert_gone(SECRET, repo.path)


def test_erasing_what_is_not_there_is_said(project):
    """A typo must not look like success."""
    with pytest.raises(NotFound):
        project.sync.erase("FCT-nothing")


def test_what_another_clone_erased_waits_in_review(project, repo, tmp_path):
    """A colleague's erase is hidden at once; whether to delete it here is this clone's decision."""
    run = project.write_log({"outputs": {"summary": SECRET}})
    project.sync.export_bundle(str(tmp_path / "saved"))
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "second"))
    second = Project.open(tmp_path / "second")
    second.sync.import_bundle(str(tmp_path / "saved"))
    project.sync.erase(run)
    Project.open(repo.path).sync.publish()
    repo.git("-C", str(tmp_path / "second"), "pull", "-q")

    again = Project.open(tmp_path / "second")

    assert again.recall("lighthouse") == []
    again.memory.candidates()
    assert any(run in notice and "holdfast erase" in notice for notice in again.notices)
    again.sync.erase(run)
    assert Project.open(tmp_path / "second").memory.candidates() == []
    assert SECRET.encode() not in everything_on_disk(tmp_path / "second")


def test_an_erase_in_a_hook_of_publish_is_refused_at_once(project, repo, monkeypatch):
    """It would wait for a publish that waits for it."""
    run = project.write_log({"outputs": {"summary": SECRET}})
    monkeypatch.setenv("HOLDFAST_PUBLISHING", str((repo.path / ".git").resolve()))
    with pytest.raises(PublishRefused):
        project.sync.erase(run)


def test_an_erased_memory_leaves_no_proof_of_its_words(project, repo, world):
    """The proof of an approval holds the words and their hash: who has it could go on guessing."""
    mine = Project.open(repo.path, person=True)
    fact = mine.memory.remember(SECRET, evidence=["README"], accept=True)
    mine.sync.publish()
    (proof,) = repo.git("ls-files", ".holdfast/approvals").split("\n")
    salt, body = (repo / proof).read_text().rstrip("\n").split("\n")
    repo.git("branch", "old")

    Project.open(repo.path).sync.erase(fact.id)
    done = Project.open(repo.path).sync.publish()
    assert len(set(done.paths)) == len(done.paths), "each file is published once"

    assert repo.git("ls-files", ".holdfast/approvals") == ""
    left = everything_on_disk(repo.path, world / ".cache")
    for held in (salt.encode(), bytes.fromhex(salt), json.loads(body)["approves"].encode()):
        assert held not in left
    assert_gone(SECRET, repo.path, world / ".cache")
    assert Project.open(repo.path).health.doctor().verdict == "ok"

    repo.git("checkout", "-q", "old", "--", proof)
    repo.git("commit", "-qm", "bring it back")
    Project.open(repo.path).sync.publish()
    assert repo.git("ls-files", ".holdfast/approvals") == ""


def test_a_proof_goes_even_where_its_memory_is_not(project, repo):
    """A merge may bring the proof of an approval alone; it holds the same words."""
    proof = f".holdfast/approvals/FCT-gone/{'0' * 64}"
    repo.commit(proof, f"{SECRET}\n")
    erase.erase(project.clone, "memory", "FCT-gone")
    assert [(change.path, change.text) for change in project.clone.changes()] == [(proof, None)]


def test_the_body_of_an_approval_can_be_erased_alone(project, repo, world):
    """Who gave it may not want to be named any more; the memory itself stays."""
    mine = Project.open(repo.path, person=True)
    fact = mine.memory.remember("Ropes are checked.", evidence=["README"], accept=True, reviewer="umbrella")
    mine.sync.publish()
    event = next(one for one in mine.log.events() if one["kind"] == "accept")

    Project.open(repo.path).sync.erase(event["hash_self"])
    Project.open(repo.path).sync.publish()

    assert b"umbrella" not in everything_on_disk(repo.path, world / ".cache")
    assert repo.git("ls-files", ".holdfast/approvals") == ""
    assert [one.id for one in Project.open(repo.path).memory.facts().standings] == [fact.id]


def marker(project: Project, name: str) -> Path:
    return Path(project.clone.layout.erased, name)


def test_what_comes_back_into_the_store_itself_is_deleted_again(project, repo, world):
    """A restored backup of .git brings bodies and runs as plain files; the marker must know them all."""
    run = project.write_log({"task": "T-1", "outputs": {"summary": SECRET}})
    fact = project.memory.remember(SECRET, evidence=["README"])
    store = Path(project.clone.layout.private)
    saved = {folder: shutil.copytree(store / folder, world / folder) for folder in ("bodies", "candidates")}
    for name in (run, fact.id):
        project.sync.erase(name)
        assert json.loads(marker(project, name).read_bytes())["bodies"], "it names what must not come back"

    for folder, copy in saved.items():
        shutil.copytree(copy, store / folder, dirs_exist_ok=True)
    again = Project.open(repo.path)

    assert_gone(SECRET, repo.path)
    assert sum("deleted again, as it was erased before" in note for note in again.notices) >= 3


def test_a_marker_that_was_lost_or_damaged_is_written_again_from_the_log(project, repo, world):
    """Without it the next merge or backup brings back what somebody wanted gone."""
    run = project.write_log({"task": "T-1", "outputs": {"summary": SECRET}})
    other = project.write_log({"task": "T-2", "outputs": {"summary": "something harmless"}})
    bodies = shutil.copytree(Path(project.clone.layout.private) / "bodies", world / "bodies")
    project.sync.erase(run)
    whole = marker(project, run).read_bytes()
    for damage in (b"{", b"[]", b'{"bodies": 7}', b'{"bodies": ["no name"]}', b'{"bodies": [3]}'):
        marker(project, run).write_bytes(damage)
        again = Project.open(repo.path)
        assert any(run in note for note in again.clone.notes), damage
        report = again.health.doctor()
        assert report.findings, damage
        assert all(step.done for step in again.health.repair(report, apply=True))
        assert marker(project, run).read_bytes() == whole
    shutil.copytree(bodies, Path(project.clone.layout.private) / "bodies", dirs_exist_ok=True)
    again = Project.open(repo.path)
    assert_gone(SECRET, repo.path)
    assert [hit.id for hit in again.recall("harmless")] == [other], "a marker that names too much erases more"


def test_whatever_was_recorded_in_an_erased_run_goes_with_it(project, repo):
    """A run says things in more than one event."""
    run = project.write_log({"task": "T-1", "outputs": {"summary": SECRET}})
    inside = project.clone.record(EventDraft("task", target="T-1", run_id=run, body={"task": SECRET}))
    beside = project.clone.record(EventDraft("task", target="T-1", run_id="other", body={"task": "harmless"}))
    project.sync.erase(run)
    assert not project.clone.bodies.has(inside.body or "") and project.clone.bodies.has(beside.body or "")
    assert_gone(SECRET, repo.path)


def test_who_only_looks_sweeps_nothing_and_notes_nothing(project, repo):
    """`doctor` may look at a store that it cannot write."""
    run = project.write_log({"task": "T-1", "outputs": {"summary": SECRET}})
    project.sync.erase(run)
    store = Path(project.clone.layout.private)
    shutil.rmtree(store / "seen", ignore_errors=True)
    before = sorted(store.rglob("*"))
    assert erase.sweep(Project.look(repo.path).clone) == []
    assert sorted(store.rglob("*")) == before


def test_erasing_one_event_leaves_the_others_of_its_run(project, repo, world):
    """Who takes one line back keeps the rest."""
    run = project.write_log({"task": "T-1", "outputs": {"summary": "something harmless"}})
    fact = project.memory.remember(SECRET, evidence=["README"])
    event = next(e for e in project.clone.own_events() if e.target == fact.id)
    erase.erase(project.clone, "event", event.hash_self)
    erase.erase(project.clone, "memory", fact.id)
    states = {e["target"] or e["run_id"]: e["body_state"] for e in project.log.events() if e["kind"] != "erase"}
    assert (states[fact.id], states[run]) == ("erased", "here")
    told = [e for e in project.clone.own_events() if e.kind == "erase"]
    assert sorted(e.target for e in told) == sorted([event.hash_self, fact.id])
    assert all(e.run_id is None for e in told)


def test_erasing_twice_is_one_event_and_a_run_is_named_as_one(project, repo):
    """A crash and its completion must not tell the log the same thing twice."""
    run = project.write_log({"task": "T-1", "outputs": {"summary": SECRET}})
    for _ in range(2):
        erase.erase(project.clone, "run", run)
    (told,) = [e for e in project.clone.own_events() if e.kind == "erase"]
    assert (told.target, told.run_id) == (run, run)


def test_views_are_dropped_in_every_work_tree_and_what_agents_would_be_told(project, repo, tmp_path):
    """A view shows the words without their id: no search by id finds it."""
    repo.git("worktree", "add", "-q", str(tmp_path / "side"), "-b", "side")
    run = project.write_log({"task": "T-1", "outputs": {"summary": SECRET}})
    views = [top / ".holdfast/view" for top in (repo.path, tmp_path / "side")]
    layout = project.clone.layout
    guards, inbox = Path(layout.guards), Path(layout.inbox)
    for folder in (*(view / "days" for view in views), guards, inbox):
        folder.mkdir(parents=True, exist_ok=True)
    for file in (*(view / "days/today.md" for view in views), guards / "one", inbox / "1.pack"):
        file.write_text(SECRET)
    (inbox / "2.note").write_text("harmless")
    (views[0] / ".gitignore").write_text("*\n")

    erase.erase(project.clone, "run", run)

    for file in (*(view / "days/today.md" for view in views), guards / "one", inbox / "1.pack"):
        assert not file.exists(), file
    assert (views[0] / ".gitignore").exists() and (inbox / "2.note").exists()


def test_a_journal_that_names_nothing_is_said_and_erases_nothing(project, repo):
    """One bad byte in it must neither stop every command nor erase something else."""
    run = project.write_log({"outputs": {"summary": SECRET}})
    journal = Path(project.clone.layout.erasing)
    tree = json.dumps({"kind": "tree", "id": run})
    for damage in ("{", "[]", tree, '{"kind": "run", "id": 7}', '{"kind": "run", "id": "../x"}'):
        journal.write_text(damage)
        again = Project.open(repo.path)
        assert any("erasing" in note for note in again.clone.notes), damage
    journal.unlink()
    assert Project.open(repo.path).recall("lighthouse")


def test_an_erase_that_somebody_else_finished_meanwhile_is_fine(project, repo):
    """Between the look and the lock the journal may go."""
    assert erase._finish(project.clone) is None
    assert erase.resume(project.clone) is None


def test_what_is_half_written_among_the_markers_is_none(project, repo):
    """A crash leaves a temporary file; it names nothing that was erased."""
    run = project.write_log({"outputs": {"summary": "something harmless"}})
    folder = Path(project.clone.layout.erased)
    folder.mkdir(exist_ok=True)
    (folder / f"{run}.12-ab.tmp").write_text("{")
    assert erase.markers(project.clone.layout) == []
    again = Project.open(repo.path)
    assert again.clone.notes == [] and again.recall("harmless")


def test_a_kept_text_that_names_it_goes_and_one_that_names_another_stays(project, repo):
    """A refused edit is kept with its words; which of them are whose, nobody can tell."""
    fact = project.memory.remember(SECRET, evidence=["README"])
    kept = Path(project.clone.layout.kept)
    (kept / "deep").mkdir(parents=True)
    texts = {
        "deep/one.md": f"see {fact.id}: {SECRET}",
        f"{fact.id}.md": SECRET,
        "longer.md": f"see {fact.id}x",
        "joined.md": f"see x-{fact.id}",
        "other.md": "nothing",
    }
    for name, text in texts.items():
        (kept / name).write_text(text)
    (kept / "link.md").symlink_to("/etc/passwd")
    done = project.sync.erase(fact.id)
    left = {str(path.relative_to(kept)) for path in kept.rglob("*.md")}
    assert left == {"longer.md", "joined.md", "other.md", "link.md"}
    assert {"kept text one.md", f"kept text {fact.id}.md"} <= set(done.removed)


def test_who_erases_right_now_is_not_disturbed(project, repo):
    """Two commands that finish the same erase would each take it for the other's crash."""
    run = project.write_log({"outputs": {"summary": SECRET}})
    journal = Path(project.clone.layout.erasing)
    journal.write_text(json.dumps({"kind": "run", "id": run}))
    with fsio.locked(project.clone.layout.lock):
        assert erase.resume(Project.look(repo.path).clone) is None
    assert journal.exists()


def test_an_erase_of_one_event_cut_short_is_finished(project, repo):
    """Whatever kind of thing it was."""
    fact = project.memory.remember(SECRET, evidence=["README"])
    event = next(e for e in project.clone.own_events() if e.target == fact.id)
    Path(project.clone.layout.erasing).write_text(json.dumps({"kind": "event", "id": event.hash_self}))
    again = Project.open(repo.path)
    assert any("finished erasing" in note for note in again.notices)
    assert not again.clone.bodies.has(event.body or "")


@pytest.fixture
def named(project, repo) -> tuple[Project, list[str], Path]:
    """Two memories in a tracked file that is called after the first."""
    made = [project.memory.remember(words, evidence=["README"]).memory for words in (SECRET, "Harmless it is.")]
    path = repo.path / f".holdfast/memory/facts/lighthouse-{made[0].id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(memory_files.render(Accepted.of(one)) for one in made))
    repo.git("add", "-f", ".holdfast/memory")
    repo.git("commit", "-qm", "notes")
    for one in made:
        candidates.discard(project.clone, one.id)
    return Project.open(repo.path), [one.id for one in made], path


def test_a_file_called_after_what_was_erased_goes_and_its_other_entries_move(named, repo, world):
    """Even its name holds words of the text."""
    project, (name, other), path = named
    project.sync.erase(name)
    waiting = {change.path: change.text for change in project.clone.changes()}
    place = f".holdfast/memory/facts/harmless-it-is-{other}.md"
    assert set(waiting) == {str(path.relative_to(repo.path)), place} and waiting[place] is not None
    Project.open(repo.path).sync.publish()
    assert_gone(SECRET, repo.path, world / ".cache")
    assert "Harmless" in (repo.path / place).read_text() and not path.exists()
    assert {one.id for one in Project.open(repo.path).memory.knowledge().standings} == {other}


def test_what_was_changed_since_in_an_entry_that_moved_stays(named, repo):
    """Every command sweeps: it must not put back the words that the entry had when it moved."""
    project, (name, other), _ = named
    project.sync.erase(name)
    place = f".holdfast/memory/facts/harmless-it-is-{other}.md"
    (moved,) = [change.text for change in project.clone.changes() if change.path == place]
    project.clone.change(place, moved.replace("Harmless it is.", "Harmless it was."))
    again = {change.path: change.text or "" for change in Project.open(repo.path).clone.changes()}
    assert "Harmless it was." in again[place]


def test_a_second_sweep_takes_no_neighbour_along(named, repo):
    """It looks less closely, and must not take what it did not look at for empty."""
    project, (name, other), _ = named
    project.sync.erase(name)
    Project.open(repo.path)
    for file in Path(project.clone.layout.pending).iterdir():
        file.unlink()
    again = Project.open(repo.path)
    kept = [change.text for change in again.clone.changes() if change.text is not None]
    assert len(kept) == 1 and other in kept[0] and name not in kept[0]


@pytest.fixture
def shared(project, repo) -> tuple[Project, str, Path]:
    """Two memories in one file that people wrote, published; the first one's words must go."""
    made = [project.memory.remember(words, evidence=["README"]).memory for words in (SECRET, "Harmless it is.")]
    texts = [memory_files.render(Accepted.of(one)) for one in made]
    path = repo.path / ".holdfast/memory/facts/notes.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(texts))
    repo.git("add", "-f", ".holdfast/memory")
    repo.git("commit", "-qm", "notes")
    for one in made:
        candidates.discard(project.clone, one.id)
    return Project.open(repo.path), made[0].id, path


def test_of_a_file_with_several_memories_only_the_one_goes(shared, repo, world):
    """The neighbours of a secret are no secret."""
    project, name, path = shared
    (other,) = {one.id for one in project.memory.knowledge().standings} - {name}
    done = project.sync.erase(name)
    assert any(path.name in said and "next `holdfast publish`" in said for said in done.removed)
    assert {one.id for one in Project.open(repo.path).memory.knowledge().standings} == {other}
    Project.open(repo.path).sync.publish()
    assert path.exists() and "Harmless" in path.read_text()
    assert_gone(SECRET, repo.path, world / ".cache")
    before = repo.git("rev-parse", "HEAD")
    assert Project.open(repo.path).sync.publish().commit is None
    assert repo.git("rev-parse", "HEAD") == before


def test_a_memory_that_quotes_the_id_of_another_does_not_go_with_it(shared, repo):
    """Only the id in its head says which memory an entry is."""
    _, name, path = shared
    path.write_text(f"{path.read_text()}\nSee the entry with\nid: {name}\n")
    repo.git("commit", "-qam", "a quote")
    Project.open(repo.path).sync.erase(name)
    Project.open(repo.path).sync.publish()
    assert "Harmless it is." in path.read_text() and SECRET not in path.read_text()


def test_your_own_edit_is_named_and_left_to_you(shared, repo):
    """What somebody has open in an editor is not ours to cut, but they must know that it holds the words."""
    _, name, path = shared
    path.write_text(path.read_text() + "\nA line of my own.\n")
    done = Project.open(repo.path).sync.erase(name)
    assert done.still_held[0].startswith("your own uncommitted edit of .holdfast/memory/facts/notes.md")
    assert "A line of my own." in path.read_text()


def test_what_waits_in_a_file_with_others_is_cut_out_of_it(project, repo, world):
    """A record that waits to be published keeps its neighbours, its line and its base."""
    made = [project.memory.remember(words, evidence=["README"]).memory for words in (SECRET, "Harmless it is.")]
    secret, other = (memory_files.render(Accepted.of(one)) for one in made)
    project.clone.change(".holdfast/memory/facts/notes.md", f"{other}\n{secret}")
    project.clone.change(f".holdfast/memory/facts/lighthouse-{made[0].id}.md", f"{secret}\n{other}")
    done = project.sync.erase(made[0].id)
    assert sum(said.startswith("its part of") for said in done.removed) == 2
    changes = {change.path: change.text for change in Project.open(repo.path).clone.changes()}
    assert all("Harmless" in text and "umbrella" not in text for text in changes.values())
    named = f"harmless-it-is-{made[1].id}.md"
    assert sorted(changes) == [f".holdfast/memory/facts/{name}" for name in (named, "notes.md")]
    assert_gone(SECRET, repo.path, world / ".cache")


def test_where_git_still_holds_it_is_said(project, repo, tmp_path):
    """Who believes that a pushed secret is gone does not change it."""
    fact = project.memory.remember(SECRET, evidence=["README"], accept=True)
    waiting = project.sync.erase(project.memory.remember("A lighthouse, too.", evidence=["README"], accept=True).id)
    assert not any("history" in said or "index" in said or "remotes" in said for said in waiting.still_held)
    project.sync.publish()
    repo.git("clone", "-q", "--bare", str(repo.path), str(tmp_path / "up.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "up.git"))
    repo.git("fetch", "-q", "origin")
    held = "\n".join(Project.open(repo.path).sync.erase(fact.id).still_held)
    assert "was changed by 1 commit of this clone's history" in held
    assert "heads/main, remotes/origin/main reach commits with" in held
    assert "git's index has .holdfast/memory/facts/" in held
    assert "git gc --prune=now` deletes them" in held
    assert "remotes and other clones keep what was pushed to them" in held


def test_where_only_a_reflog_reaches_it_that_is_said(project, repo):
    """Commits that no branch has are still on the disk."""
    fact = project.memory.remember(SECRET, evidence=["README"], accept=True)
    project.sync.publish()
    repo.git("reset", "-q", "--hard", "HEAD~1")
    held = Project.open(repo.path).sync.erase(fact.id).still_held
    assert "only reflogs or dangling commits reach it" in held


def test_copies_set_aside_go_and_other_work_trees_and_packs_are_named(project, repo, world, tmp_path):
    """Who erases must learn of every copy that is left on this machine, and how to be rid of it."""
    fact = project.memory.remember(SECRET, evidence=["README"], accept=True)
    project.sync.publish()
    (path,) = (repo / ".holdfast/memory/facts").glob(f"*-{fact.id}.md")
    name = path.relative_to(repo.path)
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    repo.git("branch", "old")
    path.write_text(f"{path.read_text()}{SECRET}\n")
    repo.git("stash", "-q")
    quarantine = Path(project.clone.layout.quarantine)
    quarantine.mkdir(parents=True, exist_ok=True)
    (quarantine / "broken.md").write_text(f"id: {fact.id}\n{SECRET}\n")
    repo.git("gc", "-q")

    done = Project.open(repo.path).sync.erase(fact.id)

    said = "\n".join(done.still_held)
    assert f"the work tree {tmp_path / 'side'} has {name}" in said
    for words in ("heads/main", "heads/old", "heads/side", "stash", "git gc --prune=now"):
        assert words in said
    Project.open(repo.path).sync.publish()
    assert_gone(SECRET, repo.path, world / ".cache")
    assert SECRET in (tmp_path / "side" / name).read_text(), "what it names is there"

    repo.git("worktree", "remove", "--force", str(tmp_path / "side"))
    repo.git("branch", "-qD", "side", "old")
    repo.git("stash", "drop", "-q")
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.git("commit", "-qm", "history rewritten")
    repo.git("branch", "-qD", "main")
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    every = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
    blobs = [row.split()[0] for row in every.splitlines() if row.endswith("blob")]
    assert all(SECRET not in repo.git("cat-file", "blob", oid) for oid in blobs), "what it advises works"


@pytest.mark.parametrize("name", ["candidates", "decided.json"])
def test_what_stands_in_the_place_of_a_folder_holds_no_erasure_up(project, repo, name):
    """Half an erasure would be begun again by every later command, and fail there."""
    run = project.write_log({"task": SECRET})
    there = repo.path / ".git" / "holdfast" / name
    if there.is_dir():
        shutil.rmtree(there)
    if name == "candidates":
        there.write_text("x")
    project.sync.erase(run)
    assert not (repo.path / ".git" / "holdfast" / "erasing.json").exists()
    assert_gone(SECRET, repo.path)
