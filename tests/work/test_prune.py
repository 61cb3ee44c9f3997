"""Prune deletes by age what nobody needs, and says so first."""

from pathlib import Path

import pytest

from holdfast.errors import BadInput
from holdfast.git.cited_commits import anchor_store, commit_anchors
from holdfast.model.session import Session, SessionAnchor, SessionItem
from holdfast.store import session_files
from holdfast.work import cleanup, task_claims
from holdfast.work.task_claims import TaskClaim
from tests.git.place import Place, fact_path, fact_text

OID = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"
OLD, NEW = "2020-01-01T10:00:00.000000Z", "2099-01-01T10:00:00.000000Z"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place.make(tmp_path / "repo")


def save(place: Place, name: str, *, ended: str | None, **fields: object) -> None:
    begun = SessionAnchor(OLD, OID, "main")
    end = SessionAnchor(ended, OID, "main") if ended else None
    values = {"id": f"SES-{name}", "line": "abc", "worktree": ".", "started": begun, "updated": end or begun}
    state = {"state": "ended" if end else "open", "ended": end}
    session_files.save(place.open().layout, Session(**{**values, **state, **fields}))  # type: ignore[arg-type]


def claim(place: Place, task: str, until: str, **fields: object) -> None:
    values = {"owner": "ada", "session": None, "line": "abc", "branch": "main", "worktree": ".", "head": OID}
    made = TaskClaim(**{"task": task, "ts": OLD, "until": until, **values, **fields})  # type: ignore[arg-type]
    task_claims.take(place.open().layout, made, now=OLD)


def test_only_old_ended_sessions_with_nothing_open_go(place: Place) -> None:
    """What is open is somebody's work; age does not make it done."""
    save(place, "old", ended=OLD)
    save(place, "fresh", ended=NEW)
    save(place, "open", ended=None)
    save(place, "left", ended=OLD, follow_ups=(SessionItem(id="f1", text="tell Ada", ts=OLD),))

    done = cleanup.prune(place.open())

    assert [(spare.kind, spare.id) for spare in done.spares] == [("session", "SES-old")]
    assert done.size > 0 and done.done
    assert done.kept == ("SES-left",), "and whoever prunes is told"
    assert {one.id for one in session_files.all(place.open().layout)} == {"SES-fresh", "SES-open", "SES-left"}


def test_claims_that_ended_long_ago_go_and_others_stay(place: Place) -> None:
    """A claim that ended yesterday still knows which commits were made for its task."""
    claim(place, "TSK-old", OLD)
    claim(place, "TSK-live", NEW)
    assert [spare.id for spare in cleanup.prune(place.open()).spares] == ["TSK-old"]
    assert [one.task for one in task_claims.every(place.open().layout)] == ["TSK-live"]


def test_a_dry_run_says_the_same_and_deletes_nothing(place: Place) -> None:
    """Who looks first must see what would happen, and nothing else."""
    save(place, "old", ended=OLD)
    claim(place, "TSK-old", OLD)
    before = sorted(place.files())

    said = cleanup.prune(place.open(), dry_run=True)

    assert not said.done and sorted(place.files()) == before
    assert cleanup.prune(place.open()).spares == said.spares


def test_the_trash_is_emptied_after_thirty_days_or_on_request(place: Place, monkeypatch) -> None:
    """A way back has an end, but not by surprise."""
    save(place, "one", ended=NEW)
    cleanup.reset(place.open(), "sessions")
    assert cleanup.prune(place.open()).spares == ()

    monkeypatch.setattr(Place, "passed", Place.passed + 31 * 24 * 3600)
    found = cleanup.prune(place.open(), older_than="365d")
    assert [spare.kind for spare in found.spares] == ["trash"]
    assert list((place.store / "trash").iterdir()) == []


def test_older_than_nothing_empties_the_trash_now(place: Place, monkeypatch) -> None:
    """Who wants it gone today can say so."""
    save(place, "one", ended=NEW)
    cleanup.reset(place.open(), "sessions")
    monkeypatch.setattr(Place, "passed", Place.passed + 1)
    assert [spare.kind for spare in cleanup.prune(place.open(), older_than="0d").spares] == ["trash"]


def test_anchors_go_only_if_nothing_cites_their_commit(place: Place, monkeypatch) -> None:
    """What finds a commit again after a rewrite must outlive everything that names the commit."""
    names = ("nobody", "session", "pending", "branch", "history", "claim")
    oids = {name: place.repo.commit(f"{name}.txt") for name in names}
    commit_anchors.keep(place.open(), oids.values())
    save(place, "one", ended=NEW, commits=(oids["session"],))
    claim(place, "TSK-x", NEW, commits=(oids["claim"],))
    place.keep("waits", evidence=f"[commit:{oids['pending']}]")
    place.git("switch", "-qc", "side")
    text = fact_text("other", evidence=f"[commit:{oids['branch']}]")
    place.repo.commit(fact_path("other"), text)
    place.git("switch", "-q", "main")
    place.repo.commit(fact_path("was"), fact_text("was", evidence=f"[commit:{oids['history']}]"))
    place.repo.commit(fact_path("was"), fact_text("was"))
    assert cleanup.prune(place.open()).spares == (), "they are young"

    monkeypatch.setattr(Place, "passed", Place.passed + 100 * 24 * 3600)
    found = cleanup.prune(place.open())

    assert [(spare.kind, spare.id) for spare in found.spares] == [("anchor", oids["nobody"])]
    assert anchor_store.missing(place.open().layout, oids.values()) == [oids["nobody"]]
    assert set(anchor_store.load(place.open().stores, oids.values())) == set(oids.values()) - {oids["nobody"]}


@pytest.mark.parametrize("text", ["", "90", "d", "-1d", "1.5d", "90 days", "9999999d", "99999y", "٣d"])
def test_an_age_that_is_none_is_refused(place: Place, text: str) -> None:
    """A typo must not delete something else than was meant."""
    save(place, "old", ended=OLD)
    with pytest.raises(BadInput):
        cleanup.prune(place.open(), older_than=text)
    assert len(session_files.all(place.open().layout)) == 1


def test_the_memory_is_not_touched(place: Place) -> None:
    """Pruning is for caches; what was decided and what happened has no age."""
    place.keep("one")
    place.ran("20200101T194200Z-abc123")
    before = {name for name in place.files() if not name.startswith(("sessions", "claims", "trash"))}
    cleanup.prune(place.open(), older_than="0d")
    assert {name for name in place.files() if not name.startswith(("sessions", "claims", "trash"))} == before
