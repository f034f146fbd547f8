import math
from collections.abc import Sequence

import numpy as np
import pytest
from scripted import ScriptedGenerator, Steps, capabilities
from sufficit.policies.igp import IGP, IGPSettings
from sufficit.policies.probe_prompts import ProbePrompts
from sufficit.policies.probing import RolloutProbe
from sufficit.tools.errors import CapabilityError
from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.types import Passage, PassageKey, Prompt

INF = math.inf
CHAT = ProbePrompts(profile="chat")


def logs(*probabilities: float) -> tuple[float, ...]:
    return tuple(math.log(p) for p in probabilities)


def ids(keys: Sequence[PassageKey]) -> str:
    return "".join(key.id for key in keys)


FLAT: Steps = (logs(0.25, 0.25, 0.25, 0.25),)
SURE: Steps = (logs(1.0),)


def sure_where(word: str) -> ScriptedGenerator:
    """Certain where the prompt holds the word, undecided among four tokens elsewhere."""

    def steps(prompt: Prompt) -> Steps:
        return SURE if word in prompt.text else FLAT

    return ScriptedGenerator(steps=steps)


async def test_all_passages_are_probed_in_one_call_and_the_useful_one_is_admitted() -> None:
    generator = sure_where("Oslo")
    settings = IGPSettings(top_k=4)
    probe = RolloutProbe(generator, settings)
    passages = [Passage("a", "Rain."), Passage("b", "Ada was born in Oslo."), Passage("c", "Snow.")]
    baseline = await probe.baseline("Where was Ada born?")
    report = await IGP(probe, settings).prune("Where was Ada born?", passages, baseline)
    assert [(method, len(prompts)) for method, prompts in generator.calls] == [("rollout", 1), ("rollout", 3)]
    assert ids(report.admitted) == "b"
    assert report.gains[0].gain == pytest.approx(1.0)
    assert report.gains[0].tokens == 6


async def test_only_the_passage_differs_between_the_papers_prompts() -> None:
    generator = ScriptedGenerator()
    prompts = ProbePrompts(profile="chat", system="Be brief.", stop=("\n",))
    probe = RolloutProbe(generator, IGPSettings(prompts=prompts))
    await probe.baseline("Why?")
    await probe.uncertainties("Why?", [Passage("a", "Rain.\n<|im_end|>", title="Sky")])
    (_, (without,)), (_, (with_passage,)) = generator.calls
    assert without.text == "Why?"
    assert with_passage.text == "Why?\n\nContext: [1] Sky: Rain. <\\|im_end|>"
    assert (without.style, without.system, without.stop) == ("chat", "Be brief.", ("\n",))
    assert (with_passage.style, with_passage.system, with_passage.stop) == ("chat", "Be brief.", ("\n",))


async def test_small_models_see_the_passage_first_and_two_worked_examples() -> None:
    generator = ScriptedGenerator()
    probe = RolloutProbe(generator, IGPSettings())
    await probe.baseline("Why?")
    await probe.uncertainties("Why?", [Passage("a", "Rain. </context>")])
    (_, (without,)), (_, (with_passage,)) = generator.calls
    assert with_passage.text.startswith("<context>\n[1] Rain. <\\/context>\n</context>\n\nAnswer each")
    for prompt in (without, with_passage):
        assert (prompt.style, prompt.stop) == ("completion", ("\n",))
        assert prompt.text.count("Question: ") == 3
        assert prompt.text.endswith("Answer: 8,849 metres\n\nQuestion: Why?\nAnswer:")


async def test_without_passages_the_generator_is_not_called() -> None:
    generator = ScriptedGenerator()
    report = await IGP(RolloutProbe(generator, IGPSettings()), IGPSettings()).prune("Why?", [], 0.5)
    assert report.admitted == report.gains == ()
    assert generator.calls == []


async def test_a_passage_longer_than_the_context_is_not_sent() -> None:
    generator = ScriptedGenerator(capabilities=capabilities(context_tokens=200))
    probe = RolloutProbe(generator, IGPSettings())
    long, short = await probe.uncertainties("Why?", [Passage("a", "word " * 200), Passage("b", "Rain.")])
    assert (long.uncertainty, long.tokens) == (None, 201)
    assert short.uncertainty == 0.0
    assert len(generator.calls[0][1]) == 1


def test_k_above_the_generators_limit_is_refused_at_construction() -> None:
    generator = ScriptedGenerator(capabilities=capabilities(max_top_k=20))
    with pytest.raises(CapabilityError, match=r"igp\.top_k = 128 is above the 20"):
        RolloutProbe(generator, IGPSettings())


def test_chat_probing_without_a_chat_template_is_refused_at_construction() -> None:
    generator = ScriptedGenerator(capabilities=capabilities(has_chat_template=False))
    with pytest.raises(CapabilityError, match=r"igp\.prompts\.profile"):
        RolloutProbe(generator, IGPSettings(prompts=CHAT))
    RolloutProbe(generator, IGPSettings())


async def test_a_real_models_uncertainties_are_those_of_its_probabilities(
    generator: TransformersGenerator,
) -> None:
    settings = IGPSettings(top_k=64, max_tokens=6, threshold=-INF, prompts=CHAT)
    probe = RolloutProbe(generator, settings)
    question = "In which town was Ada Lind born?"
    passages = [
        Passage("a", "Ada Lind was born in Oslo."),
        Passage("b", "Rain falls on the hill.", title="Hill"),
    ]
    baseline = await probe.baseline(question)
    report = await IGP(probe, settings).prune(question, passages, baseline)
    assert len(report.admitted) == 2
    for passage in passages:
        text = f"{question}\n\nContext: [1] {passage.title + ': ' if passage.title else ''}{passage.text}"
        (rollout,) = await generator.rollout([Prompt(text, "chat")], 6, 64)
        entropies = []
        for step in rollout.steps:
            p = np.exp(step) / np.exp(step).sum()
            entropies.append(-(p * np.log(p)).sum())
        (gain,) = [gain for gain in report.gains if gain.key == passage.key]
        assert gain.uncertainty == pytest.approx(np.mean(entropies) / np.log(64), abs=1e-4)
        assert gain.gain == pytest.approx(baseline - gain.uncertainty)


async def test_a_common_horizon_compares_as_many_steps_as_both_rollouts_have() -> None:
    def steps(prompt: Prompt) -> Steps:
        # Without a passage: undecided, then sure for three steps; with it: undecided for two.
        return FLAT * 2 if "Rain" in prompt.text else FLAT + SURE * 3

    settings = IGPSettings(top_k=4, common_horizon=True)
    generator = ScriptedGenerator(steps=steps)
    probe = RolloutProbe(generator, settings)
    (candidate,) = await probe.uncertainties("Why?", [Passage("a", "Rain.")])
    assert (candidate.uncertainty, candidate.baseline) == pytest.approx((1.0, 0.5))
    assert [len(prompts) for _, prompts in generator.calls] == [2]
    baseline = await probe.baseline("Why?")
    report = await IGP(probe, settings).prune("Why?", [Passage("a", "Rain.")], baseline)
    assert report.baseline == pytest.approx(0.25)
    assert report.gains[0].gain == pytest.approx(-0.5)


async def test_a_passage_is_probed_behind_those_admitted() -> None:
    generator = ScriptedGenerator()
    probe = RolloutProbe(generator, IGPSettings(prompts=CHAT))
    await probe.uncertainties("Why?", [Passage("b", "Snow.")], [Passage("a", "Rain.")])
    ((_, (prompt,)),) = generator.calls
    assert prompt.text == "Why?\n\nContext: [1] Rain.\n[2] Snow."
