"""What failed in a run: each failure with its reason, what was tried next, and whether it passed later."""

from holdfast.model.summary.wording import code, cut
from holdfast.values import field, mutable

MOST = 40  # failures that are kept; of more the first few and the newest
_FIRST = 10
_TRIED = 2


@mutable
class Failure:
    """One thing that failed."""

    key: str
    what: str  # how it is named in a line
    why: str
    turn: int
    tried: list[str] = field(default_factory=list)  # after it
    between: list[str] = field(default_factory=list)  # before it failed once more
    settled: bool = False
    times: int = 1

    @property
    def line(self) -> str:
        """The failure in one line."""
        often = f" {self.times} times" if self.times > 1 else ""
        why = f": {self.why}" if self.why else ""
        again = f"; between that {', '.join(self.between[-_TRIED:])}" if self.between else ""
        next_ = f"; then {', '.join(self.tried)}" if self.tried else ""
        end = "; it passed later" if self.settled else ""
        return cut(f"{self.what} failed{often}{why}{again}{next_}{end}", 420)


class Failures:
    """All that failed, in order, within bounds."""

    def __init__(self) -> None:
        self._kept: list[Failure] = []
        self.dropped = 0

    def add(self, key: str, what: str, why: str, turn: int) -> None:
        """Something failed; again, if it is not settled since."""
        for one in reversed(self._kept):
            if one.key == key and not one.settled:
                one.times += 1
                one.why, one.turn = why or one.why, turn
                one.between = [*one.between, *(done for done in one.tried if done not in one.between)][-4:]
                one.tried.clear()
                return
        self._kept.append(Failure(key, what, why, turn))
        if len(self._kept) > MOST:
            del self._kept[_FIRST]
            self.dropped += 1

    def tried(self, what: str, turn: int) -> None:
        """Something was done after the newest failure."""
        last = self._kept[-1] if self._kept else None
        if last is None or last.settled or last.turn != turn or what in last.tried:
            return
        if len(last.tried) < _TRIED:
            last.tried.append(what)

    def settle(self, key: str) -> None:
        """What failed under this key went well now."""
        for one in self._kept:
            one.settled = one.settled or one.key == key

    def lines(self, most: int) -> list[str]:
        """The failures that tell most: those that stand, then those that were mended, each in their order."""
        standing = [one for one in self._kept if not one.settled]
        mended = [one for one in self._kept if one.settled and _tells(one)]
        chosen = [*standing[-most:], *mended][:most]
        return [one.line for one in sorted(chosen, key=self._kept.index)]


def _tells(one: Failure) -> bool:
    """Whether something that was mended is worth a line: a slip of an edit is not."""
    return one.times > 2 if one.key.startswith("edit ") else one.times > 1 or bool(one.tried)


def named(command: str) -> str:
    """A command as a failure names it."""
    return code(cut(command, 100))
