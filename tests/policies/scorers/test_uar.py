from itertools import product

import numpy as np
import pytest
from scripted import capabilities
from sufficit.policies.scorers.uar import HEADS, UAR, needs_retrieval
from sufficit.tools.errors import ModelOutputError, SettingsError
from sufficit.tools.types import Passage


class FixedEncoder:
    depth = 4
    fingerprint = "fixed"
    capabilities = capabilities()

    def __init__(self, *state: float) -> None:
        self.state = state

    async def states(self, prompts, layers):
        assert list(layers) == [4]
        return np.array([[self.state]], np.float32)


@pytest.mark.parametrize("fires", list(product([True, False], repeat=4)))
def test_the_tree(fires):
    intent, knowledge, time, own = fires
    expected = intent or (not knowledge and (time or own))
    assert needs_retrieval(dict(zip(HEADS, fires, strict=True))) is expected


def heads(**fires):
    """Heads that fire on the state (1, 0), or do not."""
    on, off = np.array([[1, 0], [0, 0]], np.float32), np.array([[0, 0], [1, 0]], np.float32)
    return {head: on if fires.get(head) else off for head in HEADS}


async def test_one_means_that_nothing_need_be_retrieved():
    passages = [Passage("1", "t")]
    assert (await UAR(FixedEncoder(1, 0), heads()).score("Who?", passages)).value == 1.0
    assert (await UAR(FixedEncoder(1, 0), heads(self=True)).score("Who?", passages)).value == 0.0


async def test_heads_of_another_model_and_missing_ones_are_refused():
    with pytest.raises(SettingsError, match="another model"):
        await UAR(FixedEncoder(1, 0, 0), heads()).score("Who?", [Passage("1", "t")])
    with pytest.raises(SettingsError, match="lack 'self'"):
        UAR(FixedEncoder(1, 0), {head: value for head, value in heads().items() if head != "self"})


async def test_nan_is_refused():
    with pytest.raises(ModelOutputError):
        await UAR(FixedEncoder(float("nan"), 0), heads()).score("Who?", [Passage("1", "t")])
