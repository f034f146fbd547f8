"""From question-answering files to a trained reader: items, training, and a folder with its provenance."""

import datetime
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import torch

from ....policies.rinse.sampling import draw
from ....tools.models.catalog import ENCODER
from ....tools.readers.adapted import Trained, save
from ....tools.readers.training.joint import JointTask
from ....tools.readers.training.loop import Progress, TrainSettings, train
from ....tools.readers.training.relevance import RelevanceTask
from ....tools.readers.training.span import SpanTask
from ....tools.readers.training.task import Task
from ....tools.wordpieces import WordPieceTokenizer
from ..datasets.examples import Example
from .items import joint_items, relevance_items, span_items
from .sample import sample_scores
from .sources import ReaderData

Kind = Literal["span", "reranker", "joint"]
PACKAGES = ("torch", "transformers", "tokenizers", "numpy", "sufficit")


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """How a reader is trained.

    `base` is the encoder; `items` the most items a family gives, drawn by hash (None: all). `dtype` is of
    the frozen part: bfloat16 on CUDA, float32 elsewhere, unless it is named. `share` and `training.seed` say
    which questions were trained on, see `reader_sources.trains`.
    """

    kind: Kind
    base: str = ENCODER
    items: int | None = None
    share: float = 1.0
    device: str = "cpu"
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    training: TrainSettings = field(default_factory=TrainSettings)


_TASKS: Mapping[Kind, type[Any]] = {"span": SpanTask, "reranker": RelevanceTask, "joint": JointTask}


def train_reader(
    data: ReaderData, settings: ReaderSettings, folder: Path, checkpoint: Path, progress: Progress
) -> Mapping[str, Any]:
    """Train and write a reader to `folder`; returns its provenance.

    The same data and settings give the same items and the same steps; a killed run is taken up from
    `checkpoint`, which is deleted at the end. Raises as `train`, and StorageError.
    """
    chosen = {
        family: _drawn(_made(examples, settings), settings) for family, examples in data.families.items()
    }
    items = [item for made in chosen.values() for item in made]
    dtype = _dtype(settings)
    torch.manual_seed(settings.training.seed)
    task: Task = _TASKS[settings.kind](settings.base, items, settings.device, dtype)
    identity = f"{data.identity()}/{settings.kind}/{settings.base}/{settings.items}/{settings.share}/{dtype}"
    loss = train(task, settings.training, checkpoint, identity, progress)
    provenance = _provenance(data, settings, {family: len(made) for family, made in chosen.items()}, loss)
    save(folder, task.adapters(), task.head(), Trained(settings.kind, settings.base, provenance))
    # The scores are those of what was written, in half precision, not of what was in memory.
    provenance["sample"] = sample_scores(settings.kind, folder)
    save(folder, task.adapters(), task.head(), Trained(settings.kind, settings.base, provenance))
    checkpoint.unlink(missing_ok=True)
    return provenance


def _made(examples: Sequence[Example], settings: ReaderSettings) -> Iterable[Any]:
    seed = settings.training.seed
    if settings.kind == "reranker":
        # As RINSE cuts questions unless it is told otherwise, whatever the base.
        return relevance_items(examples, seed, WordPieceTokenizer.load(ENCODER))
    return span_items(examples, seed) if settings.kind == "span" else joint_items(examples, seed)


def _drawn(made: Iterable[Any], settings: ReaderSettings) -> list[Any]:
    items = list(made)
    if settings.items is None or len(items) <= settings.items:
        return items
    order = sorted(range(len(items)), key=lambda place: draw(str(place), settings.training.seed, "items"))
    return [items[place] for place in sorted(order[: settings.items])]


def _dtype(settings: ReaderSettings) -> torch.dtype:
    if settings.dtype == "auto":
        return torch.bfloat16 if settings.device.startswith("cuda") else torch.float32
    return torch.bfloat16 if settings.dtype == "bfloat16" else torch.float32


def _provenance(
    data: ReaderData, settings: ReaderSettings, items: Mapping[str, int], loss: float
) -> dict[str, Any]:
    return {
        "data": dict(data.files),
        "families": sorted(data.families),
        "left_out": list(data.left_out),
        "examples": {family: len(examples) for family, examples in data.families.items()},
        "items": dict(items),
        "removed": dict(data.removed),
        "share": settings.share,
        "training": asdict(settings.training),
        "dtype": str(_dtype(settings)).removeprefix("torch."),
        "loss": round(loss, 4),
        "packages": {"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
