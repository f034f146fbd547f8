"""Training data of a fit: every record measured by the frozen backbones, and some of them padded."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

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

T = TypeVar("T")
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
    latent_side: int = 1
    held_out: float = 0.25
    alpha: float = 0.2
    padded_groups: int = 6
    padding: tuple[int, ...] = (5, 20, 100)

    def holds_out(self, record: ContrastRecord) -> bool:
        """Whether the record's group is kept back for the answer threshold."""
        return is_held_out(record.group, self.seed, self.held_out)


@dataclass(frozen=True, slots=True)
class Example:
    """One measured record. `states` has one array (layers, width) a prompt; none where it was not read.

    `raws` holds the raw scores of the trained readers. `held_out` marks records of groups that only the
    answer threshold may see.
    """

    record: ContrastRecord
    held_out: bool
    coverage: Coverage
    states: States
    raws: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PaddedExample:
    """One record at one size. `record` names it at all its sizes."""

    family: str
    record: str
    size: int
    states: States
    raws: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TrainingData:
    """All that fitting needs: no model runs after this.

    `counts` are of the distinct passages of groups that are not held out, by family. `trained` maps each
    trained reader to the families that it has learned from: on those its accuracy says nothing.
    """

    examples: Sequence[Example]
    padded: Sequence[PaddedExample]
    counts: Mapping[str, PieceCounts]
    trained: Mapping[str, frozenset[str]] = field(default_factory=dict)


async def measure_records(
    records: Sequence[ContrastRecord], measurer: Measurer, settings: FitSettings, progress: Progress
) -> TrainingData:
    """Measure a sample of `records`, whose groups all hold both labels.

    Everything comes from the cache where an earlier run left it. Raises ModelOutputError on NaN.
    """
    sample = sample_groups(records, settings.groups, settings.seed)
    chosen = sample_groups(sample, settings.latent_groups, settings.seed) if measurer.encoder else []
    latent = thin(chosen, settings.latent_side)

    async def coverage(record: ContrastRecord) -> Coverage:
        return await measurer.coverage(record.question, record.passages)

    async def states(record: ContrastRecord) -> States:
        return await _states(record.question, record.passages, measurer, settings)

    coverages = await _each(sample, coverage, partial(progress, "content"))
    read = await _each(latent, states, partial(progress, "latent states"))
    raws = await _each(sample, measurer.raws, partial(progress, "trained readers"))
    states_of = {id(record): found for record, found in zip(latent, read, strict=True)}
    examples = [
        Example(
            record,
            settings.holds_out(record),
            covered,
            states_of.get(id(record), {}),
            raw,
        )
        for record, covered, raw in zip(sample, coverages, raws, strict=True)
    ]
    fresh = [record for record, raw in zip(sample, raws, strict=True) if raw]
    padded = [
        PaddedExample(record.family, record.group, len(record.passages), await states(record))
        for record in _padded(latent, sample, settings, partial(progress, "padded records"))
    ] + [
        PaddedExample(record.family, record.group, len(record.passages), {}, await measurer.raws(record))
        for record in _padded(fresh, sample, settings, partial(progress, "padded records, trained readers"))
    ]
    trained = {reader: learned.families for reader, learned in measurer.learned.items()}
    return TrainingData(examples, padded, _count_pieces(sample, measurer, settings), trained)


async def _each(
    records: Sequence[ContrastRecord],
    measure: Callable[[ContrastRecord], Awaitable[T]],
    progress: Callable[[int, int], None],
) -> list[T]:
    """`measure` of every record, a few at once."""
    found: list[T] = []
    for start in range(0, len(records), CONCURRENT):
        found += await asyncio.gather(*map(measure, records[start : start + CONCURRENT]))
        progress(len(found), len(records))
    return found


async def _states(
    question: str, passages: Sequence[Passage], measurer: Measurer, settings: FitSettings
) -> States:
    encoder = measurer.encoder
    if encoder is None:
        return {}
    return {prompt: await measurer.states(encoder, question, passages, prompt) for prompt in settings.prompts}


def is_held_out(group: str, seed: int, share: float) -> bool:
    """Whether a group is among the `share` that is kept back for the answer threshold."""
    return draw(group, seed, "held out") < share


def _padded(
    records: Sequence[ContrastRecord],
    others: Sequence[ContrastRecord],
    settings: FitSettings,
    progress: Callable[[int, int], None],
) -> Iterator[ContrastRecord]:
    """The first sufficient record of some groups that are not held out, at its own size and padded.

    The padding comes from `others`; every larger set holds the smaller ones.
    """
    fitted = [record for record in records if not settings.holds_out(record)]
    strange = [record for record in others if not settings.holds_out(record)]
    bases: dict[str, ContrastRecord] = {}
    for record in sample_groups(fitted, settings.padded_groups, settings.seed):
        if record.label:
            bases.setdefault(record.group, record)
    for done, (name, record) in enumerate(bases.items(), start=1):
        strangers = _strangers(record, strange, max(settings.padding), f"{settings.seed}/{name}")
        for count in (0, *settings.padding):
            yield replace(record, passages=(*record.passages, *strangers[:count]))
        progress(done, len(bases))


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
        if not settings.holds_out(record):
            texts.setdefault(record.family, {}).update(
                dict.fromkeys(passage_text(passage) for passage in record.passages)
            )
    return {family: PieceCounts.of(map(measurer.pieces, held)) for family, held in texts.items()}
