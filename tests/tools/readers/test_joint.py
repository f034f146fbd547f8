import pytest
import torch
from sufficit.tools.errors import InputError, ModelOutputError
from sufficit.tools.readers.joint import FusedJointReader, JointModel
from transformers import AutoModel, AutoTokenizer

TEXTS = ["ada is the mayor of arden", "the river is long", "the old mill in belmar"]
LONG = " ".join(["the river is long . the old mill in arden"] * 12)
QUESTION = "who is the mayor ?"


@pytest.fixture
def reader(tiny):
    torch.manual_seed(3)
    model = JointModel(AutoModel.from_pretrained(tiny), 16)
    return FusedJointReader(
        model, AutoTokenizer.from_pretrained(tiny), fingerprint="f", max_tokens=48, batch_size=2
    )


async def test_the_order_of_passages_changes_nothing(reader):
    first = await reader.sufficiency(QUESTION, TEXTS)
    assert await reader.sufficiency(QUESTION, TEXTS[::-1]) == first
    assert await reader.sufficiency(QUESTION, [*TEXTS[:2], "dov painted the bridge"]) != first
    assert await reader.sufficiency("where is the mill ?", TEXTS) != first


async def test_pairs_are_read_once(reader, monkeypatch):
    first = await reader.sufficiency(QUESTION, TEXTS)
    monkeypatch.setattr(reader, "_slots", lambda units: [] if not units else pytest.fail(f"read {units}"))
    assert await reader.sufficiency(QUESTION, TEXTS) == first


async def test_a_long_passage_is_read_in_its_most_sufficient_window(reader):
    windows = reader._windower.windows([(QUESTION, LONG)])
    assert len(windows) > 2
    texts = [LONG[w.offsets[0][0] : w.offsets[-1][1]] for w in windows]
    alone = [await reader.sufficiency(QUESTION, [text]) for text in texts]
    assert max(alone) > min(alone)
    assert await reader.sufficiency(QUESTION, [LONG]) == pytest.approx(max(alone), abs=1e-4)
    best = texts[alone.index(max(alone))]
    whole, part = [await reader.sufficiency(QUESTION, [text, *TEXTS]) for text in (LONG, best)]
    assert whole == pytest.approx(part, abs=1e-4)


async def test_nan_is_an_error(reader):
    torch.nn.init.constant_(reader._model.fusion.score[2].bias, float("nan"))
    with pytest.raises(ModelOutputError, match="joint reader"):
        await reader.sufficiency(QUESTION, TEXTS)


def test_what_is_no_reader_is_refused(tiny):
    with pytest.raises(InputError, match="train-reader joint"):
        FusedJointReader.load(tiny)
