from dataclasses import replace

from native_files import FACTS
from sufficit.controller.evaluation.contrasts.near_miss import (
    nearest_evidence,
    nearest_question,
    unanswered_by,
)
from sufficit.controller.evaluation.datasets.examples import Example, make_passage


def _example(question: str, answer: str, text: str) -> Example:
    return Example(question, question, (answer,), (make_passage("Page", text),), frozenset({0}))


EXAMPLES = [_example(*fact) for fact in FACTS]


def test_partners_are_about_the_same_things() -> None:
    assert nearest_evidence(EXAMPLES) == {0: 1, 1: 0, 2: 3, 3: 2}
    assert nearest_question(EXAMPLES) == {0: 1, 1: 0, 2: 3, 3: 2}


def test_evidence_that_holds_the_answer_is_never_a_partner() -> None:
    told = _example("what is the year of silver lanterns", "1971", FACTS[1][2] + " Mara Venn wrote it.")
    assert nearest_evidence([EXAMPLES[0], told]) == {1: 0}
    assert not unanswered_by(EXAMPLES[0], told)


def test_a_partner_serves_twice_at_most() -> None:
    silver = [_example(f"who {verb} silver lanterns", f"Person{verb}", f"{verb}.") for verb in "abcd"]
    hub = _example("how long is silver lanterns", "Four", "silver lanterns silver lanterns")
    assert list(nearest_evidence([*silver, hub]).values()).count(4) == 2


def test_what_cannot_be_checked_is_no_partner() -> None:
    other = EXAMPLES[2]
    assert unanswered_by(EXAMPLES[0], other)
    assert not unanswered_by(replace(EXAMPLES[0], answers=("yes",)), other)
    assert not unanswered_by(replace(EXAMPLES[0], question="when was the glass bridge opened?"), other)
    assert not unanswered_by(replace(EXAMPLES[0], passages=other.passages), other)
