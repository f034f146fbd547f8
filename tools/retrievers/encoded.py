"""Embeddings that are made once: what a killed build has encoded, the next one finds here.

    DIR/encoded-<hash>.sqlite   by digest of a text, the rows of its windows; the hash is the encoder's

Every batch is committed as it is made. The file goes when what it was made for is written.
"""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Final

import numpy as np

from ..rerankers.biencoder import BiEncoderReranker, Vectors

_BATCH: Final = 128  # texts encoded between two commits
_PREFIX: Final = "encoded-"


class EncodedTexts:
    """The encoder behind its store in the folder of an index. One writer at a time."""

    def __init__(self, path: Path, encoder: BiEncoderReranker) -> None:
        self._encoder = encoder
        self._file = path / f"{_PREFIX}{encoder.fingerprint[:16]}.sqlite"

    def embed(self, texts: Sequence[str]) -> list[Vectors]:
        """For each text the rows of its windows, float32, shape (windows, width)."""
        digests = [blake2b(text.encode(), digest_size=16).digest() for text in texts]
        with closing(sqlite3.connect(self._file)) as store:
            store.execute("CREATE TABLE IF NOT EXISTS encoded (digest BLOB PRIMARY KEY, windows BLOB)")
            found = {digest: self._stored(store, digest) for digest in digests}
            missing = [n for n, digest in enumerate(digests) if found[digest] is None]
            for start in range(0, len(missing), _BATCH):
                batch = missing[start : start + _BATCH]
                made = self._encoder.embed([texts[n] for n in batch])
                with store:
                    for n, windows in zip(batch, made, strict=True):
                        found[digests[n]] = windows
                        store.execute(
                            "INSERT OR REPLACE INTO encoded VALUES (?, ?)", (digests[n], windows.tobytes())
                        )
        return [rows for digest in digests if (rows := found[digest]) is not None]

    def forget(self) -> None:
        """Remove the store: what it held is in the index."""
        for file in self._file.parent.glob(f"{_PREFIX}*"):
            file.unlink(missing_ok=True)

    def _stored(self, store: sqlite3.Connection, digest: bytes) -> Vectors | None:
        row = store.execute("SELECT windows FROM encoded WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else np.frombuffer(row[0], np.float32).reshape(-1, self._encoder.width)
