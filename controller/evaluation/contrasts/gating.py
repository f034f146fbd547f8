"""RINSE in front of a generator that may decline: what the gate refuses, and what it saves (RINSE section 5).

A generator is told to answer or to reply *unanswerable* (Table 1). The gate calls it only where the evidence
reaches the answer threshold. Both are run on every record, so that rates and times stand on the same records.
"""

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from ....policies.quoting import fill
from ....policies.rinse.records import ContrastRecord
from ....policies.scorers.prompting import PromptTemplate
from ....policies.types import Sufficiency
from ....tools.errors import InputError, ModelOutputError
from ....tools.normalisation import is_blank, normalise_answer
from ....tools.protocols import Generator
from ..journal import Journal
from ..stable import stable_random
from .scores import Finite
from .scoring import Progress, by_set

ANSWER_TOKENS = 24
REFUSAL = "unanswerable"
TEMPLATE = (
    "{passages}\nAnswer the question from the documents above with a short phrase. If they do not hold the "
    "answer, reply with the one word {refusal}.\nQuestion: {question}\nAnswer:"
)


class GateHeader(BaseModel):
    """What ran: models and the settings of RINSE. A file goes on only under the same header."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    version: int = 1
    generator: str
    artifact: str
    rinse: str


class GateRow(BaseModel):
    """One record: RINSE's score and the generator's reply, each with its time, or why there is neither."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    record: str
    family: str
    construction: str
    label: bool
    score: Finite | None = None
    threshold: Finite = 0.0
    gate_seconds: Finite = 0.0
    reply: str = ""
    generator_seconds: Finite = 0.0
    skipped: str = ""

    @property
    def passes(self) -> bool:
        """Whether the gate calls the generator."""
        return self.score is not None and self.score >= self.threshold

    @property
    def answers(self) -> bool:
        """Whether the generator answers: it neither says nothing nor that it cannot."""
        return not is_blank(self.reply) and REFUSAL not in normalise_answer(self.reply)


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of `records`, in [0, 1]: answered without the gate, passed by it, and answered with it."""

    records: int
    answered: float
    passed: float
    answered_gated: float

    @property
    def refused(self) -> float:
        """The share that is not answered with the gate."""
        return 1 - self.answered_gated


@dataclass(frozen=True, slots=True)
class GateResult:
    """What the gate changes.

    `saved` is the share of generation time spent on records that the gate stops; `saved_net` counts the
    gate's own time against it. Times are medians in milliseconds.
    """

    insufficient: Rates
    sufficient: Rates
    generator_p50: float
    gate_p50: float
    saved: float
    saved_net: float
    skipped: Mapping[str, int]


def balanced_sample(records: Sequence[ContrastRecord], count: int, seed: int) -> list[ContrastRecord]:
    """`count` sufficient and `count` insufficient records, drawn as evenly as may be from all sets.

    Raises InputError where there are fewer of one label.
    """
    sets = list(by_set(records).values())
    chosen: list[ContrastRecord] = []
    for label in (True, False):
        queues = [[record for record in members if record.label is label] for members in sets]
        for place, queue in enumerate(queues):
            stable_random(seed, f"gate:{place}:{label}").shuffle(queue)
        if sum(map(len, queues)) < count:
            raise InputError(
                f"there are {sum(map(len, queues))} {'' if label else 'in'}sufficient records, "
                f"fewer than {count}; lower --records"
            )
        rounds = (
            queue[turn] for turn in range(max(map(len, queues))) for queue in queues if turn < len(queue)
        )
        chosen += [record for record, _ in zip(rounds, range(count), strict=False)]
    return chosen


class Gate:
    """A generator that may decline, and RINSE in front of it."""

    def __init__(self, generator: Generator, sufficiency: Sufficiency, template: str = TEMPLATE) -> None:
        wording = fill(template, refusal=REFUSAL)
        self._generator = generator
        self._sufficiency = sufficiency
        self._template = PromptTemplate(generator.capabilities, wording, ("question", "passages"))

    async def outcome(self, key: str, record: ContrastRecord) -> GateRow:
        """Both on one record, one after the other, each timed."""
        row = GateRow(record=key, family=record.family, construction=record.construction, label=record.label)
        try:
            row = await self._judged(row, record)
            return await self._replied(row, record)
        except (InputError, ModelOutputError) as error:
            return row.model_copy(update={"skipped": str(error).partition("\n")[0]})

    async def _judged(self, row: GateRow, record: ContrastRecord) -> GateRow:
        began = time.perf_counter()
        report = await self._sufficiency.score(record.question, record.passages)
        seconds = time.perf_counter() - began
        if report.score is None or not math.isfinite(report.score):
            raise ModelOutputError("the gate gave no finite score")
        return row.model_copy(
            update={"score": report.score, "threshold": report.threshold, "gate_seconds": seconds}
        )

    async def _replied(self, row: GateRow, record: ContrastRecord) -> GateRow:
        template, began = self._template, time.perf_counter()
        prompt = template.prompt(
            question=template.quoted(record.question), passages=template.block(record.passages)
        )
        (generation,) = await self._generator.generate([prompt], ANSWER_TOKENS)
        seconds = time.perf_counter() - began
        return row.model_copy(update={"reply": generation.text, "generator_seconds": seconds})


async def run_gate(
    records: Mapping[str, ContrastRecord], gate: Gate, header: GateHeader, path: Path, progress: Progress
) -> list[GateRow]:
    """The outcome of every record; the file at `path` is gone on with.

    A record that either cannot read is recorded with the reason. Raises InputError where the file is another
    run's, StorageError where the disk refuses.
    """
    with Journal(path, header.model_dump(mode="json")) as journal:
        done = {str(row["record"]): GateRow.model_validate(row) for row in journal.rows}
        for place, (key, record) in enumerate(records.items(), start=1):
            if key not in done:
                done[key] = await gate.outcome(key, record)
                journal.append([done[key].model_dump(mode="json")])
            progress(place, len(records))
    return [done[key] for key in records]


def gate_result(rows: Sequence[GateRow]) -> GateResult:
    """Rates and times over the records that were not skipped.

    Raises ModelOutputError where one label has none left.
    """
    kept = [row for row in rows if not row.skipped]
    if len({row.label for row in kept}) < 2:
        first = next((row.skipped for row in rows if row.skipped), "no record was given")
        raise ModelOutputError(f"no record of one label could be run; the first: {first}")
    generation = sum(row.generator_seconds for row in kept)
    stopped = sum(row.generator_seconds for row in kept if not row.passes)
    gate = sum(row.gate_seconds for row in kept)
    reasons = Counter(row.skipped for row in rows if row.skipped)
    return GateResult(
        insufficient=_rates([row for row in kept if not row.label]),
        sufficient=_rates([row for row in kept if row.label]),
        generator_p50=float(np.median([row.generator_seconds for row in kept])) * 1000,
        gate_p50=float(np.median([row.gate_seconds for row in kept])) * 1000,
        saved=stopped / max(1e-9, generation),
        saved_net=(stopped - gate) / max(1e-9, generation),
        skipped=dict(reasons.most_common()),
    )


def _rates(rows: Sequence[GateRow]) -> Rates:
    count = len(rows)
    return Rates(
        count,
        sum(row.answers for row in rows) / count,
        sum(row.passes for row in rows) / count,
        sum(row.answers and row.passes for row in rows) / count,
    )
