import pytest
from sufficit.tools.errors import InputError
from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.types import Prompt

PROMPT = Prompt("The first names of my four cousins are", stop=(".",))


async def test_samples_differ_and_come_again_with_the_seed(generator: TransformersGenerator) -> None:
    first = await generator.sample([PROMPT] * 3, 4, temperature=1.0, seed=3)
    (again,) = await generator.sample([PROMPT], 4, temperature=1.0, seed=3)
    (other,) = await generator.sample([PROMPT], 4, temperature=1.0, seed=400)
    assert again.token_ids == first[0].token_ids  # alone or beside others: the same
    assert len({answer.text for answer in (*first, other)}) > 1
    assert all(value <= 0 for answer in first for value in answer.logprobs)


async def test_a_cold_sample_is_the_greedy_answer(generator: TransformersGenerator) -> None:
    (greedy,) = await generator.generate([PROMPT], 5)
    (cold,) = await generator.sample([PROMPT], 5, temperature=1e-4, seed=3)
    assert cold.token_ids == greedy.token_ids


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan")])
async def test_a_temperature_is_above_zero(generator: TransformersGenerator, temperature: float) -> None:
    with pytest.raises(InputError, match="must be above 0"):
        await generator.sample([PROMPT], 5, temperature=temperature, seed=3)
