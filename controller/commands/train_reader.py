"""`sufficit train-reader`: adapters and heads for the small readers, over an encoder that is installed."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ...tools.errors import InputError
from ...tools.models.catalog import ENCODER
from ..console import err, out, print_json
from .settings import AsJson


def train_reader(
    kind: Annotated[Literal["span", "reranker", "joint"], typer.Argument(help="The reader to train.")],
    data: Annotated[
        list[str],
        typer.Option(
            help="FAMILY=FILE in SQuAD, HotpotQA, 2Wiki, MuSiQue or NQ-oracle format; may be repeated."
        ),
    ],
    folder: Annotated[Path, typer.Option("--out", help="Folder of the reader; an old one is replaced.")],
    leave_out: Annotated[
        list[str] | None,
        typer.Option("--leave-out", help="Family to keep away, with all that others share with it."),
    ] = None,
    evaluation: Annotated[
        list[Path] | None,
        typer.Option(help="Contrast records whose questions and passages are removed; may be repeated."),
    ] = None,
    items: Annotated[int | None, typer.Option(min=1, help="Most items of one family; default: all.")] = None,
    share: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="Share of the questions; the rest is for `sufficit fit`.")
    ] = 1.0,
    steps: Annotated[int, typer.Option(min=1, help="Steps of the optimiser.")] = 400,
    batch: Annotated[int, typer.Option(min=1, help="Items in one step.")] = 8,
    rate: Annotated[float, typer.Option(min=1e-7, max=1.0, help="Highest learning rate.")] = 1e-3,
    seed: Annotated[int, typer.Option(help="Seed of weights, items and their order.")] = 17,
    base: Annotated[str, typer.Option(help="Encoder: catalogue name, folder or hub name.")] = ENCODER,
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto.")] = "auto",
    dtype: Annotated[
        Literal["auto", "float32", "bfloat16"],
        typer.Option(help="Of the frozen part; auto is bfloat16 on CUDA, float32 elsewhere."),
    ] = "auto",
    as_json: AsJson = False,
) -> None:
    """Train a reader. A killed run goes on where it was, with the same command."""
    # What only training needs, torch among it, is loaded here.
    import torch  # noqa: PLC0415

    from ...tools.readers.training.loop import TrainSettings  # noqa: PLC0415
    from ..evaluation.readers import training as reader_training  # noqa: PLC0415
    from ..evaluation.readers.sources import read_reader_data  # noqa: PLC0415

    chosen = device if device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    settings = reader_training.ReaderSettings(
        kind, base, items, share, chosen, dtype, TrainSettings(steps, batch, rate, seed=seed)
    )
    found = read_reader_data(
        [_named(value) for value in data], leave_out or [], evaluation or [], share=share, seed=seed
    )
    checkpoint = folder.with_name(f"{folder.name}.checkpoint")
    with _bar() as bar:
        task = bar.add_task(f"training {kind}", total=steps, loss="")

        def progress(done: int, total: int, loss: float) -> None:
            bar.update(task, completed=done, total=total, loss=f"loss {loss:.3f}")

        provenance = reader_training.train_reader(found, settings, folder, checkpoint, progress)
    if as_json:
        print_json({"folder": str(folder)} | dict(provenance))
    else:
        counts = ", ".join(f"{family} {count}" for family, count in provenance["items"].items())
        out.print(f"trained on {counts}; loss {provenance['loss']}", soft_wrap=True)
        for reason, count in provenance["removed"].items():
            out.print(f"left out: {reason} ({count})")
        out.print(f"reader: {folder}", soft_wrap=True)


def _named(value: str) -> tuple[str, Path]:
    family, equals, path = value.partition("=")
    if not (family and equals and path):
        raise InputError(f"--data {value}: give FAMILY=FILE, such as squad=dev-v2.0.json")
    return family, Path(path)


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[loss]}"),
        TimeRemainingColumn(),
        console=err,
    )
