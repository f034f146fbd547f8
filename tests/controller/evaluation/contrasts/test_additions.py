from dataclasses import replace

from rinse_data import contrasts
from sufficit.controller.evaluation.contrasts.additions import Additions
from sufficit.policies.rinse.records import ContrastRecord
from sufficit.tools.types import Passage


def ids(record: ContrastRecord) -> set[str]:
    return {passage.text for passage in record.passages}


def distinct(groups: int) -> list[ContrastRecord]:
    """Groups that share neither question nor document."""
    records = []
    for number in range(groups):
        for label in (True, False):
            texts = (f"Town {number} has mayor {number}.", f"River {number} {label}.")
            passages = tuple(Passage(str(i), t, source=f"{number}/{i}") for i, t in enumerate(texts))
            records.append(
                ContrastRecord(f"g{number}", "f", "c", f"Who leads town {number}?", passages, label)
            )
    return records


def test_both_sides_of_a_group_get_the_same_and_more_holds_less():
    records = distinct(12)
    additions = Additions(records, seed=1)
    before: dict[int, set[str]] = {}
    for count in (0, 5, 10, 15, 20):
        grown = additions.at(count)
        for place in range(0, len(records), 2):
            high, low = grown[place], grown[place + 1]
            added = ids(high) - ids(records[place])
            assert added == ids(low) - ids(records[place + 1])
            assert len(added) == count
            assert before.get(place, set()) <= added
            before[place] = added


def test_nothing_of_the_groups_own_documents_is_added():
    records = distinct(6)
    for original, grown in zip(records, Additions(records, seed=1).at(20), strict=True):
        own = {passage.source for passage in original.passages}
        added = [p for p in grown.passages if p not in original.passages]
        assert len(added) == 15 == Additions(records, seed=1).fewest(20)  # the pool holds no more
        assert not own & {passage.source for passage in added}


def test_a_document_gives_more_than_one_passage():
    records = [
        replace(r, passages=tuple(replace(p, source=r.group, title=r.group) for p in r.passages))
        for r in distinct(6)
    ]
    grown = Additions(records, seed=1).at(12)[0]
    added = [p for p in grown.passages if p not in records[0].passages]
    assert len(added) == 12 > len({p.source for p in added})


def test_passages_of_the_same_question_elsewhere_are_not_added():
    records = distinct(4)
    twin = [replace(each, question=records[0].question) for each in records[2:4]]
    grown = Additions([*records[:2], *twin, *records[4:]], seed=1).at(20)
    assert not ids(grown[0]) & ids(twin[0])
    assert ids(grown[0]) & ids(records[4])


def test_passages_that_state_an_answer_are_not_added():
    records = distinct(6)
    known = [replace(each, answers=("mayor 3",)) if each.group == "g0" else each for each in records]
    (first, *_), (other, *_) = Additions(known, 1).at(20), Additions(records, 1).at(20)
    assert "Town 3 has mayor 3." in ids(other)
    assert "Town 3 has mayor 3." not in ids(first)
    assert len(first.passages) == len(other.passages) - 1


def test_the_set_is_in_bm25_order_and_the_seed_decides():
    records = distinct(8)
    grown = Additions(records, seed=1).at(10)
    assert all(
        record.passages[0].text == f"Town {n // 2} has mayor {n // 2}." for n, record in enumerate(grown)
    )
    assert grown == Additions(records, seed=1).at(10)
    assert grown != Additions(records, seed=2).at(10)


def test_the_pools_hash_is_of_its_passages():
    assert Additions(distinct(4), 1).pool == Additions(distinct(4)[::-1], 1).pool
    assert Additions(distinct(4), 1).pool != Additions(distinct(5), 1).pool
    assert len(Additions(contrasts("f", 3), 1).pool) == 16
