"""The decision log and the page of one memory, over real HTTP."""

import pytest

from tests.conftest import GitRepo, init
from tests.web import hostile
from tests.web.conftest import Serve, Served


@pytest.fixture
def book(serve: Serve, repo: GitRepo) -> Served:
    """A memory in each state, in a project whose server knows the code."""
    init(repo.path)
    repo.write("retry.py", "LIMIT = 5\n\n\ndef retry(call):\n    return call()\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", "Retry")
    served = serve(repo.path)
    assert served.access.type_code(served.access.code)
    memory = served.project().memory
    facts = {"evidence": ["retry.py"], "kind": "fact"}
    memory.remember("Sessions are in Redis.", kind="decision", id="DEC-redis", evidence=["README"], accept=True)
    memory.supersede("DEC-redis", "Sessions are in Postgres.", id="DEC-pg", why="They survive.", evidence=["README"])
    memory.accept("DEC-pg")
    memory.remember("The limit is five.", id="FCT-limit", evidence=["retry.py:1"], accept=True, tags=["http"])
    memory.remember("Calls are retried.", id="FCT-calls", **facts, accept=True, applies_to=["src/net"])
    memory.remember("Old news.", id="FCT-old", **facts, accept=True)
    memory.retire("FCT-old", reason="it was long ago")
    memory.remember("Wrong from the start.", id="FCT-wrong", **facts)
    memory.reject("FCT-wrong", reason="nobody said so")
    memory.remember("Perhaps it is so.", id="FCT-maybe", **facts)
    return served


def rows(served: Served, asked: str = "") -> list[str]:
    """The ids that the log lists, in its order."""
    text = served.get(f"/memory{asked}").text
    return [part.partition('"')[0] for part in text.split('<a href="/memory/')[1:]]


def test_the_log_lists_every_state_newest_first(book: Served) -> None:
    """Who asks what was decided last must find it at the top, and what was turned down as well."""
    assert rows(book) == ["FCT-maybe", "FCT-wrong", "FCT-old", "FCT-calls", "FCT-limit", "DEC-pg", "DEC-redis"]
    words = hostile.read(book.get("/memory").text)
    assert "7 memories" in words
    for state in ("3 accepted", "1 rejected", "1 retired", "1 superseded", "1 waiting"):
        assert state in words


def test_the_log_is_filtered_by_type_state_tag_path_and_words(book: Served) -> None:
    """Among ten thousand entries nobody finds one by scrolling."""
    assert rows(book, "?type=decision") == ["DEC-pg", "DEC-redis"]
    assert rows(book, "?state=retired") == ["FCT-old"]
    assert rows(book, "?state=rejected&type=decision") == []
    assert rows(book, "?tag=http") == ["FCT-limit"]
    assert rows(book, "?path=retry.py&state=accepted") == ["FCT-calls", "FCT-limit"]
    assert rows(book, "?path=src/net/http.py") == ["FCT-calls"] and rows(book, "?path=src") == ["FCT-calls"]
    assert rows(book, "?path=retry") == []
    assert rows(book, "?q=POSTGRES+sessions") == ["DEC-pg"]
    nothing = book.get("/memory?q=nowhere")
    assert nothing.status == 200 and "Nothing fits" in nothing.text


def test_a_long_log_is_windowed(serve: Serve, repo: GitRepo) -> None:
    """A page of ten thousand rows is one that nobody opens twice."""
    init(repo.path)
    for number in range(130):
        text = f"---\nid: FCT-{number:03}\ntype: fact\nstatus: accepted\n---\nFact: Pier {number} is long.\n"
        repo.write(f".holdfast/memory/facts/pier-FCT-{number:03}.md", text)
    repo.git("add", "-f", ".holdfast/memory")
    repo.git("commit", "-qm", "piers")
    served = serve(repo.path)
    first = rows(served)
    assert len(first) == 100 and len(rows(served, "?from=100")) == 30
    assert 'href="/memory?from=100"' in served.get("/memory").text
    assert not {*first} & {*rows(served, "?from=100")} and len(rows(served, "?from=99999")) == 30


def test_an_empty_log_says_what_to_do(served: Served) -> None:
    """A blank page teaches nobody."""
    page = served.get("/memory")
    assert page.status == 200 and "No memories yet" in page.text and "holdfast remember" in page.text


def test_a_memory_tells_its_history_evidence_and_chain(book: Served) -> None:
    """Why something is a rule is asked a year later, by somebody who was not there."""
    words = hostile.read(book.get("/memory/DEC-redis").text)
    assert "superseded" in words and "Superseded by DEC-pg accepted Sessions are in Postgres." in words
    words = hostile.read(book.get("/memory/DEC-pg").text)
    assert "Takes the place of DEC-redis superseded" in words and "They survive." in words
    assert "approved by" in words and ", as a person" in words and "proposed" in words
    words = hostile.read(book.get("/memory/FCT-limit").text)
    assert "retry.py:1 unchanged 1 LIMIT = 5" in words and "No agent was given it yet" in words
    assert "retired by" in hostile.read(book.get("/memory/FCT-old").text)
    assert "it was long ago" in hostile.read(book.get("/memory/FCT-old").text)
    rejected = book.get("/memory/FCT-wrong").text
    assert "Rejected because: nobody said so" in hostile.read(rejected) and "/edit" not in rejected
    assert 'href="/review/FCT-maybe"' in book.get("/memory/FCT-maybe").text


def test_contexts_that_held_it_are_counted(book: Served) -> None:
    """A rule that no agent ever gets rules nothing."""
    project = book.project()
    session = project.sessions.start("Mend the retries", agent="codex")
    project.context()
    page = book.get("/memory/FCT-limit")
    words = hostile.read(page.text)
    assert "1 time in contexts" in words and f'href="/show/{session.id.lower()}"' in page.text
    assert book.get(f"/show/{session.id.lower()}").headers["location"] == f"/sessions/{session.id}"


def test_a_stale_memory_leads_to_review(book: Served, repo: GitRepo) -> None:
    """What changed is shown there, with the diff, before anybody approves it again."""
    repo.write("retry.py", "LIMIT = 6\n\n\ndef retry(call):\n    return call()\n")
    repo.git("commit", "-qam", "six")
    page = book.get("/memory/FCT-limit")
    assert "approve it again" in page.text and 'href="/review/FCT-limit"' in page.text
    book.submit("/review/FCT-limit", "/review/FCT-limit/approve")
    assert book.project().memory.get("FCT-limit").status == "accepted"


def test_contradictions_are_shown_on_both_sides(book: Served, repo: GitRepo) -> None:
    """Two branches decided the opposite: whoever reads one rule after the merge must hear of the other."""
    main = repo.git("symbolic-ref", "--short", "HEAD").strip()
    for branch, name, store in (("one", "DEC-one", "Redis"), ("other", "DEC-two", "Postgres")):
        repo.git("switch", "-qc", branch, main)
        project = book.project()
        cited = {"kind": "decision", "evidence": ["README"]}
        project.memory.remember(f"The cache is stored in {store}.", id=name, **cited, accept=True)
        project.sync.publish(here=True)
    repo.git("merge", "-q", "--no-edit", "one")
    for one, other in (("DEC-one", "DEC-two"), ("DEC-two", "DEC-one")):
        words = hostile.read(book.get(f"/memory/{one}").text)
        assert f"Contradicts {other} accepted" in words and "Decide how both are meant" in words


def test_a_memory_is_edited_by_its_form(book: Served) -> None:
    """What is approved is what was typed; a form that changes nothing approves nothing."""
    before = book.project().memory.get("FCT-limit")
    shown = {"statement": "The limit is five.", "details": "", "evidence": "retry.py:1", "tags": "http"}
    done = book.submit("/memory/FCT-limit", "/memory/FCT-limit/edit", **shown, applies_to="")
    assert "Nothing was changed" in done.text and book.project().memory.get("FCT-limit") == before
    more = {**shown, "statement": "The limit is 5.", "evidence": "retry.py:1\r\nREADME", "tags": "http, retry"}
    done = book.submit("/memory/FCT-limit", "/memory/FCT-limit/edit", **more, applies_to="src", expires="30d")
    assert "Changed FCT-limit, and approved it again" in hostile.read(done.text)
    after = book.project().memory.get("FCT-limit")
    assert (after.memory.statement, after.memory.tags) == ("The limit is 5.", ("http", "retry"))
    assert (after.status, after.trust, after.memory.applies_to) == ("accepted", "T0", ("src",))
    assert len(after.memory.evidence) == 2 and after.memory.evidence[0] == before.memory.evidence[0]
    assert after.memory.expires_at is not None


def test_a_change_made_meanwhile_is_not_overwritten(book: Served) -> None:
    """Two people edit one memory; the second must read what the first wrote."""
    fields = book.get("/memory/FCT-limit").hidden("/memory/FCT-limit/retire")
    book.project().memory.edit("FCT-limit", statement="The limit is six.")
    done = book.post("/memory/FCT-limit/retire", fields)
    assert done.status == 409 and "was changed while you looked at it" in done.text
    assert book.project().memory.get("FCT-limit").status == "accepted"


def test_a_memory_is_retired_and_superseded(book: Served) -> None:
    """A rule that no longer holds must not be told to the next agent."""
    done = book.submit("/memory/FCT-calls", "/memory/FCT-calls/retire", reason="not any more")
    assert "Retired FCT-calls" in hostile.read(done.text)
    assert book.project().memory.get("FCT-calls").status == "deprecated"
    fields = {"statement": "The limit is seven.", "why": "Six failed.", "evidence": "retry.py", "applies_to": ""}
    done = book.submit("/memory/FCT-limit", "/memory/FCT-limit/supersede", **fields)
    assert "was proposed in place of FCT-limit" in hostile.read(done.text) and "Approve" in done.text
    made = next(one for one in book.project().memory.candidates() if one.memory.statement == "The limit is seven.")
    assert made.memory.supersedes == ("FCT-limit",)
    assert f"{made.id}</a> <span" in book.get("/memory/FCT-limit").text  # named as what would take its place
    empty = book.submit("/memory/FCT-limit", "/memory/FCT-limit/supersede", statement=" ")
    assert empty.status == 400 and "says nothing" in empty.text


def test_without_the_code_retiring_is_a_suggestion(serve: Serve, repo: GitRepo) -> None:
    """An agent that clicks must not take a person's rule away."""
    init(repo.path)
    served = serve(repo.path)
    served.project().memory.remember("Tests need Postgres.", id="FCT-pg", evidence=["README"], accept=True)
    done = served.submit("/memory/FCT-pg", "/memory/FCT-pg/retire", reason="says who")
    assert "suggests to retire FCT-pg; a person decides" in hostile.read(done.text)
    assert served.project().memory.get("FCT-pg").status == "accepted"
    done = served.submit("/memory/FCT-pg", "/memory/FCT-pg/edit", statement="Tests need nothing.", evidence="README")
    assert done.status != 200 and "person" in done.text
    assert served.project().memory.get("FCT-pg").memory.statement == "Tests need Postgres."


def test_hostile_texts_stay_text(served: Served, repo: GitRepo) -> None:
    """A transcript that an agent read may hold a page of somebody who wants to be approved."""
    repo.write(hostile.FILE, f"{hostile.ALL}\n")
    repo.git("add", ".")
    repo.git("commit", "-qm", hostile.ALL)
    repo.git("switch", "-qc", hostile.BRANCH)
    memory = served.project().memory
    for number, text in enumerate(hostile.TEXTS):
        name = f"FCT-h{number}"
        fields = {"tags": ["<b>", "x"], "applies_to": [hostile.FILE], "details": hostile.ALL}
        memory.remember(f"{text} {number}", id=name, evidence=[hostile.FILE], **fields, source="agent:<script>")
        memory.accept(name)
    memory.retire("FCT-h0", reason=hostile.ALL)
    memory.remember(f"{hostile.ALL} waits", id="FCT-wait", evidence=[hostile.FILE])
    memory.reject("FCT-wait", reason=hostile.ALL)
    words = hostile.read(served.get("/memory").text)
    assert hostile.SCRIPT in words and "⟨U+202E⟩" in words
    for name in ("FCT-h0", "FCT-h1", "FCT-h2", "FCT-h3", "FCT-wait"):
        words = hostile.read(served.get(f"/memory/{name}").text)
        assert hostile.SCRIPT in words and "{{ 7 * 7 }}" in words
    asked = "".join(f"%{byte:02x}" for byte in hostile.ALL.encode())
    for name in ("q", "type", "state", "tag", "path"):
        hostile.read(served.get(f"/memory?{name}={asked}").text)
    wrong = served.get(f"/memory/{asked.replace('%2f', '-')}")
    assert wrong.status == 404
    hostile.read(wrong.text)
