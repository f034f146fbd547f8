"""Training a reader: AdamW with warm-up, seeded, and resumed exactly where a killed run left off."""

import hashlib
import json
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from pickle import UnpicklingError

import torch

from ...errors import InputError, ModelOutputError
from ...models.cache import storage_errors
from .task import Task

Progress = Callable[[int, int, float], None]
"""Called with the steps done, the steps in all, and the mean loss of the last steps."""
SAVE_SECONDS = 5.0
BUCKET = 16  # batches that are sorted by length together


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """How to train. `warmup` is the share of steps in which the rate rises; it then falls to 0 on a line."""

    steps: int = 400
    batch: int = 8
    rate: float = 5e-4
    warmup: float = 0.06
    decay: float = 0.01
    seed: int = 17


def train(task: Task, settings: TrainSettings, checkpoint: Path, data: str, progress: Progress) -> float:
    """Train `task` in place; returns the mean loss of the last tenth of the steps.

    `data` is a hash of what is trained on: a checkpoint of other data or settings is refused. Raises
    InputError for that and where there are no items, ModelOutputError where the loss is not finite,
    StorageError where the disk refuses.
    """
    if not len(task):
        raise InputError("nothing to train on is left; give more data, or leave fewer families out")
    parameters = [parameter for parameter in task.module.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=settings.rate, weight_decay=settings.decay)
    identity = hashlib.sha256(json.dumps([data, asdict(settings)]).encode()).hexdigest()
    done, losses = _resume(checkpoint, identity, parameters, optimizer)
    order = _batches(task, settings)
    saved = time.monotonic()
    for step in range(done, settings.steps):
        for group in optimizer.param_groups:
            group["lr"] = settings.rate * _schedule(step, settings)
        loss = task.loss(order[step])
        losses.append(float(loss.detach()))
        if not math.isfinite(losses[-1]):
            raise ModelOutputError(f"the loss is {losses[-1]} at step {step}; train with a lower --rate")
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        progress(step + 1, settings.steps, sum(losses[-20:]) / len(losses[-20:]))
        if time.monotonic() - saved > SAVE_SECONDS:
            _save(checkpoint, identity, parameters, optimizer, losses)
            saved = time.monotonic()
    _save(checkpoint, identity, parameters, optimizer, losses)
    last = losses[-max(1, len(losses) // 10) :]
    return sum(last) / len(last)


def _schedule(step: int, settings: TrainSettings) -> float:
    rise = max(1, round(settings.warmup * settings.steps))
    if step < rise:
        return (step + 1) / rise
    return (settings.steps - step) / max(1, settings.steps - rise)


def _batches(task: Task, settings: TrainSettings) -> list[list[int]]:
    """The items of every step: shuffled anew for each pass, neighbours in a bucket alike in length."""
    random = torch.Generator().manual_seed(settings.seed)
    made: list[list[int]] = []
    while len(made) < settings.steps:
        order = torch.randperm(len(task), generator=random).tolist()
        made += _bucketed(order, task, settings, random)
    return made[: settings.steps]


def _bucketed(
    order: Sequence[int], task: Task, settings: TrainSettings, random: torch.Generator
) -> list[list[int]]:
    size = settings.batch * BUCKET
    made: list[list[int]] = []
    for start in range(0, len(order), size):
        bucket = sorted(order[start : start + size], key=task.length)
        batches = [bucket[at : at + settings.batch] for at in range(0, len(bucket), settings.batch)]
        made += [batches[place] for place in torch.randperm(len(batches), generator=random).tolist()]
    return made


def _resume(
    checkpoint: Path,
    identity: str,
    parameters: Sequence[torch.nn.Parameter],
    optimizer: torch.optim.Optimizer,
) -> tuple[int, list[float]]:
    if not checkpoint.is_file():
        return 0, []
    try:
        state = torch.load(checkpoint, map_location="cpu", weights_only=True)
        known, losses = state["identity"], list(state["losses"])
    except (OSError, RuntimeError, EOFError, UnpicklingError, KeyError, TypeError) as error:
        raise InputError(f"{checkpoint} is no checkpoint, or damaged; delete it to begin anew") from error
    if known != identity:
        raise InputError(f"{checkpoint} is of other data or settings; delete it, or choose another --out")
    with torch.no_grad():
        for parameter, stored in zip(parameters, state["parameters"], strict=True):
            parameter.copy_(stored)
    optimizer.load_state_dict(state["optimizer"])
    return len(losses), losses


def _save(
    checkpoint: Path,
    identity: str,
    parameters: Sequence[torch.nn.Parameter],
    optimizer: torch.optim.Optimizer,
    losses: list[float],
) -> None:
    state = {
        "identity": identity,
        "parameters": [parameter.detach().cpu() for parameter in parameters],
        "optimizer": optimizer.state_dict(),
        "losses": losses,
    }
    with storage_errors(checkpoint):
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        scratch = checkpoint.with_name(f".{checkpoint.name}.{os.getpid()}.partial")
        torch.save(state, scratch)
        scratch.replace(checkpoint)
