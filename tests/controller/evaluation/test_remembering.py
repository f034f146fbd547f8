from scripted import ScriptedGenerator
from sufficit.controller.evaluation.remembering import RememberingGenerator, WidestRollouts
from sufficit.tools.types import Prompt

A, B = Prompt("a"), Prompt("b")
STEPS = ((-0.1, -3.0, -4.0), (-0.2, -2.0), (-0.3,))


async def test_nothing_is_asked_twice():
    generator = ScriptedGenerator(steps=lambda prompt: STEPS)
    memory = RememberingGenerator(generator)
    first = await memory.generate([A, B, A], 8)
    assert first == await memory.generate([A, B, A], 8) == await generator.generate([A, B, A], 8)
    await memory.rollout([A, A], 3, 3)
    await memory.rollout([A, B], 3, 3)
    scores = await memory.score(A, ["x", "y"])
    assert [scores[1], scores[0]] == await memory.score(A, ["y", "x"])
    assert [(method, prompts) for method, prompts in generator.calls if prompts != (A, B, A)] == [
        ("generate", (A, B)),
        ("rollout", (A,)),
        ("rollout", (B,)),
        ("score", (A,)),
    ]


async def test_another_length_or_width_is_another_call():
    generator = ScriptedGenerator(steps=lambda prompt: STEPS)
    memory = RememberingGenerator(generator)
    for length in (8, 9, 8):
        await memory.generate([A], length)
        await memory.rollout([A], length, 3)
    await memory.rollout([A], 8, 2)
    await memory.score(A, ["x"])
    await memory.score(B, ["x"])
    assert [method for method, _ in generator.calls] == ["generate", "rollout"] * 2 + ["rollout"] + [
        "score"
    ] * 2


async def test_shorter_and_narrower_rollouts_are_cut_from_the_longest():
    memory = WidestRollouts(ScriptedGenerator(steps=lambda prompt: STEPS), max_tokens=3, top_k=3)
    (rollout,) = await memory.rollout([A], 2, 2)
    assert rollout.steps == ((-0.1, -3.0), (-0.2, -2.0))


async def test_a_real_models_short_rollout_is_the_start_of_its_long_one(generator):
    prompt = Prompt("Question: Where is Oslo?\nAnswer:", stop=("\n",))
    memory = WidestRollouts(generator, max_tokens=6, top_k=16)
    (cut,) = await memory.rollout([prompt], 3, 8)
    (short,) = await generator.rollout([prompt], 3, 8)
    assert len(cut.steps) == len(short.steps)
    for left, right in zip(cut.steps, short.steps, strict=True):
        assert all(abs(x - y) < 1e-4 for x, y in zip(left, right, strict=True))
