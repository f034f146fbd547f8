import pytest
from hypothesis import given
from hypothesis import strategies as st
from sufficit.policies.query import UncoveredWindows, normalise_query
from sufficit.policies.types import SufficiencyReport, WindowCoverage

POLICY = UncoveredWindows()
QUESTION = "When was the founder of Holm Bakery in Bergen born?"


def report(*windows: tuple[str, float, float]) -> SufficiencyReport:
    return SufficiencyReport(0.0, 1.0, (), tuple(WindowCoverage(*window) for window in windows), passages=3)


PROFILE = report(
    ("when was the founder", 0.5, 0.1),
    ("the founder of holm", 0.5, 0.0),
    ("of holm bakery in", 1.0, 2.0),
    ("bakery in bergen born", 0.75, 0.3),
)


def test_asks_for_the_least_covered_windows_with_the_entities() -> None:
    assert POLICY.next(QUESTION, PROFILE, [QUESTION]) == "When was the founder of Holm Bakery Bergen"


def test_goes_through_the_windows_then_the_entities_then_stops() -> None:
    asked = [QUESTION]
    while (query := POLICY.next(QUESTION, PROFILE, asked)) is not None:
        asked.append(query)
    assert asked[1:] == [
        "When was the founder of Holm Bakery Bergen",
        "the founder of Holm Bakery Bergen",
        "When was the founder Holm Bakery Bergen",
        "Holm Bakery in Bergen born",
        "Holm Bakery Bergen",
    ]


def test_covered_windows_are_not_asked_for() -> None:
    assert POLICY.next(QUESTION, report(("when was the founder", 1.0, 9.0)), []) == "Holm Bakery Bergen"


def test_what_differs_only_in_case_and_marks_was_asked() -> None:
    history = ["holm  BAKERY, Bergen!"]
    assert POLICY.next(QUESTION, report(), history) is None
    assert POLICY.next(QUESTION, report(), []) == "Holm Bakery Bergen"
    assert POLICY.next("Holm Bakery Bergen", report(), []) is None


@pytest.mark.parametrize(
    ("question", "entities"),
    [
        ("Who wrote 'Red Sea' in 1990?", "Red Sea 1990"),
        ('who wrote "the long way home" there?', "the long way home"),
        ("Marie Curie was born when?", "Marie Curie"),
        ("NASA began when?", "NASA"),
        ("Which bridge crosses the river?", None),
        ("How old is O'Brien of Jean-Luc 3.5?", "O'Brien Jean-Luc 3.5"),
        ("«élan vital» est de qui ?", "élan vital"),
        ("Wann wurde Zoë Müller in Köln geboren?", "Zoë Müller Köln"),
        ("", None),
        ("???", None),
    ],
)
def test_entities_without_any_coverage(question: str, entities: str | None) -> None:
    assert POLICY.next(question, report(), []) == entities


def test_a_window_that_begins_inside_a_word_gives_the_whole_word() -> None:
    question = "which museum keeps the Weingärtner altar piece"
    assert POLICY.next(question, report(("gartner altar", 0.0, 0.0)), []) == "Weingärtner altar"


def test_a_script_without_spaces_or_case_gets_a_query_too() -> None:
    assert POLICY.next("北京大学的创始人是谁", report(("创 始 人", 0.0, 0.0)), []) == "创 始 人"


def test_a_window_that_is_not_in_the_question_adds_nothing() -> None:
    assert POLICY.next(QUESTION, report(("[UNK] zebra", 0.0, 0.0)), []) == "Holm Bakery Bergen"


windows = st.builds(WindowCoverage, st.text(max_size=12), st.floats(0, 1), st.floats(-5, 5))


@given(st.text(max_size=60), st.lists(windows, max_size=8))
def test_never_asks_the_same_again_and_always_ends(question: str, coverage: list[WindowCoverage]) -> None:
    evidence = SufficiencyReport(0.0, 1.0, (), tuple(coverage), passages=1)
    asked = [question]
    while (query := POLICY.next(question, evidence, asked)) is not None:
        assert normalise_query(query)
        assert normalise_query(query) not in {normalise_query(old) for old in asked}
        asked.append(query)
        assert len(asked) <= len(coverage) + 3
