"""Everything that `eval trustmargin` says, from the rows alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....policies.resampling import Interval, mean_interval
from ....policies.trustmargin import TrustMarginSettings
from ....tools.errors import InputError
from .diagnostics import Coverage, Diagnostics, coverage, diagnose
from .outcomes import Outcomes
from .plan import Trial
from .rows import ArbitrationRow
from .sweeps import Cell, Cost, Level, corruption_level, costs, grid_cells


@dataclass(frozen=True, slots=True)
class Plugged:
    """One pipeline alone, and what arbitration adds to it on the same questions (TrustMargin Table 4)."""

    pipeline: str
    f1: Interval
    em: Interval
    f1_gain: Interval
    em_gain: Interval
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class TrustMarginReport:
    """`coverage`, `diagnostics` and `cells` are of the plain trial; `costs` of every pipeline by its name."""

    coverage: Coverage
    diagnostics: Diagnostics
    cells: tuple[Cell, ...]
    levels: tuple[Level, ...]
    pipelines: tuple[Plugged, ...]
    costs: Mapping[str, tuple[Cost, ...]]


def trustmargin_report(
    rows: Sequence[ArbitrationRow],
    trials: Sequence[Trial],
    settings: TrustMarginSettings,
    weights: Sequence[float],
    taus: Sequence[float],
) -> TrustMarginReport:
    """Sum up a run; failed rows count as wrong. `weights` and `taus` are those of the grid.

    Raises InputError where no question could be run.
    """
    by_variant: dict[str, list[ArbitrationRow]] = {trial.variant: [] for trial in trials}
    for row in rows:
        by_variant[row.variant].append(row)
    plain, settled = by_variant[""], (settings.weight, settings.tau)
    if all(row.error for row in plain):
        why = plain[0].error if plain else "there is none"
        raise InputError(f"no question could be run; the first: {why}")
    outcomes = Outcomes.of(plain)
    corrupted = [trial for trial in trials if trial.share]
    levels = [corruption_level(trial.share, by_variant[trial.variant], *settled) for trial in corrupted]
    pipelines = [trial for trial in trials if not trial.share]
    return TrustMarginReport(
        coverage=coverage(plain),
        diagnostics=diagnose(outcomes, *settled),
        cells=grid_cells(outcomes, [*weights, settings.weight], [*taus, settings.tau]),
        # The plain trial is the level of no corruption.
        levels=(corruption_level(0.0, plain, *settled), *levels) if levels else (),
        pipelines=tuple(_plugged(trial.pipeline, by_variant[trial.variant], *settled) for trial in pipelines),
        costs={trial.pipeline: costs(by_variant[trial.variant]) for trial in pipelines},
    )


def _plugged(name: str, rows: Sequence[ArbitrationRow], weight: float, tau: float) -> Plugged:
    outcomes = Outcomes.of(rows)
    gains = outcomes.chosen(weight, tau) - outcomes.rag
    return Plugged(
        name,
        mean_interval(outcomes.rag[:, 0]),
        mean_interval(outcomes.rag[:, 1]),
        mean_interval(gains[:, 0]),
        mean_interval(gains[:, 1]),
        coverage(rows),
    )
