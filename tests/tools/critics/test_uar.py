import pytest
import torch
from released import llama, uar_heads
from sufficit.policies.scorers.self_rag import SelfRagCritic
from sufficit.policies.scorers.uar import UAR
from sufficit.tools.critics.uar import load_uar_heads
from sufficit.tools.errors import InputError
from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.types import Passage

PASSAGES = [Passage("1", "ada voss is the mayor of arden ."), Passage("2", "the river is long .")]


def test_heads_are_read_as_released(tmp_path):
    heads = load_uar_heads(uar_heads(tmp_path / "7b"))
    assert {head: value.shape for head, value in heads.items()} == dict.fromkeys(
        ("intent", "knowledge", "time", "self"), (2, 16)
    )


async def test_uar_runs_on_a_llama_and_its_heads(tmp_path):
    encoder = TransformersGenerator.load(str(llama(tmp_path / "llama")), device="cpu", threads=1)
    heads = load_uar_heads(uar_heads(tmp_path / "7b"))
    scored = await UAR(encoder, heads).score("who is the mayor ?", PASSAGES)
    assert scored.value in (0.0, 1.0)
    fires = await UAR(encoder, heads | {"intent": heads["intent"] * 0}).score("who ?", PASSAGES)
    assert fires.value == 0.0  # equal logits are one half, which asks for retrieval


async def test_the_self_rag_critic_runs_on_a_llama_with_its_tokens(tmp_path):
    tokens = ("[Relevant]", "[Irrelevant]")
    critic = TransformersGenerator.load(str(llama(tmp_path, added=tokens)), device="cpu", threads=1)
    both = (await SelfRagCritic(critic).score("who ?", PASSAGES)).value
    single = [(await SelfRagCritic(critic).score("who ?", [passage])).value for passage in PASSAGES]
    assert both == pytest.approx(max(single), abs=1e-4)
    assert single[0] != single[1]


@pytest.mark.parametrize("damage", ["missing", "twice", "garbage", "other key"])
def test_what_is_wrong_with_heads_is_said(tmp_path, damage):
    folder = uar_heads(tmp_path / "7b")
    file = folder / "Time_aware_llama2_7b_chat" / "time_cls_7b.pth"
    match damage:
        case "missing":
            file.unlink()
        case "twice":
            (folder / "time_again.pth").write_bytes(file.read_bytes())
        case "garbage":
            file.write_bytes(b"no weights")
        case _:
            torch.save({"other": torch.zeros(2, 16)}, file)
    with pytest.raises(InputError, match="time"):
        load_uar_heads(folder)
