"""When things happened, as far as a transcript can be believed.

Nobody wrote of a moment that had not come when the file was last written, or has not come now: a clock was
wrong. Such a time is none. What has no time is as old as its file, and no log of git is asked about it.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from holdfast.capture.ingest.anchoring import moment
from holdfast.model.event import timestamp
from holdfast.model.transcript import Origin, Turn
from holdfast.values import replace

_LATE = timedelta(seconds=2)  # a file's time may be cut to its seconds, and written a little later


def latest(mtime: int, now: datetime) -> str:
    """The last moment that a transcript can tell of: `mtime` is its own, in nanoseconds."""
    try:
        return timestamp(min(datetime.fromtimestamp(mtime / 1e9, UTC), now))
    except (ValueError, OverflowError, OSError):
        return timestamp(now)


def believed(turns: Iterable[Turn], until: str) -> Iterator[Turn]:
    """Turns without the times that cannot be true."""
    end = _end(until)
    for turn in turns:
        times = (turn.ts, *(step.ts for step in turn.steps))
        if all(_before(ts, end) == ts for ts in times):
            yield turn
        else:
            steps = tuple(replace(step, ts=_before(step.ts, end)) for step in turn.steps)
            yield replace(turn, ts=_before(turn.ts, end), steps=steps)


def started(origin: Origin, until: str) -> Origin:
    """A session's origin, without the time of its beginning if that cannot be true."""
    return replace(origin, started=_before(origin.started, _end(until)))


def _end(until: str) -> str:
    return timestamp(datetime.fromisoformat(until) + _LATE)


def _before(ts: str | None, end: str) -> str | None:
    known = moment(ts)
    return None if known is not None and known > end else ts


def began(turn: Turn, origin: Origin) -> str | None:
    """When a turn began, as far as the transcript tells."""
    steps = (moment(step.ts) for step in turn.steps)
    return moment(turn.ts) or next(filter(None, steps), None) or moment(origin.started)
