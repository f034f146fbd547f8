"""What a configuration cost: tokens and model calls by stage, and how long it took."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .rows import PredictionRow

TOTAL = "total"


@dataclass(frozen=True, slots=True)
class StageMean:
    """Mean cost of a question in one stage, or in all; over all questions, whatever became of them.

    Each as in StageCost.
    """

    stage: str
    model_calls: float
    generated_tokens: float
    prompt_tokens: float
    reader_calls: float


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds of the questions that came to a stage, or of all; median and 95th percentile."""

    stage: str
    questions: int
    p50: float
    p95: float


def costs(rows: Sequence[PredictionRow]) -> tuple[StageMean, ...]:
    """Mean cost by stage in the order in which stages first come, then in total."""
    names = dict.fromkeys(name for row in rows for name in row.stages)
    stages = [(name, [row.stages[name] for row in rows if name in row.stages]) for name in names]
    stages.append((TOTAL, [cost for row in rows for cost in row.stages.values()]))
    return tuple(
        StageMean(
            name,
            sum(cost.model_calls for cost in found) / len(rows),
            sum(cost.generated_tokens for cost in found) / len(rows),
            sum(cost.prompt_tokens for cost in found) / len(rows),
            sum(cost.reader_calls for cost in found) / len(rows),
        )
        for name, found in stages
    )


def tokens(row: PredictionRow) -> int:
    """All tokens that are counted: generated, and of prompts."""
    return sum(cost.generated_tokens + cost.prompt_tokens for cost in row.stages.values())


def model_calls(row: PredictionRow) -> int:
    """Calls of the generator and of RINSE's encoder."""
    return sum(cost.model_calls for cost in row.stages.values())


def reader_calls(row: PredictionRow) -> int:
    """Calls of rerankers and small readers."""
    return sum(cost.reader_calls for cost in row.stages.values())


def latencies(rows: Sequence[PredictionRow]) -> tuple[Latency, ...]:
    """Latency by stage in the order in which stages first come, `total` last."""
    names = dict.fromkeys(name for row in rows for name in row.timings if name != TOTAL)
    found = [(name, [row.timings[name] for row in rows if name in row.timings]) for name in (*names, TOTAL)]
    return tuple(
        Latency(name, len(seconds), *map(float, np.quantile(seconds, (0.5, 0.95))))
        for name, seconds in found
        if seconds
    )
