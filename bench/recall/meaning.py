"""Vectors for the documents of a benchmark: made once by the installed model, kept, and searched.

A set that grows while it is asked must not find what is not there yet: of the vectors only those count
whose documents were put in.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench.recall.loading import LoadedDocument
from holdfast.errors import HoldfastError
from holdfast.index.embed import embedding_model, similarity
from holdfast.index.embed.coverage import said
from holdfast.index.embed.embedding_model import EmbeddingModel, minilm, source_of
from holdfast.index.embed.similarity import NearestTexts, VectorMatrix
from holdfast.index.embed.vectors import VectorModel, Vectors, packed
from holdfast.index.search_rows import MAX_TEXT, content_of, safe

if TYPE_CHECKING:
    from holdfast.index.embed.embedding_model import Floats

BATCH = 64


def _why_none(setting: str | None, cache: str) -> str:
    """Why there is no model: somebody switched it off, or it is not in the cache that is looked at."""
    if setting is not None:
        return f"retrieval.model is {setting}"
    return f"there is no model in {minilm(cache)} (holdfast model add)"


class Meanings:
    """A model, and what it made of the texts of all sets so far."""

    def __init__(self, model: EmbeddingModel | None, told: str, vectors: Vectors | None = None) -> None:
        self.model, self.told = model, told
        self._vectors = vectors
        self._questions: dict[str, Floats] = {}
        if model is not None and vectors is not None:
            self._known: VectorModel = vectors.of(model.key, source="bench", size=model.size)
            self._held = dict(row for some in vectors.every(self._known) for row in some)

    @classmethod
    def installed(cls, setting: str | None, cache: str) -> Meanings:
        """The model that is installed, if there is one; else what to say about it."""
        try:
            source = source_of(setting, cache)
            if source is None:
                return cls(None, f"Without vectors: {_why_none(setting, cache)}.")
            if lacking := embedding_model.missing():
                there = f"{', '.join(lacking)} not installed in {sys.executable}"
                return cls(None, f"Without vectors: {there} (pip install 'holdfast[semantic]').")
            model = similarity.model(source, cache)
        except HoldfastError as error:
            return cls(None, f"Without vectors: {error}")
        return cls(model, f"With vectors of {source}.", Vectors(os.path.join(cache, "bench", "vectors.db")))

    def question(self, text: str) -> Floats:
        if text not in self._questions and self.model is not None:
            self._questions[text] = self.model.question(text)
        return self._questions[text]

    def rows(self, documents: Sequence[LoadedDocument]) -> list[tuple[bytes, bytes]]:
        """Contents and vectors of documents; those that have none yet are made and kept."""
        texts: dict[bytes, str] = {}
        for one in documents:
            title, text = safe(one.title), safe(one.text[:MAX_TEXT])
            content = content_of(title, text)
            if content is not None:
                texts[content] = said(title, text)
        self._make(texts)
        return [(content, self._held[content]) for content in sorted(texts)]

    def _make(self, texts: dict[bytes, str]) -> None:
        assert self.model is not None and self._vectors is not None
        missing = sorted(texts.keys() - self._held.keys())
        for start in range(0, len(missing), BATCH):
            some = missing[start : start + BATCH]
            found = self.model.vectors([texts[content] for content in some])
            self._vectors.put(self._known, some, found)
            self._held.update(zip(some, packed(found), strict=True))
            if sys.stderr.isatty():
                print(f"\r{start + len(some):,} of {len(missing):,} texts embedded", end="", file=sys.stderr)


class Among:
    """The documents that are there now, asked by meaning."""

    def __init__(self, meanings: Meanings) -> None:
        self._meanings = meanings
        self._held: set[bytes] = set()
        assert meanings.model is not None
        self._size = meanings.model.size
        self._rows: list[tuple[bytes, bytes]] = []
        self._matrix: VectorMatrix | None = None

    def add(self, documents: Sequence[LoadedDocument]) -> None:
        rows = [row for row in self._meanings.rows(documents) if row[0] not in self._held]
        self._held.update(content for content, _ in rows)
        self._rows += rows
        self._matrix = None

    def near(self, text: str) -> NearestTexts | None:
        if not self._held or not text.strip():
            return None
        if self._matrix is None:
            self._matrix = VectorMatrix(self._size, room=len(self._rows))
            self._matrix.fill(iter([sorted(self._rows)]))
        return NearestTexts(self._matrix, self._meanings.question(text))
