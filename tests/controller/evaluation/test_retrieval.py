import math

import pytest
from sufficit.controller.evaluation.retrieval import evaluate, evaluate_run, measured
from sufficit.tools.errors import InputError
from sufficit.tools.types import Passage

pytest.importorskip("ir_measures")

QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}


class Listed:
    """Answers each query with passages of the documents that it names."""

    async def search(self, query: str, k: int) -> list[Passage]:
        return [Passage(str(n), "", "", source, None, 1.0) for n, source in enumerate(query.split())][:k]


def test_recall_ndcg_and_reciprocal_rank():
    found = measured({"q1": {"x": 9.0, "a": 8.0}, "q2": {"c": 1.0}}, QRELS, [1, 2])
    gain = 1 / math.log2(3)
    assert found == pytest.approx(
        {
            "recall@1": (0 + 1) / 2,
            "recall@2": (1 / 2 + 1) / 2,
            "ndcg@1": (0 + 1) / 2,
            "ndcg@2": (gain / (1 + gain) + 1) / 2,
            "mrr@1": (0 + 1) / 2,
            "mrr@2": (1 / 2 + 1) / 2,
        }
    )


def test_a_question_without_a_ranking_counts_as_zero():
    assert measured({"q2": {"c": 1.0}}, QRELS, [5])["recall@5"] == 0.5


def test_equal_scores_rank_as_they_stand():
    assert measured({"q2": {"c": 1.0, "z": 1.0}}, {"q2": {"c": 1}}, [5])["mrr@5"] == 1.0
    assert measured({"q2": {"z": 1.0, "c": 1.0}}, {"q2": {"c": 1}}, [5])["mrr@5"] == 0.5


async def test_passages_are_ranked_as_their_documents():
    queries = {"q1": "x x a b", "q2": "c", "unjudged": "c"}
    told: list = []
    report, rankings = await evaluate(Listed(), queries, QRELS, [2, 4], told.append)
    assert told == list(rankings.values())
    assert list(rankings) == ["q1", "q2"]
    assert list(rankings["q1"]) == ["x", "a", "b"]
    assert report.questions == 2
    assert report.measures["recall@2"] == 0.75
    assert report.measures["recall@4"] == 1.0
    assert report.median_ms >= 0


async def test_ids_that_do_not_agree():
    with pytest.raises(InputError, match="do their ids agree"):
        await evaluate(Listed(), {"other": "a"}, QRELS, [5], print)
    with pytest.raises(InputError, match="do their ids agree"):
        evaluate_run({"other": {"a": 1.0}}, QRELS, [5])


async def test_a_run_measures_as_the_search_that_made_it():
    report, rankings = await evaluate(Listed(), {"q1": "x a b", "q2": "c"}, QRELS, [1, 5], lambda _: None)
    again = evaluate_run(rankings, QRELS, [1, 5])
    assert (again.questions, again.measures, again.median_ms) == (2, report.measures, None)
