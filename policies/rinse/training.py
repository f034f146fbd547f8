"""Training data of a fit: every record measured by the frozen backbones, and some of them padded."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...tools.types import Passage
from .content import Coverage, passage_text
from .idf import PieceCounts
from .latent import LatentPrompt
from .measure import Measurer
from .records import ContrastRecord
from .sampling import draw, sample_groups, thin

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""

States = Mapping[LatentPrompt, NDArray[np.float32]]
CONCURRENT = 4


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How a fit samples and what it aims at.

    `groups` a family enter the content reader (None: all), `latent_groups` of them the latent reader, with at
    most `latent_side` records of each label a group.
    `held_out` is the share of groups kept back for the answer threshold at risk `alpha`. `padded_groups` a
    family give one sufficient record each, padded with each of `padding` passages of other questions.
    `prompts` are the wordings that the latent reader may choose from.
    """

    prompts: Sequence[LatentPrompt]
    seed: int = 17
    groups: int | None = None
    latent_groups: int = 100
    latent_side: int = 2
    held_out: float = 0.25
    alpha: float = 0.2
    padded_groups: int = 15
    padding: tuple[int, ...] = (5, 10, 20, 50, 100)


@dataclass(frozen=True, slots=True)
class Example:
    """One measured record. `states` has one array (layers, width) a prompt; none where it was not read.

    `held_out` marks records of groups that only the answer threshold may see.
    """

    record: ContrastRecord
    held_out: bool
    coverage: Coverage
    states: States


@dataclass(frozen=True, slots=True)
class PaddedExample:
    """One record at one size. `record` names it at all its sizes."""

    family: str
    record: str
    size: int
    states: States


@dataclass(frozen=True, slots=True)
class TrainingData:
    """All that fitting needs: no model runs after this.

    `counts` are of the distinct passages of groups that are not held out, by family.
    """

    examples: Sequence[Example]
    padded: Sequence[PaddedExample]
    counts: Mapping[str, PieceCounts]


async def measure_records(
    records: Sequence[ContrastRecord], measurer: Measurer, settings: FitSettings, progress: Progress
) -> TrainingData:
    """Measure a sample of `records`, whose groups all hold both labels.

    Everything comes from the cache where an earlier run left it. Raises ModelOutputError on NaN.
    """
    sample = sample_groups(records, settings.groups, settings.seed)
    latent = thin(sample_groups(sample, settings.latent_groups, settings.seed), settings.latent_side)
    deep = {id(record) for record in latent}
    examples: list[Example] = []
    for start in range(0, len(sample), CONCURRENT):
        chunk = sample[start : start + CONCURRENT]
        examples += await asyncio.gather(
            *(_example(record, measurer, settings, deep=id(record) in deep) for record in chunk)
        )
        progress("records", start + len(chunk), len(sample))
    padded = await _measure_padded(latent, measurer, settings, progress)
    return TrainingData(examples, padded, _count_pieces(sample, measurer, settings))


async def _example(
    record: ContrastRecord, measurer: Measurer, settings: FitSettings, *, deep: bool
) -> Example:
    question, passages = record.question, record.passages
    return Example(
        record=record,
        held_out=is_held_out(record, settings),
        coverage=await measurer.coverage(question, passages),
        states=await _states(question, passages, measurer, settings) if deep else {},
    )


async def _states(
    question: str, passages: Sequence[Passage], measurer: Measurer, settings: FitSettings
) -> States:
    encoder = measurer.encoder
    if encoder is None:
        return {}
    return {prompt: await measurer.states(encoder, question, passages, prompt) for prompt in settings.prompts}


def is_held_out(record: ContrastRecord, settings: FitSettings) -> bool:
    """Whether the record's group is kept back for the answer threshold."""
    return draw(record.group, settings.seed, "held out") < settings.held_out


async def _measure_padded(
    records: Sequence[ContrastRecord], measurer: Measurer, settings: FitSettings, progress: Progress
) -> list[PaddedExample]:
    """The first sufficient record of some groups that are not held out, at its own size and padded.

    Every larger set holds the smaller ones.
    """
    fitted = [record for record in records if not is_held_out(record, settings)]
    bases: dict[str, ContrastRecord] = {}
    for record in sample_groups(fitted, settings.padded_groups, settings.seed):
        if record.label:
            bases.setdefault(record.group, record)
    padded: list[PaddedExample] = []
    for done, (name, record) in enumerate(bases.items(), start=1):
        strangers = _strangers(record, fitted, max(settings.padding), f"{settings.seed}/{name}")
        for count in (0, *settings.padding):
            passages = [*record.passages, *strangers[:count]]
            states = await _states(record.question, passages, measurer, settings)
            padded.append(PaddedExample(record.family, name, len(passages), states))
        progress("padded records", done, len(bases))
    return padded


def _strangers(
    record: ContrastRecord, records: Sequence[ContrastRecord], count: int, seed: str
) -> list[Passage]:
    """At most `count` passages of other questions of the same family, none that is there already."""
    own = {passage.text for passage in record.passages}
    pool = {
        passage.text: passage
        for other in records
        if other.family == record.family and other.group != record.group
        for passage in other.passages
        if passage.text not in own
    }
    return random.Random(seed).sample(list(pool.values()), min(count, len(pool)))


def _count_pieces(
    records: Sequence[ContrastRecord], measurer: Measurer, settings: FitSettings
) -> dict[str, PieceCounts]:
    texts: dict[str, dict[str, None]] = {}
    for record in records:
        if not is_held_out(record, settings):
            texts.setdefault(record.family, {}).update(
                dict.fromkeys(passage_text(passage) for passage in record.passages)
            )
    return {family: PieceCounts.of(map(measurer.pieces, held)) for family, held in texts.items()}
