import math
from dataclasses import dataclass, field

import pytest
import torch
from sufficit.tools.errors import ModelOutputError
from sufficit.tools.generators.scoring import ScoreRow, score_batch

GOING, ENDED = (lambda: False), (lambda: True)


@dataclass
class Counting:
    """Gives the three tokens of its vocabulary fixed odds, and keeps what it reads."""

    odds: tuple[float, ...] = (1.0, 2.0, 5.0)
    read: list = field(default_factory=list)

    def tails(self, rows, lengths):
        self.read.append((rows, lengths))
        # Logits are no probabilities yet: a constant more changes nothing.
        return [torch.tensor(self.odds).log().repeat(length, 1) + 3.0 for length in lengths]


def test_the_last_token_is_only_predicted():
    assert ScoreRow((1, 2), (3, 4)).ids == (1, 2, 3)
    assert ScoreRow((1, 2), (3,)).ids == (1, 2)


def test_every_token_of_a_continuation_has_its_log_probability():
    model = Counting()
    rows = [ScoreRow((1,), (2, 0)), ScoreRow((1, 1), (1,))]
    first, second = score_batch(model, rows, [GOING, GOING])
    assert first == pytest.approx((math.log(5 / 8), math.log(1 / 8)), abs=1e-6)
    assert second == pytest.approx((math.log(2 / 8),), abs=1e-6)
    assert model.read == [([(1, 2), (1, 1)], [2, 1])]


def test_work_that_nobody_waits_for_any_more_is_not_done():
    model, rows = Counting(), [ScoreRow((1,), (2,)), ScoreRow((1,), (0,))]
    assert score_batch(model, rows, [ENDED, ENDED]) == [(), ()]
    assert model.read == []
    # One who waits keeps the batch going.
    assert [len(scores) for scores in score_batch(model, rows, [ENDED, GOING])] == [1, 1]


@pytest.mark.parametrize("odds", [(0.0, 2.0, 5.0), (math.nan, 2.0, 5.0), (math.inf, 2.0, 5.0)])
def test_a_log_probability_that_is_no_number_is_an_error(odds):
    with pytest.raises(ModelOutputError, match="not finite"):
        score_batch(Counting(odds), [ScoreRow((1,), (2, 0))], [GOING])
