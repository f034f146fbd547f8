"""The embedded index: BM25 over title and text, on disk, in process, by tantivy."""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Self

import tantivy

from ..types import Passage, PassageKey
from .analysis import ANALYZER, TOKENIZER_VERSION
from .corpus_index import BuildReport
from .folder import FolderIndex, build_folder
from .layout import storage_error
from .querying import query_terms, score_query
from .records import expired_by, held_by, prepare, schema, to_passage
from .writing import ERRORS, PassageWriter

SCHEMA_VERSION: Final = 2
"""Raised whenever fields are added, removed or filled otherwise."""


class EmbeddedIndex(FolderIndex):
    """A `CorpusIndex` by tantivy. Scores are BM25's (k1 1.2, b 0.75).

    [] for a query of stop words, or of words that the index does not hold. Of a query with more than 128
    distinct terms, the rarest 128 count.
    """

    @classmethod
    def open(cls, path: Path, *, for_writing: bool = False) -> Self:
        """Open the index at `path`, as `FolderIndex` describes; milliseconds."""
        return cls(path, TantivyEngine(), for_writing=for_writing)

    @staticmethod
    def build(
        path: Path, passages: Iterable[Passage], progress: Callable[[int], None] | None = None
    ) -> BuildReport:
        """Make the index at `path` anew, as `build_folder` describes."""
        return build_folder(path, TantivyEngine(), passages, progress)

    async def held(self, keys: Sequence[PassageKey]) -> list[Passage]:
        """The passages of these keys, as far as there are any, in no order. Raises as `search` does."""
        return await asyncio.to_thread(self.held_now, keys)

    def held_now(self, keys: Sequence[PassageKey]) -> list[Passage]:
        """As `held`, blocking. Passages that `replace` takes one by one may ask this: it sees what was there
        before that write, and no other write comes between.
        """
        if not keys:
            return []
        with self._reading() as now:
            assert isinstance(now.reader, TantivyReader)
            try:
                return now.reader.held(keys)
            except ERRORS as error:
                raise storage_error(self._path, error) from error


class TantivyEngine:
    """The `Engine` of the embedded index."""

    kind = "embedded"
    errors = ERRORS
    executor = None

    @cached_property
    def made_with(self) -> Mapping[str, str | int]:
        """Schema, analyzer and engine."""
        # Another minor version of the engine may write other files and stem otherwise.
        return {
            "schema_version": SCHEMA_VERSION,
            "analyzer": ANALYZER,
            "tokenizer_version": TOKENIZER_VERSION,
            "engine": "tantivy " + ".".join(version("tantivy").split(".")[:2]),
        }

    def create(self, folder: Path) -> None:
        """Make an empty version."""
        tantivy.Index(schema(), str(folder), reuse=False)

    def open(self, folder: Path) -> "TantivyReader":
        """Open the last commit."""
        return TantivyReader(prepare(tantivy.Index.open(str(folder))).searcher())

    def writer(self, folder: Path) -> PassageWriter:
        """One transaction."""
        return PassageWriter(folder)

    def stamp(self, folder: Path) -> tuple[int, ...]:
        """Identity of the file that a commit replaces."""
        status = os.stat(folder / "meta.json")  # noqa: PTH116  (as in folder.py)
        return (status.st_ino, status.st_mtime_ns, status.st_size)


class TantivyReader:
    """The `Reader` of the embedded index."""

    def __init__(self, searcher: tantivy.Searcher) -> None:
        self._searcher = searcher

    @property
    def count(self) -> int:
        """Number of passages."""
        return self._searcher.num_docs

    @property
    def parts(self) -> Mapping[str, int]:
        """Number of segments."""
        return {"segments": self._searcher.num_segments}

    def expired(self, now: float) -> int:
        """Number of passages whose time is over."""
        found: Any = self._searcher.search(expired_by(now), 1)
        return int(found.count)

    def search(self, query: str, k: int) -> list[Passage]:
        """Passages by BM25."""
        terms = query_terms(query, self._searcher)
        if not terms:
            return []
        found = self._searcher.search(score_query(terms), k, count=False)
        return [to_passage(self._searcher.doc(address), score) for score, address in found.hits]

    def held(self, keys: Sequence[PassageKey]) -> list[Passage]:
        """Passages by their keys, at least one."""
        found = self._searcher.search(held_by(keys), len(keys), count=False)
        return [to_passage(self._searcher.doc(address), 0.0) for _, address in found.hits]

    def close(self) -> None:
        """Nothing: tantivy gives its files back with the object."""
