"""Every subset of a sum's terms, from one file of scores (RINSE Table 6)."""

from itertools import combinations

from ....policies.rinse.artifact import reader_set
from ....tools.errors import InputError
from .scores import ScoreRow, ScoreTable


def subsets(table: ScoreTable) -> list[ScoreTable]:
    """The scores of every subset of readers, the full sum first.

    A subset's score is the sum of its readers' standardised terms: size correction and weights stay. Records
    without a term of every reader are left out of all subsets, so that all stand on the same. Raises
    InputError where the scores are no sum of several terms.
    """
    names = sorted({name for row in table.rows.values() for name in row.terms})
    if len(names) < 2:
        raise InputError(
            f"the scores of {table.label} stand on no two readers; score with more of them, such as "
            "--set rinse.joint=joint-minilm or --set rinse.encoder=smollm2-135m-instruct"
        )
    rows = {key: row for key, row in table.rows.items() if row.terms.keys() == set(names)}
    chosen = [subset for size in range(len(names), 0, -1) for subset in combinations(names, size)]
    return [_subset(table, rows, subset) for subset in chosen]


def _subset(table: ScoreTable, rows: dict[str, ScoreRow], subset: tuple[str, ...]) -> ScoreTable:
    summed = {
        key: row.model_copy(update={"score": sum(row.terms[name] for name in subset)})
        for key, row in rows.items()
    }
    return ScoreTable(reader_set(subset), summed, table.seen, table.at_once)
