import pytest
from prediction_rows import row
from sufficit.controller.evaluation.runs.costs import (
    Latency,
    StageMean,
    costs,
    latencies,
    model_calls,
    tokens,
)
from sufficit.controller.evaluation.runs.rows import StageCost

ROWS = [
    row(
        "a",
        stages={
            "open": StageCost(model_calls=2, generated_tokens=10, prompt_tokens=30),
            "score": StageCost(reader_calls=6),
            "write": StageCost(model_calls=1, generated_tokens=4, prompt_tokens=100),
        },
        timings={"open": 0.1, "write": 1.0, "total": 2.0},
    ),
    row(
        "b",
        action="abstain",
        stages={"open": StageCost(model_calls=2, generated_tokens=6, prompt_tokens=20)},
        timings={"open": 0.3, "total": 4.0},
    ),
    row("c", action="failed", error="the disk is full"),
]


def test_costs_are_means_over_all_questions_the_failed_included():
    assert costs(ROWS) == (
        StageMean("open", pytest.approx(4 / 3), pytest.approx(16 / 3), pytest.approx(50 / 3), 0.0),
        StageMean("score", 0.0, 0.0, 0.0, 2.0),
        StageMean("write", pytest.approx(1 / 3), pytest.approx(4 / 3), pytest.approx(100 / 3), 0.0),
        StageMean("total", pytest.approx(5 / 3), pytest.approx(20 / 3), 50.0, 2.0),
    )
    assert [tokens(one) for one in ROWS] == [144, 26, 0]
    assert [model_calls(one) for one in ROWS] == [3, 2, 0]


def test_latency_is_of_those_that_came_to_the_stage():
    assert latencies(ROWS) == (
        Latency("open", 2, pytest.approx(0.2), pytest.approx(0.29)),
        Latency("write", 1, 1.0, 1.0),
        Latency("total", 2, pytest.approx(3.0), pytest.approx(3.9)),
    )
    assert latencies([ROWS[2]]) == ()
