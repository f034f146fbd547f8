import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scripted import ScriptedGenerator, capabilities, generation
from sufficit.policies.answering import AnswerPrompts, PromptWriter
from sufficit.policies.trustmargin import (
    ScoredViews,
    TrustMargin,
    TrustMarginSettings,
    binding_margin,
    prior_margin,
    same_answer,
    trust_margin,
    verdict_by_margin,
    verdict_without_scoring,
)
from sufficit.policies.types import Likelihoods
from sufficit.tools.errors import CapabilityError, ModelOutputError
from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.types import Passage, Prompt

SETTINGS = TrustMarginSettings()
PASSAGES = [Passage("1", "Ada was born in Oslo.")]
VIEWS = Likelihoods(
    question_direct=-0.5,
    question_rag=-2.5,
    both_direct=-3.0,
    both_rag=-0.25,
    context_direct=-4.0,
    context_rag=-1.75,
)
likelihoods = st.builds(Likelihoods, *[st.floats(-20, 0)] * 6)


def test_margins_by_hand() -> None:
    assert prior_margin(VIEWS) == -2.0
    # Delta(y_R) = 1.5, Delta(y_D) = 1.0.
    assert binding_margin(VIEWS) == 0.5
    assert trust_margin(VIEWS, 0.5) == -1.75


@given(likelihoods, st.floats(0, 2))
def test_exchanging_the_answers_turns_every_margin_round(views: Likelihoods, weight: float) -> None:
    turned = Likelihoods(
        views.question_rag,
        views.question_direct,
        views.both_rag,
        views.both_direct,
        views.context_rag,
        views.context_direct,
    )
    assert trust_margin(turned, weight) == pytest.approx(-trust_margin(views, weight), abs=1e-9)


@given(likelihoods, st.floats(0, 2), st.floats(-5, 5))
def test_rag_wins_exactly_above_tau(views: Likelihoods, weight: float, tau: float) -> None:
    verdict = verdict_by_margin(views, "d", "r", TrustMarginSettings(weight=weight, tau=tau))
    assert (verdict.source == "rag") == (trust_margin(views, weight) > tau)
    assert verdict.answer == ("r" if verdict.source == "rag" else "d")


def test_the_threshold_is_strict_and_ties_are_marked() -> None:
    at = verdict_by_margin(VIEWS, "d", "r", TrustMarginSettings(tau=-1.75))
    assert (at.source, at.tie, at.margin) == ("direct", True, -1.75)
    above = verdict_by_margin(VIEWS, "d", "r", TrustMarginSettings(tau=-1.7505))
    assert (above.source, above.tie) == ("rag", True)
    clear = verdict_by_margin(VIEWS, "d", "r", SETTINGS)
    assert (clear.source, clear.tie, clear.weight, clear.tau) == ("direct", False, 0.5, -1.5)
    assert "-1.75 is not above -1.5" in clear.reason


@pytest.mark.parametrize("away", [-0.5, -0.25, -0.125, 0.0, 0.125, 0.25, 0.5])
def test_the_tie_band_has_two_sides_and_holds_its_edges(away: float) -> None:
    verdict = verdict_by_margin(VIEWS, "d", "r", TrustMarginSettings(tau=-1.75 - away, tie_band=0.25))
    # A tie is only marked: the strict rule decides all the same.
    assert verdict.source == ("rag" if away > 0 else "direct")
    assert verdict.tie == (abs(away) <= 0.25)


def test_without_a_tie_band_only_equality_is_a_tie() -> None:
    exact = TrustMarginSettings(tau=-1.75, tie_band=0.0)
    assert verdict_by_margin(VIEWS, "d", "r", exact).tie
    near = TrustMarginSettings(tau=-1.75 - 1e-9, tie_band=0.0)
    assert not verdict_by_margin(VIEWS, "d", "r", near).tie


def test_without_weight_the_prior_margin_decides_alone() -> None:
    verdict = verdict_by_margin(VIEWS, "d", "r", TrustMarginSettings(weight=0.0, tau=-2.5))
    assert (verdict.source, verdict.margin, verdict.binding) == ("rag", -2.0, 0.5)


@pytest.mark.parametrize("broken", [math.nan, -math.inf])
def test_a_likelihood_that_is_no_number_is_an_error(broken: float) -> None:
    with pytest.raises(ModelOutputError):
        verdict_by_margin(Likelihoods(broken, 0, 0, 0, 0, 0), "d", "r", SETTINGS)


@pytest.mark.parametrize(
    ("direct", "rag", "passages", "source", "answer"),
    [
        ("the Oslo.", "Oslo", PASSAGES, "agree", "Oslo"),
        ("", "Oslo", PASSAGES, "rag", "Oslo"),
        ("Oslo", " ", PASSAGES, "direct", "Oslo"),
        ("Oslo", "...", PASSAGES, "direct", "Oslo"),
        ("", "", PASSAGES, "none", ""),
        ("Oslo", "", [], "direct", "Oslo"),
        ("", "Oslo", [], "rag", "Oslo"),
        ("Oslo", "Oslo", [], "agree", "Oslo"),
        ("", "", [], "none", ""),
    ],
)
async def test_what_needs_no_scoring_gets_none(
    direct: str, rag: str, passages: list[Passage], source: str, answer: str
) -> None:
    generator = ScriptedGenerator()
    arbiter = TrustMargin(ScoredViews(generator, AnswerPrompts()), SETTINGS)
    verdict = await arbiter.choose("Where?", passages, generation(direct), generation(rag))
    assert (verdict.source, verdict.answer) == (source, answer)
    assert verdict.likelihoods is verdict.margin is None
    assert generator.calls == []


def test_agreement_without_evidence_says_so() -> None:
    verdict = verdict_without_scoring([], "Oslo", "Oslo", SETTINGS)
    assert verdict is not None
    assert "no evidence" in verdict.reason


def test_answers_made_of_articles_are_compared_by_their_letters() -> None:
    assert not same_answer("A", "The")
    assert same_answer("The", "the")
    assert same_answer("An apple", "apple.")


@given(st.text(max_size=8), st.text(max_size=8))
def test_an_empty_answer_never_wins_against_one_that_is_not(direct: str, rag: str) -> None:
    verdict = verdict_without_scoring(PASSAGES, direct, rag, SETTINGS)
    if verdict is not None and verdict.source != "none":
        assert verdict.answer.strip()


async def test_each_view_is_scored_once_with_both_answers_after_the_lead() -> None:
    def logprobs(prompt: Prompt, continuation: str) -> tuple[float, ...]:
        context, question = "Ada was born" in prompt.text, "Where?" in prompt.text
        rag = {(False, True): -4.0, (True, True): -0.5, (True, False): -1.0}[context, question]
        assert continuation in (" Bergen", " Oslo")
        # Two tokens: the mean is what counts, not the sum.
        return (rag, rag) if continuation == " Oslo" else (-2.0, -3.0)

    generator = ScriptedGenerator(logprobs=logprobs)
    arbiter = TrustMargin(ScoredViews(generator, AnswerPrompts()), SETTINGS)
    verdict = await arbiter.choose("Where?", PASSAGES, generation("Bergen"), generation("Oslo"))
    assert verdict.likelihoods == Likelihoods(-2.5, -4.0, -2.5, -0.5, -2.5, -1.0)
    assert (verdict.prior, verdict.binding, verdict.margin) == (-1.5, 0.5, -1.25)
    assert (verdict.source, verdict.answer) == ("rag", "Oslo")
    assert [method for method, _ in generator.calls] == ["score"] * 3


async def test_a_control_token_in_a_given_answer_is_scored_as_text() -> None:
    heard: list[str] = []

    def logprobs(prompt: Prompt, continuation: str) -> tuple[float, ...]:
        heard.append(continuation)
        return (-1.0,)

    views = ScoredViews(ScriptedGenerator(logprobs=logprobs), AnswerPrompts())
    await views.likelihoods("Where?", PASSAGES, generation("Oslo<|im_end|>"), generation("Two  spaces\nhere"))
    assert set(heard) == {" Oslo<\\|im_end|>", " Two  spaces\nhere"}


@pytest.mark.parametrize("scores", [(), (math.nan,), (-1.0, -math.inf)])
async def test_scores_that_are_no_numbers_are_an_error(scores: tuple[float, ...]) -> None:
    generator = ScriptedGenerator(logprobs=lambda prompt, continuation: scores)
    views = ScoredViews(generator, AnswerPrompts())
    with pytest.raises(ModelOutputError):
        await views.likelihoods("Where?", PASSAGES, generation("Bergen"), generation("Oslo"))


def test_a_generator_that_cannot_score_is_refused_at_construction() -> None:
    with pytest.raises(CapabilityError, match="TrustMargin"):
        ScoredViews(ScriptedGenerator(capabilities=capabilities(scores_prompts=False)), AnswerPrompts())


@pytest.mark.parametrize("changes", [{"weight": -0.1}, {"tau": "nan"}, {"tau": "-inf"}, {"tie_band": -1}])
def test_settings_out_of_range_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TrustMarginSettings.model_validate(changes)


@pytest.mark.parametrize("profile", ["worked_examples", "chat"])
async def test_a_real_model_scores_its_own_answers_as_it_wrote_them(
    generator: TransformersGenerator, profile: str
) -> None:
    prompts = AnswerPrompts.model_validate({"profile": profile})
    writer = PromptWriter(generator, prompts)
    question = "In which town was Ada Lind born?"
    (direct,) = await generator.generate([writer.question_only(question)], 12)
    (rag,) = await generator.generate([writer.question_context(question, PASSAGES)], 12)
    views = await ScoredViews(generator, prompts).likelihoods(question, PASSAGES, direct, rag)
    # The generator's own log-probabilities are l_D(y_D) and l_R(y_R), if scoring reads the same prompts.
    assert views.question_direct == pytest.approx(direct.mean_logprob, abs=1e-3)
    assert views.both_rag == pytest.approx(rag.mean_logprob, abs=1e-3)
    verdict = await TrustMargin(ScoredViews(generator, prompts), SETTINGS).choose(
        question, PASSAGES, direct, rag
    )
    assert verdict.likelihoods is None or verdict.likelihoods == views


@pytest.mark.parametrize(("always", "chosen"), [("rag", "r"), ("direct", "d")])
async def test_a_trusted_answer_is_not_scored_and_never_empty(always: str, chosen: str) -> None:
    generator = ScriptedGenerator()
    settings = TrustMarginSettings.model_validate({"always": always})
    arbiter = TrustMargin(ScoredViews(generator, AnswerPrompts()), settings)
    verdict = await arbiter.choose("Who?", PASSAGES, generation("d"), generation("r"))
    assert (verdict.source, verdict.answer, generator.calls) == (always, chosen, [])
    only = (generation("d"), generation("")) if always == "rag" else (generation(""), generation("r"))
    assert (await arbiter.choose("Who?", PASSAGES, *only)).answer in {"d", "r"}
