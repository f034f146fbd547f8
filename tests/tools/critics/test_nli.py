import pytest
import torch
from released import nli_classifier
from sufficit.tools.critics.classifier import SequenceClassifier
from sufficit.tools.critics.nli import NliClassifier
from sufficit.tools.errors import CapabilityError, ModelOutputError


def load(folder, **labels):
    return SequenceClassifier.load(str(nli_classifier(folder, **labels)), device="cpu", threads=1)


async def test_the_probability_of_the_label_entailment(tmp_path):
    classifier = load(tmp_path, labels=("contradiction", "Entailment", "neutral"))
    (found,) = await NliClassifier(classifier).entails(["ada is mayor"], ["ben is mayor"])
    ids = classifier.tokenizer("ada is mayor", "ben is mayor", return_tensors="pt")
    with torch.inference_mode():
        expected = torch.softmax(classifier._model(**ids).logits[0], 0)[1].item()
    assert found == pytest.approx(expected, abs=1e-5)


async def test_a_long_premise_counts_by_its_best_window_and_a_long_hypothesis_is_cut(tmp_path):
    entails = NliClassifier(load(tmp_path)).entails
    long = "river " * 200 + "ada is mayor"
    found = await entails([long, "river", "ada"], ["ada", "ada", "ben " * 500])
    assert len(found) == 3
    assert all(0 < value < 1 for value in found)
    assert await entails([], []) == []


async def test_nan_is_refused(tmp_path):
    classifier = load(tmp_path)
    with torch.no_grad():
        classifier._model.classifier.bias.fill_(float("nan"))
    with pytest.raises(ModelOutputError):
        await NliClassifier(classifier).entails(["ada"], ["ben"])


def test_a_classifier_without_the_label_is_refused(tmp_path):
    classifier = load(tmp_path, labels=("good", "bad"))
    with pytest.raises(CapabilityError, match="labels are good, bad"):
        NliClassifier(classifier)
