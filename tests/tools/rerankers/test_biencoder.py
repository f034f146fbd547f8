import asyncio

import numpy as np
import pytest
import torch
from sufficit.tools.errors import ModelOutputError
from sufficit.tools.rerankers.biencoder import BiEncoderReranker

PARIS = "Paris is the capital and most populous city of France."
SQUID = "The giant squid lives in the deep ocean and can reach thirteen metres."
CAPITAL = "What is the capital of France?"
ANIMAL = "How long is a giant squid?"


@pytest.fixture(scope="module")
def shared() -> BiEncoderReranker:
    return BiEncoderReranker.load("all-minilm-l6-v2", threads=1)


@pytest.fixture
def reranker(shared: BiEncoderReranker) -> BiEncoderReranker:
    """The same weights with an empty cache."""
    return BiEncoderReranker(
        shared._model, shared._tokenizer, fingerprint=shared.fingerprint, max_tokens=256, batch_size=4
    )


@pytest.fixture
def encoded(reranker: BiEncoderReranker, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text that the model was asked to encode, in order."""
    seen: list[str] = []
    encode = reranker._encode
    monkeypatch.setattr(reranker, "_encode", lambda texts: seen.extend(texts) or encode(texts))
    return seen


async def test_the_right_text_wins(reranker: BiEncoderReranker) -> None:
    scores = await reranker.score([CAPITAL, ANIMAL], [PARIS, SQUID, ""])
    assert scores.shape == (2, 3)
    assert scores.dtype == np.float32
    assert scores.argmax(axis=1).tolist() == [0, 1]
    assert np.abs(scores).max() <= 1.0001


async def test_scores_are_cosines_of_means(reranker: BiEncoderReranker) -> None:
    rows = []
    for text in (CAPITAL, PARIS):
        inputs = reranker._tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            mean = reranker._model(**inputs).last_hidden_state[0].mean(dim=0)
        rows.append(mean / mean.norm())
    # Beside a longer neighbour in the batch, so that padding would show.
    scores = await reranker.score([CAPITAL], [PARIS, SQUID * 3])
    assert scores[0, 0] == pytest.approx(float(rows[0] @ rows[1]), abs=1e-5)


async def test_each_text_is_encoded_once(reranker: BiEncoderReranker, encoded: list[str]) -> None:
    first = await reranker.score([CAPITAL, CAPITAL], [PARIS, SQUID, PARIS])
    again, _ = await asyncio.gather(
        reranker.score([CAPITAL], [SQUID, PARIS]), reranker.score([ANIMAL], [PARIS])
    )
    assert sorted(encoded) == sorted([CAPITAL, PARIS, SQUID, ANIMAL])
    assert first[0, :2].tolist() == again[0, ::-1].tolist()


async def test_more_texts_than_the_cache_holds(shared: BiEncoderReranker) -> None:
    small = BiEncoderReranker(
        shared._model, shared._tokenizer, fingerprint="", max_tokens=256, cached_texts=2
    )
    scores = await small.score([CAPITAL, ANIMAL], [PARIS, SQUID])
    assert len(small._cache) == 2
    assert np.allclose(scores, await shared.score([CAPITAL, ANIMAL], [PARIS, SQUID]), atol=1e-5)


async def test_a_long_text_is_read_to_its_end(reranker: BiEncoderReranker) -> None:
    long = "The weather was mild and the harvest was good that year. " * 80
    with_end, without = (await reranker.score([CAPITAL], [long + PARIS, long]))[0]
    assert with_end > without + 0.2


async def test_nothing_to_score(reranker: BiEncoderReranker) -> None:
    assert (await reranker.score([], [PARIS])).shape == (0, 1)
    assert (await reranker.score([CAPITAL], [])).shape == (1, 0)


async def test_nan_is_an_error(reranker: BiEncoderReranker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reranker, "_embed", lambda windows, batch: np.full((len(batch), 384), np.nan))
    with pytest.raises(ModelOutputError, match="NaN"):
        await reranker.score([CAPITAL], [PARIS])


def test_fingerprint_is_stable(shared: BiEncoderReranker) -> None:
    assert shared.fingerprint == BiEncoderReranker.load("all-minilm-l6-v2").fingerprint
    assert len(shared.fingerprint) == 64
