import pytest
from scripted import ScriptedGenerator
from sufficit.controller.evaluation.arbitration.attempt import Attempt
from sufficit.policies.answering import AnswerPrompts
from sufficit.tools.errors import CapabilityError, ModelOutputError


def attempt():
    return Attempt(ScriptedGenerator(), AnswerPrompts())


@pytest.mark.parametrize(
    ("error", "said"),
    [(ModelOutputError("not finite\nmore"), "not finite"), (ModelOutputError(), "ModelOutputError")],
)
def test_what_fails_is_said_in_the_row_in_one_line(error, said):
    found = attempt()
    with found.failing_alone():
        raise error
    row = found.row("1", "Where?", ())
    assert (row.error, row.verdict, row.direct, row.rag) == (said, None, None, None)


def test_a_setup_that_cannot_work_is_no_row():
    with pytest.raises(CapabilityError), attempt().failing_alone():
        raise CapabilityError("no chat template")


def test_time_adds_up_by_part():
    found = attempt()
    found.seconds["rag"] = 5.0
    with found.timed("rag"):
        pass
    assert found.seconds["rag"] > 5.0
