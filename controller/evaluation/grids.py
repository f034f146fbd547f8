"""Tables as plain text cells, for a terminal and for Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .contrasts.comparison import Comparison, Difference, SetAccuracy


@dataclass(frozen=True, slots=True)
class Grid:
    """One table: a title, a header, and rows of as many cells."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """The table in Markdown."""
        rule = ["---"] + ["---:"] * (len(self.header) - 1)
        lines = [self.header, rule, *self.rows]
        return f"### {self.title}\n\n" + "\n".join(
            "| " + " | ".join(map(_escaped, line)) + " |" for line in lines
        )


def _escaped(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")


def ranged(value: float, low: float, high: float, sign: str = "") -> str:
    """A value with its interval."""
    return f"{value:{sign}.3f} [{low:{sign}.3f}, {high:{sign}.3f}]"


def failure_grids(failures: Mapping[str, int]) -> list[Grid]:
    """How many questions failed and why; no table where none did.

    Reasons are long: they stand last, where they can be broken.
    """
    rows = tuple((str(count), why) for why, count in failures.items())
    return [Grid("Why questions failed", ("questions", "why"), rows)] if rows else []


def comparison_grids(comparison: Comparison) -> list[Grid]:
    """Accuracy by set and overall, paired differences, speed, and what was skipped or noted."""
    grids = [accuracy_grid(comparison), *difference_grids(comparison.differences), _speed(comparison)]
    for title, tallies in (("Records without a score", comparison.skipped), ("Notes", comparison.noted)):
        rows = tuple(
            (label, str(count), reason) for label, tally in tallies.items() for reason, count in tally.items()
        )
        grids += [Grid(title, ("scorer", "records", "reason"), rows)] if rows else []
    return grids


def accuracy_grid(comparison: Comparison, title: str = "Pairwise accuracy") -> Grid:
    """A row a scorer, a column a set, then how many families, and average and minimum over them."""
    columns = sorted({_of(found) for found in comparison.sets})
    cells = {(found.scorer, *_of(found)): _cell(found) for found in comparison.sets}
    pairs = {column: max(s.accuracy.pairs for s in comparison.sets if _of(s) == column) for column in columns}
    rows = tuple(
        (
            total.scorer,
            *(cells.get((total.scorer, *column), "") for column in columns),
            str(total.families),
            ranged(total.average, total.low, total.high),
            f"{total.minimum:.3f}",
        )
        for total in comparison.overall
    )
    names = tuple(
        f"{family} {construction} ({pairs[family, construction]})" for family, construction in columns
    )
    seen = any(found.seen for found in comparison.sets)
    note = "; * the scorer was fitted on this family" if seen else ""
    return Grid(
        f"{title}, 95% group-bootstrap intervals{note}",
        ("scorer", *names, "families", "average", "minimum"),
        rows,
    )


def _of(found: SetAccuracy) -> tuple[str, str]:
    return found.family, found.construction


def _cell(found: SetAccuracy) -> str:
    accuracy = found.accuracy
    return ranged(accuracy.value, accuracy.low, accuracy.high) + ("*" if found.seen else "")


def difference_grids(differences: Iterable[Difference]) -> list[Grid]:
    """A row a scorer, a column a set and the average; nothing where there is nothing to compare."""
    found = list(differences)
    if not found:
        return []
    columns = sorted(
        {_column(difference) for difference in found}, key=lambda name: (name == "average", name)
    )
    cells = {
        (difference.scorer, _column(difference)): ranged(
            difference.value, difference.low, difference.high, sign="+"
        )
        for difference in found
    }
    scorers = dict.fromkeys(difference.scorer for difference in found)
    rows = tuple((scorer, *(cells.get((scorer, column), "") for column in columns)) for scorer in scorers)
    title = f"Difference from {found[0].reference} on common records, same draws of groups"
    return [Grid(title, ("scorer", *columns), rows)]


def _column(difference: Difference) -> str:
    return f"{difference.family} {difference.construction}" if difference.family else "average"


def _speed(comparison: Comparison) -> Grid:
    rows = tuple(
        (s.scorer, str(s.records), f"{s.p50:.1f}", f"{s.p95:.1f}", f"{s.per_second:.2f}", str(s.at_once))
        for s in comparison.speed
    )
    header = ("scorer", "records", "p50 ms", "p95 ms", "records/s", "at once")
    return Grid("Latency of one record and throughput", header, rows)


def markdown(title: str, grids: Sequence[Grid]) -> str:
    """A Markdown page of tables."""
    return "\n\n".join([f"## {title}", *(grid.markdown() for grid in grids)]) + "\n"
