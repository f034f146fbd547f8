"""The embedded generator: a causal language model of transformers, in this process.

Greedy, batched across concurrent callers, prefixes shared within and between batches. It implements both
`Generator` and `Encoder`, so that the latent reader can stand on the model that answers.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import CapabilityError, InputError
from ..models.compute import Device, available_threads
from ..types import Capabilities, Generation, Prompt, Rollout
from .agreement import check_agreement
from .batching import Batcher, Cancelled, Kind
from .decoding import DecodeRow, Draw, decode_batch
from .encoding import PromptEncoder
from .forward import CausalModel
from .limits import answer_room, check_length, check_top_k
from .loading import Dtype, LoadedModel, load_model
from .planning import choose_batch
from .scoring import ScoreRow, score_batch
from .written import WrittenAnswers

BATCH_TOKENS = 8192
PREFIX_TOKENS = 8192

STEP_COST = 40
"""Tokens of prefill that take as long as one decoding step of a batch, roughly."""

PASS_COST = 64
"""Tokens of prefill that are worth one pass less, roughly."""

LOGIT_COST = 8
"""Tokens of keys and values that take the memory of one token's logits, roughly."""


class TransformersGenerator:
    """A causal language model that answers, shows its probabilities, scores and encodes.

    Calls may come from any event loop, any number at once; the model runs on one worker thread.
    """

    def __init__(self, loaded: LoadedModel, *, threads: int, batch_tokens: int, prefix_tokens: int) -> None:
        self._loaded = loaded
        self._encoder = PromptEncoder(loaded.tokenizer, loaded.name)
        self._model = CausalModel(loaded.model, prefix_tokens)
        self._written = WrittenAnswers()
        self._batch_tokens = batch_tokens
        self._batcher = Batcher(lambda: torch.set_num_threads(threads))
        self._decoding = Kind(self._choose_decoding, self._decode)
        self._scoring = Kind(self._choose_scoring, self._score)
        self._reading = Kind(self._choose_reading, self._read)

    @classmethod
    def load(
        cls,
        model: str,
        *,
        device: Device = "auto",
        dtype: Dtype = "auto",
        threads: int | None = None,
        batch_tokens: int = BATCH_TOKENS,
        prefix_tokens: int = PREFIX_TOKENS,
    ) -> Self:
        """Load `model`: a catalogue name, a folder, a GGUF file or a hub name.

        `dtype` auto is float32 on CPU and bfloat16 on CUDA; `threads` None is what is free. `batch_tokens`
        bounds a batch, padding included; `prefix_tokens` bounds the prompts remembered for reuse, 0 is none.
        Raises ModelMissing, SettingsError, InputError also for a model that says something else of a text in
        a batch than alone, and ModelOutputError for one whose logits are not finite.
        """
        loaded = load_model(model, device, dtype)
        generator = cls(
            loaded,
            threads=threads or available_threads(),
            batch_tokens=batch_tokens,
            prefix_tokens=prefix_tokens,
        )
        check_agreement(generator._model, model, loaded.vocabulary)
        return generator

    @property
    def capabilities(self) -> Capabilities:
        """What it can do; K may be as large as the vocabulary."""
        return Capabilities(
            model=self._loaded.name,
            max_top_k=self._loaded.vocabulary,
            context_tokens=self._loaded.context_tokens,
            scores_prompts=True,
            hidden_states=True,
            has_chat_template=self._encoder.has_chat_template,
            control_tokens=self._encoder.control_tokens,
        )

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and tokenizer."""
        return self._loaded.fingerprint

    @property
    def depth(self) -> int:
        """Number of transformer blocks."""
        return int(self._loaded.model.config.get_text_config().num_hidden_layers)

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` on its own, without special tokens."""
        return len(self._encoder.text_ids(text))

    async def generate(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Generation]:
        """Greedy answers, one a prompt, of at most `max_tokens` tokens.

        Raises InputError for a prompt that leaves no room in the context, ModelOutputError for NaN.
        """
        rows = [self._decode_row(prompt, max_tokens, 0) for prompt in prompts]
        answers = [rollout.generation for rollout in await self._batcher.submit(self._decoding, rows)]
        for row, answer in zip(rows, answers, strict=True):
            self._written.keep(row.ids, answer)
        return answers

    async def sample(
        self, prompts: Sequence[Prompt], max_tokens: int, temperature: float, seed: int
    ) -> list[Generation]:
        """One drawn answer a prompt; the prompt's place in the call is part of its seed.

        Raises as `generate` does, and InputError for a temperature that is not above 0.
        """
        if not temperature > 0:
            raise InputError(f"temperature = {temperature:g}; it must be above 0, `generate` is greedy")
        greedy = [self._decode_row(prompt, max_tokens, 0) for prompt in prompts]
        rows = [replace(row, draw=Draw(temperature, seed + place)) for place, row in enumerate(greedy)]
        return [rollout.generation for rollout in await self._batcher.submit(self._decoding, rows)]

    async def rollout(self, prompts: Sequence[Prompt], max_tokens: int, top_k: int) -> list[Rollout]:
        """Greedy rollouts with the `top_k` log-probabilities of every step (IGP section 3.2).

        Raises as `generate` does, and CapabilityError for `top_k` outside [1, vocabulary].
        """
        check_top_k(top_k, self.capabilities)
        rows = [self._decode_row(prompt, max_tokens, top_k) for prompt in prompts]
        return await self._batcher.submit(self._decoding, rows)

    async def score(self, prompt: Prompt, continuations: Sequence[str]) -> list[tuple[float, ...]]:
        """Teacher-forced natural-log probabilities of every token of each continuation after `prompt`.

        An answer that `generate` wrote after this prompt keeps the log-probabilities it was written with.
        Raises InputError where prompt and continuation exceed the context, ModelOutputError for NaN.
        """
        ids = self._encoder.prompt_ids(prompt)
        rows = [ScoreRow(ids, self._encoder.text_ids(text)) for text in continuations]
        longest = max((len(row.continuation) for row in rows), default=0)
        check_length(len(ids) + longest, self.capabilities)
        # An empty continuation is the beginning of anything written, or of nothing.
        known = [self._written.logprobs(ids, row.continuation) if row.continuation else () for row in rows]
        unread = [row for row, found in zip(rows, known, strict=True) if found is None]
        scores = iter(await self._batcher.submit(self._scoring, unread))
        return [next(scores) if found is None else found for found in known]

    async def states(self, prompts: Sequence[Prompt], layers: Sequence[int]) -> NDArray[np.float32]:
        """Final-token hidden states after each of `layers`, float32, shape (layers, prompts, width).

        Layer 0 is the embedding; the last layer is read after the model's final norm, as transformers does.
        Blocks after the deepest of `layers` are not run. Raises CapabilityError for a layer outside
        [0, depth], InputError for a prompt over the context.
        """
        wrong = [layer for layer in layers if not 0 <= layer <= self.depth]
        if wrong:
            raise CapabilityError(f"{self._loaded.name} has layers 0 to {self.depth}, not {wrong[0]}")
        rows = [(self._encoder.prompt_ids(prompt), tuple(layers)) for prompt in prompts]
        for ids, _ in rows:
            check_length(len(ids), self.capabilities)
        states = await self._batcher.submit(self._reading, rows)
        return np.stack(states, axis=1) if states else np.zeros((len(layers), 0, 0), dtype=np.float32)

    def _decode_row(self, prompt: Prompt, max_tokens: int, top_k: int) -> DecodeRow:
        ids = self._encoder.prompt_ids(prompt)
        return DecodeRow(ids, answer_room(len(ids), max_tokens, self.capabilities), top_k, prompt.stop)

    def _choose_decoding(self, rows: Sequence[DecodeRow]) -> list[int]:
        sizes = [len(row.ids) + row.max_tokens for row in rows]
        slack = STEP_COST * min(row.max_tokens for row in rows)
        return self._choose([row.ids for row in rows], sizes, slack)

    def _choose_scoring(self, rows: Sequence[ScoreRow]) -> list[int]:
        packed = self._model.packing_with_first(
            [row.ids for row in rows], [len(row.continuation) for row in rows]
        )
        if len(packed) > 1:
            return packed
        sizes = [max(len(row.ids), LOGIT_COST * len(row.continuation)) for row in rows]
        return self._choose([row.ids for row in rows], sizes, PASS_COST)

    def _choose_reading(self, rows: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> list[int]:
        ids = [row for row, _ in rows]
        return choose_batch(ids, [len(row) for row in ids], self._batch_tokens, PASS_COST, sharing=False)

    def _choose(self, ids: Sequence[Sequence[int]], sizes: Sequence[int], slack: int) -> list[int]:
        sharing = self._model.shares_prefixes
        return choose_batch(ids, sizes, self._batch_tokens, slack, sharing=sharing)

    def _decode(self, rows: Sequence[DecodeRow], cancelled: Sequence[Cancelled]) -> list[Rollout]:
        return decode_batch(self._model, self._encoder.text, self._loaded.end_ids, rows, cancelled)

    def _score(self, rows: Sequence[ScoreRow], cancelled: Sequence[Cancelled]) -> list[tuple[float, ...]]:
        return score_batch(self._model, rows, cancelled)

    def _read(
        self, rows: Sequence[tuple[tuple[int, ...], tuple[int, ...]]], _: Sequence[Cancelled]
    ) -> list[NDArray[np.float32]]:
        layers = sorted({layer for _, wanted in rows for layer in wanted})
        states = self._model.states([ids for ids, _ in rows], layers).cpu().numpy()
        return [
            states[[layers.index(layer) for layer in wanted], place] for place, (_, wanted) in enumerate(rows)
        ]
