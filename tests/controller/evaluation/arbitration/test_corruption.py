import pytest
from staged import FixedSearch, passages
from sufficit.controller.evaluation.arbitration.corruption import CorruptedRetriever, random_passages
from sufficit.tools.errors import InputError
from sufficit.tools.retrievers.embedded import EmbeddedIndex
from sufficit.tools.types import Passage

FOUND = [Passage(str(n), f"found {n}", source="found", score=float(20 - n)) for n in range(20)]
NOISE = passages(*(f"noise {n}" for n in range(100)))


def noisy(share, *, noise=NOISE, seed=1):
    return CorruptedRetriever(FixedSearch(lambda query: list(FOUND)), noise, share, seed)


async def search(*arguments, query="q", **options):
    return await noisy(*arguments, **options).search(query, 20)


async def test_a_share_of_the_pool_is_random():
    for share in (0.0, 0.25, 0.5, 1.0):
        found = await search(share)
        assert len(found) == 20
        assert sum(passage.text.startswith("noise") for passage in found) == 20 * share
        assert len({passage.key for passage in found}) == 20


async def test_places_keep_their_scores_and_the_rest_its_order():
    found = await search(0.5)
    assert [passage.score for passage in found] == [passage.score for passage in FOUND]
    assert [p for p in found if p.source == "found"] == [p for p in FOUND if p in found]


async def test_a_larger_share_replaces_what_a_smaller_one_does_too():
    quarter, half = await search(0.25), await search(0.5)
    random = [place for place, passage in enumerate(quarter) if passage.source != "found"]
    assert [half[place] for place in random] == [quarter[place] for place in random]


async def test_seed_and_query_decide_what_is_drawn():
    assert await search(0.5) == await search(0.5)
    assert await search(0.5) != await search(0.5, seed=2)
    assert await search(0.5) != await search(0.5, query="another")


async def test_what_was_found_is_no_stranger():
    found = await search(0.25, noise=[*FOUND, *NOISE[:5]])
    assert sum(passage.text.startswith("noise") for passage in found) == 5
    assert len({passage.key for passage in found}) == 20


async def test_a_share_that_the_index_cannot_fill_is_refused():
    with pytest.raises(
        InputError, match="10 of 20 passages are to be random, and the index has only 5 others"
    ):
        await search(0.5, noise=[*FOUND, *NOISE[:5]])


async def test_the_walk_draws_from_the_whole_index(tmp_path):
    texts = [f"A{n % 17} met B{n % 23} near C{n % 29}" for n in range(300)]
    EmbeddedIndex.build(tmp_path, passages(*texts))
    index = EmbeddedIndex.open(tmp_path)
    drawn = await random_passages(index, ["A7", "B11", "nothing known"], 150, seed=3)
    places = [int(passage.id) for passage in drawn]
    assert len(set(places)) == 150
    assert min(places) < 60
    assert max(places) > 240
    assert drawn == await random_passages(index, ["A7", "B11", "nothing known"], 150, seed=3)
    assert drawn != await random_passages(index, ["A7", "B11", "nothing known"], 150, seed=4)


async def test_the_walk_ends_where_there_is_nothing_more():
    few = FixedSearch(lambda query: passages("one", "two"))
    assert len(await random_passages(few, ["q"], 500, seed=1)) == 2
    assert len(few.queries) < 100
    assert await random_passages(FixedSearch(lambda query: []), ["q", "r"], 500, seed=1) == ()
