"""Searching one commit of a dense index."""

import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import faiss
import numpy as np

from ..rerankers.biencoder import BiEncoderReranker, Vectors
from ..types import Passage
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

    def __init__(self, folder: Path, encoder: BiEncoderReranker, prompt: str) -> None:
        self._encoder = encoder
        self._prompt = prompt
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
        if not query.strip():
            return []
        [rows] = self._encoder.embed([encodable(self._prompt + query[:_LONGEST_QUERY])])
        return self._passages(self._nearest(rows, k))

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

    def _nearest(self, rows: Vectors, k: int) -> dict[int, float]:
        """Numbers of the `k` best passages with their scores, best first.

        A passage has as many vectors as windows, so more than `k` are asked for until `k` passages are found.
        """
        wanted = k
        while True:
            best = self._best(rows, wanted)
            if len(best) >= k or wanted >= self._index.ntotal:
                return dict(list(best.items())[:k])
            wanted = min(4 * wanted, self._index.ntotal)

    def _best(self, rows: Vectors, wanted: int) -> dict[int, float]:
        scores, ids = self._index.search(rows, wanted)
        order = np.argsort(-scores, axis=None, kind="stable")
        best: dict[int, float] = {}
        for score, id_ in zip(scores.ravel()[order], ids.ravel()[order], strict=True):
            owner = self._owner(int(id_))
            if owner is not None:
                best.setdefault(owner, float(score))
        return best

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
