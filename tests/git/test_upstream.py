"""The upstream: which branch of which remote the trunk is, what it vouches for, what it has besides."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from holdfast.errors import NotFound
from holdfast.git import upstream
from holdfast.git.approvals import Vouched
from holdfast.git.upstream import MissingFromTrunk
from holdfast.model.event import EventDraft
from holdfast.store import layout, memory_files
from tests.git.place import Place, fact_path, fact_text

URL = "https://git.example/team.git"


def remote(place: Place, name: str = "origin", url: str = URL, *branches: str) -> None:
    """A remote as a fetch would leave it: its branches at our commit."""
    place.git("remote", "add", name, url)
    for branch in branches or ("main",):
        place.git("update-ref", f"refs/remotes/{name}/{branch}", "HEAD")


# ── where the trunk comes from ────────────────────────────────────────────────


def found(place: Place, trunk: str | None = None) -> tuple[str, str] | None:
    now = upstream.find(place.open().repo, trunk)
    return (now.ref, now.url) if now else None


def test_without_a_remote_that_has_the_trunk_there_is_no_upstream(place: Place) -> None:
    """Nothing can be trusted that is not there."""
    assert found(place) is None
    with pytest.raises(NotFound, match="does not follow the default branch of a remote"):
        upstream.trust(place.open(), by="Ada")
    remote(place, "origin", URL, "other")
    assert found(place) is None
    assert upstream.held(place.open()) is None
    assert upstream.vouched(place.open()) == Vouched("")


def test_the_trunk_is_followed_where_it_is_configured_else_at_origin_else_by_name(place: Place) -> None:
    """A fork beside the upstream must not be taken for it."""
    remote(place, "zeta", "https://git.example/zeta.git")
    remote(place, "alpha", "https://git.example/alpha.git")
    assert found(place) == ("refs/remotes/alpha/main", "https://git.example/alpha.git")
    remote(place)
    assert found(place) == ("refs/remotes/origin/main", URL)
    place.git("config", "branch.main.remote", "zeta")
    place.git("config", "branch.main.merge", "refs/heads/main")
    assert found(place) == ("refs/remotes/zeta/main", "https://git.example/zeta.git")
    place.git("symbolic-ref", "refs/remotes/alpha/HEAD", "refs/remotes/alpha/main")
    assert found(place) == ("refs/remotes/alpha/main", "https://git.example/alpha.git")
    assert found(place, "refs/remotes/origin/main") == ("refs/remotes/origin/main", URL), "the setting says so"


def test_a_remotes_default_branch_is_the_one_that_git_names(place: Place) -> None:
    """A name behind a name counts as what it leads to; trust is given to that."""
    remote(place, "origin", URL, "main", "trunk")
    for name, target in (("HEAD", "trunk"), ("HEAD", "gone"), ("HEAD", "alias"), ("alias", "trunk")):
        place.git("symbolic-ref", f"refs/remotes/origin/{name}", f"refs/remotes/origin/{target}")
        said = place.git("symbolic-ref", "refs/remotes/origin/HEAD")
        assert place.open().repo.trunk() == said, (name, target)
    assert said == "refs/remotes/origin/trunk"
    place.git("pack-refs", "--all")
    assert place.open().repo.trunk() == said
    place.git("update-ref", "--no-deref", "refs/remotes/origin/HEAD", "HEAD")  # a commit, and no name
    assert place.open().repo.trunk() == "refs/heads/main"


def test_a_branch_that_follows_another_of_our_own_has_its_upstream_by_name(place: Place) -> None:
    """Git lets a branch follow a local one: that is nobody's remote."""
    remote(place)
    place.git("branch", "other")
    place.git("config", "branch.main.remote", ".")
    place.git("config", "branch.main.merge", "refs/heads/other")
    assert found(place) == ("refs/remotes/origin/main", URL)


def test_a_remote_whose_name_begins_another_is_not_taken_for_it(place: Place) -> None:
    """`team` and `team/fork` are two remotes."""
    remote(place, "team", "https://git.example/one.git", "fork/main")
    with_slash = "https://git.example/two.git"
    place.git("config", "remote.team/fork.url", with_slash)
    assert found(place, "refs/remotes/team/fork/main") == ("refs/remotes/team/fork/main", with_slash)


def test_a_password_in_the_address_is_kept_nowhere(place: Place) -> None:
    """The address is printed and stored."""
    remote(place, "origin", "https://ada:hunter2@git.example/team.git")
    assert found(place) == ("refs/remotes/origin/main", URL)


# ── whether it is trusted ─────────────────────────────────────────────────────


def test_trust_is_given_to_one_address_and_one_branch_and_void_elsewhere(place: Place) -> None:
    """Whoever can change a remote's address could otherwise approve everything."""
    remote(place)
    given = upstream.trust(place.open(), by="Ada")
    assert (given.ref, given.remote, given.url, given.by) == ("refs/remotes/origin/main", "origin", URL, "Ada")

    def void() -> str | None:
        now = upstream.held(place.open())
        assert now is not None and now.trusted == given
        assert bool(upstream.vouched(place.open()).key) == (now.void is None)
        return now.void

    assert void() is None
    place.git("remote", "set-url", "origin", "https://evil.example/team.git")
    assert void() == f"origin is now at https://evil.example/team.git; you trusted it at {URL}"
    place.git("remote", "set-url", "origin", URL)
    place.git("update-ref", "refs/remotes/origin/next", "HEAD")
    place.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/next")
    assert void() == f"the trunk is now next of origin ({URL}); you trusted main of origin"
    place.git("symbolic-ref", "-d", "refs/remotes/origin/HEAD")
    place.git("remote", "rename", "origin", "other")
    assert void() == f"the trunk is now main of other ({URL}); you trusted main of origin"
    place.git("remote", "remove", "other")
    assert void() == "main of origin, which you trusted, is no longer this clone's trunk"
    assert upstream.revoke(place.open()) == given
    assert upstream.held(place.open()) is None
    assert upstream.revoke(place.open()) is None


# ── what it vouches for ───────────────────────────────────────────────────────


class Team:
    """A clone that trusts a trunk, and is where the trunk's people work: one repository instead of two."""

    def __init__(self, place: Place) -> None:
        self.place = place
        remote(place)
        upstream.trust(place.open(), by="Ada")

    def decide(self, kind: str, name: str, text: str | None = None, *, keep: bool = False, **body: Any) -> str:
        """A decision about a fact's text, which is kept or not; gives the text's blob."""
        clone, text = self.place.open(), text or fact_text(name)
        if keep:
            clone.change(fact_path(name), text)
        blob = clone.repo.hash_blob(text.encode())
        clone.record(EventDraft(kind, target=f"FCT-{name}", body={"blob": blob, "statement": "It is so.", **body}))
        return blob

    def accept(self, name: str, text: str | None = None, **body: Any) -> str:
        return self.decide("accept", name, text, keep=True, **body)

    def told(self, *, edited: bool = False) -> Vouched:
        """What the trunk says once everything here is published, committed and pushed."""
        self.place.publish(here=True)
        self.push(edited=edited)
        return upstream.vouched(self.place.open())

    def push(self, *, edited: bool = True) -> None:
        """The trunk is where our branch is, once what was `edited` by hand is committed."""
        if edited:
            self.add()
            self.place.git("commit", "-qm", "work", ok=False)
        refs = self.place.repo / ".git/refs"
        (refs / "remotes/origin/main").write_bytes((refs / "heads/main").read_bytes())

    def add(self) -> None:
        folders = (layout.MEMORY, layout.LOG, layout.APPROVALS)
        self.place.git("add", "-Af", *(one for one in folders if (self.place.repo / one).exists()))

    def proofs(self) -> list[str]:
        return self.place.git("ls-files", layout.APPROVALS).split()


@pytest.fixture
def team(place: Place) -> Iterator[Team]:
    yield Team(place)
    upstream._vouched_at.cache_clear()


def test_a_trunk_vouches_for_the_texts_that_a_person_approved_last(team: Team) -> None:
    """Everything else in it is a file that somebody merged."""
    blob = team.accept("a", supersedes=["FCT-old"])
    other = team.decide("promote", "b", keep=True)
    said = team.told()
    assert said.key == team.place.git("rev-parse", "HEAD")
    assert said.blobs == {blob, other}
    assert dict(said.latest) == {"FCT-a": "accept", "FCT-b": "promote"}
    assert said.approved == {("FCT-a", blob)}
    assert dict(said.texts) == {"FCT-a": blob}
    assert dict(said.replaced) == {"FCT-a": ("FCT-old",)}
    assert (said.erased, said.unchecked) == (frozenset(), frozenset())
    edited = team.place.repo.write(fact_path("a"), fact_text("a", "It is not so.")).read_bytes()
    said = team.told(edited=True)
    assert said.blobs == {team.place.open().repo.hash_blob(edited), other}
    assert (said.approved, dict(said.texts)) == (frozenset(), {"FCT-a": blob})
    team.decide("retire", "a")
    said = team.told()
    assert (said.latest["FCT-a"], said.approved, dict(said.texts), dict(said.replaced)) == (
        *("retire", frozenset()),
        *({}, {}),
    )


def test_of_several_decisions_the_one_that_builds_on_the_others_is_the_last(team: Team) -> None:
    """In whatever files of the log they came, and whatever their clocks say."""
    blob = team.accept("a")
    team.decide("retire", "a")
    assert team.told().latest["FCT-a"] == "retire", "in one file"
    clock, team.place.clock = team.place.clock, lambda: datetime(2026, 1, 1, tzinfo=UTC)
    team.decide("accept", "a")
    team.place.clock = clock
    said = team.told()
    assert (said.latest["FCT-a"], said.approved) == ("accept", {("FCT-a", blob)})


def test_what_the_trunk_erased_is_told(team: Team) -> None:
    """A clone that trusts it erases the same."""
    team.place.open().record(EventDraft("erase", target="FCT-b"))
    team.accept("a")
    said = team.told()
    assert said.erased == {"FCT-b"}
    assert dict(said.latest) == {"FCT-a": "accept"}


def segment_of(team: Team, name: str) -> str:
    """The one file of the log that tells of a memory."""
    segments = team.place.git("ls-files", layout.LOG).split()
    (segment,) = [one for one in segments if name in (team.place.repo / one).read_text()]
    return segment


def test_a_file_of_the_log_that_is_not_what_its_name_says_tells_nothing(team: Team) -> None:
    """Anybody can write lines; only the hash of what was written names them."""
    team.accept("a")
    team.told()
    blob = team.accept("b")
    team.told()
    segment = segment_of(team, "FCT-a")
    team.place.git("mv", segment, f"{segment.rpartition('/')[0]}/{'0' * 64}.jsonl")
    team.push()
    said = upstream.vouched(team.place.open())
    assert (dict(said.latest), said.approved) == ({"FCT-b": "accept"}, {("FCT-b", blob)})
    file = team.place.repo / segment_of(team, "FCT-b")
    file.write_text(file.read_text().replace("FCT-b", "FCT-c"))
    team.push()
    said = upstream.vouched(team.place.open())
    assert (dict(said.latest), said.approved) == ({}, frozenset())


def without_proofs(team: Team) -> None:
    """The whole history as one commit, the way versions before proofs published it."""
    team.place.publish(here=True)
    for path in team.proofs():
        team.place.git("rm", "-qf", path)
    team.place.git("commit", "-q", "--amend", "--allow-empty", "-m", "as before")
    team.push()


def test_a_proof_that_was_taken_away_still_proves(team: Team) -> None:
    """A clean-up of files that look like nobody's must not silence what was approved."""
    blob = team.accept("a")
    team.told()
    for path in team.proofs():
        team.place.git("rm", "-q", path)
    team.push()
    assert team.proofs() == []
    assert upstream.vouched(team.place.open()).approved == {("FCT-a", blob)}
    team.place.repo.write(fact_path("a"), fact_text("a", "It is not so."))
    team.push()
    said = upstream.vouched(team.place.open())
    assert (said.approved, dict(said.texts)) == (frozenset(), {"FCT-a": blob})
    assert said == again(team)


def again(team: Team) -> Vouched:
    """What a clone says that remembers nothing of its last look."""
    upstream._vouched_at.cache_clear()
    for folder, _, names in os.walk(team.place.store):
        for name in names:
            if name.startswith("arrivals"):
                os.unlink(os.path.join(folder, name))
    return upstream.vouched(team.place.open())


def test_an_approval_without_a_proof_is_about_the_text_that_came_with_it(team: Team) -> None:
    """Old logs must not fall silent, and an edit must not inherit the approval."""
    blob = team.accept("a", fact_text("a", supersedes="[FCT-old]"))
    nested = f"{layout.MEMORY}/facts/deeper/b-FCT-b.md"
    team.place.open().change(nested, fact_text("b"))
    other = team.decide("accept", "b")
    without_proofs(team)
    said = upstream.vouched(team.place.open())
    assert said.approved == {("FCT-a", blob), ("FCT-b", other)}
    assert dict(said.replaced) == {"FCT-a": ("FCT-old",)}
    laid_out = fact_text("a", supersedes="[FCT-old]").replace("status: accepted", 'status: "accepted"')
    team.place.repo.write(fact_path("a"), laid_out)
    team.place.repo.write(nested, fact_text("b", "It is not so."))
    team.push()
    said = upstream.vouched(team.place.open())
    assert said.approved == {("FCT-a", team.place.open().repo.hash_blob(laid_out.encode()))}
    assert said == again(team)


def test_an_approval_that_says_no_blob_is_about_what_it_says(team: Team) -> None:
    """What was approved is what a text says, whatever its file looks like."""
    team.place.open().change(fact_path("a"), fact_text("a"))
    digest = memory_files.digest(memory_files.parse(fact_text("a"), ""))
    team.place.open().record(EventDraft("accept", target="FCT-a", body={"approves": digest}))
    said = team.told()
    assert {name for name, _ in said.approved} == {"FCT-a"}
    assert dict(said.texts) == {}


def test_a_proof_that_somebody_wrote_over_proves_nothing_and_costs_nothing(team: Team) -> None:
    """What it was is in history."""
    blob = team.accept("a")
    team.told()
    (proof,) = team.proofs()
    (team.place.repo / proof).write_text("no proof\n")
    team.push()
    assert upstream.vouched(team.place.open()).approved == {("FCT-a", blob)}


def test_an_approval_is_about_its_proof_not_about_the_text_that_came_with_it(team: Team) -> None:
    """An edit in the same commit would inherit it once the proof is cleaned away."""
    blob = team.accept("a")
    team.place.publish(here=True)
    team.place.repo.write(fact_path("a"), fact_text("a", "It is not so."))
    team.place.git("commit", "-qa", "--amend", "--no-edit")
    team.push()
    for path in team.proofs():
        team.place.git("rm", "-q", path)
    team.push()
    said = upstream.vouched(team.place.open())
    assert (said.approved, dict(said.texts)) == (frozenset(), {"FCT-a": blob})


TEXTS = {
    "another text": [fact_text("a"), fact_text("a", "It is not so.")],
    "a text the second time only": [None, fact_text("a")],
    "a text that cannot be read": ["---\nid: FCT-a\nx: [\n---\nx"],
    "no text": [None],
}


@pytest.mark.parametrize("texts", TEXTS.values(), ids=TEXTS.keys())
def test_an_approval_that_came_with_other_texts_is_about_none(team: Team, texts: list[str | None]) -> None:
    """Whoever brings an old approval once more could otherwise choose its text."""
    team.accept("a")
    team.place.publish(here=True)
    segment = segment_of(team, "FCT-a")
    told = (team.place.repo / segment).read_text()
    for path in (*team.proofs(), fact_path("a")):
        team.place.git("rm", "-qf", path)
    for number, text in enumerate(texts):
        if text is not None:
            team.place.repo.write(fact_path("a"), text)
        team.place.repo.write(segment, told)
        team.add()
        team.place.git("commit", "-qm", "work", *(["--amend"] if number == 0 else []))
        team.place.git("rm", "-q", segment)
        team.place.git("commit", "-qm", "away")
    team.place.repo.write(segment, told)
    if (team.place.repo / fact_path("a")).exists():
        team.place.git("reset", "-q", "--hard", "HEAD~1")
    else:
        team.place.repo.write(fact_path("a"), fact_text("a"))
    team.push()
    said = upstream.vouched(team.place.open())
    assert said.latest["FCT-a"] == "accept"
    assert (said.approved, dict(said.texts)) == (frozenset(), {})


def test_a_trunk_whose_history_was_rewritten_is_read_anew(team: Team) -> None:
    """What was remembered of the other history says nothing about this one."""
    team.accept("a")
    without_proofs(team)
    assert len(upstream.vouched(team.place.open()).approved) == 1
    text = fact_text("a", "It was always so.")
    team.place.repo.write(fact_path("a"), text)
    (team.place.repo / fact_path("a")).chmod(0o755)
    team.place.git("commit", "-qa", "--amend", "--no-edit")
    team.push()
    blob = team.place.open().repo.hash_blob(text.encode())
    assert upstream.vouched(team.place.open()).approved == {("FCT-a", blob)}
    upstream._vouched_at.cache_clear()
    assert upstream.vouched(team.place.open()).approved == {("FCT-a", blob)}, "as it is remembered"


def test_in_a_shallow_clone_only_proofs_tell(team: Team) -> None:
    """Where history is cut off nobody can tell which text came with an approval."""
    old = team.accept("a")
    team.decide("promote", "c")
    without_proofs(team)
    blob = team.accept("b")
    team.place.repo.write(fact_path("a"), fact_text("a", "It is not so."))
    team.told(edited=True)
    (team.place.repo / ".git/shallow").write_text(team.place.git("rev-parse", "HEAD") + "\n")
    said = again(team)
    assert (said.approved, said.unchecked) == ({("FCT-b", blob)}, {"FCT-a"})
    assert said.key != team.place.git("rev-parse", "HEAD"), "it may be whole at the next look"
    (team.place.repo / ".git/shallow").unlink()
    said = upstream.vouched(team.place.open())
    assert (said.approved, said.unchecked) == ({("FCT-b", blob)}, frozenset())
    assert dict(said.texts) == {"FCT-a": old, "FCT-b": blob}


def test_of_files_that_claim_one_id_the_first_that_came_is_the_trunks_word(team: Team) -> None:
    """A planted file with an approved id speaks for nobody, whatever its name."""
    blob = team.accept("a")
    team.told()
    for name, words in (("0", "It is not so."), ("z", "It may be so.")):
        team.place.repo.write(f"{layout.MEMORY}/facts/{name}-FCT-a.md", fact_text("a", words))
        team.push()
        said = upstream.vouched(team.place.open())
        assert (said.blobs, said.approved) == ({blob}, {("FCT-a", blob)})
    two = {name: fact_text("new", f"It is {name}.") for name in ("this", "that")}
    for name, text in two.items():
        team.place.repo.write(f"{layout.MEMORY}/facts/{name}.md", text)
    team.push()
    assert upstream.vouched(team.place.open()).blobs == {blob}, "of two that came together neither is"


def test_files_that_hold_several_are_known_as_a_whole_too(team: Team) -> None:
    """Their blob is what git shows of them."""
    files = [f"{fact_text(f'{name}1')}\n{fact_text(f'{name}2')}" for name in ("a", "b")]
    for number, text in enumerate(files):
        team.place.repo.write(f"{layout.MEMORY}/facts/{number}.md", text)
        team.push()
    blobs = {team.place.open().repo.hash_blob(text.encode()) for text in files}
    assert blobs < upstream.vouched(team.place.open()).blobs
    assert len(upstream.vouched(team.place.open()).blobs) == 6


# ── what it has besides ───────────────────────────────────────────────────────


def branched(place: Place) -> None:
    """A branch `old` that somebody worked on before what follows."""
    place.git("switch", "-qc", "old")
    place.ran("r-old")
    place.git("switch", "-q", "main")
    place.later()


def test_memories_that_only_the_trunk_has_are_counted(place: Place) -> None:
    """Whoever works on an old branch asks why nothing is known here."""
    branched(place)
    place.keep("a")
    assert upstream.missing_from_trunk(place.open()) is None, "on the trunk nothing is missing"
    place.git("switch", "-q", "old")
    assert upstream.missing_from_trunk(place.open()) == MissingFromTrunk(1, "main"), "what waits there counts too"
    place.git("switch", "-q", "main")
    place.keep("b")
    place.publish(here=True)
    place.git("branch", "-m", "main", "other")
    place.open()
    place.git("branch", "-m", "other", "main")
    place.keep("c")
    place.open().change(f"{layout.TASKS}/t.md", "no memory")
    place.git("switch", "-q", "old")
    missing = upstream.missing_from_trunk(place.open())
    assert missing == MissingFromTrunk(3, "main")
    assert str(missing) == "3 memories on main are not on this branch; a merge brings what is published there"
    place.keep("b", "Found here as well.")
    place.keep("c")
    place.git("switch", "-qc", "side")
    place.later()
    place.keep("s")
    place.git("switch", "-q", "old")
    missing = upstream.missing_from_trunk(place.open())
    assert str(missing) == "1 memory on main is not on this branch; a merge brings what is published there"
    place.keep("a")
    assert upstream.missing_from_trunk(place.open()) is None


def test_what_was_erased_or_only_deleted_there_is_not_missing(place: Place) -> None:
    """Nobody is sent to merge for what is gone."""
    branched(place)
    place.keep("a")
    place.keep("b")
    place.publish(here=True)
    place.open().change(fact_path("b"), None)
    place.git("switch", "-q", "old")
    assert upstream.missing_from_trunk(place.open()) == MissingFromTrunk(2, "main")
    clone = place.open()
    clone.record(EventDraft("erase", target="FCT-a"))
    (place.store / "erased").mkdir(exist_ok=True)
    (place.store / "erased" / "FCT-a").touch()
    assert upstream.missing_from_trunk(place.open()) == MissingFromTrunk(1, "main")


def test_a_trunk_that_is_only_a_remotes_is_named_with_it(place: Place) -> None:
    """The name is what `git merge` takes."""
    branched(place)
    place.keep("a")
    place.publish(here=True)
    remote(place)
    place.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    place.git("switch", "-q", "old")
    assert upstream.missing_from_trunk(place.open()) == MissingFromTrunk(1, "main")
    place.git("branch", "-qD", "main")
    assert upstream.missing_from_trunk(place.open()) == MissingFromTrunk(1, "origin/main")
    place.git("branch", "main", "old")
    assert upstream.missing_from_trunk(place.open()) is None, "the trunk's own branch here has nothing more"


def test_without_a_trunk_nothing_is_missing(place: Place) -> None:
    """A repository of one odd branch asks nothing."""
    place.keep("a")
    place.publish(here=True)
    place.git("branch", "-qm", "odd")
    assert upstream.missing_from_trunk(place.open()) is None
