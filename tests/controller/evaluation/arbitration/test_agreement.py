"""The margins against TrustMargin's formulas spelled out: six forward passes, nothing shared or batched."""

import json
import os
from pathlib import Path

import pytest
import torch
from sufficit.controller.evaluation.arbitration.cases import Case
from sufficit.controller.evaluation.arbitration.run import Bench, arbitrated
from sufficit.controller.evaluation.datasets.examples import make_passage
from sufficit.policies.answering import AnswerPrompts, PromptWriter
from sufficit.policies.trustmargin import TrustMarginSettings

HANDBOOK = Path(__file__).resolve().parents[4] / "examples" / "handbook"
QUESTIONS = int(os.environ.get("ARBITRATION_QUESTIONS", "2"))
"""How many of the handbook's 60; bench/arbitration.py runs 50 of a larger set."""


def cases():
    """Questions with the beginnings of their documents and another's; the other's answer as closed-book one.

    What the handbook does not say has the other's documents alone, and an answer that says nothing.
    """
    lines = (HANDBOOK / "questions.jsonl").read_text("utf-8").splitlines()
    items = [json.loads(line) for line in lines]
    whole = [item for item in items if item["supporting"] and item["answers"]]
    for place, item in enumerate(items[:QUESTIONS]):
        other = whole[(place + 1) % len(whole)]
        passages = tuple(
            make_passage(name, (HANDBOOK / name).read_text("utf-8")[:350])
            for name in dict.fromkeys([*item["supporting"], *other["supporting"]])
        )
        yield Case(
            item["id"], item["question"], passages, other["answers"][0], (item["answers"] or ["Nobody"])[0]
        )


def log_likelihood(generator, prompt, answer):
    """Mean log-probability of the answer's tokens after the prompt's, from one pass over both."""
    model, tokenizer = generator._loaded.model, generator._loaded.tokenizer
    before = [tokenizer.bos_token_id, *tokenizer.encode(prompt.text, add_special_tokens=False)]
    tokens = tokenizer.encode(prompt.lead + answer, add_special_tokens=False)
    with torch.inference_mode():
        logits = model(torch.tensor([before + tokens]), use_cache=False).logits[0]
    logprobs = torch.log_softmax(logits[len(before) - 1 : -1].double(), dim=-1)
    found = [logprobs[step, token].item() for step, token in enumerate(tokens)]
    return sum(found) / len(found), len(tokens)


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.id)
async def test_the_margins_are_those_of_six_plain_passes(generator, case):
    prompts = AnswerPrompts()
    writer = PromptWriter(generator, prompts)
    views = (
        writer.question_only(case.question),
        writer.question_context(case.question, case.passages),
        writer.context_only(case.passages),
    )
    (d_d, d_tokens), (r_d, _), (c_d, _) = [log_likelihood(generator, view, case.direct) for view in views]
    (d_r, r_tokens), (r_r, _), (c_r, _) = [log_likelihood(generator, view, case.rag) for view in views]
    prior = d_r - d_d
    binding = (r_r - c_r) - (r_d - c_d)

    row = await arbitrated(Bench(generator, prompts, 8, TrustMarginSettings()), case)
    assert row.error == ""
    assert row.verdict.prior == pytest.approx(prior, abs=1e-3)
    assert row.verdict.binding == pytest.approx(binding, abs=1e-3)
    assert row.verdict.margin == pytest.approx(prior + 0.5 * binding, abs=1e-3)
    found = row.likelihoods
    assert (found.question_direct, found.both_direct, found.context_direct) == pytest.approx(
        (d_d, r_d, c_d), abs=1e-3
    )
    assert (found.question_rag, found.both_rag, found.context_rag) == pytest.approx((d_r, r_r, c_r), abs=1e-3)
    assert (row.direct_tokens, row.rag_tokens) == (d_tokens, r_tokens)
