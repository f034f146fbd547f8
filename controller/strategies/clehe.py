"""CLeHe: documents that leave the model certain count more, what it would say anyway counts less (Qiu et al.,
2025, Entropy-Based Decoding for Retrieval-Augmented Large Language Models)

As in the paper: every document is read in a prompt of its own; the documents' distributions are averaged in
log space with weights softmax(-H_j / temperature), H_j the entropy under document j; and the mean is
contrasted with what the model says without documents,

    (1 + beta) sum_j w_j log p(y_t | d_j, q) - beta log p(y_t | q).

Simpler than the paper: it decodes whole answers, not single tokens. Every document proposes its greedy
answer; each proposal is scored, token by token, under all documents and under none; the best mean wins. So
H_j is the mean entropy of document j's own answer, over the `top_k` tokens of a step, and the contrast is
with the last layer where the paper takes the layer of highest entropy: neither full distributions nor layers
are in the generator's protocol. The values of temperature and beta are ours.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...policies.igp import step_entropy
from ...policies.trustmargin import same_answer
from ...tools.errors import ModelOutputError
from ...tools.normalisation import is_blank
from ...tools.protocols import Retriever
from ...tools.types import Generation, Prompt, Rollout
from .short_answers import ShortAnswers
from .strategy import Answered

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CLeHe:
    """The `passages` found are read one by one, those that fit a prompt together; `beta` is at least 0.

    `temperature`, in nats, above 0: the smaller, the more the most certain document decides. At most
    `proposals` answers are scored, those of the documents with the most weight.
    """

    retriever: Retriever
    answers: ShortAnswers
    passages: int = 20
    proposals: int = 4
    temperature: float = 0.25
    beta: float = 0.25
    top_k: int = 128

    async def answer(self, question: str) -> Answered:
        """See Strategy. Raises ModelOutputError where a log-probability is not finite."""
        writer = self.answers.writer
        read = writer.fit(await self.retriever.search(question, self.passages))
        if not read:
            return await self.answers.closed_book(question), ()
        prompts = [writer.question_context(question, [passage]) for passage in read]
        generator = self.answers.generator
        top_k = min(self.top_k, generator.capabilities.max_top_k)
        rollouts = await generator.rollout(prompts, self.answers.tokens, top_k)
        weights = entropy_weights(rollouts, self.temperature)
        proposals = _proposals(rollouts, weights, self.proposals)
        if len(proposals) == 1:
            return proposals[0], read
        scores = await self._scores(prompts, writer.question_only(question), proposals, weights)
        return proposals[int(np.argmax(scores))], read

    async def _scores(
        self, prompts: Sequence[Prompt], without: Prompt, proposals: Sequence[Generation], weights: Vector
    ) -> list[float]:
        """Mean contrasted log-probability of every proposal, in nats per token."""
        views = await asyncio.gather(
            *(
                self.answers.generator.score(prompt, [prompt.lead + answer.text for answer in proposals])
                for prompt in (*prompts, without)
            )
        )
        found = []
        for place in range(len(proposals)):
            tokens = np.array([view[place] for view in views])
            contrasted = (1 + self.beta) * weights @ tokens[:-1] - self.beta * tokens[-1]
            found.append(float(contrasted.mean()) if tokens.size else math.nan)
        if not all(map(math.isfinite, found)):
            raise ModelOutputError(
                "the generator gave an answer no finite log-likelihood; check the model's weights and dtype"
            )
        return found


def entropy_weights(rollouts: Sequence[Rollout], temperature: float) -> Vector:
    """softmax(-H / temperature) over documents, H the mean step entropy of a rollout in nats; sums to 1."""
    entropies = np.array([_mean_entropy(rollout) for rollout in rollouts])
    raised = np.exp((entropies.min() - entropies) / temperature)
    return np.asarray(raised / raised.sum())


def _mean_entropy(rollout: Rollout) -> float:
    steps = [step_entropy(step) for step in rollout.steps]
    return sum(steps) / len(steps) if steps else 0.0


def _proposals(rollouts: Sequence[Rollout], weights: Vector, most: int) -> list[Generation]:
    """The documents' distinct answers, by the documents' weights; at least one, which may be blank."""
    found: list[Generation] = []
    order = np.argsort(-weights, kind="stable")
    for place in order:
        answer = rollouts[place].generation
        if not is_blank(answer.text) and not any(same_answer(answer.text, other.text) for other in found):
            found.append(answer)
    return found[:most] or [rollouts[order[0]].generation]
