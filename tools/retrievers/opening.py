"""Opening and building an index of any kind; which kind a folder holds, the folder says."""

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from ..errors import UsageError
from ..models.catalog import ENCODER
from ..protocols import Retriever
from ..types import Passage
from .corpus_index import BuildReport, CorpusIndex
from .hybrid import HybridRetriever
from .layout import manifest_path, read_manifest

if TYPE_CHECKING:
    from .lucene import AnseriniIndex
    from .lucene_search import BM25

Kind = Literal["embedded", "lucene", "dense"]

_FOREIGN: Final = "anserini"
# The package that a kind imports, and what brings it. Lucene's own is looked for where Java is.
_NEEDS: Final = {
    "embedded": ("tantivy", "pip install 'sufficit[embedded]'"),
    "dense": ("faiss", "pip install 'sufficit[dense]'"),
}


def open_index(path: Path, scoring: "BM25 | None" = None) -> "CorpusIndex | AnseriniIndex":
    """Open the index at `path`: one that `build_index` made, or any that Anserini or Pyserini made.

    `scoring` is for those by Lucene. Raises IndexMissing, IndexMismatch, StorageError, and UsageError where
    a package is missing, naming the command that brings it.
    """
    if kind_of(path) == _FOREIGN:
        from .lucene import AnseriniIndex  # noqa: PLC0415  engines are imported where they are used

        return AnseriniIndex(path, scoring)
    return _open(path, scoring, for_writing=False)


def open_retriever(paths: Sequence[Path], scoring: "BM25 | None" = None) -> Retriever:
    """The index at the one path, or the fusion of those at several."""
    opened = [open_index(path, scoring) for path in paths]
    return opened[0] if len(opened) == 1 else HybridRetriever(opened)


def open_for_writing(path: Path) -> CorpusIndex:
    """Open the index at `path`, even an empty one. Raises as `open_index`, and UsageError if foreign."""
    if kind_of(path) == _FOREIGN:
        raise UsageError(
            f"The index at {path} was made by Anserini, and is only read here.\n"
            "Change it by the tools that made it, or build one of your own from its corpus."
        )
    return _open(path, None, for_writing=True)


def build_index(
    kind: Kind,
    path: Path,
    passages: Iterable[Passage],
    progress: Callable[[int], None] | None = None,
    model: str | None = None,
) -> BuildReport:
    """Make an index of this kind at `path` anew, as `folder.build_folder` describes; blocking.

    `model` is the encoder of a dense index. Raises IndexLocked, StorageError, and UsageError where a package
    is missing or the folder is another tool's index.
    """
    _require(kind)
    if kind_of(path) == _FOREIGN:
        raise UsageError(f"The folder {path} holds an index made by Anserini; name another folder.")
    if kind == "lucene":
        from .lucene import LuceneIndex  # noqa: PLC0415

        return LuceneIndex.build(path, passages, progress)
    if kind == "dense":
        from .dense import DenseIndex  # noqa: PLC0415

        return DenseIndex.build(path, passages, progress, model=model or ENCODER)
    from .embedded import EmbeddedIndex  # noqa: PLC0415

    return EmbeddedIndex.build(path, passages, progress)


def kind_of(path: Path) -> str | None:
    """The kind that the folder's manifest names, "anserini" for a bare index of Lucene, None for nothing.

    Raises StorageError where the manifest cannot be read.
    """
    if manifest_path(path).exists():
        return read_manifest(path).kind
    return _FOREIGN if path.is_dir() and any(path.glob("segments_*")) else None


def _open(path: Path, scoring: "BM25 | None", *, for_writing: bool) -> CorpusIndex:
    kind = read_manifest(path).kind
    _require(kind)
    if kind == "lucene":
        from .lucene import LuceneIndex  # noqa: PLC0415

        return LuceneIndex.open(path, for_writing=for_writing, scoring=scoring)
    if kind == "dense":
        from .dense import DenseIndex  # noqa: PLC0415

        return DenseIndex.open(path, for_writing=for_writing)
    from .embedded import EmbeddedIndex  # noqa: PLC0415

    return EmbeddedIndex.open(path, for_writing=for_writing)  # refuses a kind that nobody knows


def _require(kind: str) -> None:
    package, command = _NEEDS.get(kind, ("", ""))
    if package and importlib.util.find_spec(package) is None:
        raise UsageError(f"An index of kind {kind} needs {package}, which is not installed; run: {command}")
