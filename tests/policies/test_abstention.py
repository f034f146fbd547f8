import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scripted import generation
from sufficit.policies.abstention import AbstentionSettings, ClosedBookRule, OnInsufficient
from sufficit.tools.types import Generation

SURE = generation("Oslo", (-0.1,))


def rule(mode: OnInsufficient) -> ClosedBookRule:
    return ClosedBookRule(AbstentionSettings(on_insufficient=mode, max_uncertainty=0.25, min_logprob=-0.5))


@pytest.mark.parametrize(
    ("mode", "direct", "baseline", "granted", "reason"),
    [
        ("abstain", SURE, 0.0, False, ""),
        ("closed_book", generation("Oslo", (-9.0,)), 1.0, True, "no evidence"),
        ("closed_book", generation(" "), 0.0, False, "no closed-book answer"),
        ("closed_book", None, 0.0, False, "no closed-book answer"),
        ("closed_book_if_confident", SURE, 0.25, True, "confident"),
        ("closed_book_if_confident", SURE, 0.26, False, "NU(q) = 0.26 is above 0.25"),
        ("closed_book_if_confident", SURE, math.nan, False, "NU(q) = nan"),
        ("closed_book_if_confident", SURE, None, False, "NU(q) = unknown"),
        ("closed_book_if_confident", generation("Oslo", (-0.5, -0.5)), 0.1, True, "confident"),
        ("closed_book_if_confident", generation("Oslo", (-0.5, -0.6)), 0.1, False, "-0.55 is under -0.5"),
        ("closed_book_if_confident", generation("Oslo", (math.nan,)), 0.1, False, "nan"),
        ("closed_book_if_confident", generation("Oslo", ()), 0.1, False, "unknown"),
    ],
)
def test_the_rule(
    mode: OnInsufficient, direct: Generation | None, baseline: float | None, granted: bool, reason: str
) -> None:
    permission = rule(mode).permits(direct, baseline)
    assert permission.granted is granted
    assert reason in permission.reason


@given(st.text(max_size=5), st.lists(st.floats(-5, 0), max_size=4), st.floats(0, 1))
def test_confidence_never_grants_more_than_closed_book(text: str, logs: list[float], nu: float) -> None:
    direct = generation(text, tuple(logs))
    confident = rule("closed_book_if_confident").permits(direct, nu).granted
    assert not confident or rule("closed_book").permits(direct, nu).granted


@pytest.mark.parametrize(
    "changes", [{"max_uncertainty": 1.1}, {"min_logprob": 0.1}, {"on_insufficient": "x"}]
)
def test_settings_out_of_range_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        AbstentionSettings.model_validate(changes)
