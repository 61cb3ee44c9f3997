"""Everything a user can cause, as a class: a sentence, an exit code, a next step.

    HoldfastError
    ├── NotARepository, NotInitialised          where we are
    ├── NotFound, Ambiguous, BadInput, TooLarge what was asked
    ├── NotStored, ReadOnlyStore, Busy          what the disk allows
    ├── FutureFormat, CorruptLog, BrokenEntry,
    │   UnsafePath                              what the disk holds
    ├── NeedsReview, NeedsEvidence,
    │   NeedsConfirmation, Claimed, Cycle,
    │   InConflict, SwitchedOff                 what people decide
    ├── PublishRefused, OnTrunk, HookRefused,
    │   HookRewrote                             what git allows
    └── GitFailed, BadSettings, ScanFailed,
        BadBundle, NoModel, NoDatabase,
        LockedText                              what we stand on

Normal life (a clash, nothing found in a search) is a return value, not an error.
Exit code 1 is kept for "looked, and found problems" (`doctor`, `check`), 2 for wrong usage
and 125 for `holdfast run` refusing before the command started.
"""


class HoldfastError(Exception):
    """A failure with one sentence for people and a next step."""

    code = 70
    hint = "Run `holdfast doctor` to see whether the store is sound."

    def __init__(self, sentence: str, *, hint: str | None = None) -> None:
        super().__init__(sentence)
        if hint is not None:
            self.hint = hint


class NotARepository(HoldfastError):
    code = 10
    hint = "Run `git init` first, or `holdfast init`, which offers it."


class NotInitialised(HoldfastError):
    code = 11
    hint = "Run `holdfast init` in this repository."


class Ambiguous(HoldfastError):
    code = 12
    hint = "Type more of it."


class NotFound(HoldfastError):
    code = 13
    hint = "List what there is with `holdfast log`, `holdfast memories` or `holdfast session list`."


class BadInput(HoldfastError):
    code = 14
    hint = "See `holdfast COMMAND --help` for what is accepted."


class TooLarge(HoldfastError):
    code = 15
    hint = "Keep large content in a file and cite its path instead."


class NotStored(HoldfastError):
    """The disk refused; nothing was acknowledged and nothing half-written counts."""

    code = 17
    hint = "Free some space or check the disk, then run the command again."


class ReadOnlyStore(HoldfastError):
    code = 18
    hint = "Make .git/holdfast or .holdfast/local writable, then run the command again."


class FutureFormat(HoldfastError):
    code = 19
    hint = "Update Holdfast; this version leaves newer files untouched."


class CorruptLog(HoldfastError):
    code = 20
    hint = "Run `holdfast doctor` to see where the log and its files part."


class BrokenEntry(HoldfastError):
    code = 21
    hint = "Mend the file by hand; until then it is left out and nothing is lost."


class UnsafePath(HoldfastError):
    code = 22
    hint = "Move it out of the way, then run `holdfast doctor`."


class NeedsReview(HoldfastError):
    code = 23
    hint = "See it with `holdfast review list`, then `holdfast review accept ID`."


class NeedsEvidence(HoldfastError):
    code = 24
    hint = "Cite a run, a commit, a tracked path, lines (path:10-20) or a symbol (path#name): --evidence."


class PublishRefused(HoldfastError):
    code = 26
    hint = "Finish what git is doing, then run `holdfast publish` again; nothing was lost."


class OnTrunk(HoldfastError):
    code = 27
    hint = "Switch to a branch (`git switch -c NAME`; what waits rides along), or use --here."


class HookRefused(HoldfastError):
    code = 28
    hint = "Mend what the hook complains about, then run `holdfast publish` again."


class HookRewrote(HoldfastError):
    code = 29
    hint = "Exclude `^\\.holdfast/(log|runs)/` in the hook that rewrites files, then publish again."


class GitFailed(HoldfastError):
    code = 30
    hint = "Run the git command it names by hand to see more."


class BadSettings(HoldfastError):
    code = 32
    hint = "Mend the setting it names; `docs/reference/settings.md` lists them all."


class ScanFailed(HoldfastError):
    """The secret scanner could not answer, so nothing it should have read was stored."""

    code = 33
    hint = "Check `redact.rules` in the settings."


class BadBundle(HoldfastError):
    code = 35
    hint = "Make a new one with `holdfast export FILE` in the clone it came from."


class Busy(HoldfastError):
    code = 36
    hint = "Wait for the other command to end, then run this one again."


class NeedsConfirmation(HoldfastError):
    code = 37
    hint = "Add --yes to do it without being asked."


class Claimed(HoldfastError):
    code = 38
    hint = "Take another with `holdfast next`, or wait until the claim ends."


class Cycle(HoldfastError):
    """Tasks that would wait for one another for ever."""

    code = 39
    hint = "Take one of these needs out first: `holdfast task edit ID --no-need OTHER`."


class InConflict(HoldfastError):
    code = 40
    hint = "See both sides with `holdfast reconcile`, then choose with `holdfast task resolve ID`."


class SwitchedOff(HoldfastError):
    code = 41
    hint = "Set it to true under [features] in .holdfast/holdfast.toml."


class Contradicts(HoldfastError):
    """A memory contradicts one that stands; somebody has to say which of them holds."""

    code = 42
    hint = "Resolve it: --supersede OTHER, --keep-both with --applies-to, or reject one of them."


class BlockEdited(HoldfastError):
    """Somebody edited inside a block that Holdfast keeps in a file of the user's."""

    code = 43
    hint = "Move your words out of the block, or use --force: the edited text is kept aside."


class NoModel(HoldfastError):
    """The model for search by meaning is not here, is damaged, or does not answer."""

    code = 44
    hint = "See what there is with `holdfast model`; search by words works without it."


class NoDatabase(HoldfastError):
    """The database of the agent store is not there, does not answer, or may not be used as it is."""

    code = 45
    hint = "Check `database.url` (HOLDFAST_DATABASE_URL), and whether the server runs."


class LockedText(HoldfastError):
    """What is needed is sealed, and the key that opens it is not here."""

    code = 47
    hint = "Check `encryption.key` and `encryption.identity`, and whether the key was destroyed."
