"""How far cues that are not sufficiency get (RINSE Table 2), and scorers where a cue is level (Table 3)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ....policies.rinse.accuracy import Accuracy, pairwise_accuracy
from ....policies.rinse.content import passage_text
from ....policies.rinse.records import ContrastRecord, Pair, pairs
from .additions import COUNTS, Additions
from .cues import MinimumCoverage, passage_counts
from .overlap import holds
from .scores import ScoreTable, record_key
from .text_classifier import held_out_probabilities

SIZE, QUESTION, COVERAGE, EVIDENCE = (
    "passage count",
    "question only",
    "minimum IDF coverage",
    "evidence only",
)


@dataclass(frozen=True, slots=True)
class CueAccuracy:
    """How often a cue scores the sufficient side higher. `added` passages stand on both sides, None: any.

    `fewest` of them stand with the group that got the fewest: a small pool holds no more.
    """

    family: str
    construction: str
    cue: str
    added: int | None
    accuracy: Accuracy
    fewest: int | None = None


@dataclass(frozen=True, slots=True)
class ControlledAccuracy:
    """One scorer on the pairs of a set in which a control holds; `scorer` has scored all of these pairs."""

    family: str
    construction: str
    control: str
    scorer: str
    accuracy: Accuracy


def audit_cues(
    records: Sequence[ContrastRecord],
    counts: Sequence[int] = COUNTS,
    seed: int = 17,
    progress: Callable[[str], None] = lambda _: None,
) -> list[CueAccuracy]:
    """All cues on the records of one family and construction.

    `progress` hears what is being measured.
    """
    family, construction = records[0].family, records[0].construction
    found = list(pairs(records))

    def row(cue: str, added: int | None, scores: Sequence[float], fewest: int | None = None) -> CueAccuracy:
        return CueAccuracy(family, construction, cue, added, pairwise_accuracy(found, scores), fewest)

    progress(f"{family} {construction}: {QUESTION}")
    rows = [
        row(SIZE, None, passage_counts(records)),
        row(QUESTION, None, _learned(records, [record.question for record in records])),
    ]
    coverage, additions = MinimumCoverage(records), Additions(records, seed, max(counts))
    for added in counts:
        progress(f"{family} {construction}: {EVIDENCE}, {added} passages added")
        grown, fewest = additions.at(added), additions.fewest(added)
        rows.append(row(COVERAGE, added, coverage.of(grown), fewest))
        rows.append(row(EVIDENCE, added, _learned(grown, [_evidence(record) for record in grown]), fewest))
    return rows


def _learned(records: Sequence[ContrastRecord], texts: Sequence[str]) -> list[float]:
    labels = [record.label for record in records]
    return held_out_probabilities(texts, labels, [record.group for record in records])


def _evidence(record: ContrastRecord) -> str:
    return "\n\n".join(map(passage_text, record.passages))


Control = Callable[[int, int], bool]
"""Whether a pair, given by the places of its sufficient and its insufficient record, is level in a cue."""


def controls(records: Sequence[ContrastRecord]) -> Mapping[str, Control]:
    """The controls of Table 3 by name, over the records of one set."""
    minimum = MinimumCoverage(records).of(records)

    def answered(high: int, low: int) -> bool:
        answers = records[high].answers
        return bool(answers) and all(
            any(holds(passage, answers) for passage in records[place].passages) for place in (high, low)
        )

    return {
        "minimum IDF coverage tied": lambda high, low: minimum[high] == minimum[low],
        "answer string on both sides": answered,
        "equal passage count": lambda high, low: len(records[high].passages) == len(records[low].passages),
        "equal support count": lambda high, low: (
            records[high].support is not None and records[high].support == records[low].support
        ),
    }


def controlled_accuracies(
    records: Sequence[ContrastRecord], tables: Sequence[ScoreTable]
) -> Iterator[ControlledAccuracy]:
    """Every scorer on the pairs of one set in which each control holds.

    Only pairs that all scorers have scored count, so that all stand on the same; a control that keeps no
    pair, or every pair, gives no row.
    """
    family, construction = records[0].family, records[0].construction
    keys = [record_key(record) for record in records]
    scores = [[_score(table, key) for key in keys] for table in tables]
    scored = [
        pair
        for pair in pairs(records)
        if all(found[place] is not None for found in scores for place in (pair.sufficient, pair.insufficient))
    ]
    for name, control in controls(records).items():
        kept = [pair for pair in scored if control(pair.sufficient, pair.insufficient)]
        if not kept or len(kept) == len(scored):
            continue
        for table, found in zip(tables, scores, strict=True):
            accuracy = _accuracy(kept, found)
            yield ControlledAccuracy(family, construction, name, table.label, accuracy)


def _score(table: ScoreTable, key: str) -> float | None:
    row = table.rows.get(key)
    return row.score if row else None


def _accuracy(kept: Sequence[Pair], scores: Sequence[float | None]) -> Accuracy:
    return pairwise_accuracy(kept, [0.0 if score is None else score for score in scores])
