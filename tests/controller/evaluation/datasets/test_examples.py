from sufficit.controller.evaluation.datasets.examples import make_passage


def test_the_same_title_and_text_make_the_same_passage_and_nothing_else_does():
    passage = make_passage("Rhine", "It rises in the Alps.")
    assert passage == make_passage("Rhine", "It rises in the Alps.")
    assert (passage.title, passage.text, passage.source) == ("Rhine", "It rises in the Alps.", "Rhine")
    others = [make_passage("Po", "It rises in the Alps."), make_passage("Rhine", "It rises.")]
    assert len({passage.id, *(other.id for other in others)}) == 3


def test_an_id_tells_nothing_of_its_origin():
    assert set(make_passage("Rhine", "It rises in the Alps.").id) <= set("0123456789abcdef")
    assert len(make_passage("", "").id) == 16


def test_passages_without_a_title_are_documents_of_their_own():
    one, other = make_passage("", "one"), make_passage("", "other")
    assert (one.source, other.source) == (one.id, other.id)
    assert one.source != other.source
