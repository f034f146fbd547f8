"""Dense retrieval: the cosine of query and passage embeddings, by faiss over an SQLite file."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ..models.catalog import ENCODER
from ..models.compute import Device
from ..models.resolve import resolve
from ..rerankers.biencoder import BiEncoderReranker
from ..types import Passage
from .analysis import TOKENIZER_VERSION, analyze
from .corpus_index import BuildReport
from .dense_search import DenseSearch
from .dense_storage import DATABASE, ERRORS, changes, create
from .dense_writing import DenseWriter
from .folder import FolderIndex, build_folder
from .layout import read_manifest


class DenseIndex(FolderIndex):
    """A `CorpusIndex` by embeddings. Scores are cosines, in [-1, 1].

    A passage longer than its model reads is embedded in overlapping windows, and its score is its best
    window's. A query needs no word in common with a passage, but one that the model knows: [] for stop words,
    and for words that neither the model nor the index holds, as `dense_search` says.

    Exact search up to 100,000 vectors; above, an inverted file of 8-bit vectors that is searched in part.
    """

    @classmethod
    def open(
        cls, path: Path, *, for_writing: bool = False, device: Device = "auto", threads: int | None = None
    ) -> Self:
        """Open the index at `path` with the model it was made with, as `FolderIndex` describes; seconds.

        Raises IndexMismatch where that model has changed, ModelMissing where it is not on this machine.
        """
        model = str(read_manifest(path).made_with.get("model", ENCODER))
        engine = DenseEngine.load(model, device=device, threads=threads)
        return cls(path, engine, for_writing=for_writing)

    @staticmethod
    def build(
        path: Path,
        passages: Iterable[Passage],
        progress: Callable[[int], None] | None = None,
        *,
        model: str = ENCODER,
        device: Device = "auto",
        threads: int | None = None,
    ) -> BuildReport:
        """Make the index at `path` anew, as `build_folder` describes.

        `model` is a catalogue name, a sentence-transformers folder or a hub name. What a build that was
        stopped has encoded is not encoded again.
        """
        return build_folder(path, DenseEngine.load(model, device=device, threads=threads), passages, progress)


@dataclass(frozen=True, slots=True)
class Prompts:
    """What a model was trained to see before queries and passages."""

    query: str = ""
    passage: str = ""

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Those that a sentence-transformers folder names."""
        file = folder / "config_sentence_transformers.json"
        named = json.loads(file.read_text("utf-8")).get("prompts", {}) if file.is_file() else {}
        return cls(named.get("query", ""), named.get("passage", named.get("document", "")))


class DenseEngine:
    """The `Engine` of `DenseIndex`."""

    kind = "dense"
    errors = ERRORS
    executor = None

    def __init__(self, model: str, encoder: BiEncoderReranker, prompts: Prompts) -> None:
        self._model = model
        self._encoder = encoder
        self._prompts = prompts
        self._known = frozenset(analyze("\n".join(sorted(encoder.words()))))

    @classmethod
    def load(cls, model: str, *, device: Device, threads: int | None) -> Self:
        """Load the model. Raises ModelMissing, or CapabilityError where it or faiss cannot serve."""
        folder = resolve(model)
        # A folder is named in full, so that the index opens from anywhere.
        name = str(folder.resolve()) if Path(model).exists() else model
        return cls(name, BiEncoderReranker.load(model, device=device, threads=threads), Prompts.of(folder))

    @property
    def made_with(self) -> Mapping[str, str | int]:
        """Schema, analyzer of unknown terms, and the model with its hash."""
        return {
            "schema_version": 2,
            "tokenizer_version": TOKENIZER_VERSION,
            "model": self._model,
            "fingerprint": self._encoder.fingerprint,
        }

    def create(self, folder: Path) -> None:
        """Make an empty version."""
        create(folder)

    def open(self, folder: Path) -> DenseSearch:
        """Open the last commit."""
        return DenseSearch(folder, self._encoder, self._prompts.query, self._known)

    def writer(self, folder: Path) -> DenseWriter:
        """One transaction."""
        return DenseWriter(folder, self._encoder, self._prompts.passage, self._known)

    def stamp(self, folder: Path) -> tuple[int, ...]:
        """SQLite's count of changes."""
        return (changes(folder / DATABASE),)
