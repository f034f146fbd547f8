"""Small made-up contrasts and measurements for the tests of RINSE."""

from dataclasses import replace

import numpy as np
from sufficit.policies.rinse.content import Coverage, window_spans
from sufficit.policies.rinse.idf import PieceCounts
from sufficit.policies.rinse.latent import LatentPrompt
from sufficit.policies.rinse.records import ContrastRecord
from sufficit.policies.rinse.training import Example, PaddedExample, TrainingData
from sufficit.tools.types import Passage

PROMPT = LatentPrompt(style="completion", template="{passages}\nQuestion: {question}\nAnswer:")
TOWNS = (
    "Arden",
    "Belmar",
    "Corvale",
    "Dunmere",
    "Eastholm",
    "Fernley",
    "Garrow",
    "Hollin",
    "Iverly",
    "Jorvik",
)
PEOPLE = (
    "Ada Voss",
    "Ben Ortiz",
    "Cleo Marsh",
    "Dov Lind",
    "Eva Stone",
    "Finn Abel",
    "Gia Park",
    "Hal Reyes",
)


def record(family: str, number: int, label: bool, passages: int = 2) -> ContrastRecord:
    """Whether a mayor is named; the other side names the mayor of another town."""
    town, person = TOWNS[number % len(TOWNS)], PEOPLE[number % len(PEOPLE)]
    named = town if label else TOWNS[(number + 3) % len(TOWNS)]
    texts = [f"{person} is the mayor of {named} in the {family} region."]
    texts += [f"The river {town} number {i} is {number + i} miles long." for i in range(passages - 1)]
    found = tuple(Passage(id=str(i), text=text, source=f"{number}/{i}") for i, text in enumerate(texts))
    return ContrastRecord(f"g{number}", family, "made_up", f"Who is the mayor of {town}?", found, label)


def contrasts(family: str, groups: int) -> list[ContrastRecord]:
    """Groups of one sufficient and one insufficient record."""
    return [record(family, number, label) for number in range(groups) for label in (True, False)]


def training_data(
    families: tuple[str, ...] = ("one", "two", "three"),
    groups: int = 40,
    layers: int = 4,
    width: int = 8,
    signal: float = 1.0,
    seed: int = 0,
) -> TrainingData:
    """Measurements in which the relevance profile and layer 2 tell the labels apart."""
    generator = np.random.default_rng(seed)
    examples = []
    for family in families:
        for number in range(groups):
            for label in (True, False):
                base = record(family, number, label, passages=1 + number % 4)
                shift = signal * (0.5 if label else -0.5)
                examples.append(
                    Example(
                        record=ContrastRecord(
                            f"{family}/{base.group}",
                            family,
                            base.construction,
                            base.question,
                            base.passages,
                            label,
                        ),
                        held_out=number % 4 == 0,
                        coverage=_coverage(generator, len(base.passages), shift),
                        states={PROMPT: _states(generator, layers, width, shift)},
                    )
                )
    padded = [
        PaddedExample(family, f"{family}/{i}", size, {PROMPT: _states(generator, layers, width, size / 50)})
        for family in families
        for i in range(3)
        for size in (1, 6, 21, 101)
    ]
    counts = {family: PieceCounts(100, {"who": 90, "mayor": 20, "of": 95, family: 50}) for family in families}
    return TrainingData(examples, padded, counts)


def _coverage(generator: np.random.Generator, sources: int, shift: float) -> Coverage:
    pieces = ("who", "is", "the", "mayor", "of", "arden")
    return Coverage(
        pieces,
        generator.random((len(pieces), sources)) < 0.6,
        generator.normal(shift, 1.0, len(window_spans(len(pieces)))),
    )


def _states(generator: np.random.Generator, layers: int, width: int, shift: float) -> np.ndarray:
    states = generator.normal(size=(layers, width)).astype(np.float32)
    states[2, 0] += 4 * shift
    return states / np.linalg.norm(states, axis=1, keepdims=True)


def with_joint(
    data: TrainingData, trained_on: frozenset[str] = frozenset(), signal: float = 1.0
) -> TrainingData:
    """The same, also read by a trained joint reader whose score grows with the number of passages."""
    generator = np.random.default_rng(7)

    def raw(size: int, shift: float) -> dict[str, float]:
        return {"joint": float(generator.normal(shift, 1.0) + 2.0 * np.log1p(size))}

    return replace(
        data,
        examples=[
            replace(e, raws=raw(len(e.record.passages), signal * (0.5 if e.record.label else -0.5)))
            for e in data.examples
        ],
        padded=[replace(e, raws={"joint": 2.0 * float(np.log1p(min(e.size, 21)))}) for e in data.padded],
        trained={"joint": trained_on},
    )
