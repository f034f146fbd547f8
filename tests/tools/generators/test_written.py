from sufficit.tools.generators.written import WrittenAnswers
from sufficit.tools.types import Generation


def answer(*ids: int) -> Generation:
    return Generation("", ids, tuple(-float(id_) for id_ in ids), "stop", 3)


def test_the_answer_and_its_beginnings_are_known() -> None:
    written = WrittenAnswers()
    written.keep((1, 2), answer(7, 8, 9))
    assert written.logprobs((1, 2), [7, 8, 9]) == (-7.0, -8.0, -9.0)
    assert written.logprobs((1, 2), [7, 8]) == (-7.0, -8.0)
    assert written.logprobs((1, 2), [7, 9]) is None
    assert written.logprobs((1, 2), [7, 8, 9, 4]) is None
    assert written.logprobs((1,), [7]) is None


def test_the_answer_kept_for_longest_makes_room() -> None:
    written = WrittenAnswers(2)
    written.keep((1,), answer(7))
    written.keep((2,), answer(8))
    written.keep((1,), answer(6))
    written.keep((3,), answer(9))
    assert written.logprobs((2,), [8]) is None
    assert written.logprobs((1,), [6]) == (-6.0,)
