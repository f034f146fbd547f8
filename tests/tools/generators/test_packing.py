"""Which rows share a packed pass, and on which known prompts they stand."""

from collections.abc import Sequence

import pytest
from sufficit.tools.generators.packing import (
    PACKED_COLUMNS,
    PACKED_TOKENS,
    packed_together,
    packing_with_first,
)
from sufficit.tools.generators.prefixes import PrefixStore

CONTEXT = list(range(1000, 1600))
QUESTION = [7, *range(50)]


def store(*prompts: Sequence[int]) -> PrefixStore:
    kept = PrefixStore(8192)
    for prompt in prompts:
        kept.keep(prompt, ())
    return kept


def test_rows_of_one_prompt_and_of_a_part_of_it_stand_on_the_longest_whatever_their_order() -> None:
    prompt = [*CONTEXT, *QUESTION]
    known = store(prompt)
    rows = [[*CONTEXT, 1, 2, 3], [*prompt, 4, 5]]
    for order in (rows, rows[::-1]):
        packing = packed_together(order, [2, 2], known.find)
        assert packing is not None
        assert [base.ids for base in packing.bases] == [tuple(prompt)]
        found = dict(zip(map(len, packing.rests), packing.reads, strict=True))
        assert found == {3: len(CONTEXT), 2: len(prompt)}


def test_a_short_prompt_of_its_own_stands_beside_a_long_one() -> None:
    rows = [[*CONTEXT, 1, 2], [*QUESTION, 3, 4]]
    packing = packed_together(rows, [2, 2], store(CONTEXT, QUESTION).find)
    assert packing is not None
    assert packing.owners == [0, 1]
    assert packing.rests == [[1, 2], [3, 4]]


def test_a_second_long_prompt_is_left_for_another_pass() -> None:
    other = list(range(5000, 5000 + PACKED_COLUMNS + 1))
    known = store(CONTEXT, other).find
    rows = [[*CONTEXT, 1], [*other, 2], [*CONTEXT, 3]]
    assert packed_together(rows, [1, 1, 1], known) is None
    assert packing_with_first(rows, [1, 1, 1], known) == [0, 2]


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_unread_tokens_are_bounded(more: int, fits: bool) -> None:
    rest = list(range(PACKED_TOKENS - 1 + more))
    packing = packed_together([[*CONTEXT, *rest], [*CONTEXT, 9]], [1, 1], store(CONTEXT).find)
    assert (packing is not None) == fits


def test_the_last_tokens_are_read_even_where_they_are_known() -> None:
    packing = packed_together([CONTEXT, CONTEXT], [3, 1], store(CONTEXT).find)
    assert packing is not None
    assert list(map(len, packing.rests)) == [3, 3]  # a few tokens less are worth no other base


def test_nothing_known() -> None:
    assert packing_with_first([CONTEXT], [1], store().find) == []
    packing = packed_together([[1, 2], [3]], [1, 1], store().find)
    assert packing is not None
    assert (packing.bases, packing.reads) == ([], [0, 0])
