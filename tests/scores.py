"""Score tables with told scores, and scorers that say what they are told."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sufficit.controller.evaluation.contrasts.scores import ScoreRow, ScoreTable
from sufficit.policies.scorers.types import Scored


@dataclass
class FixedScorer:
    """`of(question, passages)` gives the score, or raises; `calls` counts."""

    of: Callable[..., float | Scored]
    name: str = "fixed"
    calls: list[str] = field(default_factory=list)

    async def score(self, question, passages):
        self.calls.append(question)
        found = self.of(question, passages)
        return found if isinstance(found, Scored) else Scored(found)


def row(key: str, group: str, label: bool, score: float | None, **more) -> ScoreRow:
    values = {
        "record": key, "family": "f", "construction": "c", "group": group, "label": label, "score": score,
        "seconds": 0.01, "share": 0.01,
    }  # fmt: skip
    return ScoreRow(**(values | more))


def table(label: str, rows: list[ScoreRow], seen: tuple[tuple[str, str], ...] = ()) -> ScoreTable:
    return ScoreTable(label, {row.record: row for row in rows}, frozenset(seen), 1)


def graded(label: str, wins: list[bool], family: str = "f", construction: str = "c", **more) -> ScoreTable:
    """One pair a group; `wins` says where the sufficient side scores higher."""
    rows = []
    for number, win in enumerate(wins):
        name = f"{family}/{construction}/{number}"
        same = {"family": family, "construction": construction, **more}
        rows += [
            row(f"{name}+", name, True, 1.0 if win else 0.0, **same),
            row(f"{name}-", name, False, 0.0 if win else 1.0, **same),
        ]
    return table(label, rows)
