import json
from pathlib import Path

import pytest
import torch
from sufficit.tools.errors import ArtifactError
from sufficit.tools.readers import adapted
from sufficit.tools.readers.lora import LowRank, adapt, adapters
from sufficit.tools.rerankers.cross_encoder import CrossEncoderReranker
from tiny_encoder import save_encoder
from transformers import AutoModelForQuestionAnswering, AutoModelForSequenceClassification


@pytest.fixture
def trained(tiny, tmp_path):
    """A span reader as training leaves it, and its folder."""
    torch.manual_seed(1)
    model = AutoModelForQuestionAnswering.from_pretrained(tiny).eval()
    adapt(model.base_model)
    for module in model.modules():
        if isinstance(module, LowRank):
            torch.nn.init.normal_(module.up, std=0.2)
    head = {name: p for name, p in model.named_parameters() if name.startswith("qa_outputs")}
    folder = tmp_path / "reader"
    adapted.save(folder, adapters(model.base_model), head, adapted.Trained("span", tiny, {"seed": 1}))
    return model, folder


def test_a_saved_reader_gives_the_trained_logits(trained):
    model, folder = trained
    loaded, _, fingerprint, longest = adapted.load_adapted(
        str(folder), "span", AutoModelForQuestionAnswering, labels=2
    )
    ids = torch.tensor([[2, 6, 7, 3, 8, 9, 3]])
    # Half precision on disk: three digits.
    assert torch.allclose(loaded(ids).start_logits, model(ids).start_logits, atol=2e-2)
    assert len(fingerprint) == 64
    assert longest == 192
    stored = json.loads((folder / "reader.json").read_text())
    assert stored["provenance"] == {"seed": 1}


def test_another_kind_is_refused(trained):
    with pytest.raises(ArtifactError, match="span reader, not a joint"):
        adapted.read(trained[1], "joint")


def test_damage_is_refused(trained):
    folder = trained[1]
    weights = (folder / "reader.safetensors").read_bytes()
    (folder / "reader.safetensors").write_bytes(weights[:-7])
    with pytest.raises(ArtifactError, match="damaged or cut short"):
        adapted.read(folder, "span")
    (folder / "reader.json").write_text("{")
    with pytest.raises(ArtifactError, match=r"reader\.json is damaged"):
        adapted.read(folder, "span")


def test_another_encoder_is_refused(trained, tmp_path):
    folder = trained[1]
    other = save_encoder(tmp_path / "other", seed=6)
    header = json.loads((folder / "reader.json").read_text()) | {"encoder": str(other)}
    (folder / "reader.json").write_text(json.dumps(header))
    with pytest.raises(ArtifactError, match="trained over another"):
        adapted.read(folder, "span")


def test_a_head_that_does_not_fit_is_refused(trained):
    weights = adapted.read(trained[1], "span")
    with pytest.raises(ArtifactError, match="head does not fit"):
        adapted.put_head(torch.nn.Linear(2, 2), weights)


def test_a_plain_folder_loads_as_it_is(tiny, tmp_path):
    model = AutoModelForSequenceClassification.from_pretrained(tiny, num_labels=1)
    model.save_pretrained(tmp_path / "plain")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "plain" / name).write_bytes((Path(tiny) / name).read_bytes())
    reranker = CrossEncoderReranker.load(str(tmp_path / "plain"))
    assert len(reranker.fingerprint) == 64
