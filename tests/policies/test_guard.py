from collections.abc import Callable, Sequence

from fixed_probe import FixedProbe, ids, named
from hypothesis import given, settings
from hypothesis import strategies as st
from sufficit.policies.guard import Guarded
from sufficit.policies.igp import IGP, IGPSettings
from sufficit.policies.types import PruneReport, SufficiencyReport
from sufficit.tools.types import Passage

# Ranked a, b, c, ... by gain; a and b reach T_p.
UNCERTAINTIES = {"": dict(zip("abcdefgh", (0.1, 0.2, 0.46, 0.47, 0.48, 0.5, 0.6, 0.7), strict=True))}


class Watched:
    """Evidence suffices where the test says so; `sets` lists what was scored."""

    def __init__(self, suffices: Callable[[str], bool]) -> None:
        self._suffices = suffices
        self.sets: list[str] = []

    async def score(self, question: str, passages: Sequence[Passage]) -> SufficiencyReport:
        held = "".join(passage.id for passage in passages)
        self.sets.append(held)
        if not passages:
            return SufficiencyReport(None, 0.0, (), (), 0)
        return SufficiencyReport(1.0 if self._suffices(held) else -1.0, 0.0, (), (), len(passages))


async def guarded(
    suffices: Callable[[str], bool], letters: str = "abcdefgh", **changes: object
) -> tuple[PruneReport, list[str]]:
    chosen = IGPSettings.model_validate(changes)
    watched = Watched(suffices)
    pruner = Guarded(IGP(FixedProbe(UNCERTAINTIES), chosen), watched, chosen)
    return await pruner.prune("Why?", named(letters), 0.5), watched.sets


async def test_what_suffices_is_left_alone() -> None:
    report, sets = await guarded(lambda held: "a" in held)
    assert ids(report.admitted) == "ab"
    assert sets == ["ab"]
    assert report.guard is not None
    assert (report.guard.kept, report.guard.note) == ((), "what was admitted suffices")


async def test_a_passage_is_kept_without_which_the_rest_would_not_suffice() -> None:
    report, sets = await guarded(lambda held: "f" in held)
    assert ids(report.admitted) == "abf"
    assert report.guard is not None
    assert ids(report.guard.kept) == "f"
    kept = next(gain for gain in report.gains if gain.key.id == "f")
    assert kept.reason.startswith("kept by the guard, the rest would not suffice; gain 0.000 is under")
    assert [(ids(c.keys), c.score) for c in report.guard.checks] == [
        (held, 1.0 if "f" in held else -1.0) for held in sets
    ]
    assert len(sets) <= 12


async def test_passages_are_scored_in_the_order_in_which_they_came() -> None:
    report, sets = await guarded(lambda held: "f" in held, "hgfedcba")
    assert ids(report.admitted) == "abf"
    assert all(held == "".join(sorted(held, reverse=True)) for held in sets)


async def test_nothing_is_guarded_where_all_together_do_not_suffice() -> None:
    report, sets = await guarded(lambda held: False)
    assert ids(report.admitted) == "ab"
    assert sets == ["ab", "abcdefgh"]
    assert report.guard is not None
    assert report.guard.note == "all passages together do not suffice"


async def test_an_empty_admission_becomes_the_least_that_suffices() -> None:
    report, _ = await guarded(lambda held: "e" in held and "c" in held, "cdefg")
    assert ids(report.admitted) == "ce"


async def test_without_candidates_nothing_is_kept() -> None:
    report, sets = await guarded(lambda held: True, "")
    assert report.admitted == ()
    assert sets == [""]


async def test_an_admitted_one_makes_room_where_the_places_are_full() -> None:
    report, _ = await guarded(lambda held: "a" in held and "f" in held, top_m=2)
    assert ids(report.admitted) == "af"
    assert next(g.reason for g in report.gains if g.key.id == "b") == "makes room for what the guard kept"


async def test_tokens_are_a_limit_too() -> None:
    report, _ = await guarded(lambda held: "a" in held and "f" in held, token_budget=20)
    assert ids(report.admitted) == "af"


async def test_the_pruners_choice_stands_where_no_set_fits() -> None:
    report, _ = await guarded(lambda held: "c" in held and "d" in held and "e" in held, top_m=2)
    assert ids(report.admitted) == "ab"
    assert report.guard is not None
    assert report.guard.kept == ()
    assert "no set within igp.top_m" in report.guard.note


async def test_the_number_of_scored_sets_is_bounded() -> None:
    report, sets = await guarded(lambda held: len(held) > 6, top_m=None, guard_checks=3)
    assert len(sets) == 3
    assert report.guard is not None
    assert "stopped after 3 sets" in report.guard.note


async def test_what_was_never_scored_is_not_said_to_fall_short() -> None:
    report, sets = await guarded(lambda held: "f" in held, guard_checks=1)
    assert (ids(report.admitted), sets) == ("ab", ["ab"])
    assert report.guard is not None
    assert report.guard.note == (
        "what was admitted does not suffice, and no other set may be scored; the guard stopped after 1 set"
    )


@settings(deadline=None)
@given(st.sets(st.sampled_from("abcdefgh"), max_size=4), st.integers(1, 20), st.integers(1, 8))
async def test_what_is_left_was_measured_to_suffice(needed: set[str], checks: int, top_m: int) -> None:
    report, sets = await guarded(lambda held: needed <= set(held), guard_checks=checks, top_m=top_m)
    assert len(sets) <= checks
    assert len(report.admitted) <= top_m
    assert report.guard is not None
    left = set(ids(report.admitted))
    if report.guard.kept:
        assert needed <= left
    elif checks == 20:
        assert needed <= left or len(needed) > top_m
    assert tuple(g.key for g in report.gains if g.admitted) == report.admitted
