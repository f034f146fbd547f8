"""Passes over batches against plain passes over single rows; several architectures, random weights."""

from typing import Any

import pytest
import torch
from small_models import CONFIGURATIONS
from sufficit.tools.generators.forward import CausalModel
from transformers import AutoModelForCausalLM

SHARED = [(7 * n) % 89 + 3 for n in range(70)]
ROWS = [[*SHARED, 5, 2, 6], [*SHARED, 2, 2], [*SHARED, *range(10, 24)], [1, 4]]
FAMILY = ROWS[:3]


@pytest.fixture(params=CONFIGURATIONS, scope="module")
def plain(request: pytest.FixtureRequest) -> Any:
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(CONFIGURATIONS[request.param](), dtype=torch.float32).eval()
    for parameter in model.parameters():  # random weights of a fresh model leave the logits all but flat
        parameter.data.mul_(3 if parameter.dim() > 1 else 1)
    return model


def alone(model: Any, row: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        logits: torch.Tensor = model(torch.tensor([row]), use_cache=False).logits[0]
    return logits


@pytest.mark.parametrize("rows", [ROWS, FAMILY, ROWS[3:]], ids=["mixed", "family", "single"])
def test_reading_and_reading_on(plain: Any, rows: list[list[int]]) -> None:
    model = CausalModel(plain, prefix_tokens=512)
    for _ in range(2):  # the second time from what the first one kept
        tails = [min(4, len(row) - 1) for row in rows]
        context, logits = model.read(rows, tails, keep=True)
        for row, tail, found in zip(rows, tails, logits, strict=True):
            torch.testing.assert_close(found[-tail:], alone(plain, row)[-tail:], atol=1e-4, rtol=1e-4)
        kept = list(range(len(rows)))[1:] or [0]
        context.select(kept)
        longer = [[*rows[index], 11 + index] for index in kept]
        for _ in range(12):  # past the window of the sliding layers
            found = model.extend(context, [row[-1:] for row in longer], 1)[:, -1]
            for row, logits_of_row in zip(longer, found, strict=True):
                torch.testing.assert_close(logits_of_row, alone(plain, row)[-1], atol=1e-4, rtol=1e-4)
                row.append(int(logits_of_row.argmax()))


@pytest.mark.parametrize("rows", [ROWS, FAMILY, ROWS[3:]], ids=["mixed", "family", "single"])
def test_tails(plain: Any, rows: list[list[int]]) -> None:
    model = CausalModel(plain, prefix_tokens=512)
    tails = [min(4, len(row) - 1) for row in rows]
    for _ in range(2):
        for row, tail, found in zip(rows, tails, model.tails(rows, tails), strict=True):
            torch.testing.assert_close(found, alone(plain, row)[-tail:], atol=1e-4, rtol=1e-4)


def test_tails_after_unlike_prompts_take_one_pass_where_the_model_can(plain: Any) -> None:
    model = CausalModel(plain, prefix_tokens=512)
    other = [(5 * n) % 83 + 4 for n in range(66)]
    for prompt in ([*SHARED, 5, 2, 6, 8], other):
        model.read([prompt], [1], keep=True)
    rows = [[*SHARED, 5, 2, 6, 8, 9], [*SHARED, 3, 3], [*other, 11, 12]]
    if model.shares_prefixes and model.packing_with_first(rows, [1, 2, 2]):
        assert model.packing_with_first(rows, [1, 2, 2]) == [0, 1, 2]
    for row, tail, found in zip(rows, (1, 2, 2), model.tails(rows, (1, 2, 2)), strict=True):
        torch.testing.assert_close(found, alone(plain, row)[-tail:], atol=1e-4, rtol=1e-4)


def test_a_beginning_of_a_few_tokens_is_read_again_rather_than_looked_up(
    plain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = CausalModel(plain, prefix_tokens=512)
    model.read([SHARED], [1], keep=True)
    read: list[int] = []
    extend = model.extend

    def noted(context: Any, rows: list[list[int]], tail: int) -> torch.Tensor:
        read.extend(map(len, rows))
        return extend(context, rows, tail)

    monkeypatch.setattr(model, "extend", noted)
    row = [*SHARED[:5], *range(10, 80)]
    model.read([row], [1], keep=False)
    assert read == [len(row)]


def test_states(plain: Any) -> None:
    if plain.config.model_type == "mamba":
        pytest.skip("what it shows as hidden states begins after the first block")
    states = CausalModel(plain, prefix_tokens=0).states(ROWS, [0, 2, 3])
    for place, row in enumerate(ROWS):
        with torch.inference_mode():
            hidden = plain(torch.tensor([row]), output_hidden_states=True, use_cache=False).hidden_states
        for found, layer in zip(states[:, place], (0, 2, 3), strict=True):
            torch.testing.assert_close(found, hidden[layer][0, -1], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("layer", "blocks_run"), [(0, 0), (1, 1), (2, 2), (3, 3)])
def test_states_stop_at_the_deepest_layer(plain: Any, layer: int, blocks_run: int) -> None:
    ran: list[int] = []
    found = next(m for m in plain.modules() if isinstance(m, torch.nn.ModuleList) and len(m) == 3)
    hooks = [block.register_forward_hook(lambda *_: ran.append(1)) for block in found]
    try:
        states = CausalModel(plain, prefix_tokens=0).states(ROWS, [layer])
    finally:
        for hook in hooks:
            hook.remove()
    assert states.shape == (1, len(ROWS), 32)
    assert len(ran) == blocks_run
