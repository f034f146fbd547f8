import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from sufficit.tools.errors import CapabilityError
from sufficit.tools.rerankers.biencoder import BiEncoderReranker
from sufficit.tools.rerankers.head import load_head
from tiny_encoder import save_encoder

TEXTS = ["the mayor of arden", "river mill opened by the glass bridge in 1911"]
STATES = torch.tensor([[[1.0, 4.0], [3.0, -2.0], [9.0, 9.0]]])
MASK = torch.tensor([[1, 1, 0]])


def sentence_folder(folder: Path, pooling: dict, *modules: str, body: str = "") -> Path:
    """A folder as sentence-transformers saves it, of a tiny encoder of width 16."""
    save_encoder(folder / body)
    kinds = ["Transformer", "Pooling", *modules]
    places = [body, "1_Pooling", *(f"{n}_{kind}" for n, kind in enumerate(modules, 2))]
    listed = [
        {"idx": n, "path": place, "type": f"sentence_transformers.models.{kind}"}
        for n, (kind, place) in enumerate(zip(kinds, places, strict=True))
    ]
    (folder / "modules.json").write_text(json.dumps(listed))
    for place in places[1:]:
        (folder / place).mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return folder


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ({}, [2.0, 1.0]),
        ({"pooling_mode_mean_tokens": True}, [2.0, 1.0]),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, [1.0, 4.0]),
        ({"pooling_mode_max_tokens": True}, [3.0, 4.0]),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, [4 / 2**0.5, 2 / 2**0.5]),
        ({"pooling_mode_weightedmean_tokens": True}, [7 / 3, 0.0]),
        ({"pooling_mode_lasttoken": True}, [3.0, -2.0]),
        ({"pooling_mode": "cls"}, [1.0, 4.0]),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, [1.0, 4.0, 2.0, 1.0]),
        ({"pooling_mode": ["lasttoken", "max"]}, [3.0, -2.0, 3.0, 4.0]),
    ],
)
def test_every_pooling_reads_what_attention_reads(tmp_path: Path, pooling: dict, expected: list[float]):
    head = load_head(sentence_folder(tmp_path, pooling), 2)
    assert head(STATES, MASK)[0].tolist() == pytest.approx(expected)
    assert head.width == len(expected)
    # The same where padding stands on the left.
    assert head(STATES.roll(1, 1), MASK.roll(1, 1))[0].tolist() == pytest.approx(expected)


def test_layers_after_the_pooling(tmp_path: Path):
    folder = sentence_folder(
        tmp_path, {"pooling_mode_cls_token": True}, "Normalize", "Dense", "LayerNorm", "Dropout"
    )
    weight, bias = torch.tensor([[1.0, 2.0], [0.0, 1.0], [3.0, 0.0]]), torch.tensor([0.0, 1.0, -1.0])
    save_file({"linear.weight": weight, "linear.bias": bias}, folder / "3_Dense" / "model.safetensors")
    described = {"in_features": 2, "out_features": 3, "bias": True, "activation_function": "torch.nn.Tanh"}
    (folder / "3_Dense" / "config.json").write_text(json.dumps(described))
    (folder / "4_LayerNorm" / "config.json").write_text('{"dimension": 3}')
    scale = {"norm.weight": torch.tensor([2.0, 1.0, 1.0]), "norm.bias": torch.zeros(3)}
    torch.save(scale, folder / "4_LayerNorm" / "pytorch_model.bin")
    cls = STATES[0, 0] / STATES[0, 0].norm()
    dense = torch.tanh(weight @ cls + bias)
    centred = (dense - dense.mean()) / (dense.var(unbiased=False) + 1e-5).sqrt()
    head = load_head(folder, 2)
    assert head.width == 3
    assert head(STATES, MASK)[0].tolist() == pytest.approx(
        (centred * scale["norm.weight"]).tolist(), abs=1e-5
    )


def test_an_encoder_is_read_with_its_head(tmp_path: Path):
    """CLS pooling, and the transformer in a folder of its own, as older ones have it."""
    plain = BiEncoderReranker.load(str(save_encoder(tmp_path / "plain")), threads=1)
    folder = sentence_folder(tmp_path / "cls", {"pooling_mode_cls_token": True}, body="0_Transformer")
    reader = BiEncoderReranker.load(str(folder), threads=1)
    expected = []
    for text in TEXTS:
        with torch.no_grad():
            states = reader._model(**reader._tokenizer(text, return_tensors="pt")).last_hidden_state
        expected.append((states[0, 0] / states[0, 0].norm()).numpy())
    assert np.allclose(np.concatenate(reader.embed(TEXTS)), expected, atol=1e-5)
    assert not np.allclose(np.concatenate(plain.embed(TEXTS)), expected, atol=0.05)
    # The weights are the same, the encoder is not.
    assert reader.fingerprint != plain.fingerprint


def test_pooling_by_mean_leaves_the_fingerprint_of_the_weights(tmp_path: Path):
    plain = BiEncoderReranker.load(str(save_encoder(tmp_path / "plain")), threads=1)
    folder = sentence_folder(tmp_path / "mean", {"pooling_mode_mean_tokens": True}, "Normalize")
    assert BiEncoderReranker.load(str(folder), threads=1).fingerprint == plain.fingerprint


@pytest.mark.parametrize(
    ("pooling", "modules", "message"),
    [
        ({"pooling_mode": "attention"}, (), "pools by attention"),
        ({"include_prompt": False}, (), "pools without its prompt"),
        ({}, ("LSTM",), r"models\.LSTM"),
    ],
)
def test_what_is_not_known_is_refused(tmp_path: Path, pooling: dict, modules: tuple, message: str):
    with pytest.raises(CapabilityError, match=message):
        BiEncoderReranker.load(str(sentence_folder(tmp_path, pooling, *modules)))


def test_a_model_without_a_transformer_is_refused(tmp_path: Path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "modules.json").write_text('[{"path": "", "type": "models.StaticEmbedding"}]')
    with pytest.raises(CapabilityError, match="StaticEmbedding, which is no transformer"):
        BiEncoderReranker.load(str(tmp_path))
