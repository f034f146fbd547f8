"""Searching one commit of a dense index.

Nearness has no zero: to any query some passages are nearest, be it gibberish. So what a query's words are
decides first, whatever its embedding. A term is known if the encoder holds it as a whole word.

- No term at all, only stop words or punctuation: nothing is found.
- A known term: all passages are ranked, those that share no word with the query too.
- Unknown terms only, such as a name, a number, an emoji or a slip of the pen: of what the encoder makes from
  pieces only passages that hold one of the terms are ranked; nothing is found where none does.
"""

import threading
from collections.abc import Collection, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import faiss
import numpy as np
from numpy.typing import NDArray

from ..rerankers.biencoder import BiEncoderReranker, Vectors
from ..types import Passage
from .analysis import analyze
from .dense_storage import connect, inverted_file, numbers, rows_after
from .spelling import encodable
from .stored import from_payload

_PROBED: Final = 1 / 16  # share of an inverted file's lists that a search looks into
_LONGEST_QUERY: Final = 1_000  # characters, about one window of a model; what follows is not read


class DenseSearch:
    """The `Reader` of dense indexes.

    It holds the vectors of its commit. Texts are read from the database, so that a passage deleted since
    then is left out.
    """

    def __init__(self, folder: Path, encoder: BiEncoderReranker, prompt: str, known: frozenset[str]) -> None:
        """`known` are the terms that the encoder knows as words."""
        self._encoder = encoder
        self._prompt = prompt
        self._known = known
        self._reading = threading.Lock()
        self._database = connect(folder)
        # One transaction: the numbers and the vectors are of the same commit.
        self._database.execute("BEGIN")
        try:
            self._count = int(self._database.execute("SELECT count(*) FROM passages").fetchone()[0])
            found = numbers(self._database)
            self._ids, self._owners = found[:, 0].copy(), found[:, 1].copy()
            self._index, self._lists = self._open(folder)
        finally:
            self._database.execute("COMMIT")

    @property
    def count(self) -> int:
        """Number of passages."""
        return self._count

    @property
    def parts(self) -> Mapping[str, int]:
        """Number of vectors, and of an inverted file's lists."""
        return {"vectors": len(self._ids), "lists": self._lists}

    def search(self, query: str, k: int) -> list[Passage]:
        """Passages by the cosine of their best window with the query's best window."""
        read = query[:_LONGEST_QUERY]
        terms = frozenset(analyze(read))
        among = None if terms & self._known else self._holding(terms)
        if among is not None and not len(among):
            return []
        [rows] = self._encoder.embed([encodable(self._prompt + read)])
        return self._passages(self._nearest(rows, k, among))

    def expired(self, now: float) -> int:
        """Number of passages whose time is over."""
        with self._reading, closing(self._database.cursor()) as cursor:
            cursor.execute("SELECT count(*) FROM passages WHERE expires <= ?", (now,))
            return int(cursor.fetchone()[0])

    def close(self) -> None:
        """Close the database."""
        with self._reading:
            self._database.close()

    def _open(self, folder: Path) -> tuple[Any, int]:
        """The vectors as faiss holds them, by number, and how many lists an inverted file has."""
        width = self._encoder.width
        made = inverted_file(folder)
        if made is None:
            index, highest, lists = faiss.IndexIDMap(faiss.IndexFlatIP(width)), 0, 0
        else:
            index, highest = made
            lists = int(index.nlist)
            index.nprobe = max(1, round(lists * _PROBED))
        later = self._ids[self._ids > highest]
        if len(later):
            index.add_with_ids(rows_after(self._database, highest, width), later)
        return index, lists

    def _holding(self, terms: Collection[str]) -> NDArray[np.int64]:
        """Numbers of the vectors of the passages that hold one of these terms, which the encoder lacks."""
        some = ", ".join("?" * len(terms))
        with self._reading, closing(self._database.cursor()) as cursor:
            cursor.execute(f"SELECT passage FROM unknown_terms WHERE term IN ({some})", tuple(terms))
            owners = np.asarray(cursor.fetchall(), np.int64).reshape(-1)
        return self._ids[np.isin(self._owners, owners)]

    def _nearest(self, rows: Vectors, k: int, among: NDArray[np.int64] | None) -> dict[int, float]:
        """Numbers of the `k` best passages with their scores, best first; None is among all vectors.

        A passage has as many vectors as windows, so more than `k` are asked for until `k` passages are found.
        """
        most = self._index.ntotal if among is None else len(among)
        wanted = min(k, most)
        while True:
            best = self._best(rows, wanted, among)
            if len(best) >= k or wanted >= most:
                return dict(list(best.items())[:k])
            wanted = min(4 * wanted, most)

    def _best(self, rows: Vectors, wanted: int, among: NDArray[np.int64] | None) -> dict[int, float]:
        scores, ids = self._index.search(rows, wanted, params=self._selection(among))
        order = np.argsort(-scores, axis=None, kind="stable")
        best: dict[int, float] = {}
        for score, id_ in zip(scores.ravel()[order], ids.ravel()[order], strict=True):
            owner = self._owner(int(id_))
            if owner is not None:
                best.setdefault(owner, float(score))
        return best

    def _selection(self, among: NDArray[np.int64] | None) -> Any:
        """Few vectors are looked for in all lists of an inverted file."""
        if among is None:
            return None
        parameters: Any = faiss.SearchParametersIVF if self._lists else faiss.SearchParameters
        lists = {"nprobe": self._lists} if self._lists else {}
        return parameters(sel=faiss.IDSelectorBatch(among), **lists)

    def _owner(self, id_: int) -> int | None:
        """Number of a vector's passage; None if the vector is deleted but still in the inverted file."""
        at = int(np.searchsorted(self._ids, id_))
        return int(self._owners[at]) if at < len(self._ids) and self._ids[at] == id_ else None

    def _passages(self, scores: Mapping[int, float]) -> list[Passage]:
        with self._reading, closing(self._database.cursor()) as cursor:
            found = [
                (cursor.execute("SELECT payload FROM passages WHERE id = ?", (number,)).fetchone(), score)
                for number, score in scores.items()
            ]
        return [from_payload(row[0], score) for row, score in found if row is not None]
