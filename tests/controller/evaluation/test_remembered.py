from scripted import ScriptedGenerator
from sufficit.controller.evaluation.remembered import Remembered
from sufficit.tools.types import Prompt

A, B = Prompt("a"), Prompt("b")
STEPS = ((-0.1, -3.0, -4.0), (-0.2, -2.0), (-0.3,))


async def test_no_prompt_is_asked_twice():
    generator = ScriptedGenerator(steps=lambda prompt: STEPS)
    memory = Remembered(generator, max_tokens=3, top_k=3)
    await memory.generate([A, B, A], 8)
    await memory.generate([B], 8)
    await memory.rollout([A, A], 3, 3)
    await memory.rollout([A], 1, 2)
    assert [(method, len(prompts)) for method, prompts in generator.calls] == [
        ("generate", 2),
        ("rollout", 1),
    ]
    await memory.generate([A], 9)
    assert len(generator.calls) == 3


async def test_shorter_and_narrower_rollouts_are_cut_from_the_longest():
    memory = Remembered(ScriptedGenerator(steps=lambda prompt: STEPS), max_tokens=3, top_k=3)
    (rollout,) = await memory.rollout([A], 2, 2)
    assert rollout.steps == ((-0.1, -3.0), (-0.2, -2.0))


async def test_a_real_models_short_rollout_is_the_start_of_its_long_one(generator):
    prompt = Prompt("Question: Where is Oslo?\nAnswer:", stop=("\n",))
    memory = Remembered(generator, max_tokens=6, top_k=16)
    (cut,) = await memory.rollout([prompt], 3, 8)
    (short,) = await generator.rollout([prompt], 3, 8)
    assert len(cut.steps) == len(short.steps)
    for left, right in zip(cut.steps, short.steps, strict=True):
        assert all(abs(x - y) < 1e-4 for x, y in zip(left, right, strict=True))
