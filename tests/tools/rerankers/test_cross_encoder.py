from pathlib import Path

import numpy as np
import pytest
import torch
from sufficit.tools.errors import CapabilityError, ModelOutputError
from sufficit.tools.rerankers.cross_encoder import CrossEncoderReranker
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

TEXTS = ["paris is the capital of france", "squid lives in the deep ocean", ""]
QUERIES = ["what is the capital of france", "where is squid"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = sorted({word for text in [*TEXTS, *QUERIES] for word in text.split()})


def _save(folder: Path, labels: int) -> Path:
    """A tiny BERT classifier with random weights."""
    vocabulary = {piece: index for index, piece in enumerate([*SPECIAL, *WORDS])}
    BertTokenizer(vocab=vocabulary, model_max_length=32).save_pretrained(folder)
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=32, num_labels=labels, initializer_range=0.5,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.fixture(params=[1, 2])
def reranker(request: pytest.FixtureRequest, tmp_path: Path) -> CrossEncoderReranker:
    return CrossEncoderReranker.load(str(_save(tmp_path, request.param)), threads=1, batch_size=3)


@pytest.fixture
def computed(reranker: CrossEncoderReranker, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Every pair that the model was asked to score, in order."""
    seen: list[tuple[str, str]] = []
    logits = reranker._logits
    monkeypatch.setattr(reranker, "_logits", lambda pairs: seen.extend(pairs) or logits(pairs))
    return seen


async def test_scores_are_the_last_logit_of_each_pair(reranker: CrossEncoderReranker) -> None:
    scores = await reranker.score(QUERIES, TEXTS)
    assert scores.dtype == np.float32
    for row, query in enumerate(QUERIES):
        for column, text in enumerate(TEXTS):
            inputs = reranker._tokenizer([query], [text], return_tensors="pt")
            with torch.no_grad():
                expected = float(reranker._model(**inputs).logits[0, -1])
            assert scores[row, column] == pytest.approx(expected, abs=1e-5)
    assert np.unique(scores.round(5)).size == scores.size


async def test_no_pair_is_computed_twice(
    reranker: CrossEncoderReranker, computed: list[tuple[str, str]]
) -> None:
    first = await reranker.score(QUERIES, [*TEXTS, TEXTS[0]])
    again = await reranker.score(QUERIES[:1], [TEXTS[1], "what"])
    assert sorted(computed) == sorted([(q, t) for q in QUERIES for t in TEXTS] + [(QUERIES[0], "what")])
    assert again[0, 0] == first[0, 1]
    assert first[0, 3] == first[0, 0]


async def test_a_long_text_has_its_best_window(reranker: CrossEncoderReranker) -> None:
    long = " ".join(["deep ocean"] * 40)
    inputs = reranker._tokenizer(
        QUERIES[1], f"{TEXTS[0]} {long}", truncation="only_second", max_length=32, stride=4,
        return_overflowing_tokens=True, padding=True, return_tensors="pt",
    )  # fmt: skip
    inputs.pop("overflow_to_sample_mapping")
    with torch.no_grad():
        expected = float(reranker._model(**inputs).logits[:, -1].max())
    assert len(inputs["input_ids"]) > 3
    score = await reranker.score([QUERIES[1]], [f"{TEXTS[0]} {long}"])
    assert score[0, 0] == pytest.approx(expected, abs=1e-5)


async def test_a_long_query_leaves_room_for_the_text(reranker: CrossEncoderReranker) -> None:
    scores = await reranker.score(["what is the capital " * 50], TEXTS[:2])
    assert np.isfinite(scores).all()
    assert scores[0, 0] != scores[0, 1]


async def test_nan_is_an_error(reranker: CrossEncoderReranker) -> None:
    with torch.no_grad():
        reranker._model.classifier.weight.fill_(torch.nan)
    with pytest.raises(ModelOutputError, match="NaN"):
        await reranker.score(QUERIES, TEXTS)


def test_three_labels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CapabilityError, match="3 labels"):
        CrossEncoderReranker.load(str(_save(tmp_path, 3)))
