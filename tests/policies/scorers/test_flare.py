from dataclasses import dataclass

import pytest
from scripted import ScriptedGenerator, generation
from sufficit.policies.scorers.flare import FLARE
from sufficit.tools.errors import ModelOutputError
from sufficit.tools.types import Passage, Rollout


@dataclass
class Rolling(ScriptedGenerator):
    values: tuple[float, ...] = ()

    async def rollout(self, prompts, max_tokens, top_k):
        assert top_k == 1
        return [
            Rollout(generation("x", self.values), (*((v,) for v in self.values), (-0.5,))) for _ in prompts
        ]


@pytest.mark.parametrize(("values", "score"), [((-0.1, -2.0, -0.3), -2.0), ((), -0.5)])
async def test_the_least_probable_token_counts_or_the_end_of_an_empty_answer(values, score):
    assert (await FLARE(Rolling(values=values)).score("Who?", [Passage("1", "t")])).value == score


async def test_nan_is_refused():
    with pytest.raises(ModelOutputError):
        await FLARE(Rolling(values=(float("nan"),))).score("Who?", [Passage("1", "t")])
