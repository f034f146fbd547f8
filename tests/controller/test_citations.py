from hypothesis import given
from hypothesis import strategies as st
from sufficit.controller.citations import cite
from sufficit.tools.types import Passage

PASSAGES = (
    Passage(id="0", source="a.md", title="A", text="Nothing here. The Rhine rises in the Alps. It is long."),
    Passage(id="1", source="b.md", title="B", text="The Rhine is 1,233 km long."),
)


def test_only_passages_that_carry_the_answer_are_cited_with_the_sentence_that_does():
    (citation,) = cite("Where does the Rhine rise?", "in the Alps", PASSAGES)
    assert (citation.id, citation.source) == ("0", "a.md")
    assert citation.text == "The Rhine rises in the Alps."
    assert PASSAGES[0].text[citation.start : citation.end] == citation.text


def test_an_answer_is_found_as_whole_words_only():
    assert cite("q", "Al", (PASSAGES[0],))[0].text != ""
    passages = (Passage(id="2", text="Alpine air."), Passage(id="3", text="Al sings."))
    assert [c.id for c in cite("Who sings?", "Al", passages)] == ["3"]


def test_where_no_passage_holds_the_answer_all_are_cited_by_their_closest_sentence():
    citations = cite("Is the Rhine long?", "yes", PASSAGES)
    assert [c.id for c in citations] == ["0", "1"]
    assert citations[1].text == "The Rhine is 1,233 km long."


def test_without_evidence_there_is_nothing_to_cite():
    assert cite("q", "a", ()) == ()


@given(st.text(), st.text())
def test_offsets_always_address_the_text(text: str, answer: str):
    for citation in cite("q", answer, (Passage(id="0", text=text),)):
        assert text[citation.start : citation.end] == citation.text
