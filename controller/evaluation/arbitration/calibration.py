"""lambda and tau for one's own generator and questions, chosen and judged by cross-validation.

Each fold is answered by the setting that is best on the other folds, so that the gain over the published
setting is measured on questions that had no say in the choice. The setting to use is then chosen on all.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from ....policies.resampling import Interval, Numbers, mean_interval
from ....policies.trustmargin import TrustMarginSettings
from ....tools.errors import InputError
from .outcomes import MEASURES, Measure, Outcomes
from .rows import ArbitrationRow
from .sweeps import WEIGHTS, Cell, grid_cells

TAUS: Final = tuple(tau / 2 for tau in range(-20, 9))
"""tau of the grid: small generators prefer their own wording by many nats, so it reaches far below -1.5."""

LABELLED = 50
DECIDING = 10
"""The fewest labelled questions, and the fewest of them on which the choice matters, to calibrate on."""


@dataclass(frozen=True, slots=True)
class Setting:
    """lambda and tau."""

    weight: float
    tau: float

    @property
    def distance(self) -> float:
        """How far it is from the published setting."""
        return math.hypot(self.weight - PUBLISHED.weight, self.tau - PUBLISHED.tau)


PUBLISHED = Setting(TrustMarginSettings().weight, TrustMarginSettings().tau)


@dataclass(frozen=True, slots=True)
class Fold:
    """How many questions, the setting chosen on the other folds, and what it and the published one reach."""

    questions: int
    setting: Setting
    grade: float
    published: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The setting chosen on all labelled questions, and what choosing so gains on questions held out.

    `measure` is the mean of F1 or EM that was sought; all grades are in [0, 1], 0 where a run failed.
    `deciding` counts the questions on which one answer is better and the margins decide. `held_out` and
    `published` are means over the same questions, `gain` their difference with its interval, by bootstrap
    over questions. `direct`, `rag` and `oracle` are what either answer, and the better one, would have got.
    `at_edge` says whether the setting lies at the edge of the grid. `cells` is the whole grid.
    """

    measure: Measure
    labelled: int
    failed: int
    deciding: int
    setting: Setting
    at_edge: bool
    held_out: float
    published: float
    gain: Interval
    direct: float
    rag: float
    oracle: float
    folds: tuple[Fold, ...]
    cells: tuple[Cell, ...]

    @property
    def loses(self) -> bool:
        """Whether choosing does worse than the published setting on held-out questions, beyond chance."""
        return self.gain.high < 0


@dataclass(frozen=True, slots=True)
class SettingGrid:
    """The settings to choose among."""

    weights: Sequence[float] = WEIGHTS
    taus: Sequence[float] = TAUS

    @property
    def settings(self) -> list[Setting]:
        """All of them, those nearest to the published one first."""
        found = [Setting(*pair) for pair in product(sorted(set(self.weights)), sorted(set(self.taus)))]
        return sorted(found, key=lambda setting: (setting.distance, setting.weight, setting.tau))

    def at_edge(self, setting: Setting) -> bool:
        """Whether a better setting may lie outside. No lambda is below 0; what has one value was meant so."""
        weights, taus = set(self.weights), set(self.taus)
        far = len(weights) > 1 and setting.weight == max(weights)
        return far or (len(taus) > 1 and setting.tau in {min(taus), max(taus)})


def calibrate(
    rows: Sequence[ArbitrationRow], measure: Measure, grid: SettingGrid, folds: int, seed: int
) -> Calibration:
    """Choose lambda and tau on the rows that have gold answers.

    Raises InputError where too few questions are labelled, or on too few of them the choice matters.
    """
    labelled = sorted((row for row in rows if row.answers), key=lambda row: _draw(row, seed))
    if len(labelled) < LABELLED:
        raise InputError(
            f"{len(labelled)} of {len(rows)} questions have gold answers; to calibrate takes {LABELLED}"
        )
    outcomes, column = Outcomes.of(labelled), MEASURES.index(measure)
    deciding = _deciding(outcomes, measure)
    settings = grid.settings
    grades = np.array([outcomes.chosen(s.weight, s.tau)[:, column] for s in settings])
    published = outcomes.chosen(PUBLISHED.weight, PUBLISHED.tau)[:, column]
    found, held_out = _cross_validated(settings, grades, published, folds)
    chosen = settings[_best(grades)]
    return Calibration(
        measure=measure,
        labelled=len(labelled),
        failed=sum(bool(row.error) for row in labelled),
        deciding=deciding,
        setting=chosen,
        at_edge=grid.at_edge(chosen),
        held_out=float(held_out.mean()),
        published=float(published.mean()),
        gain=mean_interval(held_out - published, seed),
        direct=float(outcomes.direct[:, column].mean()),
        rag=float(outcomes.rag[:, column].mean()),
        oracle=float(outcomes.oracle[:, column].mean()),
        folds=found,
        cells=grid_cells(outcomes, grid.weights, grid.taus),
    )


def _deciding(outcomes: Outcomes, measure: Measure) -> int:
    column = MEASURES.index(measure)
    better = outcomes.direct[:, column] != outcomes.rag[:, column]
    deciding = int((better & outcomes.scored).sum())
    if deciding < DECIDING:
        raise InputError(
            f"only on {deciding} of {len(better)} labelled questions has one answer the better {measure} and "
            f"do margins decide; to calibrate takes {DECIDING}"
        )
    return deciding


def _draw(row: ArbitrationRow, seed: int) -> bytes:
    """Places a question by chance, the same one whatever else is in the file."""
    return hashlib.sha256(f"{seed}/{row.id}".encode()).digest()


def _cross_validated(
    settings: Sequence[Setting], grades: Numbers, published: Numbers, folds: int
) -> tuple[tuple[Fold, ...], Numbers]:
    """Each fold with its setting, and the grade of every question when held out."""
    places = np.arange(grades.shape[1]) % folds
    held_out = np.zeros(grades.shape[1])
    found = []
    for fold in range(folds):
        here = places == fold
        best = _best(grades[:, ~here])
        held_out[here] = grades[best, here]
        means = float(held_out[here].mean()), float(published[here].mean())
        found.append(Fold(int(here.sum()), settings[best], *means))
    return tuple(found), held_out


def _best(grades: Numbers) -> int:
    """The first of the settings with the highest mean; sums that differ by rounding are equal."""
    return int(np.argmax(grades.mean(axis=1).round(12)))
