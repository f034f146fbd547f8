import pytest
from sufficit.tools.retrievers.corpora.document import Document, usable

SENTENCE = "The keeper of the north light counts nine ships before noon. "
LONG = "# Log\n" + SENTENCE * 40


def test_a_document_that_is_not_cut_is_one_passage_under_its_own_id():
    document = Document("log", "# Log\n A day. \n", "Log", "https://x.example/", 6, "log", {"year": 1820})
    (passage,) = document.passages()
    assert (passage.id, passage.source, passage.title, passage.url) == ("log", "log", "Log", document.url)
    assert (passage.text, passage.metadata) == ("A day.", {"year": 1820, "start": 7, "end": 13})


def test_a_cut_document_gives_numbers_and_offsets_into_the_whole_text():
    found = list(Document("log", LONG, "Log", body=6, whole_id="log").passages())
    # 440 words at about a hundred a passage.
    assert [passage.id for passage in found] == ["0", "1", "2", "3"]
    spans = [(passage.metadata["start"], passage.metadata["end"]) for passage in found]
    assert [LONG[start:end] for start, end in spans] == [passage.text for passage in found]
    assert (spans[0][0], spans[-1][1]) == (6, len(LONG) - 1)
    assert all(passage.text.startswith("The keeper") for passage in found)
    assert {(passage.source, passage.title) for passage in found} == {("log", "Log")}


def test_offsets_take_the_place_of_metadata_that_is_called_so():
    (passage,) = Document("a", "x", metadata={"start": "1820", "end": "1911"}).passages()
    assert passage.metadata == {"start": 0, "end": 1}


@pytest.mark.parametrize(("text", "body"), [("", 0), (" \n", 0), ("# Only a heading", 16)])
def test_a_document_without_a_body_has_no_passage(text, body):
    assert list(Document("a", text, body=body).passages()) == []


def test_what_no_model_takes_is_replaced_character_by_character():
    text = "a\x00b\ud800\udfffc\U0001f600\ufffd"
    assert usable(text) == "a\ufffdb\ufffd\ufffdc\U0001f600\ufffd"
    assert len(usable(text)) == len(text)
