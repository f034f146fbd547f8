import pytest
from prediction_rows import found, row
from sufficit.controller.evaluation.runs.rows import StageCost
from sufficit.controller.evaluation.runs.support import support_report

ANSWERED = row(
    "a",
    support=("x", "y"),
    retrieved=(found("x", "z"), found("y")),
    pool=found("x", "z", "y"),
    admitted=found("x", "z"),
    read=found("x"),
    citations=found("x", "z", "z"),
    stages={"prune": StageCost()},
)
ABSTAINED = row("b", action="abstain", support=("x", "w"), retrieved=(found("x"),), pool=found("x"))
UNKNOWN = row("c", support=None, retrieved=(found("x"),), citations=found("q"))


def test_recall_by_stage_and_citations_by_hand():
    report = support_report([ANSWERED, ABSTAINED, UNKNOWN, row("d", action="failed", support=("x",))])
    assert report.questions == 3
    stages = {stage.stage: stage for stage in report.stages}
    assert [stages[name].recall for name in ("first round", "all rounds", "pool", "admitted", "read")] == (
        pytest.approx([(1 / 2 + 1 / 2) / 3, (1 + 1 / 2) / 3, (1 + 1 / 2) / 3, (1 / 2) / 3, (1 / 2) / 3])
    )
    assert [stages[name].complete for name in ("first round", "pool")] == pytest.approx([0, 1 / 3])
    assert report.pruned == 1
    assert [stages[name].pruned for name in ("pool", "admitted")] == [1, 0.5]
    assert (report.cited, report.citations) == (1, pytest.approx(1 / 3))


def test_support_is_known_by_title_too():
    report = support_report([row("a", support=("X", "Y"), pool=found("x"), citations=found("x"))])
    assert {stage.stage: stage.recall for stage in report.stages}["pool"] == 0.5
    assert report.citations == 1
    assert {stage.pruned for stage in report.stages} == {None}


def test_without_annotated_support_there_is_no_report():
    assert support_report([UNKNOWN, row("e", support=())]) is None
