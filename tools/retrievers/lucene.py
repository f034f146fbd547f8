"""Lucene, by Anserini's jar: an index of one's own, and any that Anserini or Pyserini made."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Self

from ..errors import IndexMismatch, IndexMissing
from ..types import Passage
from .corpus_index import BuildReport
from .folder import FolderIndex, build_folder
from .java import java_class, java_errors, threads
from .layout import storage_error
from .lucene_fields import foreign_passage, own_passage, searchable
from .lucene_search import BM25, LuceneSearch, open_folder
from .lucene_writing import LuceneWriter


class LuceneIndex(FolderIndex):
    """A `CorpusIndex` by Lucene, in Anserini's layout. Scores are BM25's, or with RM3 the widened query's.

    Analysed by Anserini's default for English: lower case, Porter stems, Lucene's stop words. [] for a query
    of stop words, or of words that the index does not hold. Of a query with more than 128 distinct terms, the
    rarest 128 count.

    All of it raises UsageError where Java or pyserini is missing, naming what to install.
    """

    @classmethod
    def open(cls, path: Path, *, for_writing: bool = False, scoring: BM25 | None = None) -> Self:
        """Open the index at `path`, as `FolderIndex` describes; starts Java, which takes half a second."""
        return cls(path, LuceneEngine(scoring or BM25()), for_writing=for_writing)

    @staticmethod
    def build(
        path: Path, passages: Iterable[Passage], progress: Callable[[int], None] | None = None
    ) -> BuildReport:
        """Make the index at `path` anew, as `build_folder` describes."""
        return build_folder(path, LuceneEngine(BM25()), passages, progress)


class AnseriniIndex:
    """A `Retriever` over an index that Anserini or Pyserini made, as it is when opened. Never written to.

    Queries are analysed by Anserini's default for English, as Pyserini's are unless told otherwise. Documents
    without text are left out of what is found.
    """

    def __init__(self, path: Path, scoring: BM25 | None = None) -> None:
        """Open the index.

        Raises
        ------
        IndexMissing: if there is none, or it holds no documents.
        IndexMismatch: if it stores no text of its documents, so that they could be found but not read.
        StorageError: if it is damaged.
        UsageError: where Java or pyserini is missing.
        """
        self._path = path
        self._errors = java_errors()
        try:
            self._search = LuceneSearch(
                open_folder(path), scoring or BM25(), parse=foreign_passage, prepare=str
            )
            first = self._search.first()
        except self._errors as error:
            raise storage_error(path, error) from error
        if self._search.count == 0:
            raise IndexMissing(f"The Lucene index at {path} holds no documents.")
        if first is None:
            raise IndexMismatch(
                f"The Lucene index at {path} stores no text of its documents.\n"
                "Index the collection again with -storeRaw (Pyserini: --storeRaw)."
            )

    async def search(self, query: str, k: int) -> list[Passage]:
        """At most `k` passages, best first, each with its score. Raises StorageError if it cannot be read."""
        return await asyncio.get_running_loop().run_in_executor(threads(), self._found, query, k)

    async def count(self) -> int:
        """Number of documents."""
        return self._search.count

    def _found(self, query: str, k: int) -> list[Passage]:
        try:
            return self._search.search(query, min(k, self._search.count)) if k > 0 else []
        except self._errors as error:
            raise storage_error(self._path, error) from error


class LuceneEngine:
    """The `Engine` of `LuceneIndex`."""

    kind = "lucene"

    def __init__(self, scoring: BM25) -> None:
        self._scoring = scoring

    @cached_property
    def made_with(self) -> Mapping[str, str | int]:
        """Schema, analyzer and engine."""
        major = java_class("org.apache.lucene.util.Version").LATEST.major
        return {
            "schema_version": 2,
            "analyzer": "Anserini's default for English; unspaced scripts by character",
            "engine": f"lucene {major}",
        }

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What Java and the disk raise."""
        return java_errors()

    @property
    def executor(self) -> ThreadPoolExecutor:
        """The threads that call into Java."""
        return threads()

    def create(self, folder: Path) -> None:
        """Make an empty version: a commit without documents."""
        with LuceneWriter(folder):
            pass

    def open(self, folder: Path) -> LuceneSearch:
        """Open the last commit."""
        return LuceneSearch(open_folder(folder), self._scoring, parse=own_passage, prepare=searchable)

    def writer(self, folder: Path) -> LuceneWriter:
        """One transaction."""
        return LuceneWriter(folder)

    def stamp(self, folder: Path) -> tuple[int, ...]:
        """Number of the last commit, which Lucene writes in base 36 into a file's name."""
        commits = (entry.name.partition("_")[2] for entry in folder.iterdir() if is_commit(entry.name))
        return (max((int(number, 36) for number in commits), default=-1),)


def is_commit(name: str) -> bool:
    """Whether a file of this name is a commit of Lucene."""
    return name.startswith("segments_")
