"""Summaries: what a transcript says, told so that somebody can go on from it."""

import tracemalloc
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from holdfast.model.memory import TYPES
from holdfast.model.summary import Account, Summary, command_results, summary_page, turn_line, wording
from holdfast.model.summary import wording as summary_wording
from holdfast.model.summary.command_results import error_line, outcome
from holdfast.model.transcript import (
    Call,
    Result,
    Todo,
    TranscriptEdit,
    TranscriptOrigin,
    TranscriptStep,
    TranscriptTurn,
)

GOLDEN = Path(__file__).parent.parent / "golden" / "summaries"
ORIGIN = TranscriptOrigin(agent="codex", session="s-1", cwd="/w/shop")


def shell(command: str, output: str = "", *, exit_status: int | None = 0, done: bool = True) -> Call:
    result = Result(text=output, size=len(output), exit_status=exit_status, failed=bool(exit_status))
    return Call(id=command, name="shell", kind="shell", command=command, result=result if done else None)


def edit(path: str, *, added: Sequence[str] = (), removed: Sequence[str] = (), action: str = "update") -> Call:
    change = TranscriptEdit(path=path, action=action, added=tuple(added), removed=tuple(removed))
    return Call(id=path, name="edit", kind="edit", edits=(change,), result=Result(text="ok"))


def plan(*todos: tuple[str, str]) -> Call:
    there = tuple(Todo(text, status) for text, status in todos)
    return Call(id="plan", name="update_plan", kind="plan", todos=there, result=Result())


def turn(prompt: str, *calls: Call, answer: str = "", interrupted: bool = False) -> TranscriptTurn:
    steps = tuple(TranscriptStep(id=f"{prompt} {at}", model="m-1", calls=(call,)) for at, call in enumerate(calls))
    said = (TranscriptStep(id=f"{prompt} end", model="m-1", text=answer),) if answer else ()
    return TranscriptTurn(key=prompt, prompt=prompt, steps=(*steps, *said), cwd="/w/shop", interrupted=interrupted)


def told(*turns: TranscriptTurn, found: Mapping[str, Sequence[str]] | None = None) -> Summary:
    account = Account(ORIGIN, top="/w/shop")
    for one in turns:
        account.add(one)
    return account.finish(found=found)


FAILING = "E       assert 2\nFAILED tests/test_pay.py::test_once - assert 2 == 1\n1 failed, 11 passed in 0.52s\n"

WORK = (
    turn(
        "A customer was charged twice. Only requests that are safe to repeat may be tried again.",
        shell("ls -la"),
        shell("cd /w/shop && python -m pytest -q 2>&1 | tail -20", FAILING, exit_status=1),
        plan(("find the bug", "done"), ("test it", "started"), ("say so in the README", "open")),
        edit("/w/shop/src/pay.py", added=["SAFE = ('GET',)", "x"], removed=["y"]),
        shell("python -m pytest -q", "12 passed in 0.50s\n"),
        shell(
            "git add -A && git commit -m 'Repeat only what is safe'",
            "[main 1a2b3c4] Repeat only what is safe\n 1 file changed",
        ),
        answer="Done! Only GET is tried again now.\n\n## Next steps\n\n- [x] mend it\n- say so\n",
    ),
    turn(
        "And PUT?",
        edit("src/pay.py", added=["SAFE = ('GET', 'PUT')"], removed=["SAFE = ('GET',)"]),
        shell("npm run e2e", "connect ECONNREFUSED\nError: the shop does not answer\n", exit_status=1),
        shell("docker compose up -d", done=False),
        answer="PUT is tried again as well. I have not run all tests: the shop does not start here.\n\n"
        "Should DELETE be tried again?",
    ),
)
FIELDS = {"Run": "20261116T070000Z-abc123", "Agent": "codex 0.166.0", "Branch": "main", "Task": None}


def test_a_person_who_reads_only_the_page_can_go_on() -> None:
    """It is all that most people will ever read of a run."""
    found = {
        "fact": ["The gateway answers 200 before the charge is booked"],
        "decision": ["Only what is safe to repeat is tried again"],
        "dead-end": ["Tried an idempotency key, but the server does not know one"],
        "invariant": ["Never use float for money"],
    }
    text = summary_page(told(*WORK, found=found), FIELDS)
    assert text == (GOLDEN / "page.md").read_text(encoding="utf-8")


def test_a_turn_is_one_short_line() -> None:
    """A session lists its turns; a long one hides the others."""
    lines = [turn_line(one, top="/w/shop") for one in WORK]
    assert lines[0].startswith("Asked: A customer was charged twice. Only")
    assert "wrote `src/pay.py` (+2 −1); `python -m pytest -q`: 12 passed" in lines[0]
    assert all(len(line) <= 300 and "\n" not in line for line in lines)
    assert len(turn_line(turn("word " * 1000, answer="answer " * 1000))) <= 300


RUNNERS = [
    ("===== 2 failed, 3 passed, 1 warning in 0.2s =====", False, "2 failed, 3 passed", ""),
    ("FAILED t.py::a - boom\n1 failed in 1s", False, "1 failed", "t.py::a - boom"),
    ("4 passed in 0.01s", True, "4 passed", ""),
    ("Checked 12 files in 9ms. No fixes applied.", True, "no errors found", ""),
    ("Checked 12 files in 9ms. No fixes applied.\nFound 1 error.", False, "1 error found", ""),
    ("[lint] $ golangci-lint run\n0 issues.", True, "no errors found", ""),
    ("a.go:3:1: unused (unused)\n2 issues:\n* unused: 2", False, "2 errors found", ""),
    ("1 passed", True, "1 passed", ""),
    ("  1 failed\n    [chromium] › pay.spec.ts:3:1 › pays\n  2 passed (5.2s)", False, "1 failed, 2 passed", ""),
    ("Output: 1 passed in 0.20s\nProcess Group PGID: 7", True, "1 passed", ""),
    ("Command: pytest\nOutput: 1 failed\nError: (none)\nExit Code: 1", False, "1 failed", ""),
    (
        "FAIL: test_a (m.T.test_a)\nRan 2 tests in 0.1s\n\nFAILED (failures=1)",
        False,
        "1 failed, 1 passed",
        "m.T.test_a",
    ),
    ("Ran 1 test in 0.1s\n\nOK", True, "1 passed", ""),
    (
        "--- FAIL: TestPay (0.00s)\nFAIL\tshop/pay\t0.1s\nok  \tshop/cart\t0.2s",
        False,
        "1 package failed, 1 package ok",
        "TestPay",
    ),
    (
        "test pay::once ... FAILED\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured",
        False,
        "1 failed, 1 passed",
        "pay::once",
    ),
    (
        "error: could not compile `shop` (lib) due to 1 previous error",
        False,
        "could not compile `shop` (lib) due to 1 previous error",
        "",
    ),
    ("  ● pay › once\n\nTests:       1 failed, 2 passed, 3 total", False, "1 failed, 2 passed", "pay › once"),
    (" × pay > once 3ms\n      Tests  1 failed | 2 passed (3)", False, "1 failed, 2 passed", "pay > once 3ms"),
    ("# tests 2\n# pass 2\n# fail 0", True, "2 passed", ""),
    ("  2 passing (3ms)\n  1 failing", False, "1 failed, 2 passed", ""),
    (
        "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1\n[INFO] BUILD FAILURE",
        False,
        "1 failed, 1 passed, 1 skipped",
        "",
    ),
    ("PayTest > once FAILED\n2 tests completed, 1 failed\nBUILD FAILED", False, "1 failed, 1 passed", "PayTest > once"),
    (
        "3 examples, 1 failure\n\nrspec ./spec/pay_spec.rb:3 # Pay once",
        False,
        "1 failed, 2 passed",
        "./spec/pay_spec.rb:3 # Pay once",
    ),
    ("OK (3 tests, 5 assertions)", True, "3 passed", ""),
    ("1) PayTest::testOnce\nTests: 3, Assertions: 5, Failures: 1.", False, "1 failed, 2 passed", "PayTest::testOnce"),
    ("50% tests passed, 1 tests failed out of 2\n\t  2 - pay (Failed)", False, "1 failed, 1 passed", "pay"),
    ("make: *** [Makefile:3: test] Error 2", False, "make: test: Error 2", ""),
    ("Found 3 errors in 1 file (checked 2 source files)", False, "3 errors found", ""),
    ("\x1b[32m4 passed\x1b[0m in 0.01s", True, "4 passed", ""),
]


@pytest.mark.parametrize(("printed", "passed", "said", "name"), RUNNERS)
def test_runners_are_read(printed: str, passed: bool, said: str, name: str) -> None:
    """Whether tests passed is the first thing the next one asks."""
    found = outcome(printed)
    assert found is not None
    assert (found.passed, found.sentence, found.names[0] if found.names else "") == (passed, said, name)


def test_words_that_only_look_like_a_runner_are_not_one() -> None:
    """A test that nobody ran must not pass."""
    assert outcome("2 passed the exam\nall good, 3 failed attempts at the door") is None
    summary = told(turn("look", shell("cat notes.txt", "12 passed in 0.5s\n"), shell("grep -c failed log", "3\n")))
    assert summary.tests == () and summary.commands == ()


@pytest.mark.parametrize(
    ("command", "matters"),
    [
        ("ls -la && cat a.py | head -3", False),
        ("bash -lc 'rg -n pay src'", False),
        ("git -C /x status --short", False),
        ('echo "a; rm -rf b > c"', False),
        ("gh pr view 3 --json title", False),
        ("sed -n 1,20p a.py", False),
        ("sed -i s/a/b/ a.py", True),
        ("cat > a.py <<'EOF'\nx\nEOF", True),
        ("npm install left-pad", True),
        ("git push", True),
        ("gh api repos/a/b -X POST", True),
    ],
)
def test_looking_around_is_told_from_working(command: str, matters: bool) -> None:
    """Forty lines of `ls` bury the one that deployed."""
    assert command_results.matters(command) is matters


def test_a_whole_run_that_passes_mends_what_failed_alone() -> None:
    """What is reported as failing must fail."""
    summary = told(
        turn(
            "go",
            shell("pytest tests/test_pay.py -k once", FAILING, exit_status=1),
            edit("src/pay.py", added=["x"]),
            shell("pytest -q", "12 passed in 0.5s"),
        )
    )
    assert summary.left_open == ()
    (failed,) = summary.failed
    assert failed.startswith("`pytest tests/test_pay.py -k once` failed: 1 failed, 11 passed: tests/test_pay.py")
    assert failed.endswith("assert 2 == 1; then changed `src/pay.py`; later `pytest -q` passed")


def test_what_fails_at_the_end_is_left_open_whatever_the_agent_says() -> None:
    """Agents announce success; the runner knows better."""
    summary = told(turn("go", shell("pytest -q", FAILING, exit_status=1), answer="All tests pass now."))
    assert summary.left_open[0].startswith(
        "`pytest -q` failed when last run in this form: 1 failed, 11 passed (tests/test_pay.py::test_once"
    )
    assert "last recognised check `pytest -q`: 1 failed, 11 passed" in summary.sentence


def test_committing_does_not_close_what_the_answer_before_left_open() -> None:
    """`commit this` is the last prompt of many sessions."""
    before = turn("do", edit("a.py", added=["x"]), answer="Done.\n\nRemaining:\n- write the migration")
    commit = turn("commit this", shell("git commit -am x", "[main 1234567] x"), answer="Committed.")
    assert told(before, commit).left_open == ("The agent said (turn 1 of 2): “write the migration”",)
    more = turn("do the rest", edit("b.py", added=["y"]), answer="The migration is written.")
    assert told(before, commit, more).left_open == ("Written after the last commit that was seen: `b.py`",)


def test_refusals_and_interruptions_are_told() -> None:
    """What a person forbade must not be tried again by the next one."""
    refused = Call(id="r", name="shell", command="rm -rf data", kind="shell", result=Result(refused=True))
    stopped = turn("go", refused, shell("sleep 600", done=False), interrupted=True)
    summary = told(stopped)
    assert summary.failed == ("`rm -rf data` was refused",)
    assert summary.left_open == ("No result was recorded of `sleep 600`", "The person stopped the last turn")
    assert summary.asked == ("Stopped by the person: go.",)


def test_a_prompt_that_nobody_answered_is_left_open() -> None:
    """The tool was closed; the wish still stands."""
    assert told(turn("first", answer="Fine."), turn("do this")).left_open == ("The last prompt has no answer",)


def test_a_command_that_failed_without_a_word_is_mended_by_the_same_one() -> None:
    """A linter that fails first says nothing of tests; the same line passes later with their count."""
    lint = shell("make lint && make test", "a.go:20:41: error: bad", exit_status=1)
    both = shell("make lint && make test", "ok  \tshop/pay\t0.1s")
    assert told(turn("go", lint, both)).left_open == ()


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("**Remaining:**\n1. add jitter\n2. cap the wait\n\nThanks.", ["add jitter", "cap the wait"]),
        ("### Open questions\n* which port?\n", ["which port?"]),
        ("TODO: write docs", ["write docs"]),
        ("I could not run mypy: it is missing.", ["I could not run mypy: it is missing."]),
        ("The next step for you is nothing special", ["The next step for you is nothing special"]),
        ("All done, everything passes.", []),
        ("```\n- TODO: in code\n```\nFine.", []),
    ],
)
def test_what_an_agent_leaves_is_read_from_its_own_words(answer: str, left: list[str]) -> None:
    """It says so at the end, and nobody scrolls there."""
    assert summary_wording.unfinished(answer) == left


def test_offers_are_no_questions() -> None:
    """`Anything else?` waits for nobody."""
    assert summary_wording.questions("Done.\n\nIs there anything else I can help with?") == []
    assert summary_wording.questions("Which of the two should it be?") == ["Which of the two should it be?"]


HOSTILE = (
    "# Owned\n\n<script>alert(1)</script> ![x](http://evil.example/p.png) [click](javascript:1)",
    "a `<b>` b",
    "\\`<img src=x>\\`",
    "- [ ] item\n\n---\n## Left open\n- nothing",
    "\u202egnp.exe \x1b[31mred\x1b[0m \U000e0041",
    "`" * 500,
    "<" * 3000,
    "- " * 3000,
    "\n" * 16_000,
    "2>&1 \n" * 2000,
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_words(text: str) -> None:
    """The page is shown by forges and terminals, and read by agents."""
    calls = (shell(text, text, exit_status=1), edit(text, added=[text]), plan((text, "open")))
    found = {kind: [text] for kind in TYPES}
    summary = told(turn(text, *calls, answer=f"{text}\n\nRemaining:\n- {text}"), found=found)
    told_page = summary_page(summary, {"Run": text, "Branch": text})
    assert told_page.count("\n# ") == 0 and len(told_page) < 30_000
    outside = [part for row in told_page.split("\n") for part in row.split("`")[::2]]
    assert not any("<script" in part.replace("\\<", "") or "![" in part for part in outside)
    known = {"May still be open", "Asked for", "Done, in the agent's words", "Commits, as git reported them"}
    known |= {
        "Files written, with the lines of all edits together",
        "Tests and checks, each as last run",
        "Commands",
        "Failed or refused",
    }
    known |= {f"Proposed: {kind}" for kind in ("decisions", "rules", "dead ends", "facts", "assumptions")}
    assert {row[3:] for row in told_page.split("\n") if row.startswith("## ")} <= known


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("F.F..\n2 failed, 3 passed in 0.44s\n", "2 failed, 3 passed"),
        ("==== 2 failed, 3 passed, 1 warning in 0.44s ====\n", "2 failed, 3 passed"),
        ("Output: 1 failed\nExit Code: 1\nProcess Group PGID: 7", "1 failed"),
        ("Ran 2 tests in 0.1s\n\nFAILED (failures=1)\n", "1 failed, 1 passed"),
        ("error: could not compile `pay` (lib)\n", "could not compile `pay` (lib)"),
    ],
)
def test_a_failure_is_not_its_own_reason(output: str, says: str) -> None:
    """Numbers told twice look like two things, and hide that nobody knows why."""
    summary = told(turn("Run it.", shell("pytest", output, exit_status=1)))
    assert summary.failed == (f"`pytest` failed: {says}",)
    again = told(turn("Run it.", shell("pytest", output, exit_status=1), shell("pytest", "5 passed in 1s")))
    assert again.tests[0].outcome == "5 passed"


def test_a_tools_frame_is_no_reason() -> None:
    """ "Error: (none)" stands in every output of some tools, whatever went wrong."""
    framed = "Command: ls x\nOutput: ls: x: No such file or directory\nError: (none)\nExit Code: 2\nSignal: 0"
    assert error_line(framed) == "ls: x: No such file or directory"
    assert error_line("Output: it would not\nExit Code: 2") == "it would not"


def test_an_answer_that_says_nothing_is_not_told() -> None:
    """Five times "ok" under Done hides the one line that says what was done."""
    turns = [turn(f"Step {n}", answer="ok") for n in range(4)]
    assert told(*turns).done == ()
    said = told(turn("First", answer="The parser is faster now."), *turns).done
    assert said == ("Turn 1: The parser is faster now.",)
    twice = [turn(f"Again {n}", answer="All tests pass here.") for n in range(3)]
    assert told(*twice, turn("Last", answer="Renamed it.")).done == ("Turn 1: All tests pass here.", "Renamed it.")


def test_hidden_characters_stay_what_they_are() -> None:
    """Who shows a page marks them; swallowing them here would hide an attack."""
    assert "\u202e" in summary_page(told(turn("read\u202ethis")), {})


def test_a_code_span_holds_whatever_it_is_given() -> None:
    """A command may hold quotes of every kind."""
    assert wording.code("a `b` c") == "``a `b` c``"
    assert wording.code("`") == "`` ` ``"


def test_memory_stays_bounded_however_long_a_session_is() -> None:
    """Sessions of a thousand turns are real."""
    account = Account(ORIGIN)
    tracemalloc.start()
    for at in range(60):
        text = f"{at} " + "word " * 2000
        calls = (shell(f"make x{at}", text[:200], exit_status=at % 2), edit(f"src/{at}.py", added=[text]))
        account.add(turn(text, *calls, answer=text))
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    summary = account.finish()
    assert used < 1 << 20
    assert summary.turns == 60 and summary.more_files == 60 - len(summary.files)
    assert len(summary_page(summary, {})) < 40_000


def test_paths_are_told_from_the_top() -> None:
    """Nobody else has that home."""
    calls = (edit("/w/shop/a.py", added=["x"]), edit("b.py", added=["x"]), edit("/etc/hosts", added=["x"]))
    assert [one.path for one in told(turn("go", *calls)).files] == ["a.py", "b.py", "/etc/hosts"]
    windows = Account(TranscriptOrigin(agent="codex", session="s", cwd="C:\\shop"))
    windows.add(
        TranscriptTurn(
            key="1", cwd="C:\\shop", steps=(TranscriptStep(id="1", calls=(edit("C:\\shop\\src\\a.py", added=["x"]),)),)
        )
    )
    assert windows.finish().files[0].path == "src/a.py"


@pytest.mark.parametrize(
    ("printed", "why"),
    [
        ("Traceback (most recent call last):\n  File\nNameError: no x\n", "NameError: no x"),
        ("E       assert 1 == 2\nFAILED t.py", "assert 1 == 2"),
        ("src/a.rs:3:5: error[E0425]: cannot find `x`\nmore", "src/a.rs:3:5: error[E0425]: cannot find `x`"),
        ("npm ERR! code 1\nnpm ERR! no script\nnpm ERR! A complete log of this run", "npm ERR! no script"),
        ("something odd happened", "something odd happened"),
        ("", ""),
    ],
)
def test_the_line_that_says_why_is_found(printed: str, why: str) -> None:
    """Four thousand lines of output have one that matters."""
    assert error_line(printed) == why


PASSES = "12 passed in 0.52s\n"


@pytest.mark.parametrize(
    ("command", "output", "status", "seen"),
    [
        ("pytest -q", "", 0, "ended without an error"),
        ("pytest -q | tail -3", PASSES, 0, "12 passed"),
        ("pytest -q | tail -3", "", 0, "its outcome was not recognised"),
        ("pytest -q 2>&1 | grep -c passed", "1", 0, "its outcome was not recognised"),
        ("pytest -q | grep passed", PASSES, 0, "its outcome was not recognised"),
        ("pytest -q || true", "", 0, "its outcome was not recognised"),
        ("go test ./... | head -20", "ok  \tshop/pay\t0.1s", 0, "its outcome was not recognised"),
        ("pytest -q; echo done", "done", 0, "its outcome was not recognised"),
        ("pytest -q &", "", 0, "its outcome was not recognised"),
        ("pytest -q", "Command running in background with ID: b1", 0, "it went on in the background"),
        ("cd api && pytest -q && git status", "", 0, "ended without an error"),
        ("set -o pipefail; pytest -q | tee log", "", 0, "ended without an error"),
        ("pytest -q | tail -3", FAILING, 0, "1 failed, 11 passed"),
    ],
)
def test_only_what_was_seen_of_a_check_is_told(command: str, output: str, status: int, seen: str) -> None:
    """Whoever goes on trusts `passed`: the exit status of a pipe is that of its last program."""
    (check,) = told(turn("Mend it.", shell(command, output, exit_status=status))).tests
    assert check.outcome.startswith(seen)


def test_a_check_that_was_not_seen_is_not_told_as_passing_in_the_headline() -> None:
    """The headline is all that lists show."""
    summary = told(turn("Mend it.", shell("pytest -q | tail -3"), edit("/w/shop/a.py", added=["x"])))
    assert "pass" not in summary.sentence and not summary.left_open


@pytest.mark.parametrize(
    "left_out", ["pytest -k 'not slow'", "pytest --ignore=tests/slow", "go test ./... -skip TestSlow"]
)
def test_a_run_that_leaves_tests_out_mends_nothing_else(left_out: str) -> None:
    """What it left out may still fail."""
    runner = left_out.split(" -", 1)[0]
    failing = shell(f"{runner} tests/test_slow.py" if "go" not in runner else "go test ./slow", FAILING, exit_status=1)
    summary = told(turn("Mend it.", failing, shell(left_out, exit_status=0)))
    assert any("failed when last run" in one for one in summary.left_open)
    assert f"last recognised check `{left_out}`: 12 passed" in told(turn("Mend it.", shell(left_out, PASSES))).sentence


@pytest.mark.parametrize(
    ("call", "seen"),
    [
        (shell("make release", "ok"), "None was reported to this agent."),
        (shell("git merge --no-commit side", "Automatic merge failed"), "None was reported to this agent."),
        (Call(id="t", name="Task", kind="agent", result=Result(text="done")), "None was reported to this agent."),
        (shell("git commit -m 'Mend'", done=False), "None was reported to this agent."),
        (shell("git commit -qm 'Mend'"), "`git commit -qm 'Mend'` ran, but git reported no commit"),
    ],
)
def test_of_commits_only_what_git_reported_is_told(call: Call, seen: str) -> None:
    """A quiet commit, a release and a helper's commit leave no trace in the answers."""
    page = summary_page(told(turn("Mend it.", edit("/w/shop/a.py", added=["x"]), call)), FIELDS)
    assert f"## Commits, as git reported them\n\n- {seen}\n" in page


def test_the_headline_says_what_was_achieved() -> None:
    """What was asked stands below; a list of sessions is read for what came of them."""
    report = "Charges are booked once now: the gateway gets an idempotency key.\n\nLet me know what you think."
    summary = told(
        turn("Customers are charged twice!!", edit("/w/shop/a.py", added=["x"]), answer=report), turn("thanks")
    )
    assert summary.sentence.startswith("Codex: “Charges are booked once now")
    assert "” (turn 1 of 2) — 1 file written" in summary.sentence
    talk = told(turn("Why are customers charged twice?", answer="Because the gateway retries."))
    assert talk.sentence == "Codex: asked “Why are customers charged twice?”, answered “Because the gateway retries.”"


@pytest.mark.parametrize(
    "said",
    [
        "PAY_KEY must be set in the environment before it works.",
        "You need to restart the worker for the new queue.",
        "The migration has to be run on staging by hand.",
        "The refunds go into a separate PR.",
        "The caches are still stale until the purge is run.",
        "CI is queued here.",
        "Not pushed.",
        "One open decision: whether refunds are booked at once.",
        "The shop will not find it unless the key is committed.",
    ],
)
def test_set_up_and_follow_ups_are_left_open(said: str) -> None:
    """What the next person must do first is easily lost in a report."""
    summary = told(turn("Mend it.", edit("/w/shop/a.py", added=["x"]), answer=f"Charges are booked once.\n\n{said}"))
    assert f"The agent said: “{said}”" in summary.left_open


@pytest.mark.parametrize("said", ["If you want to see it, open the shop.", "The todo now names the gateway."])
def test_what_needs_nobody_is_not_left_open(said: str) -> None:
    """A list of what is open that holds what is not is read no more."""
    assert told(turn("Mend it.", edit("/w/shop/a.py", added=["x"]), answer=f"Mended.\n\n{said}")).left_open == ()


def test_recommendations_and_what_comes_next_are_left_open() -> None:
    """They are lists under a heading of their own."""
    answer = (
        "The key is set.\n\n**Next up** after the release:\n\n- rotate it\n\nSo my recommendation:\n\n- keep it local\n"
    )
    assert told(turn("Set it.", edit("/w/shop/a.py", added=["x"]), answer=answer)).left_open == (
        "The agent said: “rotate it”",
        "The agent said: “keep it local”",
    )


def test_rows_of_tables_names_of_parts_and_addresses_are_told() -> None:
    """Reports say in a table what was mended, and under "Skipped" what was not."""
    answer = (
        "Done.\n\n| # | File | Fix |\n|---|---|---|\n| 1 | [pay.py](/w/shop/pay.py) | books once |\n\n**Skipped:**\n\n"
        "- the cart\n\nPR URL:\nhttps://git.example/shop/pull/new/pay\n"
    )
    summary = told(turn("Mend it.", edit("/w/shop/pay.py", added=["x"]), answer=answer))
    assert summary.done == ("pay.py — books once", "Skipped: the cart")
    assert summary.left_open == ("The agent said: “PR URL: https://git.example/shop/pull/new/pay”",)


def test_the_headline_tells_the_work_not_the_checks() -> None:
    """ "All tests pass" and "Now let me apply the fixes" stand over every second session."""
    first = edit("/w/shop/a.py", added=["x"] * 20)
    after = edit("/w/shop/a.py", added=["y"])
    report = "All tests pass.\n\nThe changes are:\n\n- Replaced the retry loop with a queue."
    summary = told(
        turn("Mend it.", first, answer=report),
        turn("And the text.", after, answer="Good, I have the picture. Now let me edit it."),
    )
    assert summary.sentence.startswith("Codex: “Replaced the retry loop with a queue.” (turn 1 of 2)")
    assert summary.done == ("Turn 1: All tests pass. Replaced the retry loop with a queue.",)
    report = "The wait between attempts doubles now, and the tests pass."
    assert told(turn("Mend it.", first, answer=report)).sentence.startswith(f"Codex: “{report}”")


def test_the_headline_names_all_newest_commits_and_counts_no_pull_request() -> None:
    """Two commits of one session are two matters."""
    said = "[main 1a2b3c4] Book once", "[main 2b3c4d5] Drop the cart", "https://git.example/shop/pull/7"
    calls = [shell(f"git commit -m {n}", text) for n, text in enumerate(said[:2])]
    summary = told(turn("Mend it.", *calls, shell("gh pr create --fill", said[2])))
    assert summary.sentence == "Codex: committed “Book once; Drop the cart” — 2 commits reported"


def test_talk_is_headed_by_its_answer() -> None:
    """A request that is repeated says nothing about what came of it."""
    summary = told(turn("Review the change.", answer="One bug: the cart is booked twice."), turn("thanks", answer="ok"))
    assert summary.sentence == "Codex: “One bug: the cart is booked twice.”"


def test_the_headline_tells_the_check_that_ran_last_by_its_runners_own_words() -> None:
    """ "tests pass" was said where no test ran, where some were left out, and where a later run failed."""
    good, lint = shell("pytest", PASSES), shell("ruff check", "All checks passed!")
    assert told(turn("Mend it.", good, lint)).sentence.endswith("— last recognised check `ruff check`: no errors found")
    assert told(turn("Mend it.", lint, good)).sentence.endswith("— last recognised check `pytest`: 12 passed")
    bad = shell("pytest", FAILING, exit_status=1)
    assert told(turn("Mend it.", lint, good, bad)).sentence.endswith(
        "— last recognised check `pytest`: 1 failed, 11 passed, 1 point may be open"
    )
    for unsaid in (shell("pytest"), shell("pytest | wc -l", "9"), shell("npm test", "No tests found\n")):
        assert "check" not in told(turn("Mend it.", good, unsaid)).sentence


def test_files_outside_the_repository_are_no_work_on_it() -> None:
    """Scratch files and the agent's own notes are neither counted nor left to commit."""
    calls = (
        shell("git commit -m 'Mend'", "[main 1a2b3c4] Mend"),
        edit("C:\\Users\\me\\notes.md", added=["x"]),
        edit("/tmp/try.sh", added=["x"]),
    )
    summary = told(turn("Mend it.", edit("/w/shop/a.py", added=["x"]), *calls))
    assert "1 file written" in summary.sentence and summary.left_open == ()
    assert [one.path for one in summary.files] == ["a.py", "C:/Users/me/notes.md", "/tmp/try.sh"]


def test_what_a_shell_does_to_files_is_told() -> None:
    """A file that was made by mistake and removed again was told as written."""
    made = edit("/w/shop/docs/blue.md", added=["x"], action="add")
    calls = (made, shell("rm docs/blue.md"), shell("echo '# Red' >> docs/color.md"), shell("cd /tmp && echo x > y.md"))
    (one,) = told(turn("A colour.", *calls)).files
    assert (one.path, one.action) == ("docs/color.md", "update")
    gone = told(turn("Less.", edit("/w/shop/a.py", added=["x"]), shell("git rm a.py", "rm 'a.py'"))).files
    assert [file.action for file in gone] == ["delete"]


def test_a_call_that_never_ran_did_not_fail() -> None:
    """Agents drop the calls beside one that failed."""
    dropped = shell("npm run lint", "<tool_use_error>Sibling tool call errored</tool_use_error>", exit_status=1)
    waited = Call(id="w", name="write_stdin", kind="shell", result=Result(text="boom", failed=True))
    summary = told(turn("Check it.", dropped, waited))
    assert (summary.failed, summary.tests, summary.commands) == ((), (), ())


def test_a_commit_is_shown_with_its_subject() -> None:
    """`git commit -m "$(cat <<'EOF' …` says nothing about what was not committed."""
    command = "git commit -m \"$(cat <<'EOF'\nBook once\n\nWhy.\nEOF\n)\""
    assert "Book once" in command_results.shown(command)


def test_of_a_long_answer_reasons_are_told_and_possibilities_stay_possibilities() -> None:
    """The first lines of an answer seldom say why; an item of "one of these" alone would be a false statement."""
    filler = [f"Step {n} of the long walk through the code of the shop is told here in full." for n in range(8)]
    answer = "\n\n".join(
        [
            "The cart is booked twice.",
            *filler,
            "I kept the queue because the gateway repeats calls.",
            "One of these is true:",
            "- The gateway never answered.",
        ]
    )
    turns = [turn(f"Why {n}?", answer=f"{answer} {n}.") for n in range(12)]
    line = told(*turns).done[0]
    assert line.startswith("Turn 1: The cart is booked twice. Step 0") and "because the gateway repeats calls" in line
    assert " … " in line and ("never answered" in line) == ("One of these is true:" in line)


def test_reasons_given_on_the_way_are_told_where_the_answer_gives_none() -> None:
    """Why it was done so is often said before the work and not after it."""
    step = TranscriptStep(
        id="s", text="Let me look. I will not push to main because the rules of this project forbid it."
    )
    whole = turn("Push it.", answer="The branch is pushed.")
    summary = told(TranscriptTurn(key="k", prompt=whole.prompt, steps=(step, *whole.steps), cwd="/w/shop"))
    assert summary.done == (
        "On the way: I will not push to main because the rules of this project forbid it.",
        "The branch is pushed.",
    )


@pytest.mark.parametrize(
    "said",
    [
        "The note mentions that the old way should be followed",
        "It is likely a matter of the settings rather than of the code",
        "I'm adding only the one setting",
        "`main` is still ahead by one commit",
        "It cannot be merged until the new run finishes",
        "Ensure no contradictions with the existing sections",
        "Do not make tasks for these yet because they are too large",
        "That the folder lies elsewhere might also contribute to it",
        "The three threads are still unanswered since I didn't post replies",
    ],
)
def test_guesses_and_states_of_the_moment_are_no_findings(said: str) -> None:
    """At the end of the session they are wrong, and the page told them as found out."""
    assert told(turn("Mend it."), found={"fact": [said], "decision": ["Use a queue", said]}).found == {
        "decision": ("Use a queue",)
    }


def test_the_report_of_a_change_is_no_fact() -> None:
    """It stands under "Done"; as a fact it says nothing about how things are."""
    report = "Fix 3 — `finder.ts`: Added a second pattern for older patches"
    found = {"fact": [report, "The gateway repeats calls"], "decision": [report]}
    assert told(turn("Mend it."), found=found).found == {"fact": ("The gateway repeats calls",), "decision": (report,)}


def test_stars_and_underscores_of_code_and_paths_stay() -> None:
    """A glob without its stars is another glob."""
    assert wording.bare("**Fix**: `**/rules/**/*.md` in src/__tests__/a.ts, __init__.py, __bold__ and **`b` too**") == (
        "Fix: `**/rules/**/*.md` in src/__tests__/a.ts, __init__.py, bold and `b` too"
    )


def test_every_commit_that_git_reports_is_told() -> None:
    """Which of them is still on a branch after an amend nobody saw; what a reset took back is told so."""
    commits = [
        shell("git commit -m x", "[main 1a2b3c4] Repeat safely"),
        shell("git reset --soft HEAD~1 && git commit --amend -m 'x'", "[main 3c4d5e6] Repeat safely"),
        shell("git commit -m 'no --amend here'", "[main 4d5e6f7] Say so"),
    ]
    summary = told(turn("Do it.", *commits))
    assert summary.commits == (
        "1a2b3c4 Repeat safely (on main), taken back in turn 1",
        "3c4d5e6 Repeat safely (on main, by --amend)",
        "4d5e6f7 Say so (on main)",
    )
    assert summary.sentence == "Codex: committed “Repeat safely; Say so” — 3 commits reported (1 taken back)"
    many = [shell(f"git commit -m {n}", f"[main {n:07}] Step {n}") for n in range(20)]
    assert "20 commits reported" in told(turn("Do it.", *many)).sentence


def test_an_item_of_a_list_on_the_way_is_not_told_alone() -> None:
    """ "Missing case" without "Three faults to mend:" reads as if it were missing still."""
    text = "Three faults to mend:\n\n1. Missing case in the switch of the gateway (I used a default instead of it)"
    step, whole = TranscriptStep(id="s", text=text), turn("Go on.", answer="All of it is mended.")
    summary = told(TranscriptTurn(key="k", prompt="Go on.", steps=(step, *whole.steps), cwd="/w/shop"))
    assert summary.done == ("All of it is mended.",)


def test_the_first_sentence_asks_nothing() -> None:
    """What the agent asks is left open; it was not achieved."""
    answer = "Added the limit to the docs. Want me to set it in the shop now?"
    assert told(turn("Note it.", edit("a.md", added=["x"]), answer=answer)).sentence == (
        "Codex: “Added the limit to the docs.” — 1 file written, 1 point may be open"
    )


def test_an_edit_that_was_dropped_before_it_ran_did_not_fail() -> None:
    """One failed and six at its side were dropped; the page told of seven failures."""
    told_why = ["File does not exist.", "<tool_use_error>Sibling tool call errored</tool_use_error>"]
    edits = [TranscriptEdit(path="a.go", action="update")]
    calls = [
        Call(id=why, name="Edit", kind="edit", edits=tuple(edits), result=Result(text=why, failed=True))
        for why in told_why
    ]
    assert told(turn("Rename it.", *calls)).failed == ("an edit of `a.go` failed: it printed “File does not exist.”",)


def test_why_a_script_failed_is_the_line_it_marks() -> None:
    """Its last line may be an item of a list, or a hint."""
    ruby = "psych.rb:62:in 'parse': (<unknown>): did not find expected key (Psych::SyntaxError)\n\tfrom -e:1:in 'main'"
    assert error_line(ruby).endswith("did not find expected key (Psych::SyntaxError)")
    git = "The following paths are ignored by one of your files:\ndist\nhint: Use -f.\nhint: Turn this off\n"
    assert error_line(git) == "The following paths are ignored by one of your files: dist"
    assert error_line("❌ The folder has changes:\n M a.ts\n M b.ts\n") == "The folder has changes"


def test_of_a_thing_that_failed_again_the_last_reason_is_told_as_the_last() -> None:
    """The first time it may have failed for another."""
    runs = [shell("npm run lint", f"✖ {n} problems\n", exit_status=1) for n in (3, 1)]
    assert told(turn("Mend it.", *runs)).failed == (
        "`npm run lint` failed more than once, the last time: it printed “✖ 1 problems”",
    )


def test_a_commit_whose_hook_ran_what_failed_before_mends_it() -> None:
    """The hook says what it runs; the page told that it still failed."""
    commit = "git commit -m 'Hide it'"
    failed, passed = (
        "$ bun test src/\n 3 pass\n 2 fail\n",
        "$ bun test src/\n 3 pass\n 0 fail\n[main 1a2b3c4] Hide it\n",
    )
    summary = told(
        turn(
            "Commit.",
            shell(commit, "error: no module x", exit_status=1),
            shell("bun test src/ 2>&1", failed, exit_status=1),
            shell(commit, passed),
        )
    )
    assert "fail" not in summary.sentence and not summary.left_open and not summary.commands
    assert not summary.failed


def test_a_tool_that_failed_and_was_called_rightly_then_did_not_fail_for_good() -> None:
    """A wrong argument is mended by the next call."""
    wrong = Call(id="1", name="docs", kind="other", text="{}", result=Result(text="no query", failed=True))
    again = Call(id="2", name="docs", kind="other", text="{}", result=Result(text="found"))
    assert told(turn("Look.", wrong, shell("make x"), again)).failed[0].endswith("later it ended without an error")


@pytest.mark.parametrize(
    ("later", "mends"),
    [
        ("python -m pytest tests/ -v", True),
        ("python -m pytest tests/unit/test_pay.py", True),
        ("python -m pytest tests/unit -k pay", False),
        ("python -m pytest tests/other", False),
    ],
)
def test_a_wider_run_that_passes_mends_what_failed_within_it(later: str, mends: bool) -> None:
    """The page told a test as failing that had passed with the folder it is in."""
    first = shell("python -m pytest tests/unit/test_pay.py -x", "1 error in 0.1s", exit_status=2)
    summary = told(turn("Go on.", first, edit("pay.py", added=["x"]), shell(later, "9 passed in 0.1s")))
    assert (not summary.left_open) is mends


def test_files_that_were_deleted_are_not_counted_as_written() -> None:
    """Fourteen files were deleted and one was changed; the page told of fifteen written."""
    calls = [edit("a.py", added=["x"]), *(edit(f"old/{n}.py", removed=["x"], action="delete") for n in range(3))]
    assert told(turn("Drop it.", *calls)).sentence == "Codex: asked “Drop it.” — 1 file written, 3 files deleted"


def test_a_run_that_ends_in_the_middle_says_so() -> None:
    """What the agent was about to do is not done as far as anybody saw."""
    text = "The change is committed. Let me push it and open the request:"
    step = TranscriptStep(id="s", text=text, calls=(shell("git fetch origin"),))
    one = TranscriptTurn(key="k", prompt="Push it.", steps=(step,), cwd="/w/shop")
    assert told(one).left_open == (
        "The last words are “Let me push it and open the request:”, and no answer came after them",
    )
    after = TranscriptStep(id="t", text="It is pushed.")
    assert not told(TranscriptTurn(key="k", prompt="Push it.", steps=(step, after), cwd="/w/shop")).left_open


@pytest.mark.parametrize("command", ["make x | grep -E 'a|b'", "command -v entire"])
def test_what_only_finds_nothing_did_not_fail(command: str) -> None:
    """Its exit code is its answer."""
    assert not told(turn("Look.", shell(command, "0.1 s in total", exit_status=1))).failed
    assert told(turn("Look.", shell("make x | sort", "no rule", exit_status=1))).failed


def test_answers_of_the_person_are_told_as_they_were_given() -> None:
    """They decide; what rules find is only proposed."""
    said = 'User has answered your questions: "Which queue?"="Redis".'
    said += " You can now continue with the user's answers in mind."
    ask = Call(id="q", name="AskUserQuestion", kind="ask", result=Result(text=said))
    page = summary_page(told(turn("Build it.", ask), found={"decision": ["Use Redis"]}), FIELDS)
    assert '## Asked by the agent, and what came back\n\n- "Which queue?"="Redis".\n' in page
    assert "## Proposed: decisions\n\n- Use Redis\n" in page


@pytest.mark.parametrize(
    ("command", "output", "headline", "row"),
    [
        ("! pytest -q", "", "", "its outcome was not recognised"),
        ("if ! pytest -q; then echo no; fi", "", "", "its outcome was not recognised"),
        ("pytest --version", "pytest 8", "", "None was recognised."),
        ("pytest --collect-only -q", "3 tests collected", "", "None was recognised."),
        ("pytest --collect-only -q && pytest -q", "4 passed in 1s", "last recognised check", "4 passed"),
        ("npm test -- --passWithNoTests", "No tests found, exiting with code 0", "", "no tests ran"),
        ("npm run test:unit --if-present", "", "", "its outcome was not recognised"),
        ("cargo test", "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out", "", "0 passed"),
        ("go vet ./... && go test ./pkg/... -run TestOne", "ok  \tx\t0.1s", "last recognised check", "1 package ok"),
        ("go vet ./... && go test ./...", "ok  \tx\t0.1s", "last recognised check", "1 package ok"),
        ("mypy src/shop.py && pytest -q", "4 passed in 1s", "last recognised check", "4 passed"),
        (
            "cargo test one_test",
            "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 40 filtered out",
            "last recognised check",
            "1 passed, 40 filtered out",
        ),
        (
            "pytest -q --deselect tests/x.py::y",
            "9 passed, 1 deselected",
            "last recognised check",
            "9 passed, 1 deselected",
        ),
        ("SKIP=mypy pre-commit run -a", "ruff....Passed\nmypy....Skipped", "last recognised check", "passed"),
        ("pre-commit run -a", "ruff....Passed", "last recognised check", "passed"),
    ],
)
def test_a_check_is_told_as_what_it_was(command: str, output: str, headline: str, row: str) -> None:
    """Who reads that tests pass does not run them again."""
    page = summary_page(told(turn("Check it", edit("src/shop.py", added=["x"]), shell(command, output))), FIELDS)
    assert page.split("\n")[2].partition("1 file written")[2].removeprefix(", ").startswith(headline)
    assert headline or "check `" not in page.split("\n")[2]
    assert page.split("## Tests and checks, each as last run\n\n")[1].split("\n")[0].endswith(row)


def test_what_was_chosen_by_name_mends_nothing_else() -> None:
    """Of forty tests one was run."""
    one = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 40 filtered out"
    bad = "test result: FAILED. 40 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out"
    summary = told(turn("Run", shell("cargo test", bad, exit_status=101), shell("cargo test one_test", one)))
    assert summary.left_open == (
        "`cargo test` failed when last run in this form (`cargo test one_test` passed after it): 1 failed, 40 passed",
    )
    vet = shell("go vet ./... && go test ./a -run TestOne", "ok  \tx/a\t0.1s")
    summary = told(turn("Run", shell("go test ./...", "--- FAIL: TestTwo\nFAIL\tx/b\t0.1s", exit_status=1), vet))
    assert len(summary.left_open) == 1


def test_a_list_of_checks_says_that_it_is_cut_and_keeps_what_fails() -> None:
    """Ten of thirteen are shown."""
    runs = [shell(f"pytest tests/test_{at}.py", "1 passed in 1s") for at in range(12)]
    page = summary_page(told(turn("Run", shell("pytest", "1 failed in 1s", exit_status=1), *runs)), FIELDS)
    rows = page.split("## Tests and checks, each as last run\n\n")[1].split("\n\n")[0].splitlines()
    assert (len(rows), rows[-1]) == (11, "- and 3 more commands, run before")
    assert rows[0].startswith("- `pytest`: 1 failed")


@pytest.mark.parametrize(
    "none", ["None", "none.", "Nothing left", "N/A", "*None for now*", "Keine.", "なし", "特になし。", "无", "暂无"]
)
def test_an_empty_list_leaves_nothing_open(none: str) -> None:
    """Who reads "1 matter left open" looks for it."""
    lists = f"## Next steps\n\n{none}\n\n## Open questions\n\n- {none}\n\n**Follow-ups:** {none}"
    answer = f"Retry now tries four times.\n\n{lists}"
    summary = told(turn("Refactor it", edit("src/retry.py", added=["x"]), answer=answer))
    assert (summary.left_open, summary.done) == ((), ("Retry now tries four times.",))
    summary = told(
        turn("Refactor it", answer=f"Done so far.\n\n## Open questions\n\n- {none}\n- None of the keys is tested")
    )
    assert summary.left_open == ("The agent said: “None of the keys is tested”",)


def test_a_commit_that_a_hook_refused_is_left_open() -> None:
    """Unless it was made later, or there was nothing to commit."""
    refused = shell("git commit -am 'Retry'", "pre-commit hook failed: black would reformat", exit_status=1)
    work = edit("src/shop.py", added=["x"])
    summary = told(turn("Go", work, refused, answer="The message is “Retry”."))
    (left,) = summary.left_open
    assert left.startswith(
        "`git commit -am 'Retry'` failed in turn 1, no commit was seen after it: it printed “pre-commit"
    )
    again = shell("git commit -nam 'Retry'", "[main 1a2b3c4] Retry\n 1 file changed")
    tested = shell("pytest -q && git commit -qam 'Retry'", "3 passed in 1s")
    assert told(turn("Go", work, refused, again)).left_open == told(turn("Go", work, refused, tested)).left_open == ()
    idle = shell("git commit -am 'Retry'", "On branch main\nnothing to commit, working tree clean", exit_status=1)
    assert told(turn("Go", work, idle)).left_open == ()


@pytest.mark.parametrize("answer", ["Done.", "All tests pass. Next you need to set DATABASE_URL on the server."])
def test_a_headline_tells_what_was_written_if_the_answer_does_not(answer: str) -> None:
    """What was asked for is not what was done, and what is left open even less."""
    summary = told(
        turn("Which one expires the entries of the cache?", edit("src/cache.py", added=["x"]), answer=answer)
    )
    assert summary.sentence.startswith("Codex: wrote `src/cache.py` — 1 file written")
    answer = f"You have to set a key. Entries expire after five minutes. {answer}"
    summary = told(turn("Which one?", edit("src/cache.py", added=["x"]), answer=answer))
    assert summary.sentence.startswith("Codex: “Entries expire after five minutes.” — 1 file written")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("我先查看缓存。缓存现在五分钟后过期！接下来我会运行测试。", "缓存现在五分钟后过期！"),
        ("Let me check the cache. Entries last five minutes. I'll run it.", "Entries last five minutes."),
        ("好的，我来修改。我会保留旧的键。", "我会保留旧的键。"),
        (
            "まずキャッシュを確認します。五分で期限が切れるようにしました。次にテストを実行します。",
            "五分で期限が切れるようにしました。",
        ),
    ],
)
def test_what_is_about_to_be_done_is_not_told_in_chinese_or_japanese_either(answer: str, said: str) -> None:
    """No space parts their sentences; and what stands beside it on its line is told."""
    summary = told(turn("缓存", edit("src/cache.py", added=["x"]), answer=answer))
    assert summary.sentence.startswith(f"Codex: “{said}” — ") and summary.done == (said,)
    assert turn_line(turn("缓存", answer=answer)) == f"Asked: 缓存. — {said}"


def test_what_a_hook_of_git_tests_is_what_the_script_tests() -> None:
    """A commit that runs the same command as the script that failed tells how it ended last."""
    runs = [
        shell("bun run test", "$ bun test src/\n 11 pass\n 1 fail\n", exit_status=1),
        edit("src/pay.ts", added=["x"]),
        shell("git commit -am 'Mend it'", "$ bun test src/\n 12 pass\n 0 fail\n[main 1a2b3c4] Mend it\n"),
    ]
    summary = told(turn("Mend it.", *runs))
    assert summary.left_open == ()
    assert summary.tests[0].outcome == (
        "1 failed, 11 passed (files were written after it; `git commit -am 'Mend it'` passed after it)"
    )
    (line,) = summary.failed
    assert line.endswith("11 passed; then changed `src/pay.ts`; later `git commit -am 'Mend it'` passed")


def test_a_command_that_passed_instead_of_another_is_named() -> None:
    """`lint` that passes says nothing of how `lint:fix` would end: what was seen is told."""
    runs = [
        shell("npm run lint:fix", "Found 2 errors.\n", exit_status=1),
        edit("src/pay.ts", added=["x"]),
        shell("npm run lint", "All checks passed!\n"),
    ]
    summary = told(turn("Mend it.", *runs))
    assert summary.tests[0].outcome == "2 errors found (files were written after it; `npm run lint` passed after it)"
    assert summary.failed[0].endswith("then changed `src/pay.ts`; later `npm run lint` passed")


def test_a_line_of_source_is_not_why_something_failed() -> None:
    """A linter shows the code around what it found."""
    text = "pay.ts:9:1 noEmpty\n  × Unexpected empty block.\n  > 9 │ catch {}\n    10 │ new Error(\nFound 1 error.\n"
    assert "10 │" not in error_line(text)


def test_what_is_printed_beside_a_failure_is_told_as_printed() -> None:
    """Which line of an output is the reason nobody can tell for sure."""
    run = shell("docker compose up", "starting\nnetwork shop: cannot be reached\n", exit_status=1)
    assert told(turn("Start it.", run)).failed == (
        "`docker compose up` failed: it printed “network shop: cannot be reached”",
    )


def test_a_command_whose_status_is_a_pipes_is_not_told_to_have_passed() -> None:
    """`tail` ends well whatever it is fed."""
    failed = shell("npm ci", "npm error missing lock file\n", exit_status=1)
    (again,) = told(turn("Install.", failed, shell("npm ci 2>&1 | tail -5", "npm error again\n"))).failed
    assert "passed later" not in again
    (again,) = told(turn("Install.", failed, shell("npm ci && echo ok", "ok\n"), shell("npm ci", "ok\n"))).failed
    assert again.endswith("later it ended without an error")


def test_of_a_file_that_is_written_whole_only_new_lines_count() -> None:
    """Ten lines that stay as they were are not written."""
    lines = tuple(f"line {n}" for n in range(10))
    same = TranscriptEdit(path="a.py", added=(*lines, "new"), removed=("old",), whole=True, kept=lines)
    blind = TranscriptEdit(path="b.py", added=lines, whole=True, kept=None)
    calls = [Call(id=e.path, name="Write", kind="edit", edits=(e,), result=Result(text="ok")) for e in (same, blind)]
    page = summary_page(told(turn("Rewrite both.", *calls)), FIELDS)
    assert "- `a.py` (+1 −1)\n" in page
    assert "- `b.py` (written whole, +10 −0)\n" in page


HOOKS = "Build........Passed\nUnit tests...(no files to check)Skipped\n"


def test_hooks_that_ran_before_a_push_are_checks() -> None:
    """They print no counts, but a line each."""
    summary = told(turn("Push it.", edit("a.py", added=["x"]), shell("git push", HOOKS)))
    assert [(one.command, one.outcome) for one in summary.tests] == [("git push", "1 hook passed")]
    assert "last recognised check `git push`: 1 hook passed" in summary.sentence
    summary = told(turn("Push it.", shell("git push", HOOKS + "lint...Failed\n", exit_status=1)))
    assert summary.left_open == ("`git push` failed when last run in this form: 1 hook failed (lint)",)
    refused = f"{HOOKS}error: failed to push some refs\n"
    summary = told(turn("Push it.", shell("git push", refused, exit_status=1)))
    assert summary.failed == ("`git push` failed: it printed “error: failed to push some refs”",)
    summary = told(turn("Push it.", shell("git push", refused, exit_status=1), shell("git push", HOOKS)))
    assert summary.commands == ()
    assert summary.failed == ()


def test_a_check_that_ran_before_the_last_edits_is_told_so() -> None:
    """What passed or failed then need not do so now."""
    passed, failed = shell("pytest -q", "12 passed in 0.5s\n"), shell("pytest -q", FAILING, exit_status=1)
    last = edit("src/pay.py", added=["x"])
    summary = told(turn("Mend it.", passed, last))
    assert summary.sentence.endswith("last recognised check `pytest -q`: 12 passed, files were written after it")
    assert summary.tests[0].outcome == "12 passed (files were written after it)"
    summary = told(turn("Mend it.", failed, last))
    form = "`pytest -q` failed when last run in this form (files were written after it): 1 failed"
    assert summary.left_open[0].startswith(form)
    noted = told(turn("Mend it.", last, passed, edit("/tmp/note", added=["x"])))
    assert noted.sentence.endswith("last recognised check `pytest -q`: 12 passed")


def test_a_list_of_what_somebody_may_ask_is_no_question() -> None:
    """Only what is put to the person waits for an answer."""
    answer = "The guide has these parts:\n\n1. Four things to check (is it safe?, is it small?)\n"
    assert wording.questions(answer) == []
    assert wording.questions("All is done. Shall I push it?") == ["Shall I push it?"]


def test_what_the_next_turn_takes_back_is_marked() -> None:
    """A reader believes what an agent concluded."""
    first = turn("Is it safe?", answer="It is safe: nothing calls it twice.")
    second = turn("The log shows two calls.", answer="You're right, my mistake: the timer calls it as well.")
    done = told(first, second).done
    assert done[0].startswith(
        "Turn 1: (The next turn begins: “You're right, my mistake: the timer calls it as well.”) It is"
    )
    done = told(first, turn("Good.", answer="I mended a mistake in the docs.")).done
    assert done[0] == "Turn 1: It is safe: nothing calls it twice."


def test_only_a_pull_request_that_was_opened_is_told() -> None:
    """A comment on another's has its address, too."""
    url = "https://example.org/shop/pull/12"
    comment = shell("gh pr comment 12 --body 'We create the table first'", f"{url}#issuecomment-3\n")
    assert told(turn("Answer.", comment)).commits == ()
    assert told(turn("Open it.", shell("git push && gh pr create --fill", f"{url}\n"))).commits == (url,)
    body = "cat > body.md <<'EOF'\nWhy\nEOF\ngh pr create --body-file body.md"
    assert told(turn("Open it.", shell(body, f"Creating pull request\n{url}\n"))).commits == (url,)


def test_a_linter_that_fails_though_it_found_no_error_is_told_as_failing_alone() -> None:
    """Warnings may count as well."""
    run = shell("npm run lint", "Checked 9 files in 8ms. No fixes applied.\nFound 1 warning.\n", exit_status=1)
    page = summary_page(told(turn("Lint.", run)), FIELDS)
    assert "no errors found" not in page
    assert "`npm run lint` failed: it printed “" in page


def test_a_plan_outside_the_repository_is_no_achievement() -> None:
    """The headline tells of the work, not of the longest text."""
    work = turn("Write the guide.", edit("GUIDE.md", added=["a"]), answer="Created the guide for new people.")
    plan_file = edit("/home/me/.agent/plan.md", added=["x"] * 40)
    after = turn("And next?", plan_file, answer="Added a section on tests is what I would do next.")
    assert told(work, after).sentence.startswith("Codex: “Created the guide for new people.” (turn 1 of 2)")


def test_a_tool_that_works_for_one_address_has_not_worked_for_another() -> None:
    """What failed is told by what it was asked."""

    def fetch(url: str, *, failed: bool) -> Call:
        result = Result(text="status code 303", failed=failed)
        return Call(id=url, name="WebFetch", kind="other", text=url, result=result)

    calls = [fetch("https://a", failed=True), fetch("https://b", failed=True), fetch("https://b", failed=False)]
    failed = told(turn("Read them.", *calls, fetch("https://a", failed=True))).failed
    assert failed[0] == "WebFetch https://a failed more than once, the last time: it printed “status code 303”"


def test_a_search_at_the_end_of_a_command_line_that_finds_nothing_is_no_failure() -> None:
    """Its status is the search's."""
    line = "make log > out.txt; rg -n 'error' out.txt"
    assert told(turn("Look.", shell(line, exit_status=1))).failed == ()
    assert told(turn("Look.", shell(line, "rg: out.txt: No such file or directory", exit_status=2))).failed


def test_a_follow_up_that_was_done_is_not_open() -> None:
    """The word alone says nothing."""
    assert wording.unfinished("Pushed both: `1a2b3c4` is the review follow-ups.") == []
    assert wording.unfinished("Pushed. The docs need a follow-up.") != []


def test_beside_failed_tests_only_their_own_errors_are_told() -> None:
    """What the code under test prints may be what it should print."""
    text = "error: no connection (as expected)\n(fail) pay > once\n 11 pass\n 1 fail\n"
    (failed,) = told(turn("Test.", shell("bun test", text, exit_status=1))).failed
    assert failed == "`bun test` failed: 1 failed, 11 passed: pay > once"


def test_a_quiet_commit_is_told_by_the_log_after_it() -> None:
    """Git says nothing then."""
    line = "git commit -qm 'Retry only what is safe' && git log --oneline -2"
    summary = told(turn("Commit.", shell(line, "1a2b3c4 Retry only what is safe\n9f8e7d6 Begin the shop\n")))
    assert summary.commits == ("1a2b3c4 Retry only what is safe (on HEAD)",)


def test_a_question_that_the_person_answered_is_not_open() -> None:
    """The next prompt is the answer."""
    first = turn("Commit.", answer="The hook fails because of others' files. Shall I stash them first?")
    commit = shell("git commit --no-verify -m x", "[main 1a2b3c4] Mend the shop\n")
    assert told(first).left_open == ("The agent asked (no answer was seen): “Shall I stash them first?”",)
    assert told(first, turn("Skip the hook.", commit, answer="Committed.")).left_open == ()


def test_a_commit_that_is_made_after_all_is_not_failing() -> None:
    """A hook that was in the way is passed by."""
    failed = shell("git commit -m 'Mend it'", "Found 2 errors.\nhook failed\n", exit_status=1)
    made = shell("git commit --no-verify -m 'Mend it'", "[main 1a2b3c4] Mend it\n")
    assert told(turn("Commit.", shell("git commit -m 'Mend it'", "1 failed in 0.1s\n", exit_status=1))).left_open
    summary = told(turn("Commit.", failed, made))
    assert summary.left_open == ()
    assert "failed when last run" not in summary.sentence


def test_packages_that_are_tested_twice_count_once() -> None:
    """With and without the race detector they are the same ones."""
    text = "ok  \tshop/pay\t0.1s\nok  \tshop/cart\t0.2s\nok  \tshop/pay\t1.1s\nok  \tshop/cart\t1.2s\n"
    found = outcome(text)
    assert found is not None and found.sentence == "2 packages ok"


def test_the_lines_of_all_edits_are_told_together() -> None:
    """The same lines may be written at two places, or again on another branch: that is not seen."""
    twice = [edit("a.py", added=["x", "y"]), edit("a.py", added=["x", "y"])]
    page = summary_page(told(turn("Add it.", *twice)), {})
    assert "## Files written, with the lines of all edits together\n\n- `a.py` (+4 −0)\n" in page


def test_a_quotation_in_the_headline_leaves_nothing_out_without_a_mark() -> None:
    """Two sentences that do not follow each other are no quotation."""
    answer = "The plan is one file with:\n\n- dates of all parts\n- Updated names\n- All tests pass\n- Added risks\n"
    sentence = told(turn("Join them.", edit("plan.md", added=["x"]), answer=answer)).sentence
    assert sentence.startswith("Codex: “The plan is one file with: … Updated names.” — 1 file written")


def test_what_was_said_is_told_with_its_turn() -> None:
    """ "Last answer" was said of one after which another came in the same turn."""
    first = turn("Do.", edit("a.py", added=["x"]), answer="Done.\n\nRemaining:\n- write the docs")
    rest = TranscriptTurn(key="r", steps=turn("", answer="The helper has ended.").steps)
    assert told(first, rest, turn("ok", answer="Fine.")).left_open == (
        "The agent said (turn 1 of 2): “write the docs”",
    )


def test_a_plan_is_told_with_when_it_was_written() -> None:
    """Its marks are of that moment; what a later turn did of it nobody saw."""
    first = turn("Do.", plan(("test it", "open")), edit("a.py", added=["x"]), answer="Wrote it.")
    (line,) = told(first).left_open
    assert line == "In the plan (work went on after it was written), not marked as done: test it"
    assert told(first, turn("More.", edit("b.py", added=["x"]), answer="Wrote more.")).left_open == ()


def test_a_line_whose_end_is_not_the_tests_is_told_as_it_ended() -> None:
    """ "How it ended was not seen" was said beside an exit code."""
    run = shell("go build ./... && go vet ./... && go test ./... | tail -3", "a.go:3:1: odd pointer\n", exit_status=1)
    assert told(turn("Check.", run)).tests[0].outcome == (
        "the whole line ended with exit code 1; it printed “a.go:3:1: odd pointer”"
    )


def test_what_failed_is_named_beside_what_failed() -> None:
    """Not beside what passed later."""
    alone = shell("go test ./pay -run Once", "--- FAIL: TestOnce (0.0s)\nFAIL\tshop/pay\t0.1s\n", exit_status=1)
    whole = shell("go test ./...", "ok  \tshop/pay\t0.1s\n")
    (first, _) = told(turn("Test.", alone, edit("pay.go", added=["x"]), whole)).tests
    after = "files were written after it; `go test ./...` passed after it"
    assert first.outcome == f"1 package failed (TestOnce) ({after})"


def test_a_cheer_and_a_path_are_no_headline() -> None:
    """They do not say what was achieved."""
    answer = "All clean.\n\n**`src/pay.py`**\n\n- `retry` (line 9): Replaced the loop by a table of methods.\n"
    summary = told(turn("Mend it.", edit("src/pay.py", added=["x"]), answer=answer))
    assert summary.sentence.startswith("Codex: “`src/pay.py`: `retry` (line 9): Replaced the loop by a table")


def test_what_follows_a_check_on_its_line_does_not_fail_it() -> None:
    """Two reports differ: that is what the last command says."""
    line = "npx markdownlint-cli2 docs/a.md > after.txt 2>&1; diff before.txt after.txt"
    summary = told(turn("Compare.", shell(line, "> a.md:9 error MD013\n", exit_status=1)))
    assert summary.left_open == ()
    line = "the whole line ended with exit code 1; it printed “> a.md:9 error MD013”"
    assert summary.tests[0].outcome == line


def test_a_file_of_a_session_on_another_system_is_within_its_own_folder() -> None:
    """Its paths are not those of this clone."""
    origin = TranscriptOrigin(agent="claude", session="s-1", cwd="D:\\shop")
    account = Account(origin, top="/w/shop")
    change = TranscriptEdit(path="D:\\shop\\src\\pay.go", added=("x",))
    call = Call(id="1", name="Edit", kind="edit", edits=(change,), result=Result(text="ok"))
    step = TranscriptStep(id="1", calls=(call,))
    account.add(TranscriptTurn(key="1", prompt="Mend it.", steps=(step,), cwd="D:\\shop\\src"))
    assert [one.path for one in account.finish().files] == ["src/pay.go"]


def test_a_headline_that_is_an_item_is_told_with_what_it_is_an_item_of() -> None:
    """Alone it would be the whole of the work."""
    answer = "The plan is one document with:\n\n- Updated dates of all parts\n- A table of risks\n"
    summary = told(turn("Join them.", edit("plan.md", added=["x"]), answer=answer))
    assert summary.sentence.startswith("Codex: “The plan is one document with: Updated dates of all parts.")


def test_a_long_answer_is_read_from_a_whole_line_on() -> None:
    """Half a sentence says something else."""
    answer = "It is not " + "x" * wording.MAX_READ + "\nRetries are safe now.\n"
    assert wording.without_open(answer) == "Retries are safe now."


def test_a_root_cause_is_no_achievement() -> None:
    """The headline would tell the bug as if it were still there."""
    answer = "**Root cause**: the table is read twice.\n\n**Fix**: Added a lock around it.\n"
    summary = told(turn("Mend it.", edit("pay.py", added=["x"]), answer=answer))
    assert summary.sentence.startswith("Codex: “Fix: Added a lock around it.”")


def test_what_helpers_may_have_written_is_not_left_unsaid() -> None:
    """A count of files is the agent's own."""
    helper = Call(id="h", name="Agent", kind="agent", text='{"subagent_type": "worker"}', result=Result(text="done"))
    looker = Call(id="h", name="Agent", kind="agent", text='{"subagent_type": "Explore"}', result=Result(text="done"))
    change = edit("pay.py", added=["x"])
    assert "1 file written and perhaps more by helpers" in told(turn("Mend it.", helper, change)).sentence
    assert told(turn("Mend it.", looker, change)).sentence.endswith("1 file written")


def test_markdownlint_counts_what_it_found() -> None:
    """Its summary is a line of its own."""
    clean, bad = outcome("Linting: 49 files\nSummary: 0 issues in 0 files\n"), outcome("Summary: 26 error(s)\n")
    assert clean is not None and clean.passed
    assert bad is not None and bad.sentence == "26 errors found"


def test_a_job_that_was_ended_on_purpose_did_not_fail() -> None:
    """The status of what went on in the background is nobody's answer."""
    serve = shell("npx astro dev &\nPID=$!\nsleep 5\nkill $PID\nwait $PID", "watching for changes\n", exit_status=143)
    assert told(turn("Start it.", serve)).failed == ()
    assert told(turn("Start it.", shell("npx astro dev", "port in use\n", exit_status=1))).failed


def test_what_is_not_pushed_or_must_be_restarted_is_open() -> None:
    """Somebody has to do it."""
    assert wording.unfinished("Amended into `1a2b3c4` on `next`, still unpushed.") != []
    assert wording.unfinished("Pushed. Try restarting the editor: the commands should be there now.") != []
    assert wording.unfinished("Restarts are counted now.") == []


def test_a_command_that_was_a_check_once_is_one_again() -> None:
    """A build that prints errors once and nothing the next time has not failed when it was last run."""
    bad = shell("pnpm build", "src/a.ts(9,1): error TS2322: no\n", exit_status=1)
    good, piped = shell("pnpm build", "built in 3 s\n"), shell("pnpm build 2>&1 | tail -3", "built in 3 s\n")
    change = edit("src/a.ts", added=["x"])
    assert told(turn("Build.", bad)).left_open
    assert told(turn("Build.", bad, change, good)).tests[0].outcome == "ended without an error"
    assert told(turn("Build.", bad, change, piped)).left_open == ()


def test_warnings_are_no_errors() -> None:
    """A linter counts both as problems."""
    assert outcome("✖ 25 problems (0 errors, 25 warnings)\n") is None
    found = outcome("✖ 2 problems (1 error, 1 warning)\n")
    assert found is not None and found.passed is False


def test_a_linter_that_looked_at_nothing_is_not_told_as_passing() -> None:
    """A wrong pattern finds no files, and no errors in them."""
    assert outcome("Linting: 0 file(s)\nSummary: 0 error(s)\n") is None


def test_a_script_that_passes_says_nothing_of_another() -> None:
    """They share only who runs them."""
    bad, good = shell("bun run test", "it broke\n", exit_status=1), shell("bun run typecheck", "ok\n")
    assert told(turn("Check.", bad, good)).left_open == (
        "`bun run test` failed when last run in this form: it printed “it broke”",
    )


def test_what_is_only_for_the_moment_is_no_rule() -> None:
    """ "Don't push" holds for this commit."""
    found = {"invariant": ["Do not create a pull request, just a commit", "Never use float for money"]}
    assert told(turn("Mend it."), found=found).found["invariant"] == ("Never use float for money",)


def test_why_something_broke_is_not_open() -> None:
    """What an older commit did not do is told as the cause of what is mended."""
    assert wording.unfinished("Fixed. The bug existed because the last commit didn't update the manifest.") == []
    assert wording.unfinished("Fixed. I didn't update the manifest.") != []


@pytest.mark.parametrize(
    "command",
    ["test -f .skip || pytest -q", "true || pytest", "trap 'exit 0' EXIT; pytest -q", "set +o pipefail; pytest -q"],
)
def test_a_check_that_need_not_have_run_or_counted_did_not_pass(command: str) -> None:
    """ "Passed" is what the next one relies on."""
    assert command_results.tells_status(command) == ""


def test_what_a_command_line_holds_and_writes_is_counted() -> None:
    """Agents append to files by a here-document as often as by their own tool."""
    new = shell("cat > tests/a.py <<'EOF'\nx = 1\ny = 2\nEOF\npytest -q tests/a.py", "2 passed in 0.1s\n")
    more = shell("cd lib && cat >> /w/shop/tests/b.py << EOF\nz = 3\nEOF\necho OK", "OK\n")
    page = summary_page(told(turn("Test it.", new, more)), {})
    assert "- `tests/a.py` (written whole, +2 −0)\n- `tests/b.py` (+1 −0)\n" in page
    assert "- `cat > tests/a.py <<'EOF' x = 1 …`: 2 passed" in page


def test_a_count_of_files_leaves_room_for_what_commands_wrote() -> None:
    """A script, a package manager or a formatter writes files that it does not name."""
    change = edit("app.py", added=["x"])
    script = shell("python3 - <<'EOF'\nopen('b.py', 'w').write('x')\nEOF")
    assert "1 file written and perhaps more by commands" in told(turn("Do.", change, script)).sentence
    assert "1 file written" in told(turn("Do.", change, shell("ls"))).sentence
    assert "perhaps" not in told(turn("Do.", change, shell("python3 -m pytest -q"))).sentence


def test_a_line_about_a_failure_is_never_cut_before_its_end() -> None:
    """That later it ended without an error is what a reader must not miss."""
    long = "go test ./" + "very/long/path/" * 12
    bad, good = shell(long, f"{'E   x ' * 90}\n", exit_status=1), shell(long, "ok  \tshop\t0.1s\n")
    (line,) = told(turn("Do.", bad, edit("a" * 300 + ".go", added=["x"]), good)).failed
    assert line.endswith("; later it ended without an error") and len(line) <= 420


def test_code_within_a_sentence_does_not_end_it() -> None:
    """`go test ./...` stands in every second answer."""
    assert wording.sentences("All of `go test ./...` passes. I moved `a.go`. Done.") == [
        "All of `go test ./...` passes.",
        "I moved `a.go`.",
        "Done.",
    ]


def test_an_answer_for_a_program_is_told_as_lines() -> None:
    """A reviewer that another agent starts answers in JSON."""
    found = '{"findings": [{"title": "Money is a float", "body": "It rounds.", "line": 3}], "verdict": "It is wrong."}'
    assert told(turn("Review.", shell("ls"), answer=found)).done == (
        "title: Money is a float",
        "body: It rounds.",
        "verdict: It is wrong.",
    )
    assert wording.prose('{"findings": []}') == "findings: none"
    assert wording.prose("{a set} of words") == "{a set} of words"


def test_what_another_agent_asked_is_told_as_its_words() -> None:
    """A helper's page would not say what it was for; a person did not ask it."""
    asked = TranscriptTurn(key="k", brief="Review the diff.", steps=turn("", shell("ls"), answer="Fine.").steps)
    assert told(asked).asked == ("Handed over by another agent: Review the diff.",)


def test_checks_that_fail_alike_are_one_matter() -> None:
    """An agent tries five ways to call a tool that does not work."""
    runs = [
        shell(f"golangci-lint run {way}".strip(), "nothing to analyze\n", exit_status=5) for way in ("", "-v", "./...")
    ]
    (left,) = told(turn("Lint.", *runs)).left_open
    assert left.startswith(
        "`golangci-lint run ./...` (and 2 more like it) failed when last run in this form: it printed"
    )


def test_leaving_is_not_work_that_was_broken_off() -> None:
    """ "exit" is stopped before anything is done."""
    assert told(turn("Do.", shell("ls"), answer="Done."), turn("exit", interrupted=True)).left_open == ()


def test_a_linter_that_tells_its_version_checks_nothing() -> None:
    """Nor is a pattern of packages a package."""
    assert command_results.tests("golangci-lint version") is None
    found = outcome("FAIL\tshop/pay [build failed]\nFAIL\t./... [setup failed]\n")
    assert found is not None and found.sentence == "1 package failed"


def test_of_many_turns_those_that_did_something_are_told() -> None:
    """What was built must not be pushed out by twelve questions about it."""
    work = turn("Move it.", edit("app.py", added=["x"]), answer="The package lives at the top now.")
    talk = [turn(f"Why {n}?", answer=f"Because of reason {n}.") for n in range(20)]
    done = told(work, *talk).done
    assert done[0] == "Turn 1: The package lives at the top now." and done[-1] == "Because of reason 19."


def test_files_elsewhere_are_counted_apart() -> None:
    """A checkout beside this one may be where the work went on: what was tested before is no longer what is there."""
    good, other = shell("pytest -q", "2 passed in 0.1s\n"), edit("/w/other/b.py", added=["x"])
    sentence = told(turn("Do.", edit("app.py", added=["x"]), good, other)).sentence
    assert (
        "1 file written, 1 elsewhere, last recognised check `pytest -q`: 2 passed, files were written after it"
        in sentence
    )
    for note in ("/tmp/message.txt", "/home/a/.claude/plans/a.md"):
        assert told(turn("Do.", good, edit(note, added=["x"]))).sentence.endswith("`pytest -q`: 2 passed")


def test_a_check_behind_a_tool_that_chooses_versions_is_a_check() -> None:
    """mise, direnv and nix run it as it is."""
    assert command_results.tests("mise exec -- golangci-lint run ./...") == "golangci-lint run ./..."
    assert command_results.tests("mise x go@1.26 -- go test ./...") == "go test ./..."


def test_frames_and_orders_to_the_program_are_not_told() -> None:
    """Codex ends an answer with what its window is to do."""
    said = 'Opened it.\n\n::git-push{cwd="/w/shop"}\n`★ Insight ─────────`\nIt is small.\n`──────────`'
    assert wording.told_lines(said) == ["Opened it.", "It is small."]


def test_what_was_left_out_on_purpose_is_not_open() -> None:
    """ "I only staged two files; the others were left out." """
    assert wording.unfinished("Pushed it. I only staged a.md; unrelated folders were left out.") == []


def test_two_scripts_that_begin_alike_are_two() -> None:
    """The second is another program: that it went well says nothing of the first."""
    bad = shell(
        "cat > /tmp/a.go <<'EOF'\npackage main\nfunc a() {}\nEOF\ngo run /tmp/a.go", "panic: nil\n", exit_status=1
    )
    good = shell("cat > /tmp/a.go <<'EOF'\npackage main\nfunc b() {}\nEOF\ngo run /tmp/a.go", "ok\n")
    summary = told(turn("Try.", bad, good))
    assert len(summary.commands) == 2 and "later" not in summary.failed[0]
    assert not summary.files


def test_the_same_test_in_another_folder_is_another_test() -> None:
    """That it passes there mends nothing here."""
    bad, good = shell("cd e2e && go test ./...", "FAIL\ta\t1s\n", exit_status=1), "ok  \tb\t1s\n"
    left = told(turn("Test.", bad, shell("cd agents/x && go test ./...", good)))
    assert left.left_open == ("`go test ./...` failed when last run in this form: 1 package failed (a)",)
    assert [one.command for one in left.tests] == ["go test ./...", "cd agents/x && go test ./..."]
    assert told(turn("Test.", bad, shell("cd /w/shop/e2e && go test ./...", good))).left_open == ()


def test_a_headline_tells_the_last_answer() -> None:
    """A review that was repeated found nothing any more."""
    first = turn("Can you review it?", shell("ls"), answer="High: the budget is far too small.")
    last = turn("Review again.", shell("ls"), answer="No findings in the branch as it is now.")
    assert told(first, last).sentence == "Codex: “No findings in the branch as it is now.”"
    assert told(first).sentence == "Codex: asked “Can you review it?”, answered “High: the budget is far too small.”"


def test_what_a_person_said_to_a_plan_is_told() -> None:
    """ "No" with a reason is what they asked for next."""
    words = "The tool use was rejected. To tell you how to proceed, the user said:\nAlso allow one agent.\n\nNote: …"
    plan_ = Call(id="p", name="ExitPlanMode", result=Result(text=words, failed=True, refused=True))
    assert told(turn("Plan it.", plan_)).failed == (
        "ExitPlanMode was refused: the person said “Also allow one agent.”",
    )


def test_work_by_commands_alone_says_whether_it_was_committed() -> None:
    """No file is listed, so no heading says it."""
    page = summary_page(told(turn("Rename it.", shell("git mv a b"), answer="Renamed.")), {})
    assert "## Commits, as git reported them\n\n- None was reported to this agent.\n" in page
    assert "## Commits" not in summary_page(told(turn("Look.", shell("ls"), answer="Seen.")), {})


def test_only_what_was_asked_is_a_turn() -> None:
    """A command of the client that a person types meanwhile parts a turn in two."""
    rest = TranscriptTurn(key="r", steps=turn("", shell("ls"), answer="Done.").steps)
    assert told(turn("Do.", shell("ls")), rest).turns == 1


def test_a_lint_that_was_mended_is_not_told_as_failing() -> None:
    """Its next run was searched for errors, and what was left of the output says that there are none."""
    bad = shell("golangci-lint run ./pay/", "pay/a.go:3:1: slow (perfsprint)\n1 issues:\n", exit_status=1)
    again = shell('mise run lint 2>&1 | grep -iE "issue|error"', "[lint:go] 0 issues.\n")
    mended = told(turn("Lint.", bad, edit("pay/a.go", added=["x"]), again))
    assert mended.left_open == () and "failed when last run" not in mended.sentence
    assert mended.failed[0].endswith('later `mise run lint 2>&1 | grep -iE "issue|error"` printed no error')
    assert told(turn("Lint.", bad, again)).left_open != ()  # nothing was mended


def test_what_was_mended_is_not_what_passes() -> None:
    """The headline would quote how it failed."""
    bad = shell("go test ./a", "--- FAIL: TestA\nFAIL\ta\t1s\n", exit_status=1)
    summary = told(turn("Test.", bad, shell("go test ./...", "ok  \ta\t1s\nok  \tb\t1s\n"), shell("go vet ./...", "")))
    assert summary.tests[0].outcome == "1 package failed (TestA) (`go test ./...` passed after it)"


def test_tests_that_are_only_built_did_not_pass() -> None:
    """`go test -c` runs none."""
    assert command_results.tests("GOOS=windows go test -c -o /tmp/a.exe ./a") is None


def test_a_refused_plan_is_named_by_its_title() -> None:
    """Its arguments begin with whatever the tool puts first."""
    given = '{"allowedPrompts": [], "plan": "# Relax access()\\n\\n## Context"}'
    plan_ = Call(id="p", name="ExitPlanMode", text=given, result=Result(text="no", failed=True, refused=True))
    assert told(turn("Plan it.", plan_)).failed == ("the plan “Relax access()” was refused",)


def test_a_sum_of_lines_that_were_cut_off_is_a_least() -> None:
    """`tail -3` shows three packages of seventeen."""
    lines = "ok  \ta\t1s\nok  \tb\t1s\nok  \tc\t1s\n"
    assert told(turn("Do.", shell("go test ./... | tail -3", lines))).tests[0].outcome == "at least 3 packages ok"
    assert told(turn("Do.", shell("go test ./... | tail -9", lines))).tests[0].outcome == "3 packages ok"


@pytest.mark.parametrize(
    ("said", "is_open"),
    [
        ("It showed the shell waiting for an answer that never came.", False),
        ("I am still waiting for the review.", True),
        ("I did not find a race; the tests pass.", False),
        ("Those two need to be fixed in the other repository.", True),
        ("Nothing is merged until you say so, as before:", False),
    ],
)
def test_an_open_matter_is_one_that_is_open_now(said: str, is_open: bool) -> None:
    """What was seen on the way is no task for the next one."""
    assert (wording.unfinished(said) != []) is is_open


def test_two_plans_that_were_refused_are_two() -> None:
    """What the person said to the first is not lost."""
    said = "the user said:\nAlso for one agent.\n\nNote: …"
    asked = [("p1", Result(text=said, failed=True, refused=True)), ("p2", Result(text="no", failed=True, refused=True))]
    plans = [Call(id=id_, name="ExitPlanMode", text='{"plan": "# Allow it"}', result=result) for id_, result in asked]
    assert told(turn("Plan it.", *plans)).failed == (
        "the plan “Allow it” was refused: the person said “Also for one agent.”",
        "the plan “Allow it” was refused",
    )


def test_tests_for_another_system_are_not_these() -> None:
    """A build for Windows whose tests nobody runs says nothing of a test that fails here."""
    bad = shell("go test ./...", "--- FAIL: TestA\nFAIL\ta\t1s\n", exit_status=1)
    other = shell("GOOS=windows go test ./...", "ok  \ta\t1s\n")
    assert told(turn("Test.", bad, other)).left_open != ()
    assert command_results.tests("go test -exec=true ./...") is None


def test_a_file_that_is_only_tried_out_is_not_written() -> None:
    """A program in a scratch folder proves something; one in a clone that is worked in is the work."""
    tried = shell("mkdir -p /tmp/try && cat > /tmp/try/main.go <<'EOF'\npackage main\nEOF\ngo build ./...", "ok\n")
    assert told(turn("Try.", tried)).files == ()
    assert len(told(turn("Try.", edit("/tmp/try/go.mod", added=["x"]), tried)).files) == 2


def test_what_ended_later_ran_once() -> None:
    """A test that went on in the background is told by how it ended."""
    first = shell("go test -race ./...", "(still running in the background)\n", exit_status=None)
    (check,) = told(
        turn("Test.", first), turn("And?", shell("go test -race ./...", "FAIL\ta\t9s\n", exit_status=1))
    ).tests
    assert check.outcome == "1 package failed (a) (turn 2 of 2)"


def test_a_check_that_could_not_start_is_not_told_as_failing_once_it_ran() -> None:
    """The tool was not on the path, or the folder was wrong; called otherwise it passes."""
    absent = shell("go test ./...", "zsh:1: command not found: go\n", exit_status=127)
    good = shell("mise exec -- go test ./...", "ok  \ta\t1s\n")
    assert told(turn("Test.", absent, good)).left_open == ()
    wrong = shell("go test ./agents/x/pay", "go: cannot find main module, but found .git/config in /w\n", exit_status=1)
    assert told(turn("Test.", wrong, shell("go test ./pay", "ok  \ta\t1s\n"))).left_open == ()
    lint = shell("env C=/tmp/c golangci-lint run", "env: golangci-lint: No such file or directory\n", exit_status=127)
    found = shell("env C=/tmp/c /opt/bin/golangci-lint run", "0 issues.\n")
    assert told(turn("Lint.", lint, found)).left_open == ()
    assert told(turn("Lint.", absent, found)).left_open != ()


def test_a_suite_whose_output_goes_nowhere_is_the_whole_suite() -> None:
    """What it writes to is no place that it tests."""
    bad = shell("cd /w/shop\ngo test ./... | grep -E '^FAIL'", "FAIL\ta\t1s\n")
    good = shell("cd /w/shop\ngo test ./... >/dev/null 2>&1; echo $?\ngo test ./a 2>&1", "0\nok  \ta\t1s\n")
    assert told(turn("Test.", bad, edit("a.go", added=["x"]), good)).left_open == ()


def test_a_commit_that_was_made_after_all_is_neither_open_nor_failing() -> None:
    """A key had to be unlocked first."""
    first = turn(
        "Commit.",
        shell("git add -A && git commit -m a", "fatal: no key\n", exit_status=128),
        answer="Unlock it; I'll re-run the commit once you have to.",
    )
    last = told(
        first, turn("Go ahead.", shell("git commit -m a", "[main 1234567] a\n 1 file changed\n"), answer="Committed.")
    )
    assert last.left_open == () and last.failed == ()  # it was mended at once


def test_a_call_that_was_never_made_is_no_run_of_a_test() -> None:
    """Codex refuses arguments that it cannot read; nor is a run without tests one that passes."""
    never = shell("go test ./a", "failed to parse function arguments: duplicate field\n", exit_status=None)
    (check,) = told(turn("Test.", never, shell("go test ./a", "ok  \ta\t0.3s [no tests to run]\n"))).tests
    assert check.outcome == "no tests ran"


def test_what_another_way_would_do_is_not_open() -> None:
    """It gives the reason for a decision."""
    assert wording.unfinished("I skipped that because it would still miss some cases.") == []


def test_a_deleted_file_was_not_edited_and_a_refused_call_did_not_fail() -> None:
    """The page told both so."""
    refused = Call(id="r", name="shell", command="make lint", kind="shell", result=Result(refused=True))
    bad = shell("make x", "no rule\n", exit_status=2)
    page = summary_page(told(turn("Drop it.", refused, bad, edit("old.yml", removed=["x"], action="delete"))), {})
    rows = ["`make lint` was refused", "`make x` failed: it printed “no rule”; then changed `old.yml`"]
    assert page.endswith("## Failed or refused\n\n" + "".join(f"- {row}\n" for row in rows))


def test_a_question_that_nobody_answered_is_told_as_what_came_back() -> None:
    """ "No response" stood under the answers of the person."""
    ask = Call(id="q", name="AskUserQuestion", kind="ask", result=Result(text="No response after 60s."))
    page = summary_page(told(turn("Build it.", ask)), {})
    assert "## Asked by the agent, and what came back\n\n- No response after 60s.\n" in page


def test_what_a_cause_mentions_is_not_open() -> None:
    """A sentence says that something is not done only of itself, and at the end of an answer."""
    cause = "When it then looked for uncommitted changes, the tree was clean."
    assert wording.unfinished(f"Everything passes.\n\n{cause}\n\nThe folder is left out now.") == []
    assert wording.unfinished("Mended. The change is uncommitted on `next`.") != []
    early = "Done.\n\nThe cache was not updated by the old code.\n\n" + "\n\n".join(
        f"Part {n} is in." for n in range(6)
    )
    assert wording.unfinished(early) == []


def test_a_scratch_file_of_one_command_is_neither_written_nor_deleted() -> None:
    """It is made by a here-document, looked at and removed."""
    line = "cat > docs/_tmp.md << 'EOF'\nA sentence.\nEOF\nvale docs/_tmp.md; rm docs/_tmp.md"
    summary = told(turn("Check the words.", edit("a.py", added=["x"]), shell(line, "0 errors")))
    assert "1 file written" in summary.sentence and "deleted" not in summary.sentence


PUSHED = "[main 834dfcf] Return two\n 1 file changed\nfatal: Could not read from remote repository.\n"


@pytest.mark.parametrize(
    "line", ["git add -A && git commit -m 'Return two' && git push", "git commit -am 'Return two'; git push"]
)
def test_a_commit_that_git_reports_counts_though_the_line_failed_after_it(line: str) -> None:
    """The push failed; the page said that no commit was seen, and somebody commits it again."""
    summary = told(
        turn("Push it.", edit("x.py", added=["2"]), shell(line, PUSHED, exit_status=128), answer="Rejected.")
    )
    assert summary.commits == ("834dfcf Return two (on main)",)
    assert summary.sentence.startswith("Codex: committed “Return two” — 1 file written, 1 commit reported")
    (failed,) = summary.failed
    assert failed.endswith("failed: it printed “fatal: Could not read from remote repository.”, git reported a commit")
    (left,) = summary.left_open
    assert left.endswith(
        "failed in turn 1 after git reported a commit: it printed “fatal: Could not read from remote repository.”"
    )


def test_a_push_that_went_well_later_is_not_open() -> None:
    """It failed for want of a network."""
    first = shell("git commit -m 'Return two' && git push", PUSHED, exit_status=128)
    summary = told(turn("Push it.", first, shell("git push", "main -> main\n"), answer="Pushed."))
    assert summary.left_open == () and summary.commits == ("834dfcf Return two (on main)",)


def test_a_commit_that_failed_is_not_told_by_what_the_log_shows() -> None:
    """The log shows the commit before, with the same words."""
    line = "git commit -qm 'Return two.'; git log --oneline -1; exit 1"
    summary = told(turn("Commit.", edit("x.py", added=["2"]), shell(line, "1234567 Return two.\n", exit_status=1)))
    assert summary.commits == () and "commit" not in summary.sentence


def test_two_commits_that_failed_in_different_ways_are_two() -> None:
    """The first was made in a wrong folder, the second was kept back by a hook."""
    first = shell("cd /tmp && git commit -m 'x'", "fatal: not a git repository\n", exit_status=128)
    second = shell("git commit -am 'In place'", "error: line too long\n", exit_status=1)
    failed = told(turn("Commit.", first, second)).failed
    assert failed == (
        "`git commit -m 'x'` failed: it printed “fatal: not a git repository”",
        "`git commit -am 'In place'` failed: it printed “error: line too long”",
    )
    made = told(turn("Commit.", first, first, second, shell("git commit -m y", "[main 1234567] y\n"))).failed
    how = "failed more than once, the last time: it printed “fatal: not a git repository”; a commit was made later"
    assert made == (f"`git commit -m 'x'` {how}",)


CLEAN = "All checks passed!\n12 passed in 0.3s\n"


@pytest.mark.parametrize(
    ("line", "output", "is_open"),
    [
        ("ruff check . && pytest -q", CLEAN, False),
        ("cd /w/shop && ruff check . && mypy . && pytest -q", CLEAN, False),
        ("ruff check . || pytest -q", CLEAN, True),
        ("ruff check .; pytest -q", "12 passed in 0.3s\n", True),
        ("ruff check . && pytest -q | tail -3", "12 passed in 0.3s\n", True),
        ("ruff check . && pytest -q &", "", True),
        ("trap 'exit 0' EXIT\nruff check . && pytest -q", "12 passed in 0.3s\n", True),
        ("ruff check src/pay.py && pytest -q", CLEAN, True),
        ("mypy . && pytest -q", "12 passed in 0.3s\n", True),
    ],
)
def test_a_line_that_ends_well_counts_for_each_of_its_checks(line: str, output: str, is_open: bool) -> None:
    """`A && B` ends without an error only if both did; of any other line nobody knows."""
    first = shell("ruff check .", "app/x.py:1:1: F401 unused\nFound 1 error.\n", exit_status=1)
    summary = told(turn("Mend it.", first, edit("src/pay.py", added=["x"]), shell(line, output)))
    assert any(one.startswith("`ruff check .` failed") for one in summary.left_open) is is_open
    told_at = [one for one in summary.failed if one.startswith("`ruff check .` failed")]
    assert ("later" in told_at[0]) is not is_open


def test_a_chain_that_fails_mends_nothing() -> None:
    """Its first part may have failed again."""
    first = shell("ruff check .", "Found 1 error.\n", exit_status=1)
    again = shell("ruff check . && pytest -q", "E   assert 2\n1 failed in 0.1s\n", exit_status=1)
    left = told(turn("Mend it.", first, edit("a.py", added=["x"]), again)).left_open
    assert left[0].startswith("`ruff check .` failed when last run in this form")


def _made(subject: str, oid: str = "c0fc93c", branch: str = "main") -> Call:
    return shell(f"git commit -am '{subject}'", f"[{branch} {oid}] {subject}\n 1 file changed\n")


BACK = "HEAD is now at 7ce57c5 Initial\n"


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("git reset --hard HEAD~1", BACK),
        ("git reset --soft HEAD~1 && git status --short --branch", "## main\n"),
        ("git reset HEAD^", "Unstaged changes after reset:\n"),
        ("cd /w/shop && git reset -q --hard @~", ""),
        ("git revert --no-edit HEAD", '[main 1234567] Revert "Return two"\n 1 file changed\n'),
    ],
)
def test_a_commit_that_was_taken_back_is_no_headline(line: str, output: str) -> None:
    """Somebody who goes on looks for a commit that is gone."""
    summary = told(
        turn("Change it.", edit("x.py", added=["2"]), _made("Return two"), answer="Committed."),
        turn("Undo that commit.", shell(line, output), answer="The commit is gone."),
    )
    assert "“Return two”" not in summary.sentence and "reported (1 taken back)" in summary.sentence
    assert summary.commits[0] == "c0fc93c Return two (on main), taken back in turn 2"


def test_only_the_commits_that_a_reset_goes_over_are_taken_back() -> None:
    """The others stand."""
    calls = _made("Return two", "c0fc931"), _made("Return three", "c0fc932"), _made("Return four", "c0fc933")
    summary = told(turn("Go.", *calls, shell("git reset --hard HEAD~2", BACK)))
    assert summary.sentence.startswith("Codex: committed “Return two” — ")
    assert "3 commits reported (2 taken back)" in summary.sentence
    to_one = told(turn("Go.", *calls, shell("git reset --hard c0fc932", "HEAD is now at c0fc932 Return three\n")))
    assert [", taken back" in one for one in to_one.commits] == [False, False, True]


@pytest.mark.parametrize(
    "calls",
    [
        [shell("git reset HEAD~1 -- x.py", "")],  # only a file
        [shell("git reset --hard HEAD", BACK)],
        [shell("git reset --hard HEAD~1", "fatal: ambiguous argument\n", exit_status=128)],
        [shell("git commit -qm 'Return three'"), shell("git reset --hard HEAD~1", BACK)],  # of which git said nothing
        [shell("git switch -c next", "Switched to a new branch 'next'\n"), shell("git reset --hard HEAD~1", BACK)],
        [shell("git merge next", "Merge made by the 'ort' strategy.\n"), shell("git reset --hard HEAD~1", BACK)],
        [shell("echo 'git reset --hard HEAD~1'", "git reset --hard HEAD~1\n")],
        [shell("cd /w/other && git commit -am z", "[main c0fc9aa] z\n"), shell("cd /w/other && git reset HEAD~1")],
        [shell("git reset --hard origin/main", BACK)],  # what that takes back nobody knows
    ],
)
def test_a_commit_that_may_stand_is_not_told_as_taken_back(calls: list[Call]) -> None:
    """Another one was, or none."""
    summary = told(turn("Go.", _made("Return two"), *calls))
    assert summary.commits[0] == "c0fc93c Return two (on main)" and "committed “Return two”" in summary.sentence


@pytest.mark.parametrize(
    "begins",
    [
        "You're right, the index exists. The real cause is the N+1 query.",
        "Agreed. The index is there.",
        "I agree: the index is not the cause.",
        "Fair points. The index is there.",
        "Good catch — the schema has an index.",
        "Understood. I'll look at the query instead.",
        "Ah, you are absolutely right! There is one.",
    ],
)
def test_what_the_next_turn_gives_up_is_marked(begins: str) -> None:
    """The wrong cause stood under what was done, without a word."""
    first = turn("Why is it slow?", answer="The cause is the missing index on `orders`.")
    done = told(first, turn("There is an index.", answer=begins), turn("Ok.", answer="It is fast.")).done
    assert done[0].startswith("Turn 1: (The next turn begins: “") and done[0].endswith("missing index on `orders`.")
    assert done[0].split("“")[1].split("”")[0] in begins


@pytest.mark.parametrize(
    ("says", "marked"),
    [
        ("Reverted `schema.ts` back to its original state.", [True, False]),
        ("`schema.ts` is now back to its original state, and the document says so.", [True, False]),
        ("I've reverted the change of the log.", [False, True]),  # it names nothing: the turn before
        ("The document says how a commit can be reverted.", [False, False]),
        ("Nothing was reverted.", [False, False]),
    ],
)
def test_what_a_later_turn_reverts_is_marked(says: str, marked: list[bool]) -> None:
    """A table that was taken out again is told as added."""
    first = turn("Add the table.", edit("schema.ts", added=["x"]), answer="Added the table to `schema.ts`.")
    second = turn("And a log.", edit("log.ts", added=["x"]), answer="`log.ts` writes a line for each call now.")
    last = turn("Go.", edit("schema.ts", removed=["x"]), answer=says)
    done = told(first, second, last).done
    assert [f"(Turn 3 says: “{says}”) " in one for one in done[:2]] == marked


def test_a_mark_stands_where_it_is_true() -> None:
    """ "The next turn" is the next one, and a report of what was reverted is not reverted."""
    first, nothing = turn("Is it safe?", answer="It is safe."), turn("Look.", shell("ls"))
    done = told(first, nothing, turn("And now?", answer="Agreed. It is not."), turn("Ok.", answer="Bye for now.")).done
    assert done[0] == "Turn 1: It is safe."
    back = turn("Put it back.", edit("a.ts", removed=["x"]), answer="Reverted `a.ts` to what it was.")
    again = turn("Commit.", answer="Committed.\n\n- Reverted `a.ts` to what it was before.")
    assert told(back, again).done[0] == "Turn 1: Reverted `a.ts` to what it was."


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("`rate()` is unchanged.\n\nNext: update the checkout form.", ["update the checkout form."]),
        (
            "To finish, someone has to (1) install pytest, (2) set REDIS_URL, (3) migrate the db.",
            ["To finish, someone has to (1) install pytest, (2) set REDIS_URL, (3) migrate the db."],
        ),
        ("Everything passes, nothing left to do. CI is green.", []),
        ("Nothing is left to do and no test is still failing.", []),
        (
            "Nothing is left to do here, but you need to run the migration.",
            ["Nothing is left to do here, but you need to run the migration."],
        ),
    ],
)
def test_what_an_answer_leaves_to_others_is_open(answer: str, left: list[str]) -> None:
    """The next one must know it, and is not sent after what is done."""
    assert wording.unfinished(answer) == left
    summary = told(turn("Do it.", edit("a.py", added=["x"]), answer=answer))
    assert [one for one in summary.done if one in ("Next: update the checkout form.",)] == []
    assert len(summary.left_open) == len(left)


OPTIONS = """Push failed because of branch rules.

Options:
1. Allow force-push for `main`, then I can push.
2. Add a `.mailmap` as a normal commit.
3. Leave history as-is.

Also note: the worktree has an unrelated file.
"""


def test_options_and_questions_at_the_end_are_told_as_asked() -> None:
    """The agent waits for a choice, and the page said that nothing is open."""
    summary = told(turn("Change the author.", shell("git push -f", "", exit_status=1), answer=OPTIONS))
    choice = (
        "Allow force-push for `main`, then I can push.",
        "Add a `.mailmap` as a normal commit.",
        "Leave history as-is.",
    )
    asked = f"Options: {' / '.join(choice)}"
    assert summary.left_open == (f"The agent asked (no answer was seen): “{asked}”",)
    assert asked not in summary.done and "Leave history as-is." not in summary.done
    answered = told(turn("Change it.", answer=OPTIONS), turn("The second.", edit(".mailmap"), answer="Added."))
    assert answered.left_open == ()
    question = told(turn("Do.", answer="It is in.\n\nShould I also delete the old table?")).left_open
    assert question == ("The agent asked (no answer was seen): “Should I also delete the old table?”",)
    listed = "The flag has these options:\n\n- `a`\n- `b`\n\nIt is documented now."
    assert told(turn("Document it.", answer=listed)).left_open == ()


def test_the_log_of_a_command_is_no_file_of_the_work() -> None:
    """What ran before it was told as outdated, and the log as written."""
    first, logged = shell("pytest -q", "12 passed in 0.3s\n"), shell("go test ./... | tee log", "ok  \tpkg/a\t0.1s\n")
    summary = told(turn("Test.", edit("a.py", added=["x"]), first, logged))
    assert [one.path for one in summary.files] == ["a.py"]
    assert summary.tests[0].outcome == "12 passed"
    for writes in ("echo x=1 | tee conf", "tee conf <<'EOF'\nx=1\nEOF", "cat a b | sudo tee conf"):
        assert [one.path for one in told(turn("Set it.", shell(writes))).files] == ["conf"]


def test_a_file_at_home_is_outside() -> None:
    """It was told as a file of the repository, below the folder that the agent stood in."""
    summary = told(turn("Try it.", edit("a.py", added=["x"]), shell("echo hello > ~/CipherBox/testfile.txt")))
    assert [one.path for one in summary.files] == ["a.py"]
    written = told(turn("Note it.", edit("~/notes.md", added=["x"]))).files
    assert [one.path for one in written] == ["~/notes.md"]
    assert "1 file written, 1 elsewhere" in told(turn("Do.", edit("a.py"), edit("~/notes.md"), answer="Ok.")).sentence
    assert [one.path for one in told(turn("Do.", edit("~$draft.md"))).files] == ["~$draft.md"]


def test_of_a_line_that_printed_nothing_nothing_is_quoted() -> None:
    """It ended with a status alone."""
    (check,) = told(turn("Test.", shell("make test 2>&1 | grep -i fail", "", exit_status=1))).tests
    assert check.outcome == "the whole line ended with exit code 1"


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("rm -rf mcp", "removed later"),
        ("rm -rf /w/shop/mcp/", "removed later"),
        ("git rm -rq 'mcp' && git status", "removed later"),
        ("rm mcp/a.ts", "removed later"),
        ("git mv mcp server", "moved later"),
    ],
)
def test_a_file_that_was_removed_later_is_told_so_and_last(line: str, note: str) -> None:
    """A reader looks for files that the session threw away."""
    summary = told(
        turn("Build it.", edit("mcp/a.ts", added=["x"] * 90, action="add"), answer="Built."),
        turn("In Python!", shell(line), edit("mcp.py", added=["x"], action="add"), answer="Built in Python."),
    )
    assert [one.path for one in summary.files] == ["mcp.py", "mcp/a.ts"]
    assert f"- `mcp/a.ts` (new, {note}, +90 −0)\n" in summary_page(summary, {})
    assert ("2 files written (1 removed later)" in summary.sentence) is (note == "removed later")


@pytest.mark.parametrize(
    "calls",
    [
        [shell("rm -rf mcp", "rm: cannot remove 'mcp': busy\n", exit_status=1)],
        [shell("git rm -r --cached mcp")],  # only git forgets it
        [shell("rm -rf mcp2 m")],
        [shell("cd /w/other && rm -rf mcp")],
        [shell("rm -rf mcp"), edit("mcp/a.ts", added=["x"])],  # and written again
        [shell("mv server mcp")],
    ],
)
def test_a_file_that_may_be_there_is_not_told_as_removed(calls: list[Call]) -> None:
    """It was seen to be written, and nothing more."""
    first = turn("Build it.", edit("mcp/a.ts", added=["x"], action="add"), answer="Built.")
    (file,) = told(first, turn("Go on.", *calls)).files
    assert (file.path, file.action, file.gone) == ("mcp/a.ts", "add", "")


def test_a_removed_file_is_not_told_as_written_after_the_last_commit() -> None:
    """Nothing of it is left to commit."""
    made = shell("git commit -m x", "[main 1234567] x\n")
    first = turn("Go.", made, edit("mcp/a.ts", added=["x"], action="add"), answer="Built.")
    assert told(first, turn("Drop it.", shell("rm -rf mcp"), answer="Gone.")).left_open == ()


PLAN = (
    "Implement the following plan:\n\n# Plan: Array Fix, Mapping Clear\n\n## Context\n\nThree changes are needed: …\n"
)
ITEMS = "\n\n- **`types.ts`** — Added `rawValue?: unknown` to `TreeNode`\n- **`tree.ts`** — Updated `walk`\n"


@pytest.mark.parametrize(
    ("prompt", "answer", "headline"),
    [
        (
            PLAN,
            f"All 52 tests pass.\n\n### 1. Array Representation Fix (types and nesting){ITEMS}",
            "asked “Plan: Array Fix, Mapping Clear”",
        ),
        (
            PLAN,
            f"Everything looks clean. Here's a summary of all changes made:{ITEMS}",
            "asked “Plan: Array Fix, Mapping Clear”",
        ),
        (
            PLAN,
            f"Arrays keep their types now, and a node can be cleared.{ITEMS}",
            "“Arrays keep their types now, and a node can be cleared.”",
        ),
        ("Go.", f"The tree shows arrays once.{ITEMS}", "“The tree shows arrays once.”"),
        (
            "Go.",
            f"All 52 tests pass.{ITEMS}",
            "“`types.ts` — Added `rawValue?: unknown` to `TreeNode`. `tree.ts` — Updated `walk`.”",
        ),
    ],
)
def test_a_headline_is_no_item_of_a_list_if_there_is_a_better_one(prompt: str, answer: str, headline: str) -> None:
    """One of nine changes stood for all of them."""
    summary = told(turn(prompt, edit("types.ts", added=["x"]), answer=answer))
    assert summary.sentence == f"Codex: {headline} — 1 file written"


@pytest.mark.parametrize("subject", ['Revert "Revert "Return two""', 'Reapply "Return two"'])
def test_a_commit_that_is_brought_back_is_not_told_as_taken_back(subject: str) -> None:
    """It is there again."""
    back = shell("git revert --no-edit HEAD", '[main 1234567] Revert "Return two"\n')
    summary = told(
        turn("Go.", _made("Return two"), back, shell("git revert --no-edit HEAD", f"[main 1234568] {subject}\n"))
    )
    assert summary.commits[0] == "c0fc93c Return two (on main)"


def test_one_linter_does_not_speak_for_another() -> None:
    """`mypy` finds no error; what `ruff` found may be there."""
    first = shell("ruff check .", "Found 1 error.\n", exit_status=1)
    other = shell("mypy .", "Success: no issues found in 3 source files\n")
    summary = told(turn("Mend it.", first, edit("a.py", added=["x"]), other))
    assert summary.left_open == (
        "`ruff check .` failed when last run in this form (files were written after it): 1 error found",
    )


def test_a_line_of_signs_is_read_in_time() -> None:
    """A prompt of a few thousand signs kept an import busy for minutes: the work was the square of a line's length."""
    assert summary_wording.told_lines("<" * 6_000 + "\nThe page is kept.") == ["The page is kept."]
    assert summary_wording.told_lines("★ Insight ─────────\nThe page is kept.\n─────────") == ["The page is kept."]
