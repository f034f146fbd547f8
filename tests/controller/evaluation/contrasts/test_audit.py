from dataclasses import replace

import pytest
from scores import row, table
from sufficit.controller.evaluation.contrasts.audit import audit_cues, controlled_accuracies
from sufficit.controller.evaluation.contrasts.scores import record_key
from sufficit.policies.rinse.records import ContrastRecord
from sufficit.tools.types import Passage

TOWNS = ["Arden", "Belmar", "Corvale", "Dunmere", "Eastholm", "Fernley", "Garrow", "Hollin"]


def substituted(number: int, label: bool) -> ContrastRecord:
    """The insufficient side's distractor names nothing of the question; every third pair shares it."""
    town = TOWNS[number % len(TOWNS)]
    texts = [
        f"The mayor of {town} is person {number}." if label else "Tides are strong.",
        f"{town}.",
    ]
    if number % 3 == 0:
        texts.append("Nothing at all.")
    passages = tuple(
        Passage(f"{number}{i}", text, source=f"{number}{text[:9]}") for i, text in enumerate(texts)
    )
    answers = (f"person {number}",) if number % 2 else ("mayor",)
    question = f"Who is the mayor of {town} in year {number}?"
    return ContrastRecord(f"g{number}", "f", "c", question, passages, label, answers, 1)


RECORDS = [substituted(number, label) for number in range(24) for label in (True, False)]


@pytest.fixture(scope="module")
def cues():
    heard = []
    rows = audit_cues(RECORDS, counts=(0, 5), progress=heard.append)
    assert heard[0] == "f c: question only"
    return {(row.cue, row.added): row.accuracy.value for row in rows}


def test_cues_that_cannot_tell_are_at_chance(cues):
    assert cues["passage count", None] == 0.5
    assert cues["question only", None] == 0.5


def test_minimum_coverage_tells_until_passages_are_added(cues):
    assert cues["minimum IDF coverage", 0] > 0.8
    assert abs(cues["minimum IDF coverage", 5] - 0.5) < 0.15


def test_the_evidence_alone_tells_where_distractors_are_alike(cues):
    assert cues["evidence only", 0] > 0.9
    assert ("evidence only", 5) in cues


def test_scorers_are_compared_where_a_cue_is_level():
    def scores(label, right):
        return table(
            label,
            [row(record_key(r), r.group, r.label, float(r.label is right(r))) for r in RECORDS],
        )

    level = [record for record in RECORDS if len(record.passages) == 3]
    always = scores("always", lambda r: True)
    never_level = scores("never where level", lambda r: r not in level)
    found = {
        (row.control, row.scorer): row.accuracy
        for row in controlled_accuracies(RECORDS, [always, never_level])
    }
    tied = found["minimum IDF coverage tied", "always"]
    assert (tied.value, tied.pairs) == (1.0, 8)
    assert found["minimum IDF coverage tied", "never where level"].value == 0.0
    # "equal passage count" and "equal support count" keep every pair, so they tell nothing here.
    assert {control for control, _ in found} == {"minimum IDF coverage tied"}


def test_the_answer_must_stand_on_both_sides():
    records = []
    for number in range(4):
        base = substituted(number, True)
        held = (Passage("x", f"person {number} sang."), *base.passages[1:])
        records += [
            replace(base, answers=(f"person {number}",)),
            replace(base, label=False, passages=held if number < 2 else base.passages[1:], support=number),
        ]
    full = table("a", [row(record_key(r), r.group, r.label, 1.0) for r in records])
    found = {row.control: row.accuracy.pairs for row in controlled_accuracies(records, [full])}
    assert found["answer string on both sides"] == 2
    assert found["equal support count"] == 1
    assert found["equal passage count"] == 2


def test_pairs_that_one_scorer_lacks_do_not_count():
    first = table("a", [row(record_key(r), r.group, r.label, 1.0) for r in RECORDS])
    second = table("b", [row(record_key(r), r.group, r.label, 1.0) for r in RECORDS[6:]])
    pairs = {row.accuracy.pairs for row in controlled_accuracies(RECORDS, [first, second])}
    assert pairs == {7}
    assert list(controlled_accuracies(RECORDS, [table("c", [])])) == []
