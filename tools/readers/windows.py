"""Question and passage as token ids: windows of what an encoder reads, each token known by its offset."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase

MAX_TOKENS = 192
Unit = tuple[str, str]
"""A question and the text of one passage."""


@dataclass(frozen=True, slots=True)
class Window:
    """One input: token ids, segment ids, and the character span in the passage's text of each of its tokens.

    `first` is the place of the passage's first token; `offsets` belongs to the tokens from there on, the last
    special token left out. `owner` is the place of the unit that was cut.
    """

    ids: list[int]
    segments: list[int]
    first: int
    offsets: list[tuple[int, int]]
    owner: int


class Windower:
    """Cuts units into overlapping windows of at most `max_tokens` tokens; a question gets at most a third."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase, max_tokens: int = MAX_TOKENS) -> None:
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens

    def windows(self, units: Sequence[Unit]) -> list[Window]:
        """All windows of all units, in their order. A text without tokens is one window."""
        if not units:
            return []
        cut = {question: self._cut(question) for question in {question for question, _ in units}}
        encoded = self._tokenizer(
            [cut[question] for question, _ in units],
            [text for _, text in units],
            truncation="only_second",
            max_length=self._max_tokens,
            stride=self._max_tokens // 4,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            return_token_type_ids=True,
        )
        owners = encoded["overflow_to_sample_mapping"]
        return [self._window(encoded, row, int(owner)) for row, owner in enumerate(owners)]

    def _window(self, encoded: Any, row: int, owner: int) -> Window:
        sequence = encoded.sequence_ids(row)
        places = [place for place, part in enumerate(sequence) if part == 1]
        # A text without tokens: the place of the last special token, and nothing there.
        first, last = (places[0], places[-1] + 1) if places else (len(sequence) - 1, len(sequence) - 1)
        offsets = [(int(start), int(end)) for start, end in encoded["offset_mapping"][row][first:last]]
        return Window(encoded["input_ids"][row], encoded["token_type_ids"][row], first, offsets, owner)

    def _cut(self, question: str) -> str:
        limit = self._max_tokens // 3
        encoded = self._tokenizer(
            question, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        offsets = encoded["offset_mapping"][:limit]
        return question[: offsets[-1][1]] if offsets else question


def batches(windows: Sequence[Window], size: int) -> Iterator[list[int]]:
    """Places of the windows, longest first, at most `size` at a time: neighbours need little padding."""
    order = sorted(range(len(windows)), key=lambda place: -len(windows[place].ids))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def tensors(windows: Sequence[Window], device: str, pad: int) -> dict[str, torch.Tensor]:
    """The encoder's inputs, padded to the longest of `windows`."""
    length = max(len(window.ids) for window in windows)
    shape = (len(windows), length)
    ids, segments, mask = torch.full(shape, pad), torch.zeros(shape, dtype=torch.long), torch.zeros(shape)
    for row, window in enumerate(windows):
        size = len(window.ids)
        ids[row, :size] = torch.tensor(window.ids)
        segments[row, :size] = torch.tensor(window.segments)
        mask[row, :size] = 1
    made = {"input_ids": ids, "token_type_ids": segments, "attention_mask": mask.long()}
    return {name: value.to(device) for name, value in made.items()}
