import pytest
from sufficit.controller.evaluation.contrasts.cues import MinimumCoverage, cue_words, passage_counts
from sufficit.policies.rinse.records import ContrastRecord
from sufficit.tools.types import Passage


def record(question: str, *texts: str) -> ContrastRecord:
    passages = tuple(Passage(str(n), text) for n, text in enumerate(texts))
    return ContrastRecord("g", "f", "c", question, passages, True)


def test_words_are_lower_case_with_accents_and_repeats():
    assert cue_words("The Café, the 2nd café!") == ["the", "café", "the", "2nd", "café"]


def test_the_least_covered_passage_counts():
    records = [record("mayor of Arden", "mayor of Arden", "the mayor of towns"), record("mayor", "mayor")]
    coverage = MinimumCoverage(records)
    whole, part = coverage.of([record("mayor of Arden", "the mayor of Arden"), records[0]])
    assert whole == 1.0
    assert 0 < part < 1
    assert coverage.of([record("mayor of Arden", "of", "mayor of Arden")])[0] < part


def test_rare_words_weigh_more():
    many = [record("x", f"common {n}") for n in range(20)] + [record("x", "rare common")]
    coverage = MinimumCoverage(many)
    assert coverage.of([record("rare common", "common")])[0] < 0.25


def test_a_question_without_words_has_no_coverage():
    assert MinimumCoverage([record("?", "a")]).of([record("?!", "a")]) == [0.0]


def test_passage_counts():
    assert passage_counts([record("q", "a"), record("q", "a", "b")]) == pytest.approx([1, 2])
