import pytest
from hypothesis import given
from hypothesis import strategies as st
from prediction_rows import found, row
from sufficit.controller.evaluation.runs.failures import GROUPS, explain, failure_group
from sufficit.controller.evaluation.runs.grading import grade
from sufficit.controller.evaluation.runs.rows import StageCost

PRUNED = {"prune": StageCost(model_calls=1)}
XY = {"support": ("x", "y"), "pool": found("x", "y", "z")}

CASES = {
    "run failed": row("a", action="failed", error="the disk is full", direct="right"),
    "should have abstained": row("b", answer="Paris", answers=(), answerable=False),
    "wrong answer chosen": row("c", answer="wrong", direct="right", rag="wrong"),
    "abstained wrongly": row("d", action="abstain", direct="It is right.", support=("x",)),
    "not retrieved": row("e", answer="wrong", support=("x", "y"), pool=found("x"), read=found("x")),
    "retrieved but judged insufficient": row("f", action="abstain", direct="wrong", **XY),
    "admitted too little": row("g", answer="wrong", rag="wrong", read=found("x"), stages=PRUNED, **XY),
    "both answers wrong": row("h", answer="wrong", rag="wrong", read=found("x", "y"), stages=PRUNED, **XY),
}


@pytest.mark.parametrize(("group", "failed"), CASES.items(), ids=CASES.keys())
def test_every_group_by_an_example(group, failed):
    assert failure_group(failed) == group


def test_the_cases_are_all_groups():
    assert list(CASES) == list(GROUPS)


def test_without_known_support_an_empty_stage_says_where_it_was_lost():
    assert failure_group(row("a", answer="wrong")) == "not retrieved"
    pool = found("x")
    assert failure_group(row("a", action="abstain", pool=pool)) == "retrieved but judged insufficient"
    assert failure_group(row("a", answer="wrong", pool=pool, stages=PRUNED)) == "admitted too little"
    read = row("a", answer="wrong", pool=pool, read=pool, stages=PRUNED)
    assert failure_group(read) == "both answers wrong"


def test_counts_examples_and_meanings():
    rows = [*CASES.values(), row("i", answer="wrong"), row("j"), row("k", answers=())]
    report = explain("full", rows, examples=1)
    assert (report.configuration, report.graded, report.failures) == ("full", 10, 9)
    groups = {group.name: group for group in report.groups}
    assert list(groups) == list(GROUPS)
    assert (groups["not retrieved"].count, groups["not retrieved"].examples) == (2, ("e",))
    assert groups["run failed"].meaning == "The run itself ended in an error."


DOCUMENTS = st.lists(st.sampled_from("xyz"), max_size=3).map(lambda names: found(*names))
ANY = st.builds(
    lambda **values: row("q", **values),
    action=st.sampled_from(["answer", "abstain", "failed"]),
    answer=st.sampled_from(["right", "wrong"]),
    answers=st.sampled_from([(), ("right",)]),
    answerable=st.sampled_from([None, True, False]),
    support=st.sampled_from([None, (), ("x",), ("x", "y")]),
    direct=st.sampled_from([None, "right", "wrong"]),
    rag=st.sampled_from([None, "right", "wrong"]),
    pool=DOCUMENTS,
    read=DOCUMENTS,
    stages=st.sampled_from([{}, PRUNED]),
)


@given(ANY)
def test_every_failure_is_in_exactly_one_group_and_nothing_else_is(any_row):
    report = explain("full", [any_row])
    failed = report.graded == 1 and not grade(any_row).right
    assert sum(group.count for group in report.groups) == report.failures == int(failed)
