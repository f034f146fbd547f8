import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sufficit.policies.rinse.content import (
    FEATURES,
    MAX_PIECES,
    ContentModel,
    ContentReader,
    Coverage,
    cover,
    profile_features,
    question_pieces,
    source_texts,
    window_spans,
    wordpieces_fingerprint,
)
from sufficit.policies.rinse.idf import PieceCounts
from sufficit.tools.errors import ModelOutputError
from sufficit.tools.types import Passage

COUNTS = PieceCounts(10, {"who": 9, "is": 9, "mayor": 2})


@pytest.mark.parametrize(
    ("count", "spans"),
    [
        (1, [(0, 1)]),
        (3, [(0, 3)]),
        (4, [(0, 4)]),
        (5, [(0, 4), (1, 5)]),
        (6, [(0, 4), (2, 6)]),
        (9, [(0, 4), (2, 6), (4, 8), (5, 9)]),
    ],
)
def test_windows_by_hand(count, spans):
    assert window_spans(count) == spans


@given(st.integers(1, 300))
def test_windows_cover_every_piece(count):
    spans = window_spans(count)
    assert set().union(*(range(*span) for span in spans)) == set(range(count))
    assert all(end - start == min(4, count) for start, end in spans)
    assert len(spans) <= max(1, count // 2)


def test_a_source_is_one_text_in_the_order_of_its_offsets():
    chunks = [
        Passage(id="2", text="second", title="Doc", source="a", metadata={"start": 50}),
        Passage(id="x", text="alone"),
        Passage(id="1", text="first", title="Doc", source="a", metadata={"start": 0}),
        Passage(id="y", text="alone too"),
    ]
    assert source_texts(chunks) == ["Doc\nfirst\nsecond", "alone", "alone too"]


def test_overlap_by_hand_takes_the_best_single_source():
    """Two sources that hold a window between them do not cover it."""
    found = np.array([[True, False], [True, False], [False, True], [False, False]])
    coverage = Coverage(("who", "is", "mayor", "arden"), found, np.zeros(1))
    who, is_, mayor, arden = COUNTS.idf(("who", "is", "mayor", "arden"))
    total = who + is_ + mayor + arden
    assert coverage.overlap(COUNTS)[0] == pytest.approx(max(who + is_, mayor) / total)


def test_features_are_quantiles_and_mean_of_both_profiles():
    features = profile_features(np.array([0.0, 0.5, 1.0]), np.array([3.0, 1.0, 2.0]))
    assert len(features) == FEATURES == 16
    assert features.tolist() == pytest.approx(
        [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1, 0.5, 1, 1.2, 1.5, 2, 2.5, 2.8, 3, 2]
    )


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_features_do_not_depend_on_the_order_of_windows(profile, random):
    shuffled = random.sample(profile, len(profile))
    first = profile_features(np.array(profile), np.array(profile))
    second = profile_features(np.array(shuffled), np.array(shuffled))
    assert first == pytest.approx(second)


def test_punctuation_is_no_part_of_the_question(wordpieces):
    assert question_pieces(wordpieces, "Who's the mayor?") == ("who", "s", "the", "mayor")
    assert question_pieces(wordpieces, "?!") == ("?", "!")


async def test_a_fact_in_the_evidence_is_found(wordpieces, reranker):
    question = "Who is the mayor of Arden?"
    held = [Passage(id="1", text="Ada Voss is the mayor of Arden.")]
    other = [Passage(id="1", text="The river Tamble is 40 miles long.")]
    yes, no = [await cover(question, passages, wordpieces, reranker) for passages in (held, other)]
    assert yes.overlap(COUNTS).mean() > no.overlap(COUNTS).mean() + 0.5
    assert (yes.relevance > no.relevance).all()


async def test_one_token_question(wordpieces, reranker):
    coverage = await cover("Why?", [Passage(id="1", text="Because.")], wordpieces, reranker)
    assert coverage.pieces == ("why",)
    assert coverage.overlap(COUNTS).tolist() == [0.0]


async def test_five_hundred_passages_and_a_very_long_one(wordpieces, reranker):
    passages = [Passage(id=str(i), text=f"Note {i % 7}.") for i in range(500)]
    passages.append(Passage(id="long", text="lorem ipsum " * 4200 + "Ada is the mayor of Arden."))
    assert len(passages[-1].text) > 50_000
    coverage = await cover("Who is the mayor of Arden?", passages, wordpieces, reranker)
    assert coverage.found.shape == (6, 501)
    assert coverage.found[3:].any(axis=1).all()
    assert np.isfinite(coverage.relevance).all()


async def test_a_very_long_question_is_read_up_to_a_bound(wordpieces, reranker):
    coverage = await cover("mayor of arden " * 30_000, [Passage(id="1", text="x")], wordpieces, reranker)
    assert len(coverage.pieces) == MAX_PIECES
    assert len(coverage.relevance) == 127


class _Broken:
    fingerprint = "broken"

    async def score(self, queries, texts):
        return np.full((len(queries), len(texts)), np.nan, np.float32)


async def test_nan_from_the_reranker_is_an_error(wordpieces):
    with pytest.raises(ModelOutputError, match="reranker"):
        await cover("Who?", [Passage(id="1", text="x")], wordpieces, _Broken())


async def test_the_reading_lists_readable_windows(wordpieces, reranker):
    model = ContentModel(COUNTS, np.ones(FEATURES), np.zeros(FEATURES), np.ones(FEATURES))
    reader = ContentReader(model, wordpieces, reranker)
    reading = await reader.read("Who is the mayor of Arden?", [Passage(id="1", text="Ada is the mayor.")])
    assert [window.text for window in reading.coverage] == ["who is the mayor", "the mayor of arden"]
    assert all(0 <= window.overlap <= 1 and -1 <= window.relevance <= 1 for window in reading.coverage)
    assert reading.coverage[0].overlap > reading.coverage[1].overlap
    overlap = np.array([window.overlap for window in reading.coverage])
    relevance = np.array([window.relevance for window in reading.coverage])
    assert reading.raw == pytest.approx(profile_features(overlap, relevance).sum())


class _Words:
    def pieces(self, text):
        return text.split()

    def join(self, pieces):
        return " ".join(pieces)


def test_another_tokenizer_has_another_fingerprint(wordpieces):
    assert wordpieces_fingerprint(wordpieces) == wordpieces_fingerprint(wordpieces)
    assert wordpieces_fingerprint(wordpieces) != wordpieces_fingerprint(_Words())
