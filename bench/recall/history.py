"""A made-up project whose past has to be followed: decisions, tasks, runs, commits, files, and what broke.

Each story is a chain: a decision, the task that came of it, the run that worked on it, the commit it ended
in and what broke by it. Every link is written as people and tools write it (a trailer, evidence, a task's
parent, "since 1a2b3c4d5"), some are missing, and stories share components, words and files. Questions name
one end and ask for the other; plain ones, which name what they ask for, show whether something is harmed.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from bench.recall.loading import LoadedDocument

COMPONENTS = (
    "pool", "parser", "scheduler", "cache", "router", "exporter", "importer", "ledger", "mailer", "sampler",
    "throttle", "planner", "spooler", "renderer", "verifier", "archiver", "balancer", "collector", "resolver",
    "watcher", "tokenizer", "migrator", "notifier", "loader",
)  # fmt: skip
THINGS = (
    "idle sockets", "expired tokens", "partial writes", "stale entries", "late events", "open handles",
    "large payloads", "failed jobs", "empty batches", "duplicate keys", "unknown headers", "old snapshots",
    "nested locks", "slow clients", "broken pipes", "mixed encodings",
)  # fmt: skip
RULES = (
    ("close {} after ninety seconds", "they starve everybody else"),
    ("retry {} only once", "the second try has never helped"),
    ("keep {} out of memory", "a small machine has to bear it"),
    ("refuse {} at the door", "whoever sends them should know"),
    ("count {} instead of logging them", "nobody reads that log"),
    ("move {} to a table of their own", "queries got slow"),
    ("hold {} back until the end", "their order matters"),
    ("drop {} without a word", "they tell nothing"),
)
WORKS = ("Rework", "Introduce", "Split", "Simplify", "Replace", "Tighten", "Untangle", "Unify")
PIECES = ("backoff", "cursor", "budget", "window", "registry", "sentinel", "journal", "fence", "digest", "lease")
DID = ("Made {1} of the {0} explicit", "Gave the {0} its own {1}", "Reworked {1} handling in {0}", "Taught {0} a {1}")
FAILS = ("times out", "hangs", "returns nothing", "counts twice", "leaks memory", "loses the last line")
ERRORS = ("TimeoutError", "KeyError", "ValueError", "BrokenPipeError", "LookupError", "OverflowError")
NOTES = ("looked at the {0} again, nothing new", "the {0} runs on the new machine", "asked about {1} of the {0}")
HEX = "0123456789abcdef"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the names of what answers it, and of which sort it is."""

    text: str
    gold: frozenset[str]
    sort: str


@dataclass(frozen=True, slots=True)
class Story:
    """The names along one chain, and the words its ends are known by."""

    decision: str
    task: str
    run: str
    commit: str
    incident: str
    component: str
    rule: str
    work: str
    subject: str
    test: str
    path: str


@dataclass(frozen=True, slots=True)
class History:
    """What was recorded, what git holds, and what is asked about both."""

    recorded: tuple[LoadedDocument, ...]
    committed: tuple[LoadedDocument, ...]
    questions: tuple[Question, ...]


def history(stories: int, *, seed: int) -> History:
    """So many stories, and the questions about them; the same for the same seed."""
    chance = random.Random(seed)
    told = [_story(chance, place) for place in range(stories)]
    recorded = [document for place, story in enumerate(told) for document in _recorded(story, place, chance)]
    committed = [_commit(story, place, chance) for place, story in enumerate(told)]
    fixes = [_fix(story, place, chance) for place, story in enumerate(told) if place % 2]
    questions = [question for story in told for question in _questions(story)]
    return History(tuple(recorded), tuple(committed + fixes), tuple(questions))


def _story(chance: random.Random, place: int) -> Story:
    component, thing, piece = chance.choice(COMPONENTS), chance.choice(THINGS), chance.choice(PIECES)
    rule = chance.choice(RULES)[0].format(f"{thing} of the {component}")
    other = chance.choice(COMPONENTS)
    fails = chance.choice(FAILS).replace(" ", "_")
    return Story(
        decision=f"DEC-{_token(chance)}",
        task=f"TSK-{_token(chance)}",
        run=f"202611{1 + place % 28:02d}T{place % 24:02d}{place % 60:02d}00Z-{_token(chance)}",
        commit="".join(chance.choice(HEX) for _ in range(40)),
        incident=f"FCT-{_token(chance)}",
        component=component,
        rule=rule,
        work=f"{chance.choice(WORKS)} the {piece} in the {component}",
        subject=chance.choice(DID).format(component, piece),
        test=f"test_{other}_{fails}_{place % 97}",
        path=f"src/{component}/{piece}_{place % 7}.py",
    )


def _token(chance: random.Random) -> str:
    return "".join(chance.choice("abcdefghjkmnpqrstvwxyz0123456789") for _ in range(5))


def _recorded(story: Story, place: int, chance: random.Random) -> Iterator[LoadedDocument]:
    reason = chance.choice(RULES)[1]
    by_task = chance.random() < 0.8  # else only the decision's evidence ties it to the work
    evidence = f"commit:{story.commit}" if not by_task or chance.random() < 0.4 else ""
    yield LoadedDocument(
        name=story.decision,
        kind="decision",
        title=f"We {story.rule}",
        text=f"We {story.rule}: {reason}.",
        context=evidence,
    )
    yield LoadedDocument(
        name=story.task,
        kind="task",
        title=story.work,
        text=f"{story.work}\nDone when the tests of the {story.component} pass.",
        context=story.decision if by_task else "",
    )
    yield LoadedDocument(
        name=story.run,
        kind="run",
        title=f"Worked on {story.task}",
        text=f"{story.work}. All checks pass.",
        context=f"{story.task} {story.commit}",
        ts=_moment(place),
        paths=(story.path,),
    )
    error, fails = chance.choice(ERRORS), chance.choice(FAILS)
    yield LoadedDocument(
        name=story.incident,
        kind="fact",
        title=f"{story.test} fails with {error} since {story.commit[:9]}",
        text=f"{story.test} fails with {error} since {story.commit[:9]}: it {fails} on the second call.",
    )
    note = chance.choice(NOTES).format(story.component, chance.choice(THINGS))
    yield LoadedDocument(name=f"note-{place}", kind="event", title=note, text=note, ts=_moment(place, 30))


def _commit(story: Story, place: int, chance: random.Random) -> LoadedDocument:
    trailers = [f"Holdfast-Run: {story.run}"] + [f"Task: {story.task}"] * (chance.random() < 0.5)
    shared = f"src/{story.component}/__init__.py"
    return LoadedDocument(
        name=story.commit,
        kind="commit",
        title=story.subject,
        text="",
        context="\n".join(["Ada Fisher", *trailers]),
        ts=_moment(place, 40),
        paths=(story.path, shared),
    )


def _fix(story: Story, place: int, chance: random.Random) -> LoadedDocument:
    return LoadedDocument(
        name="".join(chance.choice(HEX) for _ in range(40)),
        kind="commit",
        title=f"Fixed {story.test}",
        text=f"Regression in {story.commit}.",
        context="Ada Fisher",
        ts=_moment(place, 50),
        paths=(f"tests/{story.test}.py",),
    )


def _moment(place: int, minute: int = 0) -> str:
    day = f"2026-{1 + place // 672 % 12:02d}-{1 + place // 24 % 28:02d}"
    return f"{day}T{place % 24:02d}:{minute:02d}:00.{place:06d}Z"


def _questions(story: Story) -> Iterator[Question]:
    """What names one end and asks for another, then what names what it asks for."""
    decision, task, commit = (frozenset((story.decision,)), frozenset((story.task,)), frozenset((story.commit,)))
    incident = frozenset((story.incident,))
    yield Question(f"Which decision led to the change that broke {story.test}?", decision, "broke → decision")
    yield Question(f"Which task was behind the commit that broke {story.test}?", task, "broke → task")
    yield Question(f"Which commit broke {story.test}?", commit, "broke → commit")
    yield Question(f"What broke by the work on {story.task}?", incident, "task → broke")
    yield Question(f"Which commit came of {story.decision}?", commit, "decision → commit")
    yield Question(f"why do we {story.rule}?", decision, "plain: decision")
    yield Question(f"{story.work}", task, "plain: task")
    yield Question(f"{story.test} fails, is that known?", incident, "plain: broke")
