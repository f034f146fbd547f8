"""The report over a run folder: configurations in figures, the first against each other one, failures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .comparison import RunComparison, compare_rows
from .failures import FailureReport, explain
from .folder import RunFolder, RunHeader
from .rows import PredictionRow
from .summary import Summary, summarise


@dataclass(frozen=True, slots=True)
class RunReport:
    """All that report.json holds. `pending` are configurations that have not ended, and are in no figure."""

    run: RunHeader
    pending: tuple[str, ...]
    summaries: tuple[Summary, ...]
    comparisons: tuple[RunComparison, ...]
    failures: tuple[FailureReport, ...]


def run_report(header: RunHeader, rows: Mapping[str, Sequence[PredictionRow]]) -> RunReport:
    """The report over the rows of at least one configuration; the first is what others are compared with."""
    (first, first_rows), *others = rows.items()
    return RunReport(
        run=header,
        pending=tuple(name for name in header.configurations if name not in rows),
        summaries=tuple(summarise(name, of) for name, of in rows.items()),
        comparisons=tuple(compare_rows(first, first_rows, name, of) for name, of in others),
        failures=tuple(explain(name, of) for name, of in rows.items()),
    )


def read_report(folder: RunFolder) -> RunReport:
    """The report over a folder. Raises InputError where it holds no configuration that has ended."""
    return run_report(folder.read_header(), folder.read_predictions())
