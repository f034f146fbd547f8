from dataclasses import replace

from sufficit.controller.evaluation.contrasts.gaps import open_gaps
from sufficit.controller.evaluation.datasets.examples import Example, Fact, make_passage

BORN = make_passage("Ada Brook", "Ada Brook was born in Northmere.")
TOWN = make_passage("Northmere", "Northmere lies on the Alder River.")
OTHER = make_passage("Harbour", "A harbour far away.")
EXAMPLE = Example(
    id="1",
    question="Which river flows through the birthplace of Ada Brook?",
    answers=("Alder River", "Alder"),
    passages=(BORN, TOWN, OTHER),
    support=frozenset({0, 1}),
    facts=(Fact(0, "Ada Brook", "Northmere"), Fact(1, "Northmere", "Alder River")),
)


def _removable(*passages, **change) -> list[int]:
    return [gap.removed for gap in open_gaps(replace(EXAMPLE, passages=passages, **change))[0]]


def test_both_needed_passages_leave_a_gap() -> None:
    assert _removable(BORN, TOWN, OTHER) == [0, 1]


def test_the_answer_in_a_passage_that_is_not_support_closes_all() -> None:
    gaps, reason = open_gaps(replace(EXAMPLE, passages=(BORN, TOWN, make_passage("Trees", "Alder and elm."))))
    assert (gaps, reason) == ([], "the answer stands in a passage that is not support")


def test_the_answer_in_other_support_closes_the_passage_that_held_it() -> None:
    told = make_passage("Ada Brook", "Ada Brook was born in Northmere on the Alder.")
    assert _removable(told, TOWN, OTHER) == []
    assert _removable(BORN, TOWN, OTHER, answers=("No",)) == [0, 1]


def test_the_removed_fact_elsewhere_closes_its_gap() -> None:
    biography = make_passage("Painters", "Among those from Northmere is Ada Brook.")
    assert _removable(BORN, TOWN, biography) == [1]
    assert _removable(BORN, TOWN, make_passage("Painters", "Ada Brook paints.")) == [0, 1]


def test_a_repeated_passage_closes_its_gap() -> None:
    again = make_passage("Town list", f"Once more: {TOWN.text}")
    assert _removable(BORN, TOWN, again, answers=(), facts=()) == [0]


def test_a_gap_without_the_passage() -> None:
    gap = open_gaps(EXAMPLE)[0][1]
    assert gap.passage == TOWN
    assert gap.rest == (BORN, OTHER)
    assert (
        gap.closed_by(make_passage("Rivers", "The Alder is long.")) == "the answer stands in another passage"
    )
    assert gap.closed_by(make_passage("Rivers", "The Elm is long.")) == ""
