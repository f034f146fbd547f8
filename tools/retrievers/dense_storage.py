"""How a dense index lies on disk: one SQLite file, and above 100,000 vectors a faiss file beside it.

    passages.sqlite         passages as they came in, the vectors of their windows, and the terms in them that
                            the encoder does not know: the truth
    vectors-<n>.faiss       an inverted file of the vectors up to number n, 8 bits a component: a copy

Numbers are never used again, so the copy needs no transaction with the truth: a reader takes out of it what
is deleted, and adds what came later.
"""

import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import faiss
import numpy as np
from numpy.typing import NDArray

DATABASE: Final = "passages.sqlite"
ERRORS: Final = (OSError, sqlite3.Error)
"""What SQLite and the disk raise."""

FLAT_LIMIT: Final = 100_000
"""Vectors up to which search is exact."""

_PATIENCE: Final = 60.0  # seconds to wait for another process's commit
_TRAINING_ROWS: Final = 64  # vectors a list of the inverted file that its centroids are trained on

_SCHEMA: Final = """
CREATE TABLE passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, source TEXT NOT NULL, payload TEXT NOT NULL,
    expires INTEGER
);
CREATE INDEX by_key ON passages (key);
CREATE INDEX by_source ON passages (source);
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    passage INTEGER NOT NULL REFERENCES passages ON DELETE CASCADE,
    vector BLOB NOT NULL
);
CREATE INDEX by_passage ON vectors (passage);
CREATE INDEX by_expiry ON passages (expires) WHERE expires IS NOT NULL;
CREATE TABLE unknown_terms (
    term TEXT NOT NULL,
    passage INTEGER NOT NULL REFERENCES passages ON DELETE CASCADE,
    PRIMARY KEY (term, passage)
) WITHOUT ROWID;
CREATE INDEX terms_by_passage ON unknown_terms (passage);
"""


def create(folder: Path) -> None:
    """Make an empty database."""
    with closing(connect(folder)) as database:
        database.executescript(_SCHEMA)


def connect(folder: Path) -> sqlite3.Connection:
    """The database of a version, for any thread; transactions begin and end where they are told to."""
    database = sqlite3.connect(
        folder / DATABASE, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
    )
    database.execute("PRAGMA foreign_keys = ON")
    database.execute("PRAGMA synchronous = FULL")
    # Pages go to the file at the commit only: until then, readers are not kept out.
    database.execute("PRAGMA cache_spill = OFF")
    return database


def changes(file: Path) -> int:
    """SQLite's count of commits to a file, four bytes of its header."""
    with file.open("rb", buffering=0) as stream:
        return int.from_bytes(stream.read(28)[24:], "big")


def numbers(database: sqlite3.Connection) -> NDArray[np.int64]:
    """Numbers of all vectors and of their passages, ascending; shape (vectors, 2)."""
    rows = database.execute("SELECT id, passage FROM vectors ORDER BY id").fetchall()
    return np.asarray(rows, np.int64).reshape(-1, 2)


def rows_after(database: sqlite3.Connection, number: int, width: int) -> NDArray[np.float32]:
    """The vectors numbered higher than `number`, in the order of their numbers; shape (vectors, width)."""
    found = database.execute("SELECT vector FROM vectors WHERE id > ? ORDER BY id", (number,))
    return np.frombuffer(b"".join(row[0] for row in found), np.float32).reshape(-1, width)


def inverted_file(folder: Path) -> tuple[Any, int] | None:
    """The newest inverted file and the highest number it holds; None if there is none."""
    found = sorted((int(file.stem.partition("-")[2]), file) for file in folder.glob("vectors-*.faiss"))
    for highest, file in reversed(found):
        # One that cannot be read is as good as none: the truth is in the database.
        with suppress(RuntimeError):
            return faiss.read_index(str(file)), highest
    return None


def write_inverted_file(folder: Path, vectors: NDArray[np.float32], ids: NDArray[np.int64]) -> None:
    """Train an inverted file on the vectors and write it, in one step; older ones go.

    On a full disk none is written, and the older one or exact search serves on: the truth is in the database.
    """
    lists = int(4 * len(vectors) ** 0.5)
    index = faiss.index_factory(vectors.shape[1], f"IVF{lists},SQ8", faiss.METRIC_INNER_PRODUCT)
    sample = np.random.default_rng(0).permutation(len(vectors))[: lists * _TRAINING_ROWS]
    index.train(vectors[np.sort(sample)])
    index.add_with_ids(vectors, ids)
    file = folder / f"vectors-{ids[-1]}.faiss"
    partial = file.with_suffix(".partial")
    try:
        faiss.write_index(index, str(partial))
        partial.replace(file)
    except (OSError, RuntimeError):
        partial.unlink(missing_ok=True)
        return
    for other in folder.glob("vectors-*"):
        if other != file:
            other.unlink(missing_ok=True)
