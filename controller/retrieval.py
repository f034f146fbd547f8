"""From settings to the retriever that they name."""

from ..tools.protocols import Retriever
from ..tools.retrievers.expiry import Unexpired
from ..tools.retrievers.layout import read_manifest
from ..tools.retrievers.lucene_search import BM25
from ..tools.retrievers.opening import kind_of, open_retriever
from .settings import IndexSettings


def check_indexes(index: IndexSettings) -> None:
    """Raise IndexMissing or StorageError for a place without an index, without loading what searches it."""
    for path in index.paths:
        if kind_of(path) is None:
            read_manifest(path)


def load_retriever(index: IndexSettings) -> Retriever:
    """The index at the path, fused with the others where there are any, without what has expired.

    Raises as `open_index`.
    """
    scoring = BM25(index.lucene.k1, index.lucene.b, index.lucene.rm3)
    return Unexpired(open_retriever(index.paths, scoring))
