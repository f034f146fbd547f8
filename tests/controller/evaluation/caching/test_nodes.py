from dataclasses import replace

from staged import FixedSufficiency
from streams import event
from sufficit.controller.evaluation.caching.asking import fetched, outcome
from sufficit.controller.evaluation.caching.nodes import Remembered, node_methods

RISE = "Where does the Rhine rise?"
EVENTS = [
    event(0, RISE, "alps sea", "alps"),
    event(1, "Where does the River Rhine rise?", "alps sea", "alps"),
    event(2, "Where does the Po rise?", "po", "po"),
    event(3, "Where does the Po rise", "po", "po"),
    event(2000, "Where does the Rhine rise", "alps sea", "alps"),
]


def judge() -> FixedSufficiency:
    """2 for the Po's passage, 1 for that of the Rhine's source, -1 for the rest."""
    return FixedSufficiency(
        lambda found: 2.0 if "Po" in found[0].text else 1.0 if any("Alps" in p.text for p in found) else -1.0
    )


async def replayed(method, threshold: float) -> list[tuple[str, float | None]]:
    with method.opened(threshold) as cache:
        asked = [(e, await cache.ask(e)) for e in EVENTS]
    return [(outcome(e, a), a.score) for e, a in asked]


async def test_the_real_node_serves_by_its_threshold_at_the_streams_times():
    as_set, swept = node_methods(judge(), 4, None)
    low = await replayed(swept, 0.5)
    # At 0.5 the Rhine's passages pass for an answer about the Po, at 1.5 not. At last all has expired.
    assert [found for found, _ in low] == ["fetch", "right", "wrong", "wrong", "fetch"]
    assert [score for _, score in low] == [None, 1.0, 1.0, 1.0, None]
    high = await replayed(swept, 1.5)
    assert [found for found, _ in high] == ["fetch", "fetch", "fetch", "right", "fetch"]
    assert {found for found, _ in await replayed(swept, float("inf"))} == {"fetch"}
    assert [found for found, _ in await replayed(as_set, 9.0)] == [found for found, _ in low]


async def test_no_question_is_scored_twice_with_the_same_passages():
    scored = []
    inner = FixedSufficiency(lambda found: float(len(scored.append(found) or scored)))
    remembered = Remembered(inner)
    passages = fetched(EVENTS[0])
    first = await remembered.score(RISE, passages)
    assert await remembered.score(RISE, passages) is first
    await remembered.score(RISE, passages[:1])
    await remembered.score(RISE, [replace(passages[0], text="other"), passages[1]])
    await remembered.score("Another?", passages)
    assert len(scored) == 4
