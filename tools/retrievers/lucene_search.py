"""Searching one commit of Lucene: BM25, and RM3 where it is asked for."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from ..types import Passage
from .java import java_class
from .lucene_fields import CONTENTS, expired_by
from .spelling import encodable

_LONGEST_QUERY: Final = 50_000  # characters; what follows is not read
_MOST_TERMS: Final = 128  # distinct terms of a query; the rarest are kept


@dataclass(frozen=True, slots=True)
class BM25:
    """How Lucene scores: k1 ≥ 0 and b in [0, 1] of BM25, Anserini's values by default.

    `rm3` widens the query by terms of the passages it finds first (Abdul-Jaleel et al. 2004), with Anserini's
    values: ten terms of ten passages, half of the weight left to the query.
    """

    k1: float = 0.9
    b: float = 0.4
    rm3: bool = False


class LuceneSearch:
    """The `Reader` of Lucene indexes.

    `parse` makes a passage of a document and its score, or None of one without text; `prepare` is what the
    contents went through before analysis.
    """

    def __init__(
        self,
        reader: Any,
        scoring: BM25,
        *,
        parse: Callable[[Any, float], Passage | None],
        prepare: Callable[[str], str],
    ) -> None:
        self._reader = reader
        self._scoring = scoring
        self._parse = parse
        self._prepare = prepare
        self._searcher = java_class("org.apache.lucene.search.IndexSearcher")(
            reader, signature="(Lorg/apache/lucene/index/IndexReader;)V"
        )
        similarity = java_class("org.apache.lucene.search.similarities.BM25Similarity")
        self._searcher.setSimilarity(similarity(scoring.k1, scoring.b))

    @property
    def count(self) -> int:
        """Number of passages."""
        return int(self._reader.numDocs())

    @property
    def parts(self) -> Mapping[str, int]:
        """Number of segments."""
        return {"segments": int(self._reader.leaves().size())}

    def expired(self, now: float) -> int:
        """Number of passages whose time is over."""
        return int(self._searcher.count(expired_by(now)))

    def search(self, query: str, k: int) -> list[Passage]:
        """Passages by BM25 or RM3."""
        terms = self._terms(query)
        if not terms:
            return []
        weighted = _any_of(terms)
        found = self._searcher.search(weighted, k)
        hits = [(hit.doc, hit.score) for hit in found.scoreDocs]
        if hits and self._scoring.rm3:
            hits = self._widened(query, weighted, list(terms), k)
        return self._passages(hits)

    def first(self) -> Passage | None:
        """The first passage there is; None if there is none, or it has no text."""
        everything = java_class("org.apache.lucene.search.MatchAllDocsQuery")()
        hits = [(hit.doc, hit.score) for hit in self._searcher.search(everything, 1).scoreDocs]
        return next(iter(self._passages(hits)), None)

    def close(self) -> None:
        """Give the files back."""
        self._reader.close()

    def _terms(self, query: str) -> dict[str, int]:
        """Distinct terms of the query with their counts: at most 128, those that the fewest passages hold."""
        text = encodable(self._prepare(query[:_LONGEST_QUERY]))
        terms = Counter[str](java_class("io.anserini.analysis.AnalyzerUtils").analyze(english(), text))
        if len(terms) <= _MOST_TERMS:
            return terms
        held = {term: self._reader.docFreq(_term(term)) for term in terms}
        rarest = sorted((term for term in terms if held[term]), key=held.__getitem__)[:_MOST_TERMS]
        return {term: terms[term] for term in rarest}

    def _widened(self, query: str, weighted: Any, terms: list[str], k: int) -> list[tuple[int, float]]:
        """Lucene's numbers and scores of what the widened query finds."""
        # Without term vectors the feedback terms are read from the stored JSON, as from a JsonCollection.
        documents = java_class("java.lang.Class").forName("io.anserini.collection.JsonCollection")
        rm3 = java_class("io.anserini.rerank.lib.Rm3Reranker")(
            english(), documents, CONTENTS, 10, 10, 0.5, False, True
        )
        arguments = java_class("io.anserini.search.SearchCollection$Args")()
        arguments.hits = k
        listed = java_class("java.util.ArrayList")()
        for term in terms:
            listed.add(term)
        context = java_class("io.anserini.rerank.RerankerContext")(
            self._searcher, None, weighted, None, encodable(query), listed, None, arguments
        )
        first = java_class("io.anserini.search.ScoredDocs").fromTopDocs(
            self._searcher.search(weighted, max(k, 10)), self._searcher
        )
        found = rm3.rerank(first, context)
        return list(zip(found.lucene_docids, found.scores, strict=True))[:k]

    def _passages(self, hits: list[tuple[int, float]]) -> list[Passage]:
        fields = self._searcher.storedFields()
        parsed = (self._parse(fields.document(number), float(score)) for number, score in hits)
        return [passage for passage in parsed if passage is not None]


@cache
def english() -> Any:
    """Anserini's default analyzer; safe to use from many threads."""
    return java_class("io.anserini.analysis.DefaultEnglishAnalyzer").newDefaultInstance()


def open_folder(folder: Path) -> Any:
    """Lucene's reader of the last commit in a folder. Raises FileNotFoundError where there is none."""
    if not folder.is_dir():  # which Lucene would make
        raise FileNotFoundError(f"there is no folder {folder}")
    directory = java_class("org.apache.lucene.index.DirectoryReader")
    return directory.open(directory_of(folder))


def directory_of(folder: Path) -> Any:
    """A folder as Lucene's."""
    path = java_class("java.io.File")(str(folder)).toPath()
    return java_class("org.apache.lucene.store.FSDirectory").open(path)


def _any_of(terms: Mapping[str, int]) -> Any:
    """Any of the terms, each counted as often as the query has it."""
    should = java_class("org.apache.lucene.search.BooleanClause$Occur").SHOULD
    query = java_class("org.apache.lucene.search.BooleanQuery$Builder")()
    for term, count in terms.items():
        clause = java_class("org.apache.lucene.search.TermQuery")(_term(term))
        query.add(java_class("org.apache.lucene.search.BoostQuery")(clause, float(count)), should)
    return query.build()


def _term(term: str) -> Any:
    return java_class("org.apache.lucene.index.Term")(CONTENTS, term)
