"""How well a retriever, or a run, finds what is judged relevant: recall, NDCG and MRR by ir-measures."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TypeVar

from ...tools.errors import InputError, UsageError
from ...tools.protocols import Retriever
from ...tools.retrievers.trec import Ranking, ranked_documents

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """Means over the judged questions, in [0, 1], by measure and cutoff, as `recall@5`.

    `median_ms` is the wall-clock time of one search in milliseconds, one search at a time; None for a run.
    """

    questions: int
    measures: Mapping[str, float]
    median_ms: float | None = None


async def evaluate(
    retriever: Retriever,
    queries: Mapping[str, str],
    qrels: Mapping[str, Mapping[str, int]],
    cutoffs: Sequence[int],
    ranked: Callable[[Ranking], None],
) -> tuple[RetrievalReport, dict[str, dict[str, float]]]:
    """Ask every question that has a judgement for as many passages as the largest cutoff.

    The ranking is of the documents that these were cut from; `ranked` is told each as it is made. Returns the
    report, and rankings by question. Raises InputError if no question is judged, UsageError where ir-measures
    is missing.
    """
    judged = judged_of(queries, qrels)
    _ir_measures()  # before the searches, not after
    deepest = max(cutoffs)
    rankings: dict[str, dict[str, float]] = {}
    seconds = []
    for id_, text in judged.items():
        began = time.perf_counter()
        found = await retriever.search(text, deepest)
        seconds.append(time.perf_counter() - began)
        rankings[id_] = ranked_documents(found)
        ranked(rankings[id_])
    measures = measured(rankings, {id_: qrels[id_] for id_ in judged}, cutoffs)
    return RetrievalReport(len(judged), measures, 1000 * statistics.median(seconds)), rankings


def evaluate_run(
    rankings: Mapping[str, Ranking], qrels: Mapping[str, Mapping[str, int]], cutoffs: Sequence[int]
) -> RetrievalReport:
    """Measure rankings that are there already, over all judged questions.

    Raises InputError if none of their questions is judged, UsageError where ir-measures is missing.
    """
    judged_of(rankings, qrels)
    return RetrievalReport(len(qrels), measured(rankings, qrels, cutoffs))


def judged_of(questions: Mapping[str, T], qrels: Mapping[str, object]) -> dict[str, T]:
    """Those of the questions that have a judgement. Raises InputError if there is none."""
    judged = {id_: value for id_, value in questions.items() if id_ in qrels}
    if not judged:
        raise InputError("None of the questions has a judgement in the qrels; do their ids agree?")
    return judged


def measured(
    rankings: Mapping[str, Ranking], qrels: Mapping[str, Mapping[str, int]], cutoffs: Sequence[int]
) -> dict[str, float]:
    """Means over the questions of `qrels`; one without a ranking counts as zero.

    Documents rank as they stand, whatever their scores: equal scores are no ties.
    """
    ir_measures = _ir_measures()
    by_rank = {
        question: {document: float(-rank) for rank, document in enumerate(ranking)}
        for question, ranking in rankings.items()
    }
    wanted = {
        f"{name}@{cutoff}": measure @ cutoff
        for name, measure in (("recall", ir_measures.R), ("ndcg", ir_measures.nDCG), ("mrr", ir_measures.RR))
        for cutoff in cutoffs
    }
    grades = {question: dict(of) for question, of in qrels.items()}
    found = ir_measures.calc_aggregate(list(wanted.values()), grades, by_rank)
    return {name: float(found[measure]) for name, measure in wanted.items()}


def _ir_measures() -> ModuleType:
    try:
        import ir_measures  # noqa: PLC0415  an extra, only wanted here
    except ImportError as error:
        raise UsageError(
            "An evaluation needs ir-measures, which is not installed; run: pip install 'sufficit[evaluation]'"
        ) from error
    return ir_measures
