import math

import pytest
import tantivy
from sufficit.tools.retrievers.querying import query_terms, score_query
from sufficit.tools.retrievers.records import prepare, schema, to_passage, to_record
from sufficit.tools.types import Passage

# Titles and texts of one term each, so that a term found once scores its inverse document frequency.
PASSAGES = [
    Passage("both", "rhine", "rhine"),
    Passage("text", "rhine", "po"),
    Passage("title", "danube", "rhine"),
    Passage("none", "danube", "po"),
    Passage("rare", "wien", "po"),
]


def searcher_of(passages):
    index = prepare(tantivy.Index(schema()))
    writer = index.writer(15_000_000, num_threads=1)
    for passage in passages:
        writer.add_document(to_record(passage))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index.searcher()


@pytest.fixture(scope="module")
def searcher():
    return searcher_of(PASSAGES)


def idf(held):
    return math.log(1 + (len(PASSAGES) - held + 0.5) / (held + 0.5))


def scores(searcher, terms):
    hits = searcher.search(score_query(terms), 9).hits
    return {
        to_passage(searcher.doc(address), score).id: pytest.approx(score, abs=1e-5) for score, address in hits
    }


def test_the_better_field_counts_whole_and_the_other_half(searcher):
    # Two titles and two texts of the five hold the term.
    assert scores(searcher, {"rhine": 1}) == {
        "both": 1.5 * idf(2), "text": idf(2), "title": idf(2),
    }  # fmt: skip


def test_terms_add_up_each_as_often_as_the_query_has_it(searcher):
    assert scores(searcher, {"wien": 3, "po": 1}) == {
        "rare": 3 * idf(1) + idf(3), "text": idf(3), "none": idf(3),
    }  # fmt: skip


def test_no_terms_find_nothing(searcher):
    assert scores(searcher, {}) == {}
    assert scores(searcher, {"unknown": 1}) == {}


def test_a_query_is_read_by_the_analyzer_and_counted(searcher):
    assert query_terms("The RIVERS, the river's Po?", searcher) == {"river": 2, "po": 1}
    assert query_terms("Of the and?", searcher) == {}


def test_a_short_query_keeps_what_no_passage_holds(searcher):
    assert query_terms("rhine unknown", searcher) == {"rhine": 1, "unknown": 1}


def test_of_too_many_terms_the_rarest_that_are_held_stay_with_their_counts():
    common = " ".join(f"common{n}" for n in range(200))
    rare = Passage("rare", " ".join(f"rare{n}" for n in range(100)), "")
    searcher = searcher_of([Passage("a", common), Passage("b", "", common), rare])
    unknown = " ".join(f"unknown{n}" for n in range(200))
    terms = query_terms(f"{unknown} {common} rare7 {rare.text}", searcher)
    assert len(terms) == 128
    assert {f"rare{n}" for n in range(100)} <= terms.keys()
    assert terms["rare7"] == 2
    # Of the equally common ones those that come first.
    assert set(terms) - {f"rare{n}" for n in range(100)} == {f"common{n}" for n in range(28)}


def test_a_query_is_read_up_to_two_hundred_thousand_characters(searcher):
    assert query_terms("a " * 99_999 + "po rhine", searcher) == {"po": 1}
