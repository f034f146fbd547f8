import pytest
from sufficit.controller.evaluation.arbitration.plan import Plan, plan_trials
from sufficit.tools.errors import UsageError


def test_the_first_pipeline_is_plain_and_the_one_that_is_corrupted():
    trials = plan_trials(Plan(("ircot", "rag", "ircot"), (1.0, 0.0, 0.25, 1.0)))
    assert [(trial.variant, trial.pipeline, trial.share) for trial in trials] == [
        ("", "ircot", 0.0),
        ("pipeline=rag", "rag", 0.0),
        ("corruption=0.25", "ircot", 0.25),
        ("corruption=1", "ircot", 1.0),
    ]


def test_what_there_is_not_is_refused():
    with pytest.raises(UsageError, match="no pipeline 'crag'"):
        Plan(("rag", "crag"))
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match=r"must lie in \[0, 1\]"):
            Plan(shares=(share,))
    with pytest.raises(UsageError, match=r"0\.1234561 and 0\.1234562 are the same at six digits"):
        Plan(shares=(0.1234562, 0.5, 0.1234561))
