import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sufficit.policies.action import ThresholdAction
from sufficit.policies.types import LoopState, SufficiencyReport

POLICY = ThresholdAction()
LEFT = {"rounds": 2.0}


def report(score: float | None, threshold: float = 0.5) -> SufficiencyReport:
    return SufficiencyReport(score, threshold, (), (), passages=3)


def state(rounds: int = 2, fetches: int = 1, query: str | None = "ada lind", new: int = 4) -> LoopState:
    return LoopState(rounds, fetches, query, new, LEFT)


@pytest.mark.parametrize(
    ("score", "loop", "action", "query", "reason"),
    [
        (0.5, state(), "answer", None, "The evidence scores 0.50, which reaches the threshold 0.50."),
        (0.4, state(rounds=1), "retrieve_more", "ada lind", "; 1 round is left and a new query to try."),
        (0.4, state(rounds=0), "fetch_web", "ada lind", "; no round is left, but 1 web fetch is left."),
        (0.4, state(query=None, fetches=2), "fetch_web", None, "not tried, but 2 web fetches are left."),
        (0.4, state(new=0), "fetch_web", "ada lind", "brought nothing new, but 1 web fetch is left."),
        (0.4, state(rounds=0, fetches=0), "abstain", None, "nor can anything new be asked of the web."),
        (0.4, state(fetches=0, new=0, query=None), "abstain", None, "not tried and the last round brought"),
        (None, state(), "retrieve_more", "ada lind", "There is no evidence to score;"),
        (math.nan, state(rounds=0, fetches=0), "abstain", None, "scores nan"),
    ],
)
def test_takes_the_first_action_that_is_possible(
    score: float | None, loop: LoopState, action: str, query: str | None, reason: str
) -> None:
    decision = POLICY.decide(report(score), loop)
    assert (decision.action, decision.query) == (action, query)
    assert reason in decision.reason
    assert (decision.threshold, decision.left) == (0.5, LEFT)


@given(
    st.builds(
        SufficiencyReport,
        score=st.none() | st.floats(),
        threshold=st.floats(),
        readers=st.just(()),
        coverage=st.just(()),
        passages=st.integers(0, 9),
    ),
    st.builds(
        LoopState,
        rounds_left=st.integers(-1, 3),
        web_fetches_left=st.integers(-1, 3),
        next_query=st.none() | st.text(),
        new_passages=st.integers(0, 3),
        left=st.just({}),
    ),
)
def test_every_state_gets_a_possible_action_with_a_reason(
    evidence: SufficiencyReport, loop: LoopState
) -> None:
    decision = POLICY.decide(evidence, loop)
    assert decision.reason.endswith(".")
    assert (decision.action == "answer") == evidence.sufficient
    if decision.action == "retrieve_more":
        assert loop.rounds_left > 0
        assert loop.new_passages > 0
        assert decision.query is not None
    if decision.action == "fetch_web":
        assert loop.web_fetches_left > 0
    if decision.action == "abstain":
        assert loop.web_fetches_left <= 0
