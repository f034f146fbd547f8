"""Which waiting rows share a forward pass.

A batch costs the shared prefix once and, for every row, what the longest row has beyond it:
``P + n (longest - P)`` tokens. A row joins if that makes the batch dearer by no more than the row would cost
later, when what it shares with this batch is remembered, plus what a batch of its own costs in passes.
"""

from collections.abc import Sequence


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Number of leading ids that two sequences share."""
    length = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        length += 1
    return length


def choose_batch(
    rows: Sequence[Sequence[int]], sizes: Sequence[int], budget: int, slack: int, *, sharing: bool
) -> list[int]:
    """Indices of the rows that run together with `rows[0]`, the one that has waited longest.

    `sizes` are the tokens that each row takes in memory; the batch, padded to its largest, stays within
    `budget` tokens but always holds row 0. `slack` is what one more batch costs, in
    tokens. With `sharing`, the common prefix of the batch is computed once.
    """
    shared = [common_prefix(rows[0], row) if sharing else 0 for row in rows]
    others = sorted(range(1, len(rows)), key=lambda i: (-shared[i], abs(len(rows[i]) - len(rows[0])), i))
    chosen, largest = [0], sizes[0]
    prefix, longest = (len(rows[0]) if sharing else 0), len(rows[0])
    for index in others:
        new_prefix, new_longest = min(prefix, shared[index]), max(longest, len(rows[index]))
        if max(largest, sizes[index]) * (len(chosen) + 1) > budget:
            continue
        before = prefix + len(chosen) * (longest - prefix)
        after = new_prefix + (len(chosen) + 1) * (new_longest - new_prefix)
        if after <= before + len(rows[index]) - shared[index] + slack:
            chosen.append(index)
            prefix, longest, largest = new_prefix, new_longest, max(largest, sizes[index])
    return chosen
