"""Rows of unlike prompts in one forward pass: all that is unread of them in one row, side by side.

Every row sees what it has read, which are columns of a known prompt's keys and values, and itself; a mask
says so. Nothing is padded and nothing known is copied for every row, so that a few tokens after each of
several prompts cost one reading of the weights.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .planning import common_prefix
from .prefixes import Prefix

PACKED_TOKENS = 256
"""So many unread tokens go through the model as one row: each looks at all others, which grows with their
square."""

PACKED_COLUMNS = 256
"""So many known tokens may stand beside the longest known prompt: every row passes over them all."""

WORTHWHILE_TOKENS = 24
"""A beginning shorter than this is worth neither a pass of its own nor a place among the known ones."""

Find = Callable[[Sequence[int]], Prefix | None]
"""The longest known beginning of some ids."""


@dataclass(slots=True)
class Packing:
    """Which rows go together. `bases` are the known prompts; `rests[i]` is what is unread of row i, after the
    first `reads[i]` tokens of `bases[owners[i]]`."""

    bases: list[Prefix] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    reads: list[int] = field(default_factory=list)
    rests: list[Sequence[int]] = field(default_factory=list)

    def add(self, row: Sequence[int], tail: int, find: Find) -> bool:
        """Take one more row, its last `tail` >= 1 tokens to be read at least; False where it does not fit."""
        beginning = row[: len(row) - tail]
        bases, owner, read = self._placed(beginning, find(beginning))
        lengths = [base.length for base in bases]
        tokens = sum(map(len, self.rests)) + len(row) - read
        if tokens > PACKED_TOKENS or sum(lengths) - max(lengths, default=0) > PACKED_COLUMNS:
            return False
        self.bases = bases
        self.owners.append(owner)
        self.reads.append(read)
        self.rests.append(row[read:])
        return True

    def _placed(self, beginning: Sequence[int], known: Prefix | None) -> tuple[list[Prefix], int, int]:
        """The bases with the row among them, which of them it stands on, and how much of that it has read."""
        shared = [common_prefix(base.ids, beginning) for base in self.bases]
        owner = max(range(len(shared)), key=shared.__getitem__, default=0)
        read = shared[owner] if shared else 0
        if known is None or known.length - read < WORTHWHILE_TOKENS:
            return self.bases, owner, read
        if shared and read == self.bases[owner].length:  # the known prompt goes on where a base ends
            return [*self.bases[:owner], known, *self.bases[owner + 1 :]], owner, known.length
        return [*self.bases, known], len(self.bases), known.length


def packed_together(rows: Sequence[Sequence[int]], tails: Sequence[int], find: Find) -> Packing | None:
    """All rows in one packing, None where they do not fit."""
    packing = Packing()
    for row, tail in zip(rows, tails, strict=True):
        if not packing.add(row, tail, find):
            return None
    return packing


def packing_with_first(rows: Sequence[Sequence[int]], tails: Sequence[int], find: Find) -> list[int]:
    """Indices of the rows that go into one packing with row 0; [] where not even that one does."""
    packing = Packing()
    if not packing.add(rows[0], tails[0], find):
        return []
    return [0, *(n for n in range(1, len(rows)) if packing.add(rows[n], tails[n], find))]
