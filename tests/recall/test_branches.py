"""Other branches' memory: found where it fits, labelled, below what holds here, no part of its ranking."""

import json
import os
from pathlib import Path

import pytest

from holdfast.errors import BadInput
from holdfast.git.clone import Clone
from holdfast.index import other_branches
from holdfast.index.query import Scope
from holdfast.model.event import EventDraft
from holdfast.project import Project
from holdfast.recall.search import Hit, TextSearch
from holdfast.store import layout
from tests.conftest import GitRepo, init_store
from tests.index.conftest import approve, fact_text


@pytest.fixture
def clone(repo: GitRepo, tmp_path: Path) -> Clone:
    cache = os.fspath(tmp_path / "cache" / "holdfast")
    init_store(repo.path, commit=True)
    return Clone.open(os.fspath(repo), cache=cache)


def again(clone: Clone) -> Clone:
    """The same work tree, looked at anew: a branch was switched."""
    return Clone.open(clone.repo.top, cache=clone.layout.cache)


def published(repo: GitRepo, identity: str, statement: str) -> str:
    """A fact that somebody committed on the branch that is checked out."""
    path = layout.entry_path("fact", "fact", identity)
    repo.write(path, fact_text(identity, statement))
    repo.git("add", "-f", path)
    repo.git("commit", "-q", "-m", f"Fact {identity}")
    return path


def ask(clone: Clone, query: str, branch: str | None = None, limit: int = 5, **scope: str) -> list[Hit]:
    searcher = TextSearch(again(clone))
    try:
        return searcher.search(query, Scope(branch=branch, **scope), limit, others=True)
    finally:
        searcher.close()


def told(hits: list[Hit]) -> list[tuple[str, str | None]]:
    return [(hit.id, hit.branch) for hit in hits]


def test_what_another_branch_published_is_found_and_labelled(repo: GitRepo, clone: Clone) -> None:
    """Who decides on main what was decided on a branch last week does it twice."""
    published(repo, "FCT-zebra1", "The zebra pool has five places")
    repo.git("switch", "-q", "-c", "topic")
    published(repo, "FCT-zebra2", "The zebra queue has nine places")
    assert told(ask(clone, "zebra queue")) == [("FCT-zebra2", None), ("FCT-zebra1", None)]
    repo.git("switch", "-q", "main")
    assert told(ask(clone, "zebra queue")) == [("FCT-zebra1", None), ("FCT-zebra2", "topic")]
    assert told(ask(clone, "zebra elephants")) == [("FCT-zebra1", None)], "half of the words is no fit"


def test_an_old_version_on_a_stale_branch_is_no_news(repo: GitRepo, clone: Clone) -> None:
    """A branch that is behind holds what was true before; that is no other knowledge."""
    published(repo, "FCT-zebra1", "The zebra pool has five places")
    repo.git("branch", "stale")
    published(repo, "FCT-zebra1", "The zebra pool has six places")
    assert told(ask(clone, "zebra places")) == [("FCT-zebra1", None)]


def test_what_waits_and_what_ran_on_another_line_is_found(repo: GitRepo, clone: Clone) -> None:
    """Private records of another branch are this clone's own."""
    repo.git("switch", "-q", "-c", "topic")
    there = again(clone)
    there.change(layout.entry_path("fact", "fact", "FCT-wait11"), fact_text("FCT-wait11", "Okapis wait here"))
    approve(there, "FCT-wait11", "Okapis wait here")
    there.record(EventDraft("run", target="run-1", run_id="run-1", exit_status=0, body={"prompt": "feed okapis"}))
    repo.git("switch", "-q", "main")
    found = ask(clone, "okapis")
    assert {(hit.id, hit.branch) for hit in found} == {("FCT-wait11", "topic"), ("run-1", "topic")}
    assert told(ask(clone, "okapis", kind="run")) == [("run-1", "topic")]
    repo.git("switch", "-q", "topic")
    assert {hit.branch for hit in ask(clone, "okapis")} == {None}


def test_ranking_here_does_not_depend_on_other_branches(repo: GitRepo, clone: Clone) -> None:
    """The same question on the same state here must give the same order and the same scores."""
    for number in range(3):
        published(repo, f"FCT-here1{number}", f"zebra fact {'zebra ' * number}number {number}")
    before = ask(clone, "zebra number", limit=10)
    repo.git("switch", "-q", "-c", "topic")
    for number in range(6):
        published(repo, f"FCT-topic{number}", f"zebra number {number} of topic")
    repo.git("switch", "-q", "main")
    after = ask(clone, "zebra number", limit=10)
    assert after[:3] == before
    assert [hit.branch for hit in after[3:]] == ["topic"] * 6
    assert ask(clone, "zebra number", limit=3) == before, "they take no memory's place"


def test_one_branch_can_be_asked(repo: GitRepo, clone: Clone) -> None:
    """`--branch topic` answers as if it were checked out, as far as memory goes."""
    published(repo, "FCT-both11", "zebra fact of both")
    gone = published(repo, "FCT-gone11", "zebra fact that topic dropped")
    repo.git("switch", "-q", "-c", "topic")
    published(repo, "FCT-topic1", "zebra fact of topic")
    repo.git("rm", "-q", gone)
    repo.git("commit", "-q", "-m", "Drop it")
    repo.git("switch", "-q", "main")
    found = dict(told(ask(clone, "zebra fact", branch="topic", limit=10)))
    assert found == {"FCT-both11": None, "FCT-topic1": "topic"}
    everywhere = dict(told(ask(clone, "zebra fact", branch="*", limit=10)))
    assert everywhere == {"FCT-both11": None, "FCT-gone11": None, "FCT-topic1": "topic"}
    with pytest.raises(BadInput, match="no branch here is called 'nope'"):
        ask(clone, "zebra", branch="nope")


def test_an_erased_text_is_gone_from_there_too(repo: GitRepo, clone: Clone) -> None:
    """No word of an erased text may stay, in no file."""
    repo.git("switch", "-q", "-c", "topic")
    there = again(clone)
    there.record(EventDraft("run", target="run-1", run_id="run-1", exit_status=0, body={"prompt": "wombats"}))
    repo.git("switch", "-q", "main")
    assert told(ask(clone, "wombats")) == [("run-1", "topic")]
    kept = Path(other_branches.path_of(clone))
    assert b"wombats" in kept.read_bytes()
    Project.open(clone.repo.top, environ={"XDG_CACHE_HOME": os.path.dirname(clone.layout.cache)}).sync.erase("run-1")
    assert ask(clone, "wombats") == []
    assert b"wombats" not in kept.read_bytes()


def test_a_branch_that_git_does_not_have_is_called_so(repo: GitRepo, clone: Clone) -> None:
    """Who looks for a branch by the name on the screen must not search for one that was deleted."""
    repo.git("switch", "-q", "-c", "topic")
    again(clone).record(
        EventDraft("run", target="run-1", run_id="run-1", exit_status=0, body={"prompt": "feed okapis"})
    )
    repo.git("switch", "-q", "main")
    assert told(ask(clone, "okapis")) == [("run-1", "topic")]
    repo.git("branch", "-q", "-D", "topic")
    assert told(ask(clone, "okapis")) == [("run-1", "topic (deleted)")]
    assert told(ask(clone, "okapis", branch="topic")) == [("run-1", "topic (deleted)")]
    with pytest.raises(BadInput, match="no branch here is called 'nope'") as caught:
        ask(clone, "okapis", branch="nope")
    assert "There are: main." in str(caught.value.hint), "what is deleted is not there"


def test_a_session_of_a_branch_that_never_was_here_has_that_branch_s_name(repo: GitRepo, clone: Clone) -> None:
    """Transcripts tell of branches of other clones; a made-up name for them leads nowhere."""
    looking = Project.open(repo.path, environ={"XDG_CACHE_HOME": os.path.dirname(clone.layout.cache)})
    session = looking.sessions.start("Feed the okapis")
    (path,) = Path(clone.layout.sessions).glob(f"*{session.id}.json")
    record = json.loads(path.read_text())
    branch = {"branch": "someone/okapi"}
    record |= {"line": "elsewhere", "started": record["started"] | branch, "updated": record["updated"] | branch}
    path.write_text(json.dumps(record))
    assert (session.id, "someone/okapi (not here)") in told(ask(clone, "okapis"))


def test_what_a_branch_is_not_searched_for_is_said(repo: GitRepo, clone: Clone) -> None:
    """Nothing found where a branch plainly holds it looks like an answer."""
    repo.git("branch", "topic")
    repo.git("update-ref", "refs/remotes/origin/far", "HEAD")
    looking = Project.open(repo.path, environ={"XDG_CACHE_HOME": os.path.dirname(clone.layout.cache)})
    assert looking.recall("okapis", branch="topic") == []
    assert "commits, docs and code are indexed for the checked-out branch" in " ".join(looking.notices)
    with pytest.raises(BadInput) as caught:
        looking.recall("okapis", branch="origin/far")
    assert "git branch NAME origin/far" in str(caught.value.hint)


def test_a_kind_that_only_other_branches_hold_is_listed_with_them(repo: GitRepo, clone: Clone) -> None:
    """Nothing found, where a branch has one, sends people away."""
    repo.git("switch", "-q", "-c", "topic")
    published(repo, "FCT-topic1", "zebra fact of topic")
    repo.git("switch", "-q", "main")
    assert told(ask(clone, "", kind="fact")) == [("FCT-topic1", "topic")]
