"""Publishing commits exactly what waits, and leaves everything else as it was."""

import hashlib
import multiprocessing
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.errors import CorruptLog, GitFailed, HookRefused, HookRewrote, OnTrunk, PublishRefused, UnsafePath
from holdfast.git import project_setup, publish, reconcile, repo, visible_entries
from holdfast.git.clone import Clone
from holdfast.git.publish_journal import PublishItem
from holdfast.git.visible_entries import Sighting, Staged
from holdfast.model.event import EventDraft
from holdfast.store import pending_changes, seal
from holdfast.values import replace
from tests.conftest import GitRepo
from tests.git.place import Place, fact_path, fact_text

NODES = (".holdfast/tasks/write-it-TSK-abc123.md", ".holdfast/links/the-plan-LNK-abc123.md")


def state(place: Place) -> tuple[str, str, dict[str, bytes]]:
    """What a user could notice: status, index, and every file of the work tree."""
    top, files = place.repo.path, {}
    for folder, below, names in os.walk(top):
        below[:] = [name for name in below if name != ".git"]
        for name in names:
            path = os.path.join(folder, name)
            files[os.path.relpath(path, top)] = Path(path).read_bytes()
    return place.status(), place.git("ls-files", "-s", "-t"), files


def busy_user(place: Place) -> None:
    """Somebody in the middle of their own work: staged, edited, both, untracked, deleted."""
    for name in ("edited", "both", "gone", "staged-deletion"):
        place.repo.commit(name, f"{name}\n")
    place.repo.write("edited", "edited by hand\n")
    place.repo.write("both", "staged\n")
    place.git("add", "both")
    place.repo.write("both", "and edited\n")
    place.repo.write("new", "staged anew\n")
    place.git("add", "new")
    place.repo.write("untracked", "mine\n")
    (place.repo / "gone").unlink()
    place.git("rm", "-q", "--cached", "staged-deletion")


def test_exactly_our_files_are_committed_and_other_work_stays(place: Place) -> None:
    """A tool that sweeps half-done work into a commit is uninstalled the same day."""
    busy_user(place)
    before = state(place)
    place.ran("r1")
    path = place.keep("one")
    done = place.publish()
    assert place.committed() == set(done.paths)
    assert path in done.paths
    assert len(done.paths) == 2
    assert done.events == 1
    assert place.status() == before[0]
    ours = set(done.paths)
    rows = place.git("ls-files", "-s", "-t").splitlines()
    assert [row for row in rows if row.split("\t")[1] not in ours] == before[1].splitlines()
    assert place.git("log", "-1", "--format=%s") == "holdfast: publish 1 memory and 1 event"


def test_a_second_publish_adds_nothing(place: Place) -> None:
    """An unchanged tree makes no commit."""
    place.ran("r1")
    first = place.publish()
    head = place.git("rev-parse", "HEAD")
    again = place.publish()
    assert first.commit == head
    assert again == publish.Published(None, (), 0, (), False)
    assert place.git("rev-parse", "HEAD") == head
    assert not [name for name in place.files() if name.startswith(("spool/", "pending/"))]
    assert place.runs() == {"r1"}


def test_a_subfolder_is_as_good_as_the_top(place: Place) -> None:
    """People and agents stand where their code is."""
    place.repo.commit("src/deep/code.py", "x\n")
    place.ran("r1")
    path = place.keep("one")
    done = publish.publish(place.open("src/deep"))
    assert path in done.paths
    assert place.status() == ""


@pytest.mark.parametrize("hook", ["pre-commit", "commit-msg", "prepare-commit-msg"])
def test_a_refusing_hook_changes_nothing(place: Place, hook: str) -> None:
    """The user's hooks decide; a refusal leaves index, files and what waits as they were."""
    place.keep("old")
    place.publish()
    busy_user(place)
    place.ran("r1")
    place.keep("one")
    place.keep("old", "It has changed.")
    before, waits = state(place), place.waits()
    place.hook(hook, "echo the linter is unhappy >&2; exit 1")
    with pytest.raises(HookRefused, match="the linter is unhappy"):
        place.publish()
    assert state(place) == before
    assert {fact_path("one"), fact_path("old")} <= place.waits() >= waits
    (place.repo / f".git/hooks/{hook}").unlink()
    assert len(place.publish().paths) == 3
    assert place.runs() == {"r1"}


def test_a_refused_publish_leaves_no_empty_folders(place: Place) -> None:
    """Git shows none of them; they would pile up where nobody looks."""
    place.ran("r1")
    place.keep("one")
    tracked = place.repo / ".holdfast"
    before = set(tracked.rglob("*"))
    place.hook("pre-commit", "exit 1")
    with pytest.raises(HookRefused):
        place.publish()
    assert set(tracked.rglob("*")) == before


@pytest.mark.parametrize("command", ["publish", "publish --stage"])
def test_a_publish_in_its_own_hook_is_refused_at_once(place: Place, command: str) -> None:
    """Each would wait for the other until somebody lost patience."""
    place.ran("r1")
    before = state(place)
    place.hook("pre-commit", f"'{sys.executable}' -m holdfast {command} 2>&1 | head -1 >&2; exit 1")
    with pytest.raises(HookRefused, match="in a commit hook of a running publish"):
        place.publish()
    assert state(place) == before


def test_a_hook_may_record_and_ask(place: Place) -> None:
    """A hook that notes what it did must not stand in the way of the publish that runs it."""
    place.ran("r1")
    holdfast = f"'{sys.executable}' -m holdfast"
    place.hook("pre-commit", f"set -e; {holdfast} run -- true; {holdfast} status; {holdfast} log >/dev/null")
    assert place.publish().events == 1
    assert len(place.runs()) == 2
    assert place.verdict() == "ok"


def test_a_hook_may_publish_another_project(place: Place, tmp_path: Path) -> None:
    """Only its own publish waits for it."""
    other = Place.make(tmp_path / "other")
    other.ran("r2")
    place.ran("r1")
    holdfast = f"'{sys.executable}' -m holdfast -C '{other.repo.path}'"
    place.hook("pre-commit", f"unset $(git rev-parse --local-env-vars); {holdfast} publish")
    assert place.publish().events == 1
    assert ".holdfast/log" in other.git("show", "--name-only", "--format=", "HEAD")


@pytest.mark.parametrize("ending", ["", "exit 1"])
def test_a_hook_that_rewrites_segments_is_undone_and_named(place: Place, ending: str) -> None:
    """A formatter that touches the log would break its hashes for everybody."""
    busy_user(place)
    place.ran("r1")
    before = state(place)
    script = 'for f in $(git diff --cached --name-only -- "*.jsonl"); do echo >> $f; git add -f $f; done'
    place.hook("pre-commit", f"{script}; {ending}")
    head = place.git("rev-parse", "HEAD")
    with pytest.raises(HookRewrote) as caught:
        place.publish()
    assert ".holdfast/(log|runs)/" in caught.value.hint.replace("\\", "")
    assert place.git("rev-parse", "HEAD") == head
    assert state(place) == before
    (place.repo / ".git/hooks/pre-commit").unlink()
    assert place.publish().events == 1
    assert place.verdict() == "ok"


def test_a_hook_that_rewrites_the_very_first_commit_is_undone_too(tmp_path: Path) -> None:
    """Before the first commit there is nothing to go back to but nothing."""
    (tmp_path / "new").mkdir()
    repo = GitRepo(tmp_path / "new")
    repo.git("init", "-q", "-b", "main")
    project_setup.initialise(str(repo.path), cache=str(tmp_path / "cache"))
    place = Place(repo, str(tmp_path / "cache"))
    place.ran("r1")
    before = state(place)
    place.hook("pre-commit", 'for f in $(git ls-files -- "*.jsonl"); do echo >> $f; git add -f $f; done')
    with pytest.raises(HookRewrote):
        place.publish()
    assert state(place) == before
    assert place.git("rev-parse", "-q", "--verify", "HEAD", ok=False) == ""


def test_a_hook_may_reformat_an_entry(place: Place) -> None:
    """An entry is text like any other: what the hook made of it is what was published."""
    place.hook("pre-commit", f'f={fact_path("one")}; echo >> $f; echo "Rationale: so." >> $f; git add $f')
    place.keep("one")
    done = place.publish()
    assert fact_path("one") in done.paths
    assert place.waits() == set()
    assert place.status() == ""
    assert any("hook rewrote" in note for note in place.notes)
    kept = [change.text for change in pending_changes.published(place.open().layout) if change.path == fact_path("one")]
    assert kept == [(place.repo / fact_path("one")).read_text()], "what is kept is what was committed"
    assert place.publish().commit is None
    assert not reconcile.examine(place.open()).gone


def test_what_is_done_stands_in_the_journal_before_git_is_asked(place: Place) -> None:
    """Whoever is killed in a hook of the commit must be found by the next command."""
    place.keep("one")
    journal = Path(place.open().layout.publishing)
    place.hook("pre-commit", f'grep -q {fact_path("one")} "{journal}"')
    assert place.publish().commit is not None
    assert not journal.exists(), "and it is gone when all is done"


def test_a_commit_says_how_much_it_holds(place: Place) -> None:
    """Whoever reads the history sees at a glance what came."""
    place.keep("one")
    place.publish()
    assert place.git("log", "-1", "--format=%s") == "holdfast: publish 1 memory"
    place.keep("two")
    place.keep("three")
    place.ran("r1")
    place.publish()
    assert place.git("log", "-1", "--format=%s") == "holdfast: publish 2 memories and 1 event"
    place.keep("one", "Again.")
    publish.publish(place.open(), message="my own words")
    assert place.git("log", "-1", "--format=%s") == "my own words"


def test_each_kind_is_counted_by_itself() -> None:
    """A proof and a segment are not counted: their memories and events are."""
    names = (*NODES, fact_path("one"), ".holdfast/approvals/FCT-one/x", ".holdfast/log/x.jsonl")
    items = [PublishItem(name, b"", None, None, None, None) for name in names]
    assert publish._message(items, 2) == "holdfast: publish 1 memory, 1 task, 1 link and 2 events"
    assert publish._message(items[:2], 0) == "holdfast: publish 1 task and 1 link"
    assert publish._message(items[3:4], 0) == "holdfast: publish what waited"


HEAD, NEW, MINE, STAGED = (letter * 40 for letter in "abcd")


@pytest.mark.parametrize(
    ("blob", "head", "there", "words"),
    [
        (NEW, HEAD, HEAD, "differs from HEAD"),  # it is in `differs`, so its mode or its index entry is another
        (NEW, HEAD, MINE, "differs from HEAD"),
        (NEW, None, MINE, "differs from HEAD"),
        (None, HEAD, MINE, "differs from HEAD"),
        (NEW, HEAD, None, "deleted by hand"),
        (NEW, None, None, None),
        (None, HEAD, None, None),
        (NEW, HEAD, NEW, None),
        (NEW, HEAD, STAGED, None),
    ],
)
def test_what_is_in_the_way_of_a_file(blob: str | None, head: str | None, there: str | None, words: str | None) -> None:
    """Somebody's edit or deletion is; what we staged, the same text and the same deletion are not."""
    path, staged = fact_path("one"), Staged(STAGED, "line")
    item = PublishItem(path, None, blob, head, None, there)
    ground = publish._Before({}, {}, set(), {path: " M"}, {path: staged}, {})
    said = publish._why_not(item, ground)
    assert said is None if words is None else words in (said or "")
    assert publish._why_not(item, replace(ground, differs={})) is None, "git sees no difference"
    if there == STAGED:
        assert publish._why_not(item, replace(ground, staged={})) is not None
    else:
        assert publish._why_not(item, replace(ground, staged={})) == said
    sighting = Sighting(path, "", "", "pending")
    assert publish._why_not(item, replace(ground, sighted={path: sighting})) == said
    clash = replace(ground, sighted={path: replace(sighting, clash="theirs")})
    assert "`holdfast show` prints both texts" in (publish._why_not(item, clash) or "")
    for other in NODES:
        clash = replace(ground, sighted={other: replace(sighting, path=other, clash="theirs")})
        assert "`holdfast task resolve` resolves it" in (publish._why_not(replace(item, path=other), clash) or "")


def test_only_a_segment_must_be_committed_byte_for_byte() -> None:
    """An entry may be reformatted; a deletion has no bytes."""
    log = ".holdfast/log/2031/01/01/x.jsonl"
    items = [PublishItem(path, b"", NEW, None, None, None) for path in (log, fact_path("one"))]
    items.append(PublishItem(f"{log}.gone", None, None, HEAD, None, None))
    assert publish._rewritten(items, {log: NEW, fact_path("one"): MINE}) == []
    assert publish._rewritten(items, {log: MINE}) == publish._rewritten(items, {}) == [log]


def test_in_a_sandbox_nothing_is_published(place: Place) -> None:
    """Git could not make the commit; that is said before anything is sealed."""
    clone = place.open()
    clone.layout = clone.private.sandboxed()
    with pytest.raises(PublishRefused, match="cannot be written here"):
        publish.publish(clone)


def test_a_memory_may_quote_an_approval(place: Place) -> None:
    """Only the log is read as events: a note about its format must not stop every publish."""
    path = place.keep("one", 'The line `{"kind":"accept"}` is how the log says yes.')
    assert path in place.publish().paths


def test_a_signature_that_cannot_be_made_refuses_cleanly(place: Place) -> None:
    """Who signs commits wants no unsigned one, and no mess either."""
    place.ran("r1")
    before = state(place)
    place.git("config", "commit.gpgsign", "true")
    place.git("config", "gpg.program", "/nonexistent/gpg")
    with pytest.raises(HookRefused):
        place.publish()
    assert state(place) == before


def test_commits_are_signed_where_the_user_signs(place: Place, tmp_path: Path) -> None:
    """The publish commit is the user's commit."""
    gpg = tmp_path / "gpg"
    gpg.write_text(
        "#!/bin/sh\ncat > /dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\n"
        "printf -- '-----BEGIN PGP SIGNATURE-----\\nfake\\n-----END PGP SIGNATURE-----\\n'\n"
    )
    gpg.chmod(gpg.stat().st_mode | stat.S_IXUSR)
    place.git("config", "commit.gpgsign", "true")
    place.git("config", "gpg.program", str(gpg))
    place.ran("r1")
    place.publish()
    assert "gpgsig" in place.git("cat-file", "commit", "HEAD")


@pytest.mark.parametrize("fails", [False, True])
def test_a_sparse_checkout_is_respected(place: Place, fails: bool) -> None:
    """In a monorepo most people have not checked out .holdfast."""
    for name in ("src/a", "other/b"):
        place.repo.commit(name, "x\n")
    place.keep("old")
    place.publish()
    place.git("sparse-checkout", "set", "--cone", "src")
    assert not (place.repo / ".holdfast/memory").exists()
    assert set(place.facts()) == {"old"}, "reading goes by git's objects"
    place.ran("r1")
    place.keep("old", "It has changed.")
    place.keep("one")
    before = state(place)
    if fails:
        place.hook("pre-commit", "exit 1")
        with pytest.raises(HookRefused):
            place.publish()
        assert state(place) == before
        return
    done = place.publish()
    assert len(done.paths) == 3
    assert place.status() == ""
    assert place.facts() == {"old": "It has changed.", "one": "It is so."}
    place.git("sparse-checkout", "disable")
    assert place.status() == ""
    assert (place.repo / fact_path("one")).read_text() == fact_text("one")


@pytest.mark.parametrize("rule", ["*.jsonl", ".holdfast/", "log/", "*.md\n*"])
def test_the_users_ignore_rules_do_not_hide_ours(place: Place, rule: str) -> None:
    """`*.jsonl` is in many a .gitignore; the log must be published all the same."""
    place.repo.write(".gitignore", f"{rule}\n")
    place.git("add", "-f", ".gitignore")
    place.git("commit", "-q", "-m", "ignore")
    place.ran("r1")
    place.keep("one")
    done = place.publish()
    assert len(done.paths) == 2
    assert place.status() == ""
    place.keep("one", "It has changed.")
    assert place.facts() == {"one": "It has changed."}
    assert place.publish().paths == (fact_path("one"),)


@pytest.mark.parametrize(
    "rules", ["* text=auto eol=crlf", "*.jsonl filter=lfs diff=lfs merge=lfs -text", "* ident\n*.jsonl text"]
)
def test_the_users_attributes_do_not_change_our_bytes(place: Place, rules: str, tmp_path: Path) -> None:
    """A log whose line ends were converted would verify nowhere."""
    place.git("config", "filter.lfs.clean", "sed s/./x/g")
    place.git("config", "filter.lfs.smudge", "sed s/./y/g")
    place.git("config", "filter.lfs.required", "true")
    place.repo.commit(".gitattributes", f"{rules}\n")
    place.ran("r1")
    path = place.keep("one")
    place.publish()
    assert place.status() == ""
    assert place.verdict() == "ok"
    assert (place.repo / path).read_bytes() == fact_text("one").encode()
    for name in place.git("ls-files", ".holdfast/log").split():
        data = (place.repo / name).read_bytes()
        assert hashlib.sha256(data).hexdigest()[:32] == Path(name).stem


def test_publishing_before_the_setup_was_committed_brings_the_attributes_along(tmp_path: Path) -> None:
    """Without them the first clone with converted line ends would read a broken log in its files."""
    place = Place.make(tmp_path / "repo", commit=False)
    place.repo.commit(".gitattributes", "*.jsonl text eol=crlf\n")
    place.ran("r1")
    done = place.publish()
    assert ".holdfast/.gitattributes" in done.paths
    assert place.status() == "?? .holdfast/holdfast.toml"
    assert place.publish().commit is None


def test_a_crlf_checkout_reads_and_verifies(place: Place, tmp_path: Path) -> None:
    """A clone on Windows, as git for Windows is set up there."""
    place.ran("r1")
    place.keep("one")
    place.publish()
    place.git("clone", "-q", "-c", "core.autocrlf=true", "-c", "core.eol=crlf", ".", str(tmp_path / "win"))
    there = place.at(tmp_path / "win")
    assert there.runs() == {"r1"}
    assert there.facts() == {"one": "It is so."}
    assert there.verdict() == "ok"
    assert there.status() == ""
    there.git("switch", "-q", "-c", "feat")
    there.keep("one", "It has changed.")
    there.ran("r2")
    there.publish()
    assert there.status() == ""
    assert there.verdict() == "ok"


def test_a_fresh_second_clone_reads_the_published_log(place: Place, tmp_path: Path) -> None:
    """That is what publishing is for."""
    place.ran("r1")
    place.keep("one")
    place.publish()
    place.git("clone", "-q", ".", str(tmp_path / "second"))
    there = place.at(tmp_path / "second")
    assert there.runs() == {"r1"}
    assert there.facts() == {"one": "It is so."}
    event = there.open().events()[0]
    assert there.open().joined(event)["body_state"] == "private"


def test_a_shallow_clone_works(place: Place, tmp_path: Path) -> None:
    """CI clones with depth 1; what it cannot know it does not claim."""
    place.ran("r1")
    place.publish()
    place.keep("one")
    place.publish()
    place.git("clone", "-q", "--depth", "1", f"file://{place.repo.path}", str(tmp_path / "shallow"))
    there = place.at(tmp_path / "shallow")
    assert there.runs() == {"r1"}
    there.git("switch", "-q", "-c", "feat")
    there.ran("r2")
    there.keep("one", "It has changed.")
    assert len(there.publish().paths) == 2
    assert there.verdict() in ("ok", "partial")
    assert there.status() == ""


def clash(place: Place) -> None:
    """Two branches that cannot be merged by git."""
    place.git("switch", "-q", "-c", "feat")
    place.repo.commit("clash", "ours\n")
    place.git("switch", "-q", "main")
    place.repo.commit("clash", "theirs\n")
    place.git("switch", "-q", "feat")


@pytest.mark.parametrize(
    ("begin", "word"),
    [
        (["merge", "main"], "merge"),
        (["rebase", "main"], "rebase"),
        (["cherry-pick", "main"], "cherry-pick"),
        (["revert", "--no-edit", "HEAD~1"], "revert"),
        (["bisect", "start", "HEAD", "HEAD~1"], "bisect"),
    ],
)
def test_nothing_is_published_in_the_middle_of_something(place: Place, begin: list[str], word: str) -> None:
    """A commit in the middle of a rebase ends up where nobody wanted it."""
    clash(place)
    if word == "revert":
        place.repo.commit("README", "one\n")
        place.repo.commit("README", "two\n")
    place.git(*begin, ok=False)
    place.ran("r1")
    before = state(place)
    with pytest.raises(PublishRefused, match=word):
        place.publish()
    with pytest.raises(PublishRefused, match=word):
        place.publish(stage=True)
    assert state(place) == before
    assert "r1" in place.runs()


def test_a_detached_head_has_no_branch_to_publish_on(place: Place) -> None:
    """A commit on a detached head is lost with the next checkout."""
    place.git("switch", "-q", "--detach")
    place.ran("r1")
    with pytest.raises(PublishRefused, match="detached"):
        place.publish()


@pytest.mark.parametrize("knows_default", [True, False])
def test_the_remotes_trunk_is_left_to_pull_requests(place: Place, tmp_path: Path, knows_default: bool) -> None:
    """Where main is protected, a commit on it is only in the way."""
    place.git("clone", "-q", "--bare", ".", str(tmp_path / "hub"))
    if knows_default:
        place.git("clone", "-q", str(tmp_path / "hub"), str(tmp_path / "work"))
        place = place.at(tmp_path / "work")
    else:  # `git push -u` in a repository that was made here: no remote HEAD is known
        place.git("remote", "add", "origin", str(tmp_path / "hub"))
        place.git("push", "-q", "-u", "origin", "main")
    place.ran("r1")
    with pytest.raises(OnTrunk, match="origin/main"):
        place.publish()
    place.git("switch", "-q", "-c", "feat")
    assert place.publish().events == 1
    place.git("switch", "-q", "main")
    assert place.publish(here=True).events == 1


def test_staged_files_ride_in_the_users_own_commit(place: Place) -> None:
    """One commit for the work and what was learned from it."""
    busy_user(place)
    place.ran("r1")
    path = place.keep("one")
    staged = place.publish(stage=True)
    assert staged.commit is None
    assert staged.staged
    assert path in place.waits()
    place.git("commit", "-q", "-m", "work and memory")
    assert {*staged.paths, "new", "both", "staged-deletion"} == place.committed()
    assert place.waits() == set()
    assert place.publish().commit is None
    assert place.facts() == {"one": "It is so."}
    assert {c.path for c in pending_changes.published(place.open().layout)} == set(staged.paths)


def test_staged_files_are_known_again_when_history_has_moved_on(place: Place) -> None:
    """Commit, change it again by hand, pull: the first text landed, though HEAD shows a later one."""
    place.keep("one")
    place.publish(stage=True)
    place.git("commit", "-q", "-m", "work and memory")
    place.repo.commit(fact_path("one"), fact_text("one", "Somebody changed it."))
    assert place.waits() == set()
    assert place.facts() == {"one": "Somebody changed it."}


def test_a_change_after_staging_replaces_what_was_staged(place: Place) -> None:
    """The second thought counts."""
    place.keep("one")
    place.publish(stage=True)
    place.keep("one", "It has changed.")
    place.publish(stage=True)
    assert place.git("show", f":{fact_path('one')}") == fact_text("one", "It has changed.").strip()
    place.hook("pre-commit", "exit 1")
    before = state(place)
    place.keep("one", "A third time.")
    with pytest.raises(HookRefused):
        place.publish()
    assert state(place) == before
    (place.repo / ".git/hooks/pre-commit").unlink()
    place.publish()
    assert place.status() == ""
    assert place.facts() == {"one": "A third time."}


def test_a_hard_reset_after_staging_loses_nothing(place: Place) -> None:
    """`git reset --hard` throws away the index, not the memory."""
    place.ran("r1")
    place.keep("one")
    place.publish(stage=True)
    place.git("reset", "-q", "--hard")
    assert place.status() == ""
    assert place.runs() == {"r1"}
    assert place.facts() == {"one": "It is so."}
    assert len(place.publish().paths) == 2


def test_staged_files_that_git_carries_to_another_branch_are_not_its_memory(place: Place) -> None:
    """`git switch` takes staged files along; the other branch did not learn them."""
    place.git("branch", "other")
    place.repo.commit("x")
    place.git("switch", "-q", "other")
    place.line()
    place.git("switch", "-q", "main")
    place.keep("one")
    place.publish(stage=True)
    place.git("switch", "-q", "other")
    assert place.facts() == {}
    place.git("switch", "-q", "main")
    assert set(place.facts()) == {"one"}


def test_a_hand_edit_in_the_way_is_never_overwritten(place: Place) -> None:
    """Somebody is editing that very file; both texts stay."""
    path = place.keep("one")
    place.publish()
    place.keep("one", "It has changed.")
    place.ran("r1")
    place.repo.write(path, fact_text("one", "By hand."))
    done = place.publish()
    assert [kept.path for kept in done.kept] == [path]
    assert done.kept[0].reason.startswith("the file differs from HEAD")
    assert path not in done.paths
    assert done.events == 1
    assert (place.repo / path).read_text() == fact_text("one", "By hand.")
    assert place.facts() == {"one": "It has changed."}
    assert place.open().entries()[0].edited == fact_text("one", "By hand.")
    place.git("checkout", "-q", "--", path)
    assert place.publish().paths == (path,)


def test_a_hand_edit_is_known_from_what_is_committed(place: Place) -> None:
    """An edit is nobody's approved text; line ends that git converted on checkout are no edit."""
    paths = [place.keep(name) for name in ("edited", "converted", "left")]
    place.publish()
    place.repo.write(paths[0], fact_text("edited", "It has changed."))
    (place.repo / paths[1]).write_bytes(fact_text("converted").replace("\n", "\r\n").encode())
    seen = {sighting.path: sighting.origin for sighting in place.open().entries()}
    assert seen == dict(zip(paths, ("edit", "tree", "tree"), strict=True))


def test_a_file_deleted_by_hand_is_not_brought_back(place: Place) -> None:
    """A deletion is an edit too."""
    path = place.keep("one")
    place.publish()
    (place.repo / path).unlink()
    place.keep("one", "It has changed.")
    done = place.publish()
    assert [(kept.path, kept.reason) for kept in done.kept] == [(path, "the file was deleted by hand")]
    assert not (place.repo / path).exists()


def diverge(place: Place, theirs: str, **fields: str) -> None:
    """A change waits here while the branch's history gets another text."""
    place.keep("one")
    place.publish()
    place.git("switch", "-q", "-c", "team")
    place.repo.commit(fact_path("one"), fact_text("one", theirs, **fields))
    place.git("switch", "-q", "main")


def test_changes_of_different_fields_are_merged(place: Place) -> None:
    """Two people, two fields, no conflict; and the merged text is what was published."""
    diverge(place, "It is so.", tags="[db]")
    place.keep("one", "It is so.", confidence="0.5")
    place.git("merge", "-q", "team")
    text = place.open().entries()[0].text
    assert "tags: [db]" in text
    assert "confidence: 0.5" in text
    assert place.publish().paths == (fact_path("one"),)
    assert "tags: [db]" in place.git("show", f"HEAD:{fact_path('one')}")
    assert place.waits() == set()
    assert not reconcile.examine(place.open()).gone


def test_a_merged_text_that_was_staged_is_known_in_its_commit(place: Place) -> None:
    """After --stage and the user's commit nothing waits, also when the text was merged."""
    diverge(place, "It is so.", tags="[db]")
    place.keep("one", "It is so.", confidence="0.5")
    place.git("merge", "-q", "team")
    place.publish(stage=True)
    place.git("commit", "-q", "-m", "work and memory")
    assert place.waits() == set()
    assert place.status() == ""


def test_changes_of_the_same_field_are_both_shown(place: Place) -> None:
    """Nobody's words are silently replaced."""
    diverge(place, "Theirs.")
    place.keep("one", "Ours.")
    place.git("merge", "-q", "team")
    seen = place.open().entries()[0]
    assert "Ours." in seen.text
    assert seen.clash is not None
    assert "Theirs." in seen.clash
    done = place.publish()
    assert [kept.path for kept in done.kept] == [fact_path("one")]
    assert "`holdfast show` prints both texts" in done.kept[0].reason
    place.keep("one", "Still only ours.")
    assert place.open().entries()[0].clash is not None, "who has not seen the other text does not end it"
    place.repo.write(fact_path("one"), fact_text("one", "Both."))
    place.keep("one", "Both.")
    assert place.open().entries()[0].clash is None
    assert place.publish().paths == (fact_path("one"),)


@pytest.mark.parametrize("inherited", [False, True])
def test_the_branchs_own_text_can_be_let_stand(place: Place, inherited: bool) -> None:
    """A clash must have a way out for whoever likes the other text better."""
    diverge(place, "Theirs.")
    place.keep("one", "Ours.")
    if inherited:
        place.git("switch", "-q", "-c", "feat")
    place.git("merge", "-q", "team")
    assert place.open().entries()[0].clash is not None
    place.open().give_up(fact_path("one"))
    assert place.facts() == {"one": "Theirs."}
    assert place.waits() == set()
    assert place.publish().kept == ()
    layout = place.open().layout
    kept = [*pending_changes.published(layout), *pending_changes.waiting(layout)]
    assert any("Ours." in (change.text or "") for change in kept)
    if inherited:
        place.git("switch", "-q", "main")
        assert place.facts() == {"one": "Ours."}


def test_an_inherited_change_that_was_outgrown_never_comes_back(place: Place) -> None:
    """A branch improved a fact it had inherited; the old text must not return on a later publish."""
    place.keep("one", "First.")
    place.git("switch", "-q", "-c", "feat")
    place.keep("one", "Second.")
    place.publish()
    assert place.waits() == set()
    place.keep("one", "Third.")
    place.publish()
    assert place.waits() == set()
    assert place.facts() == {"one": "Third."}
    assert place.publish().commit is None
    place.git("switch", "-q", "-c", "sub")
    assert place.facts() == {"one": "Third."}
    assert place.publish().commit is None
    place.git("switch", "-q", "main")
    assert place.facts() == {"one": "First."}
    place.publish()
    place.git("switch", "-q", "feat")
    assert place.facts() == {"one": "Third."}


def test_an_inherited_change_published_by_the_parent_lands_by_merging(place: Place) -> None:
    """Parent publishes and goes on; the child that merges it has nothing left to publish."""
    place.keep("one", "First.")
    place.ran("r1")
    place.git("switch", "-q", "-c", "feat")
    assert place.waits() == {fact_path("one")}
    place.git("switch", "-q", "main")
    place.publish()
    place.keep("one", "Second.")
    place.publish()
    place.git("switch", "-q", "feat")
    place.git("merge", "-q", "main")
    assert place.waits() == set()
    assert place.facts() == {"one": "Second."}
    assert place.publish().commit is None


def test_inherited_events_are_published_in_segments_of_their_own_line(place: Place) -> None:
    """A branch pushed alone must carry the events that its own ones stand on, and nothing later."""
    place.ran("r1")
    main = place.line()
    place.git("switch", "-q", "-c", "feat")
    place.ran("r2")
    place.git("switch", "-q", "main")
    place.later()
    place.ran("later")
    place.publish()
    place.git("switch", "-q", "feat")
    done = place.publish()
    assert done.events == 2
    assert place.verdict() == "ok"
    assert place.runs() == {"r1", "r2"}
    texts = [(place.repo / path).read_text() for path in done.paths]
    assert sum(f'"segment","v":1,"line":"{main}"' in text for text in texts) == 1
    assert place.publish().commit is None
    place.git("merge", "-q", "main")
    assert place.runs() == {"r1", "r2", "later"}


def test_a_process_that_goes_on_after_its_publish_sees_what_the_next_one_sees(place: Place) -> None:
    """What was inherited goes with the commit it is in, for a server that has been open all along, too."""
    place.ran("r1")
    place.git("switch", "-q", "-c", "feat")
    clone = place.open()
    assert publish.publish(clone).events == 1
    assert [event.run_id for event in clone.events()] == ["r1"]
    place.git("reset", "-q", "--hard", "HEAD~1")
    assert place.runs() == set()
    assert clone.events() == []


def test_a_first_command_may_be_publish(place: Place) -> None:
    """On a fresh branch the line is made while the store is locked."""
    place.ran("r1")
    place.git("switch", "-q", "-c", "feat")
    assert place.publish().events == 1


def test_two_work_trees_publish_each_their_own(place: Place, tmp_path: Path) -> None:
    """Agents side by side: one store, two branches, two commits."""
    place.git("worktree", "add", "-q", "-b", "agent", str(tmp_path / "wt"))
    there = place.at(tmp_path / "wt")
    there.line()
    place.ran("r1")
    there.ran("r2")
    there.keep("two")
    assert there.publish().events == 1
    assert place.publish().events == 1
    assert (place.runs(), there.runs()) == ({"r1"}, {"r2"})
    assert place.status() == there.status() == ""
    place.git("merge", "-q", "agent")
    assert place.runs() == {"r1", "r2"}


def record_many(top: str, cache: str, name: str, count: int) -> None:
    clone = Clone.open(top, cache=cache)
    for number in range(count):
        clone.record(EventDraft("run", run_id=f"{name}-{number}"))


def publish_often(top: str, cache: str, count: int) -> None:
    for _ in range(count):
        publish.publish(Clone.open(top, cache=cache))


def test_writers_and_publishers_race_without_losing_anything(place: Place) -> None:
    """Sixteen processes record while others publish: every acknowledged event ends in exactly one place."""
    top = str(place.repo.path)
    spawn = multiprocessing.get_context("fork")
    workers = [spawn.Process(target=record_many, args=(top, place.cache, f"w{n}", 6)) for n in range(12)]
    workers += [spawn.Process(target=publish_often, args=(top, place.cache, 2)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 16
    place.publish()
    assert place.runs() == {f"w{n}-{i}" for n in range(12) for i in range(6)}
    assert place.status() == ""
    assert place.verdict() == "ok"
    assert not [c for c in seal.spools(place.open().layout, place.line()) if os.path.getsize(c)]


def test_stash_and_clean_take_nothing(place: Place) -> None:
    """`git stash -u` and `git clean -fdx` are how people tidy up."""
    path = place.keep("one")
    place.publish()
    place.ran("r1")
    place.keep("two")
    place.repo.write(path, fact_text("one", "By hand."))
    place.git("stash", "-q", "-u")
    assert place.facts() == {"one": "It is so.", "two": "It is so."}
    place.git("clean", "-q", "-fdx")
    assert place.runs() == {"r1"}
    place.git("stash", "pop", "-q")
    assert place.facts()["one"] == "By hand."
    assert len(place.publish().paths) == 2


def test_a_submodules_memory_is_the_outer_repositorys(place: Place, tmp_path: Path) -> None:
    """One project, one memory: whoever works in a submodule adds to the whole."""
    lib = Place.make(tmp_path / "lib")
    place.git("submodule", "add", "-q", str(lib.repo.path), "lib")
    place.git("commit", "-q", "-m", "a library")
    inner = place.at(place.repo / "lib")
    inner.ran("r1")
    assert place.runs() == {"r1"}
    done = inner.publish()
    assert done.events == 1
    assert place.committed() == set(done.paths)
    assert place.status() == ""


@pytest.mark.parametrize("link", [".holdfast/log", ".holdfast/memory/facts", ".holdfast"])
def test_a_link_that_leads_out_is_refused(place: Place, tmp_path: Path, link: str) -> None:
    """A pull request could plant a link; nothing is ever written through it."""
    place.ran("r1")
    place.keep("one")
    outside = tmp_path / "outside"
    outside.mkdir()
    full = place.repo / link
    if full.exists():
        full.rename(tmp_path / "aside")
    full.parent.mkdir(parents=True, exist_ok=True)
    full.symlink_to(outside)
    with pytest.raises(UnsafePath):
        place.publish()
    assert list(outside.iterdir()) == []
    assert not (place.store / "publishing.json").exists()
    full.unlink()
    if (tmp_path / "aside").exists():
        (tmp_path / "aside").rename(full)
    assert len(place.publish().paths) == 2


def test_anothers_index_lock_is_waited_for_and_never_removed(place: Place, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Removing a lock of a running git corrupts its index."""
    monkeypatch.setattr(repo, "LOCK_TRIES", 2)
    place.ran("r1")
    lock = place.repo / ".git/index.lock"
    before = state(place)
    lock.touch()
    with pytest.raises(GitFailed):
        place.publish()
    assert lock.exists()
    lock.unlink()
    assert state(place) == before
    assert place.publish().events == 1


def test_odd_file_names_are_named_literally(place: Place) -> None:
    """A path is a name, never a pattern."""
    for name in ("a[b]", "c*d"):
        place.open().change(f".holdfast/memory/facts/{name}-FCT-1.md", fact_text("1"))
    place.repo.write(".holdfast/memory/facts/cxd-FCT-1.md", "mine")
    done = place.publish()
    assert len(done.paths) == 2
    assert place.status() == "?? .holdfast/memory/facts/cxd-FCT-1.md"


def test_init_commits_only_what_is_missing(place: Place) -> None:
    """Running init again, with a refusing hook, must not stage anything."""
    place.git("rm", "-q", "--cached", ".holdfast/.gitattributes")
    place.git("commit", "-q", "-m", "lost it")
    place.repo.write(".holdfast/holdfast.toml", "# mine\n")
    before = place.status()
    place.hook("pre-commit", "exit 1")
    with pytest.raises(HookRefused):
        project_setup.initialise(str(place.repo.path), cache=place.cache, commit=True)
    assert place.status() == before
    (place.repo / ".git/hooks/pre-commit").unlink()
    project_setup.initialise(str(place.repo.path), cache=place.cache, commit=True)
    assert place.committed() == {".holdfast/.gitattributes"}
    assert place.status() == "M .holdfast/holdfast.toml"


def test_git_tells_hooks_nothing_that_leads_us_astray(place: Place, tmp_path: Path) -> None:
    """Inside a hook git sets GIT_DIR and GIT_INDEX_FILE; publishing from one must mean this repository."""
    other = Place.make(tmp_path / "other")
    os.environ["GIT_INDEX_FILE"] = str(other.repo / ".git/index")
    try:
        place.ran("r1")
        done = place.publish()
    finally:
        del os.environ["GIT_INDEX_FILE"]
    assert done.events == 1
    assert place.status() == other.status() == ""


def test_a_sha256_repository_works(tmp_path: Path) -> None:
    """Git's newer object format has longer ids everywhere."""
    made = subprocess.run(
        ["git", "init", "-q", "-b", "main", "--object-format=sha256", str(tmp_path / "r")], check=False
    )
    if made.returncode:
        pytest.skip("this git knows no sha256 repositories")
    place = Place(GitRepo(tmp_path / "r"), str(tmp_path / "cache"))
    place.repo.commit("a")
    project_setup.initialise(str(place.repo.path), cache=place.cache, commit=True)
    place.ran("r1")
    place.keep("one")
    place.hook("pre-commit", "exit 1")
    before = state(place)
    with pytest.raises(HookRefused):
        place.publish()
    assert state(place) == before
    (place.repo / ".git/hooks/pre-commit").unlink()
    assert len(place.publish().paths) == 2
    assert place.verdict() == "ok"


def test_what_two_lines_inherited_is_one_change(place: Place) -> None:
    """A child dealt with it and threw it away; its parent publishing it later does not bring it back."""
    place.keep("one")
    place.git("switch", "-q", "-c", "feat")
    place.line()
    place.git("switch", "-q", "-c", "sub")
    place.publish()
    place.git("reset", "-q", "--hard", "HEAD~1")
    assert place.facts() == {}
    place.later()
    place.git("switch", "-q", "feat")
    place.publish()
    place.git("switch", "-q", "sub")
    assert place.facts() == {}
    assert place.publish().commit is None


def test_an_approval_that_was_altered_before_its_publish_is_not_published(place: Place) -> None:
    """A segment waits after a refused publish; what is committed then can never be mended."""
    place.keep("one")
    place.open().record(EventDraft("accept", target="FCT-one", body={"statement": "It is so."}))
    hook = place.repo.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(HookRefused):
        place.publish()
    hook.unlink()
    (segment,) = (place.store / "sealed" / "log").glob("*.jsonl")
    segment.chmod(0o600)
    segment.write_bytes(segment.read_bytes().replace(b'"seq":0', b'"seq":7'))
    before = place.git("rev-parse", "HEAD")
    with pytest.raises(CorruptLog):
        place.publish()
    assert place.git("rev-parse", "HEAD") == before


def test_an_upstream_that_was_never_fetched_is_no_trunk(place: Place) -> None:
    """`git branch -u` of a branch that the remote does not have yet, or no longer."""
    place.git("remote", "add", "origin", "/nowhere")
    place.git("config", "branch.main.remote", "origin")
    place.git("config", "branch.main.merge", "refs/heads/main")
    place.ran("r1")
    assert place.publish().events == 1


def test_a_process_that_was_open_before_a_commit_sees_what_it_brought(place: Place) -> None:
    """What the user committed meanwhile no longer waits, whoever looks."""
    clone = place.open()
    clone.change(fact_path("one"), fact_text("one"))
    place.repo.commit(fact_path("one"), fact_text("one"))
    place.repo.commit(fact_path("one"), fact_text("one", "Somebody changed it."))
    assert publish.publish(clone).kept == () and clone.changes() == []
    assert clone.entries()[0].text == fact_text("one", "Somebody changed it.")


def test_what_was_staged_and_is_committed_is_no_longer_ours_to_replace(place: Place) -> None:
    """Who writes that text back by hand later has edited the file."""
    place.keep("one")
    place.publish(stage=True)
    assert set(visible_entries.read_staged(place.open().repo)) == {fact_path("one")}
    place.publish()
    assert visible_entries.read_staged(place.open().repo) == {}


def test_a_segment_that_a_parent_published_is_published_as_it_is(place: Place) -> None:
    """Both branches bring the same file, so a merge of them has nothing to merge."""
    place.ran("r1")
    place.git("switch", "-q", "-c", "feat")
    place.line()
    place.git("switch", "-q", "main")
    published = place.publish().paths
    place.git("switch", "-q", "feat")
    done = place.publish()
    assert (done.events, done.paths) == (1, published)


def test_an_inherited_change_that_was_kept_back_goes_on_waiting(place: Place) -> None:
    """The events beside it were published; it was not."""
    path = fact_path("one")
    place.repo.commit(path, fact_text("one"))
    place.keep("one", "It has changed.")
    place.ran("r1")
    place.git("switch", "-q", "-c", "feat")
    place.repo.write(path, fact_text("one", "By hand."))
    done = place.publish()
    assert done.events == 1 and [kept.path for kept in done.kept] == [path]
    assert place.waits() == {path}
    place.git("checkout", "-q", "--", path)
    place.git("switch", "-q", "main")
    assert place.publish().paths[0] == path
    place.git("switch", "-q", "feat")
    assert place.waits() == {path}, "whoever else has published it"


def test_hooks_see_the_users_own_settings(place: Place, tmp_path: Path) -> None:
    """What we ask git to print plainly is no business of a hook's."""
    place.git("config", "diff.noprefix", "true")
    note = f"git config diff.noprefix >> '{tmp_path}/seen'"
    place.hook("reference-transaction", note)
    place.hook("pre-commit", f'{note}; for f in $(git ls-files -- "*.jsonl"); do echo >> $f; git add -f $f; done')
    place.ran("r1")
    with pytest.raises(HookRewrote):
        place.publish()
    assert "holdfast: undo publish" in place.git("reflog", "-1", "--format=%gs")
    assert set((tmp_path / "seen").read_text().split()) == {"true"}


def test_after_a_publish_the_same_process_waits_for_nothing(tmp_path: Path) -> None:
    """A server goes on; what it publishes next must not be what it has published."""
    place = Place.make(tmp_path / "repo", commit=False)
    place.ran("r1")
    place.keep("one")
    clone = place.open()
    done = publish.publish(clone)
    assert ".holdfast/.gitattributes" in done.paths and clone.changes() == []
    published = pending_changes.published(clone.layout)
    assert {change.path for change in published} == set(done.paths) - {".holdfast/.gitattributes"}
    assert {(change.published or {})["commit"] for change in published} == {done.commit}
    assert publish.publish(clone).commit is None


@pytest.mark.parametrize(("text", "comes"), [(None, True), ("mine\n", False), (project_setup.ATTRIBUTES_TEXT, True)])
def test_attributes_of_the_users_own_are_left_alone(tmp_path: Path, text: str | None, comes: bool) -> None:
    """What is missing comes along; what somebody wrote there is theirs."""
    place = Place.make(tmp_path / "repo", commit=False)
    path = place.repo / ".holdfast/.gitattributes"
    path.unlink() if text is None else path.write_text(text)
    place.keep("one")
    place.repo.commit("other")
    assert (".holdfast/.gitattributes" in place.publish().paths) is comes
    assert path.read_text() == (text or project_setup.ATTRIBUTES_TEXT)


def test_attributes_never_make_a_commit_of_their_own(tmp_path: Path) -> None:
    """Nothing else was published: there is nothing that they would be needed for."""
    place = Place.make(tmp_path / "repo", commit=False)
    path = place.repo.write(fact_path("one"), fact_text("one", "By hand."))
    place.keep("one")
    done = place.publish()
    assert done.commit is None and [kept.path for kept in done.kept] == [fact_path("one")]
    assert path.read_text() == fact_text("one", "By hand.")


@pytest.mark.parametrize("there", ["as it was", "converted", "edited"])
def test_attributes_of_an_earlier_version_are_brought_up_to_date(place: Place, there: str) -> None:
    """Whoever set the project up years ago gets the rules of today, unless the file holds their own edit."""
    old, path = project_setup.EARLIER_ATTRIBUTES[0], ".holdfast/.gitattributes"
    place.repo.commit(path, old)
    text = {"as it was": old, "converted": old.replace("\n", "\r\n"), "edited": old + "* -diff\n"}[there]
    (place.repo / path).write_bytes(text.encode())
    place.keep("one")
    assert (path in place.publish().paths) is (there != "edited")
    now = (place.repo / path).read_bytes().decode()
    assert now == (text if there == "edited" else project_setup.ATTRIBUTES_TEXT)


def test_what_somebody_did_by_hand_already_is_not_in_the_way(place: Place) -> None:
    """The same text, the same deletion, or what was staged and then deleted: nobody's words are lost."""
    for name in ("text", "gone"):
        place.keep(name)
    place.publish()
    place.keep("staged")
    place.keep("text", "A first thought.")
    place.publish(stage=True)
    (place.repo / fact_path("staged")).unlink()
    (place.repo / fact_path("gone")).unlink()
    place.open().change(fact_path("gone"), None)
    place.keep("text", "It has changed.")
    place.repo.write(fact_path("text"), fact_text("text", "It has changed."))
    done = place.publish()
    assert done.kept == () and set(done.paths) == {fact_path(name) for name in ("text", "gone", "staged")}
    assert place.status() == ""
    assert place.facts() == {"text": "It has changed.", "staged": "It is so."}


def test_a_segment_that_waits_on_the_parent_is_not_made_a_second_time(place: Place) -> None:
    """The parent could not publish it yet; the child brings it, and the parent goes on waiting for its own."""
    place.ran("r1")
    place.publish(stage=True)
    place.git("reset", "-q", "--hard")
    (sealed,) = place.waits()
    main = place.line()
    place.git("switch", "-q", "-c", "feat")
    done = place.publish()
    assert done.paths == (sealed,) and done.events == 1
    assert [change.line for change in pending_changes.waiting(place.open().layout)] == [main]
    place.git("switch", "-q", "main")
    assert place.publish().paths == (sealed,)


def test_an_erasure_elsewhere_is_told_with_the_deletion(place: Place) -> None:
    """Whoever finds the file gone on this branch must find why; nothing else is called erased."""
    for name in ("one", "two", "three"):
        place.repo.commit(fact_path(name), fact_text(name))
    clone = place.open()
    for name in ("one", "never"):  # as another line erased them
        Path(clone.layout.erased).mkdir(exist_ok=True)
        Path(clone.layout.erased, f"FCT-{name}").write_text('{"bodies": []}')
    clone.change_all({fact_path("one"): None, fact_path("two"): None, fact_path("three"): fact_text("three", "New.")})
    done = publish.publish(place.open())
    assert done.events == 1 and len(done.paths) == 4
    (told,) = place.open().events()
    assert (told.kind, told.target) == ("erase", "FCT-one")
    place.repo.commit(fact_path("one"), fact_text("one"))
    place.open().change(fact_path("one"), None)
    assert place.publish().events == 0, "told once"
