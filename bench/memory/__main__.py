"""Print how good proposals are: python -m bench.memory FOLDER [--show]

Four ways beside each other: Holdfast as it is, Holdfast with weights that saw no session of the same project, and two
simple baselines: sentences with cue words, and the bullets of closing messages. Then what candidates say of themselves
against how many were right. `--show` prints every candidate.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from bench.memory.fit import Weighed, held_out, weighed
from bench.memory.labelled import LabelledSession, judged_sessions, labelled_sessions
from holdfast.curation.extraction import find_claims, session_claims
from holdfast.model.utterance import ExtractedMemory, TriedCommand, Utterance

FIRST = 3  # a person reads the first ones for sure
_HEAD = f"{'':34} sessions  proposed  right  of the first 3  found  of importance 3  length"


def judged(session: LabelledSession, texts: Sequence[str]) -> Counter[str]:
    """What came of a session's candidates, the surest first."""
    counts: Counter[str] = Counter(sessions=1, items=len(session.items), proposed=len(texts))
    counts["top items"] = sum(item["importance"] == 3 for item in session.items)
    left = list(session.items)
    for place, text in enumerate(texts):
        new = [item for item in session.found_in(text) if item in left]
        left = [item for item in left if item not in new]
        counts["first"] += place < FIRST
        counts["right"] += bool(new)
        counts["right of first"] += place < FIRST and bool(new)
        counts["found"] += len(new)
        counts["top found"] += sum(item["importance"] == 3 for item in new)
        counts["length"] += len(text)
    return counts


def row(name: str, counts: Counter[str]) -> str:
    def share(part: str, whole: str) -> str:
        return f"{counts[part] / counts[whole]:.2f}" if counts[whole] else "-"

    length = counts["length"] // max(1, counts["proposed"])
    return (
        f"{name:34} {counts['sessions']:8}  {counts['proposed']:8}  {share('right', 'proposed'):>5}"
        f"  {share('right of first', 'first'):>14}  {share('found', 'items'):>5}"
        f"  {share('top found', 'top items'):>15}  {length:6}"
    )


def as_it_is(session: LabelledSession) -> list[str]:
    return [_text(one) for one in find_claims(session.heard)]


def cue_words(session: LabelledSession) -> list[str]:
    """What the rules for explicit words find alone."""
    plain = [one if isinstance(one, TriedCommand) else Utterance(one.who, one.text, one.turn) for one in session.heard]
    return [_text(one) for one in find_claims(plain)]


def closing_bullets(session: LabelledSession) -> list[str]:
    """The first items of the last closing messages."""
    said = [one.text for one in session.heard if isinstance(one, Utterance) and one.source == "closing"]
    lines = [line.strip() for text in reversed(said) for line in text.splitlines()]
    return [line.lstrip("-*0123456789. ") for line in lines if line.startswith(("- ", "* ", "1."))][:10]


def _text(one: ExtractedMemory) -> str:
    return f"{one.statement} {one.why} {one.details}"


def main() -> None:
    folder, show = Path(sys.argv[1]), "--show" in sys.argv
    sessions = list(labelled_sessions(folder))
    some = [weighed(session) for session in [*sessions, *judged_sessions(folder)]]
    unseen = {id(one.session): scores for one, scores in zip(some, held_out(some), strict=True)}
    of: dict[int, Weighed] = {id(one.session): one for one in some}

    def held(session: LabelledSession) -> list[str]:
        return [_text(claim) for claim in claims(session)]

    def claims(session: LabelledSession) -> list[ExtractedMemory]:
        kept, over = unseen[id(session)]
        return [claim for _, claim in session_claims.chosen_claims(of[id(session)].words, kept, over.__getitem__)]

    ways = {"cue words": cue_words, "closing bullets": closing_bullets, "held out": held, "as it is": as_it_is}
    print(_HEAD)
    for name, way in ways.items():
        for part in ("all", *sorted({session.of for session in sessions})):
            chosen = [session for session in sessions if part in ("all", session.of)]
            print(row(f"{name}, {part}", sum((judged(one, way(one)) for one in chosen), Counter())))
    print("\nconfidence, held out:   proposed  right")
    sure: list[tuple[float, bool]] = []
    for session in sessions:
        left = list(session.items)
        for claim in claims(session):
            new = [item for item in session.found_in(_text(claim)) if item in left]
            left = [item for item in left if item not in new]
            sure.append((round(claim.confidence, 1), bool(new)))
    for said in sorted({confidence for confidence, _ in sure}, reverse=True):
        right = [is_right for confidence, is_right in sure if confidence == said]
        print(f"{said:>20.2f}  {len(right):10}  {sum(right) / len(right):5.2f}")
    for session in sessions if show else ():
        print(f"\n{session.name}")
        for text in held(session):
            print(f"  {'right' if session.found_in(text) else '-':5} {' '.join(text.split())[:300]}")


if __name__ == "__main__":
    main()
