"""The node over real indexes; only the judge and the fetch are made up."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from staged import FixedSufficiency
from sufficit.controller.cache.fetching import Fetched, Need
from sufficit.controller.cache.node import CacheNode, need_key
from sufficit.controller.cache.settings import CacheSettings
from sufficit.controller.cache.shelf import Shelf
from sufficit.controller.stages import PageVisit
from sufficit.controller.web import Keeper
from sufficit.policies.kept_for import KeptFor
from sufficit.policies.rinse.idf import PieceCounts
from sufficit.policies.rinse.provenance import AnswerThreshold
from sufficit.tools.errors import InputError, SettingsError
from sufficit.tools.types import Passage

RISES = Passage("0", "The Rhine rises in the Alps.", "Rhine", "rhine")
FREEZES = Passage("0", "The Rhine froze over in 1963.", "Ice", "ice")
ASKED = Need("Where does the Rhine rise?", "a")


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@dataclass
class Fake:
    """A fetch that brings `brings`, or what a need asks for, after a moment."""

    brings: Sequence[Passage] = (RISES,)
    seconds: float = 0.0
    asked: list[Need] = field(default_factory=list)

    async def fetch(self, need: Need, keeper: Keeper) -> Fetched:
        self.asked.append(need)
        await asyncio.sleep(self.seconds)
        if not self.brings:
            return Fetched((PageVisit("http://p/", 0, "answers 404"),))
        await keeper.keep(self.brings)
        return Fetched((PageVisit("http://p/", len(self.brings)),))


def judge() -> FixedSufficiency:
    """Sufficient is what speaks of the Alps."""
    return FixedSufficiency(lambda found: 1.0 if any("Alps" in p.text for p in found) else -1.0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def node(tmp_path: Path, clock: Clock, fetch: Fake | None, sufficiency=None, **settings) -> CacheNode:
    chosen = CacheSettings(folder=tmp_path / "cache", keep_seconds=100, **settings)
    rate = AnswerThreshold(value=0.0, alpha=0.2, groups=9, insufficient_rate=0.1, sufficient_rate=0.5)
    return CacheNode(chosen, sufficiency or judge(), fetch, {"content": rate}, clock=clock)


class Words:
    """Words as pieces; the share of common words as cosine."""

    fingerprint = "f"

    def pieces(self, text: str) -> list[str]:
        return text.lower().replace("?", " ?").replace(".", " .").split()

    def join(self, pieces) -> str:
        return " ".join(pieces)

    async def score(self, queries, texts):
        sets = [[set(self.pieces(text)) for text in some] for some in (queries, texts)]
        return np.array([[len(q & t) / len(q | t) for t in sets[1]] for q in sets[0]], np.float32)


def by_kept_for(
    tmp_path: Path, clock: Clock, fetch: Fake | None, wrong_share: float | None = 0.2
) -> CacheNode:
    """A node that serves what was kept for a like question; the judge takes nothing for sufficient."""
    chosen = CacheSettings(folder=tmp_path / "cache", keep_seconds=100, wrong_share=wrong_share)
    kept_for = KeptFor(Words(), Words(), PieceCounts(10, {}), 0.7)
    never = FixedSufficiency(lambda found: -1.0)
    return CacheNode(chosen, never, fetch, clock=clock, kept_for=kept_for)


async def test_what_was_kept_for_a_like_question_is_served_whole(tmp_path, clock):
    fetch = Fake(brings=(FREEZES, RISES))
    cache = by_kept_for(tmp_path, clock, fetch)
    missed = await cache.lookup(ASKED, may_fetch=False)
    assert missed.reason.startswith("nothing is held whole that was kept for a like question")
    assert (await cache.lookup(ASKED)).outcome == "filled"
    # After a restart as well; a passage that has no word of the question comes with the others.
    for again in (cache, by_kept_for(tmp_path, clock, None)):
        hit = await again.lookup(Need("So where does the Rhine rise?", "a"))
        assert (hit.outcome, {p.text for p in hit.passages}) == ("hit", {FREEZES.text, RISES.text})
        assert hit.match.kept.question == ASKED.question
        assert hit.reason.startswith(f"what was kept for {ASKED.question!r} scores 0.8")
    other = await by_kept_for(tmp_path, clock, None).lookup(Need(ASKED.question, "b"))
    assert (other.outcome, other.match) == ("miss", None)
    assert cache.counters().hits == 1
    assert cache.counters().wrong_hits == pytest.approx(0.2)
    unknown = by_kept_for(tmp_path, clock, None, wrong_share=None)
    await unknown.lookup(ASKED)
    assert (unknown.counters().hits, unknown.counters().wrong_hits) == (1, None)


async def test_a_question_that_names_another_is_not_served(tmp_path, clock):
    cache = by_kept_for(tmp_path, clock, Fake())
    await cache.lookup(ASKED)
    missed = await cache.lookup(Need("Where does the Rhone rise?", "a"), may_fetch=False)
    assert (missed.outcome, missed.match.missing) == ("miss", ("Rhone",))
    assert "nothing there names Rhone" in missed.reason
    assert [p.text for p in missed.passages] == [RISES.text]


async def test_a_question_of_stop_words_is_served_what_was_kept_for_it(tmp_path, clock):
    cache = by_kept_for(tmp_path, clock, Fake())
    assert (await cache.lookup(Need("Is it that?", "a"))).outcome == "filled"
    assert (await cache.lookup(Need("Is it that?", "a"))).outcome == "hit"


async def test_a_set_of_which_one_passage_is_out_of_date_or_changed_serves_nothing(tmp_path, clock):
    fetch = Fake(brings=(RISES, FREEZES))
    cache = by_kept_for(tmp_path, clock, fetch)
    await cache.lookup(ASKED)
    fetch.brings = (replace(FREEZES, text="The Rhine has not frozen over since 1963."),)
    await cache.fill(Need("When did it freeze?", "a"))
    missed = await cache.lookup(ASKED, may_fetch=False)
    assert (missed.outcome, missed.match) == ("miss", None)
    # The first text again, with a later expiry: the set is whole, and its dates are those of the passages.
    clock.now += 90
    fetch.brings = (FREEZES,)
    await cache.fill(Need("When did it freeze?", "a"))
    assert (await cache.lookup(ASKED, may_fetch=False)).outcome == "hit"
    clock.now += 11
    assert (await cache.lookup(ASKED, may_fetch=False)).outcome == "miss"


async def test_a_fetch_that_brings_nothing_is_a_reasoned_miss(tmp_path, clock):
    lookup = await by_kept_for(tmp_path, clock, Fake(brings=())).lookup(ASKED)
    assert lookup.outcome == "miss"
    assert lookup.reason.endswith("after a fetch that kept 0; http://p/: answers 404")


async def test_a_miss_is_filled_and_the_next_lookup_hits(tmp_path, clock):
    fetch = Fake()
    cache = node(tmp_path, clock, fetch)
    filled = await cache.lookup(ASKED)
    assert (filled.outcome, filled.shared, filled.fetch.passages) == ("filled", False, 1)
    hit = await cache.lookup(Need("where does the rhine RISE", "a"))
    assert (hit.outcome, hit.fetch, [p.text for p in hit.passages]) == ("hit", None, [RISES.text])
    assert hit.reason == "1 passage held score 1.00, which reaches the threshold 0.00"
    assert hit.passages[0].metadata["expires"] == round(clock.now + 100)
    counts = cache.counters()
    assert (counts.lookups, counts.judged, counts.hits, counts.filled, counts.misses) == (2, 1, 1, 1, 0)
    assert (counts.fetches, counts.fetches_saved, counts.wrong_hits) == (1, 1, 0.0)
    # Another node over the same folder holds the same.
    assert (await node(tmp_path, clock, None).lookup(ASKED)).outcome == "hit"


async def test_a_like_question_is_no_hit_unless_the_passages_suffice(tmp_path, clock):
    fetch = Fake(brings=(FREEZES,))
    cache = node(tmp_path, clock, fetch)
    first = await cache.lookup(ASKED)
    assert first.outcome == "miss"
    assert first.reason == (
        "1 passage held score -1.00, which does not reach the threshold 0.00 after a fetch that kept 1"
    )


async def test_a_need_whose_fetch_did_not_suffice_is_not_fetched_for_again_while_that_is_fresh(
    tmp_path, clock
):
    fetch = Fake(brings=(FREEZES,))
    cache = node(tmp_path, clock, fetch)
    began = clock.now
    await cache.lookup(ASKED)
    again = await cache.lookup(Need("where does the Rhine rise", "a"))
    assert (again.outcome, again.fetch, len(again.passages)) == ("miss", None, 1)
    until = datetime.fromtimestamp(round(began + 100), UTC).isoformat(timespec="seconds")
    assert again.reason == (
        "1 passage held score -1.00, which does not reach the threshold 0.00; "
        f"what was fetched for this need did not suffice, and stands until {until}"
    )
    counts = cache.counters()
    assert (counts.misses, counts.fetches, counts.settled, counts.fetches_saved) == (2, 1, 1, 0)
    # Another scope and another need know nothing of it, and what others bring is judged.
    await cache.lookup(Need(ASKED.question, "b"))
    fetch.brings = (RISES,)
    await cache.lookup(Need("What is in the Alps?", "a"))
    assert len(fetch.asked) == 3
    assert (await cache.lookup(ASKED)).outcome == "hit"
    clock.now = began + 101
    assert (await cache.lookup(ASKED)).outcome == "filled"
    assert len(fetch.asked) == 4


async def test_it_is_fetched_for_again_after_a_while_and_after_a_fault(tmp_path, clock):
    fetch = Fake(brings=(FREEZES,))
    cache = node(tmp_path, clock, fetch, again_seconds=10)
    await cache.lookup(ASKED)
    clock.now += 9
    await cache.lookup(ASKED)
    assert len(fetch.asked) == 1
    clock.now += 1
    await cache.lookup(ASKED)
    assert len(fetch.asked) == 2
    failing = Fake(brings=())
    cache = node(tmp_path / "other", clock, failing)
    await cache.lookup(ASKED)
    await cache.lookup(ASKED)
    assert len(failing.asked) == 2


async def test_what_sufficed_for_a_need_is_a_hit_though_others_are_more_like_it_by_now(tmp_path, clock):
    fetch = Fake()
    cache = node(tmp_path, clock, fetch, passages=1)
    assert (await cache.lookup(ASKED)).outcome == "filled"
    fetch.brings = tuple(
        Passage(str(n), f"Where does the Rhine rise? Where, Rhine, rise {n}?", "Rhine rise", f"d{n}")
        for n in range(5)
    )
    await cache.fill(Need("other", "a"))
    hit = await cache.lookup(ASKED)
    assert (hit.outcome, hit.fetch, [p.text for p in hit.passages]) == ("hit", None, [RISES.text])
    # The same document fetched anew is no longer what sufficed.
    clock.now += 5
    fetch.brings = (replace(RISES, text="The Rhine rises in Ireland."),)
    await cache.fill(Need("yet another", "a"))
    assert (await cache.lookup(ASKED, may_fetch=False)).outcome == "miss"


@pytest.mark.parametrize(
    ("fetch", "may_fetch", "reason"),
    [
        (None, True, "nothing is held that fits the question; no fetch is set up"),
        (Fake(), False, "nothing is held that fits the question; this lookup may not fetch"),
        (
            Fake(brings=()),
            True,
            "nothing is held that fits the question after a fetch that kept 0; http://p/: answers 404",
        ),
    ],
)
async def test_a_miss_says_what_stood_in_the_way(tmp_path, clock, fetch, may_fetch, reason):
    missed = await node(tmp_path, clock, fetch).lookup(ASKED, may_fetch=may_fetch)
    assert (missed.outcome, missed.reason, missed.passages) == ("miss", reason, ())


async def test_a_hit_refreshes_no_expiry_and_what_is_stale_never_hits(tmp_path, clock):
    fetch = Fake()
    cache = node(tmp_path, clock, fetch)
    await cache.lookup(ASKED)
    began = clock.now
    for later in (30, 60, 99):
        clock.now = began + later
        hit = await cache.lookup(ASKED)
        assert hit.outcome == "hit"
        assert hit.passages[0].metadata["expires"] == round(began + 100)
    clock.now = began + 101
    assert (await cache.lookup(ASKED, may_fetch=False)).outcome == "miss"
    again = await cache.lookup(ASKED)
    assert again.outcome == "filled"
    assert again.passages[0].metadata["expires"] == round(began + 201)


async def test_what_expires_while_it_is_judged_makes_no_hit(tmp_path, clock):
    judged = []

    def slow(found: Sequence[Passage]) -> float:
        judged.append(len(found))
        clock.now += 101
        return 1.0

    cache = node(tmp_path, clock, Fake(), FixedSufficiency(slow))
    filled = await cache.lookup(ASKED)
    assert filled.outcome == "miss"
    assert judged == [1]


async def test_a_scopes_passages_and_fetches_are_its_own(tmp_path, clock):
    fetch = Fake(seconds=0.05)
    cache = node(tmp_path, clock, fetch)
    both = await asyncio.gather(cache.lookup(ASKED), cache.lookup(Need(ASKED.question, "b")))
    assert [lookup.outcome for lookup in both] == ["filled", "filled"]
    assert sorted(need.scope for need in fetch.asked) == ["a", "b"]
    seen = [{p.metadata["scope"] for p in lookup.passages} for lookup in both]
    assert seen == [{"a"}, {"b"}]
    assert (await cache.lookup(Need(ASKED.question, "c"), may_fetch=False)).passages == ()


async def test_concurrent_misses_of_one_need_share_one_fetch(tmp_path, clock):
    fetch = Fake(seconds=0.05)
    cache = node(tmp_path, clock, fetch)
    asked = ["Where does the Rhine rise?", "where  does the rhine rise", "Where does the Rhine rise?!"] * 5
    found = await asyncio.gather(*(cache.lookup(Need(question, "a")) for question in asked))
    assert len(fetch.asked) == 1
    assert {lookup.outcome for lookup in found} == {"filled"}
    assert [lookup.shared for lookup in found].count(False) == 1
    counts = cache.counters()
    assert (counts.fetches, counts.shared, counts.fetches_saved) == (1, 14, 14)


async def test_a_client_that_goes_away_leaves_the_fetch_to_the_others(tmp_path, clock):
    fetch = Fake(seconds=0.2)
    cache = node(tmp_path, clock, fetch)
    gone, stays = (asyncio.create_task(cache.lookup(ASKED)) for _ in range(2))
    await asyncio.sleep(0.1)
    gone.cancel()
    assert (await stays).outcome == "filled"
    assert len(fetch.asked) == 1


async def test_no_room_for_another_scope_is_said_before_a_fetch(tmp_path, clock):
    fetch = Fake()
    cache = node(tmp_path, clock, fetch, scopes=1)
    await cache.lookup(ASKED)
    with pytest.raises(InputError, match=r"cache\.scopes"):
        await cache.lookup(Need("q", "b"))
    assert len(fetch.asked) == 1


async def test_a_fill_fetches_and_keeps_without_deciding(tmp_path, clock):
    fetch = Fake()
    cache = node(tmp_path, clock, fetch, FixedSufficiency(lambda found: 1 / 0))
    assert (await cache.fill(ASKED)).passages == (await cache.fill(ASKED)).passages == 1
    assert len(fetch.asked) == 2
    assert (await node(tmp_path, clock, None).lookup(ASKED)).outcome == "hit"
    with pytest.raises(SettingsError, match=r"cache\.webhook\.url"):
        await node(tmp_path, clock, None).fill(ASKED)


async def test_a_sweep_deletes_and_counts(tmp_path, clock):
    clock.now -= 200
    cache = node(tmp_path, clock, Fake())
    await cache.lookup(ASKED)
    assert await cache.sweep() == 1
    assert cache.counters().swept == 1
    assert (await cache.lookup(ASKED, may_fetch=False)).passages == ()


def test_a_need_is_the_question_without_case_spacing_and_closing_marks():
    assert need_key(" Where  is\tＢonn?! ") == need_key("where is bonn")
    assert need_key("What is C++?") != need_key("What is C?")


# Fills one document of three passages after the other, and says so when the node has answered.
FILLER = """
import asyncio, sys
from dataclasses import replace
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from test_node import Clock, Fake, RISES, node
from sufficit.controller.cache.fetching import Need

async def main():
    for number in range(10_000):
        whole = replace(RISES, source=f"d{number}")
        parts = [replace(whole, id=str(n), text=f"Alps word{number} part {n}") for n in range(3)]
        cache = node(Path(sys.argv[1]), Clock(), Fake(parts))
        lookup = await cache.lookup(Need(f"word{number}", "a"))
        assert lookup.outcome == "filled", lookup
        print(number, flush=True)

asyncio.run(main())
"""


async def test_killed_at_any_moment_it_loses_no_answered_passage_and_leaves_no_half_document(tmp_path):
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    draws = random.Random(5)
    for turn in range(3):
        folder = tmp_path / str(turn)
        child = subprocess.Popen(
            [sys.executable, "-c", FILLER, str(folder), *paths], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout.readline() == "0\n"
        time.sleep(draws.uniform(0.0, 0.6))
        os.kill(child.pid, signal.SIGKILL)
        said = [0, *map(int, child.stdout.read().split())]
        assert child.wait() == -signal.SIGKILL
        (shelf,) = (Shelf(path, "a", time.time) for path in (folder / "cache").iterdir() if path.is_dir())
        for number in range(said[-1] + 2):
            held = [p for p in await shelf.search(f"word{number}", 9) if f"word{number} " in p.text]
            # The one under way is there as a whole or not at all.
            assert len(held) == 3 or (len(held) == 0 and number > said[-1])
            assert all(p.metadata.keys() == {"scope", "fetched", "expires"} for p in held)
        # What was left behind hinders nobody.
        after = await node(folder, Clock(), Fake((FREEZES,))).lookup(Need("Did it freeze in 1963?", "a"))
        assert after.fetch.passages == 1
        assert FREEZES.text in {p.text for p in after.passages}
