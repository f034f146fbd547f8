from hypothesis import given
from hypothesis import strategies as st
from sufficit.tools.generators.planning import choose_batch, common_prefix


def test_common_prefix() -> None:
    assert common_prefix([1, 2, 3], [1, 2, 4, 5]) == 2
    assert common_prefix([1, 2], [1, 2, 3]) == 2
    assert common_prefix([], [1]) == 0


def test_rows_that_share_a_long_beginning_run_together() -> None:
    context = list(range(1000))
    rows = [[*context, 1], [5] * 1000, [*context, 2, 3], [6] * 990]
    assert choose_batch(rows, [1001, 1000, 1002, 990], 8192, 64, sharing=True) == [0, 2]


def test_without_anything_to_share_rows_of_like_length_run_together() -> None:
    rows = [[1] * 100, [2] * 2000, [3] * 110, [4] * 90]
    assert sorted(choose_batch(rows, list(map(len, rows)), 8192, 64, sharing=True)) == [0, 2, 3]


def test_padding_a_short_row_is_worth_a_batch_less_when_batches_are_dear() -> None:
    rows = [[1] * 300, [2] * 100]
    assert choose_batch(rows, [300, 100], 8192, 64, sharing=True) == [0]
    assert choose_batch(rows, [300, 100], 8192, 640, sharing=True) == [0, 1]


@given(
    st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=30), min_size=1, max_size=12),
    st.integers(1, 90),
)
def test_the_budget_holds_and_the_oldest_row_is_in(rows: list[list[int]], budget: int) -> None:
    chosen = choose_batch(rows, list(map(len, rows)), budget, 10**6, sharing=True)
    assert chosen[0] == 0
    assert len(set(chosen)) == len(chosen)
    assert len(chosen) == 1 or max(len(rows[i]) for i in chosen) * len(chosen) <= budget
