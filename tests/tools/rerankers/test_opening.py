from pathlib import Path

import pytest
from sufficit.tools.errors import CapabilityError
from sufficit.tools.rerankers.biencoder import BiEncoderReranker
from sufficit.tools.rerankers.cross_encoder import CrossEncoderReranker
from sufficit.tools.rerankers.opening import open_reranker
from tiny_encoder import save_classifier, save_encoder


def test_the_architecture_says_which_kind_it_is(tmp_path: Path) -> None:
    encoder, classifier = save_encoder(tmp_path / "a"), save_classifier(tmp_path / "b")
    assert isinstance(open_reranker(str(encoder), threads=1), BiEncoderReranker)
    assert isinstance(open_reranker(str(classifier), threads=1), CrossEncoderReranker)
    assert isinstance(open_reranker("all-minilm-l6-v2", threads=1), BiEncoderReranker)


def test_a_classifier_of_many_labels_is_no_reranker(tmp_path: Path) -> None:
    with pytest.raises(CapabilityError, match="3 labels"):
        open_reranker(str(save_classifier(tmp_path, labels=3)))


def test_a_cross_encoder_is_not_taken_for_an_encoder(tmp_path: Path) -> None:
    with pytest.raises(CapabilityError, match="is a cross-encoder; what is wanted here encodes single texts"):
        BiEncoderReranker.load(str(save_classifier(tmp_path)))
