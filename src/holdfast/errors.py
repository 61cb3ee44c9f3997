"""The errors that a user can cause: each class has a sentence, an exit code and a next step.

    HoldfastError
    ├── NotARepository, NotInitialised          the current folder
    ├── NotFound, Ambiguous, BadInput, TooLarge the arguments
    ├── NotStored, ReadOnlyStore, Busy          writing to disk
    ├── FutureFormat, CorruptLog, BrokenEntry,
    │   UnsafePath                              files on disk
    ├── NeedsReview, NeedsEvidence,
    │   NeedsConfirmation, Claimed, Cycle,
    │   InConflict, SwitchedOff                 people's decisions
    ├── PublishRefused, OnTrunk, HookRefused,
    │   HookRewrote                             publishing with git
    └── GitFailed, BadSettings, ScanFailed,
        BadBundle, NoModel, NoDatabase,
        LockedText                              git, settings, models, keys

Normal results (a conflict, a search that finds nothing) are return values, not errors.
Exit code 1 is reserved for "checked, and found problems" (`doctor`, `check`), 2 for wrong usage
and 125 for `holdfast run` when it refuses before the command starts.
"""


class HoldfastError(Exception):
    """A failure, with one sentence and a next step for people."""

    code = 70
    hint = "Run `holdfast doctor` to see whether the store is sound."

    def __init__(self, sentence: str, *, hint: str | None = None) -> None:
        super().__init__(sentence)
        if hint is not None:
            self.hint = hint


class NotARepository(HoldfastError):
    code = 10
    hint = "Go to a git repository, or create one with `git init`."


class NotInitialised(HoldfastError):
    code = 11
    hint = "Set it up with `holdfast start`."


class Ambiguous(HoldfastError):
    code = 12
    hint = "Type more of it."


class NotFound(HoldfastError):
    code = 13
    hint = "List the ids with `holdfast review list`, `holdfast memories`, `holdfast task list` or `holdfast log`."


class BadInput(HoldfastError):
    code = 14
    hint = "See `holdfast COMMAND --help` for the accepted values."


class TooLarge(HoldfastError):
    code = 15
    hint = "Keep large content in a file and cite its path instead."


class NotStored(HoldfastError):
    """Writing to disk failed; nothing was acknowledged, and half-written files do not count."""

    code = 17
    hint = "Free some space or check the disk, then run the command again."


class ReadOnlyStore(HoldfastError):
    code = 18
    hint = "Make .git/holdfast or .holdfast/local writable, then run the command again."


class FutureFormat(HoldfastError):
    code = 19
    hint = "Update Holdfast; this version does not change newer files."


class CorruptLog(HoldfastError):
    code = 20
    hint = "Run `holdfast doctor` to see which file is damaged."


class BrokenEntry(HoldfastError):
    code = 21
    hint = "Correct the file by hand; until then it is skipped, and nothing is lost."


class UnsafePath(HoldfastError):
    code = 22
    hint = "Move it away, then run `holdfast doctor`."


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
    hint = "Switch to a branch (`git switch -c NAME`; unpublished changes come along), or use --here."


class HookRefused(HoldfastError):
    code = 28
    hint = "Fix what the hook complains about, then run `holdfast publish` again."


class HookRewrote(HoldfastError):
    code = 29
    hint = "Exclude `^\\.holdfast/(log|runs)/` in the hook that rewrites files, then publish again."


class GitFailed(HoldfastError):
    code = 30
    hint = "Run the named git command by hand to see more."


class BadSettings(HoldfastError):
    code = 32
    hint = "Correct the named setting; `docs/reference/settings.md` lists them all."


class ScanFailed(HoldfastError):
    """The secret scanner failed, so the text that it should have scanned was not stored."""

    code = 33
    hint = "Check `redact.rules` in the settings."


class BadBundle(HoldfastError):
    code = 35
    hint = "Create a new one with `holdfast export FILE` in the clone it came from."


class Busy(HoldfastError):
    code = 36
    hint = "Wait for the other command to end, then run this one again."


class NeedsConfirmation(HoldfastError):
    code = 37
    hint = "Add --yes to do it without a question."


class Claimed(HoldfastError):
    code = 38
    hint = "Take another with `holdfast next`, or wait until the claim ends."


class Cycle(HoldfastError):
    """Tasks that would wait for each other for ever."""

    code = 39
    hint = "Remove one of these needs first: `holdfast task edit ID --no-need OTHER`."


class InConflict(HoldfastError):
    code = 40
    hint = "See both sides with `holdfast reconcile`, then choose with `holdfast task resolve ID`."


class SwitchedOff(HoldfastError):
    code = 41
    hint = "Set it to true under [features] in .holdfast/holdfast.toml."


class Contradicts(HoldfastError):
    """A memory contradicts an accepted one; a person must decide which of them holds."""

    code = 42
    hint = "Resolve it: --supersede OTHER, --keep-both with --applies-to, or reject one of them."


class BlockEdited(HoldfastError):
    """Somebody edited inside a block that Holdfast maintains in one of the user's files."""

    code = 43
    hint = "Move your text out of the block, or use --force, which saves the edited text elsewhere."


class NoModel(HoldfastError):
    """The model for search by meaning is missing, is damaged, or does not answer."""

    code = 44
    hint = "See the state of models with `holdfast model`; search by words works without one."


class NoDatabase(HoldfastError):
    """The database of the agent store is missing, does not answer, or may not be used as it is."""

    code = 45
    hint = "Check `database.url` (HOLDFAST_DATABASE_URL), and whether the server runs."


class LockedText(HoldfastError):
    """The text is sealed, and the key that opens it is not here."""

    code = 47
    hint = "Check `encryption.key` and `encryption.identity`, and that the key was not destroyed."
