import pytest
from native_files import musique, nq, squad, two_wiki, write_json, write_lines
from sufficit.controller.evaluation.contrasts.overlap import states
from sufficit.controller.evaluation.datasets.sources import read_source
from sufficit.controller.evaluation.readers.items import joint_items, relevance_items, span_items


@pytest.fixture
def hops(tmp_path):
    return read_source(write_json(tmp_path / "wiki.json", [two_wiki(k) for k in range(6)])).examples


@pytest.fixture
def paragraphs(tmp_path):
    return read_source(write_json(tmp_path / "mill.json", squad())).examples


@pytest.fixture
def facts(tmp_path):
    return read_source(write_lines(tmp_path / "web.jsonl", [nq(k) for k in range(4)])).examples


def test_joint_sets_of_hops_are_of_one_size_and_lack_a_needed_passage(hops):
    items = list(joint_items(hops, 17))
    assert len(items) == 6
    for item in items:
        needed = {k for k, flag in enumerate(item.needed) if flag}
        assert len(needed) == 2
        for sufficient, insufficient in item.pairs:
            assert len(sufficient) == len(insufficient)
            assert needed <= set(sufficient)
            assert not needed <= set(insufficient)
            assert len(set(insufficient)) == len(insufficient)


def test_joint_strangers_stand_on_both_sides(hops):
    item = next(iter(joint_items(hops, 17)))
    own = {text for _, text in item.units[:5]}
    strange = {k for k, (_, text) in enumerate(item.units) if text not in own}
    assert strange
    with_strange = [sum(bool(strange & set(side)) for side in pair) for pair in item.pairs]
    assert 2 in with_strange


def test_joint_pairs_of_one_passage_lack_the_answer(facts):
    answers = {example.question: example.answers for example in facts}
    items = list(joint_items(facts, 17))
    assert items
    for item in items:
        question = item.units[0][0]
        assert any(states(item.units[0][1], answer) for answer in answers[question])
        for unit, needed in list(zip(item.units, item.needed, strict=True))[1:]:
            assert not needed
            if unit[0] == question:
                assert not any(states(unit[1], answer) for answer in answers[question])


def test_joint_pairs_of_native_unanswerables(paragraphs):
    (item,) = joint_items(paragraphs[:3], 17)
    assert [question for question, _ in item.units[:3]] == [
        "Who built the mill?",
        "When was the mill built?",
        "Who tore down the mill?",
    ] or {q for q, _ in item.units[:2]} == {"Who built the mill?", "When was the mill built?"}
    assert item.needed[:3] == (True, True, False)
    assert ((0,), (2,)) in item.pairs
    assert ((1,), (2,)) in item.pairs


def test_span_items_point_at_the_answer_or_at_nothing(paragraphs, facts, hops):
    for examples in (paragraphs, facts, hops):
        answers = {example.question: example.answers for example in examples if example.answerable}
        items = list(span_items(examples, 17))
        assert any(item.spans for item in items)
        assert any(not item.spans for item in items)
        for item in items:
            question, text = item.unit
            for start, end in item.spans:
                assert text[start:end].lower() in {answer.lower() for answer in answers[question]}


def test_span_negatives_hold_no_answer(facts):
    answers = {example.question: example.answers for example in facts}
    for item in span_items(facts, 17):
        question, text = item.unit
        if not item.spans:
            assert not any(states(text, answer) for answer in answers[question])


class Words:
    """Pieces that are words."""

    def pieces(self, text):
        return text.split()

    def join(self, pieces):
        return " ".join(pieces)


def relevance(examples, seed):
    return relevance_items(examples, seed, Words())


def test_relevance_sets_each_needed_passage_against_others(hops, tmp_path):
    source = read_source(write_lines(tmp_path / "hops.jsonl", [musique(k) for k in range(6)]))
    for examples in (hops, source.examples):
        items = list(relevance_items(examples, 17, Words()))
        assert len(items) == 12
        for item in items:
            assert item.parts[0] == " ".join(item.question.split()[:4])
            assert item.others
            assert item.needed not in item.others


def test_the_same_seed_gives_the_same_items(hops, facts, paragraphs):
    for examples in (hops, facts, paragraphs):
        for make in (joint_items, span_items, relevance):
            assert list(make(examples, 17)) == list(make(examples, 17))
