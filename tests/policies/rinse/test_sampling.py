from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rinse_data import contrasts, record
from sufficit.policies.rinse.sampling import draw, sample_groups, thin, usable


def test_one_sided_groups_and_empty_evidence_are_counted_out():
    empty = replace(record("a", 1, True), passages=(replace(record("a", 1, True).passages[0], text="  "),))
    kept, skipped = usable([*contrasts("a", 1), record("a", 5, True), empty, record("a", 1, False)])
    assert [found.group for found in kept] == ["a/g0", "a/g0"]
    assert skipped == 3


def test_the_same_group_name_in_two_families_is_two_groups():
    kept, skipped = usable([record("a", 1, True), record("b", 1, False)])
    assert (kept, skipped) == ([], 2)


def test_sampling_takes_whole_groups_of_every_family():
    records, _ = usable([*contrasts("a", 20), *contrasts("b", 3)])
    sample = sample_groups(records, 5, seed=1)
    groups = [found.group for found in sample]
    assert all(groups.count(group) == 2 for group in groups)
    assert len({group for group in groups if group.startswith("a/")}) == 5
    assert len({group for group in groups if group.startswith("b/")}) == 3
    assert sample != sample_groups(records, 5, seed=2)


@given(st.integers(1, 20), st.integers(0, 100))
def test_a_smaller_sample_is_a_part_of_a_larger(count, seed):
    records, _ = usable(contrasts("a", 20))
    smaller = {found.group for found in sample_groups(records, count, seed)}
    larger = {found.group for found in sample_groups(records, count + 3, seed)}
    assert smaller <= larger


def test_thinning_keeps_the_first_of_each_side():
    records, _ = usable(contrasts("a", 2))
    assert thin(records * 3, 2) == [found for found in records for _ in range(1)] * 2


@given(st.text(), st.integers())
def test_draws_lie_in_the_unit_interval(group, seed):
    try:
        group.encode()
    except UnicodeEncodeError:
        return
    assert 0 <= draw(group, seed, "x") < 1
    assert draw(group, seed, "x") == draw(group, seed, "x")
