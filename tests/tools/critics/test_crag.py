import numpy as np
import pytest
import torch
from released import crag_evaluator
from sufficit.tools.critics.classifier import SequenceClassifier
from sufficit.tools.critics.crag import CragEvaluator


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return crag_evaluator(tmp_path_factory.mktemp("crag"))


async def test_logits_are_of_question_sep_passage(folder):
    evaluator = CragEvaluator.load(str(folder), device="cpu", threads=1)
    found = await evaluator.score(["who is the mayor ?"], ["ada is the mayor .", "river miles"])
    classifier = SequenceClassifier.load(str(folder), device="cpu", threads=1)
    ids = classifier.tokenizer("who is the mayor ? [SEP] ada is the mayor .", return_tensors="pt")
    with torch.inference_mode():
        expected = classifier._model(**ids).logits[0, -1].item()
    assert found.shape == (1, 2)
    assert found[0, 0] == pytest.approx(expected, abs=1e-5)
    assert found[0, 0] != found[0, 1]


async def test_a_long_passage_counts_by_its_best_window(folder):
    evaluator = CragEvaluator.load(str(folder), device="cpu", threads=1)
    windows = evaluator._windows("who ?", "river miles " * 25_000)
    assert all(len(window.split()) <= 64 for window in windows)
    text = "river " * 70 + "ada " * 70
    pieces = evaluator._windows("who ?", text)
    assert len(pieces) > 2
    assert pieces[0].startswith("river")
    assert pieces[-1].endswith("ada")
    whole, *parts = (await evaluator.score(["who ?"], [text, *pieces]))[0]
    assert whole == pytest.approx(max(parts), abs=1e-5)


async def test_nothing_to_score(folder):
    evaluator = CragEvaluator.load(str(folder), device="cpu", threads=1)
    assert np.asarray(await evaluator.score(["who ?"], [])).shape == (1, 0)
