from fixed_probe import FixedProbe, ids
from hypothesis import given, settings
from hypothesis import strategies as st
from sufficit.policies.igp import IGP, IGPSettings
from sufficit.policies.near_duplicates import Deduplicated, near_duplicates
from sufficit.tools.types import Passage

TEXT = (
    "The gauge at Orrinmoor measures the level of the river every ten minutes and sends it by radio to the "
    "office, where a clerk compares it with the level of the day before and calls the warden if it rose by "
    "more than 30 centimetres."
)


def found(*texts: str) -> dict[str, str]:
    passages = [Passage(str(n), text) for n, text in enumerate(texts)]
    return {copy.id: original.id for copy, original in near_duplicates(passages, 0.9).items()}


def test_copies_are_found_whatever_case_spacing_and_punctuation() -> None:
    assert found(TEXT, "Bread.", TEXT.lower().replace(",", " ;"), TEXT) == {"2": "0", "3": "0"}


def test_an_excerpt_repeats_the_whole_but_not_the_other_way_round() -> None:
    excerpt = TEXT.partition(" and sends")[0]
    assert found(TEXT, excerpt) == {"1": "0"}
    assert found(excerpt, TEXT) == {}


def test_a_word_of_its_own_makes_another_passage() -> None:
    assert found(TEXT, TEXT.replace("30", "45")) == {}
    assert found(TEXT, TEXT.replace("Orrinmoor", "Kelvedge")) == {}
    assert found(TEXT, TEXT.replace("calls", "never calls")) == {}
    assert found(TEXT, TEXT.replace(" every ten minutes", "")) == {"1": "0"}


def test_titles_count() -> None:
    passages = [Passage("a", TEXT, title="Orrinmoor"), Passage("b", TEXT, title="Kelvedge")]
    assert near_duplicates(passages, 0.9) == {}


def test_short_and_empty_texts() -> None:
    assert found("", "", "Yes", "Yes", "yes", "two words", "Two words") == {"3": "2", "4": "2", "6": "5"}


@settings(deadline=None)
@given(st.lists(st.text("ab C1", max_size=12), max_size=6))
def test_what_is_left_holds_what_was_left_out(texts: list[str]) -> None:
    passages = [Passage(str(n), text) for n, text in enumerate(texts)]
    copies = near_duplicates(passages, 0.9)
    assert not set(copies.values()) & set(copies)
    assert all(int(original.id) < int(copy.id) for copy, original in copies.items())


async def test_copies_are_reported_and_never_probed() -> None:
    probe = FixedProbe({"": {"a": 0.1, "c": 0.2}})
    passages = [Passage("a", TEXT, source="a.md"), Passage("b", TEXT), Passage("c", "Snow falls.")]
    pruner = Deduplicated(IGP(probe, IGPSettings()), probe, 0.9)
    report = await pruner.prune("Why?", passages, 0.5)
    assert probe.calls == [("", "ac")]
    assert ids(report.admitted) == "ac"
    copy = report.gains[2]
    assert (copy.key.id, copy.rank, copy.barred, copy.reason) == ("b", 3, True, "repeats a.md")
