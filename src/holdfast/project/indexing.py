"""What of the repository can be found: how far reading it is, and reading it to the end."""

import contextlib
from collections.abc import Iterator

from holdfast.index.corpus import update as repository
from holdfast.index.corpus.file_choice import CorpusChoice
from holdfast.index.corpus.update import CorpusState
from holdfast.index.refresh import Progress
from holdfast.index.sqlite import Index
from holdfast.project.recalling import Recalling


class Indexing(Recalling):
    """Commits, documents and code, read ahead of questions."""

    def index_state(self) -> CorpusState:
        """How far commits, documents and code are read, and how much room they take."""
        with self._reading_repository() as (corpus, choice):
            return repository.state_of(self.clone, corpus, choice)

    def build_index(self, *, progress: Progress | None = None, seconds: float | None = None) -> CorpusState:
        """Read whatever can be found and was not read yet; with `seconds` it stops after about that time.

        What was read is kept, and the next call goes on from there.
        """
        with self._reading_repository() as (corpus, choice):
            if seconds is None:
                if wrong := corpus.damage():  # who asks for it has time for a look at every page
                    corpus.recover(wrong)
                repository.bring_corpus(self.clone, corpus, choice, progress=progress, patience=True)
            else:
                repository.work(self.clone, corpus, choice, progress=progress, seconds=seconds)
            self.clone.notes.extend(corpus.take_notes())
            return repository.state_of(self.clone, corpus, choice)

    def index_waits(self) -> bool:
        """Whether there is something to read that no question waits for; cheap to ask."""
        with self._reading_repository() as (corpus, choice):
            return repository.waits(self.clone, corpus, choice)

    @contextlib.contextmanager
    def _reading_repository(self) -> Iterator[tuple[Index, CorpusChoice]]:
        corpus = repository.open_corpus(self.clone)
        try:
            yield corpus, self._choice() or CorpusChoice()
        finally:
            corpus.close()
