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
        BadBundle, NoModel                      what we stand on

Normal life (a clash, nothing found in a search) is a return value, not an error.
Exit code 1 is kept for "looked, and found problems" (`doctor`, `check`), 2 for wrong usage
and 125 for `holdfast run` refusing before the command started.
"""


class HoldfastError(Exception):
    """A failure with one sentence for people and a next step."""

    code = 70
    hint = "Run `holdfast doctor` to see whether the store is sound."

    def __init_subclass__(cls, *, code: int = 0, hint: str = "") -> None:
        cls.code, cls.hint = code or cls.code, hint or cls.hint

    def __init__(self, sentence: str, *, hint: str | None = None) -> None:
        super().__init__(sentence)
        if hint is not None:
            self.hint = hint


class NotARepository(HoldfastError, code=10, hint="Run `git init` first, or `holdfast init`, which offers it."):
    """No git repository is here."""


class NotInitialised(HoldfastError, code=11, hint="Run `holdfast init` in this repository."):
    """The repository has no Holdfast yet."""


class Ambiguous(HoldfastError, code=12, hint="Type more of it."):
    """A name fits several things."""


class NotFound(
    HoldfastError, code=13, hint="List what there is with `holdfast log`, `holdfast facts` or `holdfast session list`."
):
    """Nothing has this name."""


class BadInput(HoldfastError, code=14, hint="See `holdfast COMMAND --help` for what is accepted."):
    """What was given is not accepted."""


class TooLarge(HoldfastError, code=15, hint="Keep large content in a file and cite its path instead."):
    """A text or a file is longer than what is kept."""


class NotStored(HoldfastError, code=17, hint="Free some space or check the disk, then run the command again."):
    """The disk refused; nothing was acknowledged and nothing half-written counts."""


class ReadOnlyStore(
    HoldfastError, code=18, hint="Make .git/holdfast or .holdfast/local writable, then run the command again."
):
    """The store cannot be written."""


class FutureFormat(HoldfastError, code=19, hint="Update Holdfast; this version leaves newer files untouched."):
    """A newer version wrote this."""


class CorruptLog(HoldfastError, code=20, hint="Run `holdfast doctor` to see where the log and its files part."):
    """A record of the store is damaged."""


class BrokenEntry(HoldfastError, code=21, hint="Mend the file by hand; until then it is left out and nothing is lost."):
    """A file of memories or tasks cannot be read."""


class UnsafePath(HoldfastError, code=22, hint="Move it out of the way, then run `holdfast doctor`."):
    """Something else lies where a file of ours belongs."""


class NeedsReview(HoldfastError, code=23, hint="See it with `holdfast review list`, then `holdfast review accept ID`."):
    """Only a person may decide this."""


class NeedsEvidence(
    HoldfastError,
    code=24,
    hint="Cite a run, a commit, a tracked path, lines (path:10-20) or a symbol (path#name): --evidence.",
):
    """Nothing shows that it holds."""


class PublishRefused(
    HoldfastError, code=26, hint="Finish what git is doing, then run `holdfast publish` again; nothing was lost."
):
    """Git is in the middle of something, or the files are not as they should be."""


class OnTrunk(
    HoldfastError, code=27, hint="Switch to a branch (`git switch -c NAME`; what waits rides along), or use --here."
):
    """Publishing on the trunk has to be meant."""


class HookRefused(
    HoldfastError, code=28, hint="Mend what the hook complains about, then run `holdfast publish` again."
):
    """A git hook refused the commit."""


class HookRewrote(
    HoldfastError,
    code=29,
    hint="Exclude `^\\.holdfast/(log|runs)/` in the hook that rewrites files, then publish again.",
):
    """A git hook changed what was to be published."""


class GitFailed(HoldfastError, code=30, hint="Run the git command it names by hand to see more."):
    """A git command failed."""


class BadSettings(HoldfastError, code=32, hint="Mend the setting it names; `docs/settings.md` lists them all."):
    """A setting has a value that it cannot have."""


class ScanFailed(HoldfastError, code=33, hint="Check `redact.rules` in the settings."):
    """The secret scanner could not answer, so nothing it should have read was stored."""


class BadBundle(HoldfastError, code=35, hint="Make a new one with `holdfast export FILE` in the clone it came from."):
    """A file is no bundle, or a damaged one."""


class Busy(HoldfastError, code=36, hint="Wait for the other command to end, then run this one again."):
    """Another command holds the lock."""


class NeedsConfirmation(HoldfastError, code=37, hint="Add --yes to do it without being asked."):
    """It has to be confirmed, and nobody can be asked."""


class Claimed(HoldfastError, code=38, hint="Take another with `holdfast next`, or wait until the claim ends."):
    """Somebody else works on the task."""


class Cycle(HoldfastError, code=39, hint="Take one of these needs out first: `holdfast task edit ID --no-need OTHER`."):
    """Tasks that would wait for one another for ever."""


class InConflict(
    HoldfastError,
    code=40,
    hint="See both sides with `holdfast reconcile`, then choose with `holdfast task resolve ID`.",
):
    """Two sides say different things."""


class SwitchedOff(HoldfastError, code=41, hint="Set it to true under [features] in .holdfast/holdfast.toml."):
    """The feature is switched off in the settings."""


class Contradicts(
    HoldfastError, code=42, hint="Resolve it: --supersede OTHER, --keep-both with --applies-to, or reject one of them."
):
    """A memory contradicts one that stands; somebody has to say which of them holds."""


class BlockEdited(
    HoldfastError, code=43, hint="Move your words out of the block, or use --force: the edited text is kept aside."
):
    """Somebody edited inside a block that Holdfast keeps in a file of the user's."""


class NoModel(
    HoldfastError, code=44, hint="See what there is with `holdfast model`; search by words works without it."
):
    """The model for search by meaning is not here, is damaged, or does not answer."""
