import pytest
import tantivy
from sufficit.tools.retrievers.expiry import EXPIRES
from sufficit.tools.retrievers.records import (
    TEXT,
    TITLE,
    expired_by,
    held_by,
    prepare,
    schema,
    to_passage,
    to_record,
)
from sufficit.tools.types import Passage, PassageKey

OWN = Passage("1", "The caf\u00e9 \ud800 is open.", "Opening hours", "own", None, None, {EXPIRES: 5})
KEPT = Passage("1", "The café is closed.", source="web:a", metadata={EXPIRES: 100.9})
EARLY = Passage("2", "The café burnt down.", source="web:a", metadata={EXPIRES: -100})


@pytest.fixture(scope="module")
def searcher():
    index = prepare(tantivy.Index(schema()))
    writer = index.writer(15_000_000, num_threads=1)
    for passage in (OWN, KEPT, EARLY):
        writer.add_document(to_record(passage))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index.searcher()


def found(searcher, query):
    hits = searcher.search(query, 9).hits
    return {to_passage(searcher.doc(address), score).text for score, address in hits}


def test_a_record_gives_back_its_passage_with_the_new_score(searcher):
    ((_, address),) = searcher.search(held_by([OWN.key]), 9).hits
    whole = to_passage(searcher.doc(address), 2.5)
    assert (whole.key, whole.text, whole.title, whole.url) == (OWN.key, OWN.text, OWN.title, None)
    assert (whole.metadata, whole.score) == ({EXPIRES: 5}, 2.5)


def test_records_are_held_by_source_and_id_together(searcher):
    assert found(searcher, held_by([KEPT.key, EARLY.key])) == {KEPT.text, EARLY.text}
    assert found(searcher, held_by([PassageKey("own", "2"), PassageKey("", "1")])) == set()
    assert found(searcher, held_by([])) == set()


@pytest.mark.parametrize(
    ("now", "expired"),
    [(-101, set()), (-100, {EARLY.text}), (99.9, {EARLY.text}), (100, {EARLY.text, KEPT.text})],
)
def test_what_is_kept_from_the_web_expires_at_its_time_and_ones_own_never(searcher, now, expired):
    assert found(searcher, expired_by(now)) == expired


def test_title_and_text_are_searched_by_the_analyzers_terms(searcher):
    def held(field, term):
        return found(searcher, tantivy.Query.term_query(schema(), field, term, "freq"))

    assert held(TEXT, "cafe") == {OWN.text, KEPT.text, EARLY.text}
    assert held(TEXT, "the") == held(TEXT, "Café") == set()
    assert held(TITLE, "hour") == {OWN.text}
    assert held(TITLE, "cafe") == set()
