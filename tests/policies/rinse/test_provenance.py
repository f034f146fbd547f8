import datetime
import math

import pytest
from pydantic import ValidationError
from rinse_data import PROMPT
from sufficit.policies.rinse.provenance import (
    AnswerThreshold,
    FamilyAccuracy,
    LayerChoice,
    PenaltyChoice,
    Provenance,
)

THRESHOLD = {"value": -0.5, "alpha": 0.1, "groups": 40, "insufficient_rate": 0.0, "sufficient_rate": 1.0}
WHOLE = Provenance(
    data={"a.jsonl": "0" * 64},
    families=("one",),
    left_out=(),
    groups={"one": 3},
    records={"one": 6},
    latent_records={},
    held_out=0.25,
    seed=0,
    packages={"numpy": "2.0"},
    date=datetime.date(2026, 2, 28),
    penalties=(PenaltyChoice(l2=0.01, loss=0.5),),
    layers=(LayerChoice(prompt=PROMPT, accuracies=(0.5, 0.75)),),
    accuracy=(
        FamilyAccuracy(
            family="one", construction="c", scorer="content+span", groups=3, pairs=3, accuracy=1.0, low=1.0,
            high=1.0,
        ),
    ),
)  # fmt: skip


def test_provenance_comes_back_whole_from_json():
    assert Provenance.model_validate_json(WHOLE.model_dump_json()) == WHOLE
    assert '"date":"2026-02-28"' in WHOLE.model_dump_json()


@pytest.mark.parametrize(
    "changes",
    [
        {"alpha": 0.0},
        {"alpha": 1.0},
        {"groups": 0},
        {"insufficient_rate": -0.1},
        {"sufficient_rate": 1.1},
        {"value": math.nan},
        {"value": math.inf},
        {"unknown": 1},
    ],
)
def test_a_threshold_that_no_groups_can_give_is_refused(changes):
    AnswerThreshold.model_validate(THRESHOLD)
    with pytest.raises(ValidationError):
        AnswerThreshold.model_validate(THRESHOLD | changes)


@pytest.mark.parametrize("changes", [{"l2": 0.0}, {"l2": -1.0}, {"loss": -0.1}, {"loss": math.nan}])
def test_a_penalty_is_positive_and_a_loss_not_negative(changes):
    with pytest.raises(ValidationError):
        PenaltyChoice.model_validate({"l2": 0.01, "loss": 0.5} | changes)


def test_what_is_written_down_is_not_changed():
    with pytest.raises(ValidationError, match="frozen"):
        WHOLE.seed = 1
