"""How well a retriever finds what is judged relevant: recall, NDCG and MRR by ir-measures."""

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...tools.errors import InputError, UsageError
from ...tools.protocols import Retriever
from ...tools.retrievers.trec import Ranking, ranked_documents


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """Means over the judged questions, in [0, 1], by measure and cutoff, as `recall@5`.

    `median_ms` is the wall-clock time of one search in milliseconds, one search at a time.
    """

    questions: int
    measures: Mapping[str, float]
    median_ms: float


async def evaluate(
    retriever: Retriever,
    queries: Mapping[str, str],
    qrels: Mapping[str, Mapping[str, int]],
    cutoffs: Sequence[int],
) -> tuple[RetrievalReport, dict[str, dict[str, float]]]:
    """Ask every question that has a judgement for as many passages as the largest cutoff.

    The ranking is of the documents that these were cut from. Returns the report, and rankings by question.
    Raises InputError if no question is judged, UsageError where ir-measures is missing.
    """
    judged = {id_: text for id_, text in queries.items() if id_ in qrels}
    if not judged:
        raise InputError("No question of the queries has a judgement in the qrels; do their ids agree?")
    deepest = max(cutoffs)
    rankings: dict[str, dict[str, float]] = {}
    seconds = []
    for id_, text in judged.items():
        began = time.perf_counter()
        found = await retriever.search(text, deepest)
        seconds.append(time.perf_counter() - began)
        rankings[id_] = ranked_documents(found)
    measures = measured(rankings, {id_: qrels[id_] for id_ in judged}, cutoffs)
    return RetrievalReport(len(judged), measures, 1000 * statistics.median(seconds)), rankings


def measured(
    rankings: Mapping[str, Ranking], qrels: Mapping[str, Mapping[str, int]], cutoffs: Sequence[int]
) -> dict[str, float]:
    """Means over the questions of `qrels`; one without a ranking counts as zero.

    Documents rank as they stand, whatever their scores: equal scores are no ties.
    """
    try:
        import ir_measures  # noqa: PLC0415  an extra, only wanted here
        from ir_measures import RR, R, nDCG  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            "An evaluation needs ir-measures, which is not installed; run: pip install 'sufficit[evaluation]'"
        ) from error
    by_rank = {
        question: {document: float(-rank) for rank, document in enumerate(ranking)}
        for question, ranking in rankings.items()
    }
    wanted = {
        f"{name}@{cutoff}": measure @ cutoff
        for name, measure in (("recall", R), ("ndcg", nDCG), ("mrr", RR))
        for cutoff in cutoffs
    }
    grades = {question: dict(of) for question, of in qrels.items()}
    found = ir_measures.calc_aggregate(list(wanted.values()), grades, by_rank)
    return {name: float(found[measure]) for name, measure in wanted.items()}
