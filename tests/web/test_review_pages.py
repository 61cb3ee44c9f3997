"""The review pages over real HTTP: what a decision comes to, who may make it, and how it is taken back."""

import pytest

from tests.conftest import GitRepo, init
from tests.web import hostile
from tests.web.conftest import Serve, Served

AGENT = "CLAUDECODE is set, so an agent seems to run this"


@pytest.fixture
def waiting(decided: Served) -> Served:
    """Three candidates of one kind, and an accepted memory; the code was typed."""
    book = decided.project().memory
    for name in ("FCT-one", "FCT-two", "FCT-three"):
        book.remember(f"The pier {name[4:]} is long.", id=name, evidence=["README"])
    book.remember("Tides are high at noon.", id="FCT-tide", evidence=["README"], accept=True)
    return decided


def stale(serve: Serve, repo: GitRepo) -> Served:
    """An accepted memory whose evidence changed, in a terminal that an agent runs."""
    init(repo.path)
    repo.write("retry.py", "LIMIT = 5\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "Retry")
    served = serve(repo.path, no_person=AGENT)
    served.project().memory.remember("A call is retried five times.", id="FCT-five", evidence=["retry.py"], accept=True)
    repo.write("retry.py", "LIMIT = 7\n")
    repo.git("commit", "-qam", "Retry more")
    return served


def states(served: Served, *names: str) -> list[str]:
    book = served.project().memory
    return [book.get(name).status for name in names]


def decide(served: Served, names: list[str], verb: str = "approve") -> str:
    """A decision about marked items, confirmed."""
    marked = served.submit("/review", "/review/many", id=names, decide=verb)
    assert marked.status == 200, marked.text
    hidden = marked.hidden("/review/many")
    done = served.post("/review/many", {**hidden, "id": names})
    return hostile.read(served.get(done.headers["location"]).text)


def test_undo_takes_back_all_that_was_decided_at_once_and_says_so(waiting: Served) -> None:
    """Who approved twelve by mistake would else press a key twelve times, or believe that one press did it."""
    names = ["FCT-one", "FCT-two"]
    assert "Approved 2." in decide(waiting, names)
    assert states(waiting, *names, "FCT-three") == ["accepted", "accepted", "candidate"]
    assert "Undo the last 2 decisions, made at once" in hostile.read(waiting.get("/review").text)
    assert "Taken back: 2 decisions" in hostile.read(waiting.submit("/review", "/review/undo").text)
    assert states(waiting, *names, "FCT-tide") == ["candidate", "candidate", "accepted"]
    assert "Undo: approved FCT-tide" in hostile.read(waiting.get("/review").text)


def test_undo_takes_back_nothing_but_what_its_button_named(waiting: Served) -> None:
    """Another process decided between the page and the click: its decision is not the one that was meant."""
    page = waiting.get("/review")
    assert "Undo: approved FCT-tide" in hostile.read(page.text)
    waiting.project().memory.accept("FCT-one")
    done = waiting.post("/review/undo", page.hidden("/review/undo"))
    assert done.status == 409 and "something else was decided meanwhile" in done.text.lower()
    assert states(waiting, "FCT-one", "FCT-tide") == ["accepted", "accepted"]


def test_a_single_decision_after_many_is_taken_back_alone(waiting: Served) -> None:
    """Undo goes back one step at a time, in the order in which things were done."""
    decide(waiting, ["FCT-one", "FCT-two"], "reject")
    waiting.project().memory.accept("FCT-three")
    waiting.submit("/review", "/review/undo")
    assert states(waiting, "FCT-one", "FCT-two", "FCT-three") == ["rejected", "rejected", "candidate"]
    waiting.submit("/review", "/review/undo")
    assert states(waiting, "FCT-one", "FCT-two") == ["candidate", "candidate"]


def test_an_item_that_was_decided_is_shown_as_what_it_became(waiting: Served) -> None:
    """Browser Back after a decision must not end at an error."""
    assert waiting.get("/review/FCT-one").status == 200
    waiting.project().memory.accept("FCT-one")
    assert waiting.get("/review/FCT-one").headers["location"] == "/memory/FCT-one"
    waiting.project().memory.reject("FCT-two")
    assert waiting.get("/review/FCT-two").headers["location"] == "/memory/FCT-two"
    assert waiting.get("/review/FCT-never").status == 404


def test_without_a_person_a_stale_memory_stays_stale_and_the_page_says_so(serve: Serve, repo: GitRepo) -> None:
    """Nothing that a person approved is replaced by a click that may be an agent's."""
    served = stale(serve, repo)
    page = served.get("/review/FCT-five")
    assert f"Only a person can approve this again or act on it: {AGENT}" in hostile.read(page.text)
    done = served.post("/review/FCT-five/approve", page.hidden("/review/FCT-five/approve"))
    assert done.status == 409 and "Only a person may confirm FCT-five" in hostile.read(done.text)
    assert states(served, "FCT-five") == ["stale"]


def test_without_a_person_retiring_is_a_suggestion(serve: Serve, repo: GitRepo) -> None:
    """An agent that clicks must not take a rule away that a person approved."""
    served = stale(serve, repo)
    said = hostile.read(served.submit("/review/FCT-five", "/review/FCT-five/reject", reason="it is seven").text)
    assert "suggests to retire FCT-five; a person decides" in said
    assert states(served, "FCT-five") == ["stale"]
