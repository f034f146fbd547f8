import numpy as np
import pytest
from streams import TEXTS, event
from sufficit.controller.evaluation.caching.asking import outcome
from sufficit.controller.evaluation.caching.rivals import Cosines, decision, rivals
from sufficit.policies.kept_for import KeptFor
from sufficit.policies.rinse.idf import PieceCounts

RISE, AGAIN, PO = "Where does the Rhine rise?", "where does the rhine rise", "Where does the Po rise?"
EVENTS = [
    event(0, RISE, "alps sea", "alps"),
    event(1, AGAIN, "alps sea", "alps"),
    event(2, PO, "po", "po"),
    event(3, "Into which sea flows the Rhine?", "sea", "sea"),
    event(1500, RISE, "alps sea", "alps"),
]
LIKE = {
    (AGAIN, RISE): 0.98,
    (PO, RISE): 0.9,
    ("Into which sea flows the Rhine?", "sea"): 0.8,
    (PO, "po"): 0.9,
}
"""Cosines that are not 0.3 among questions or 0.5 of question and passage."""


class Encoder:
    fingerprint = "f"

    async def score(self, queries, texts):
        names = {text: name for name, text in TEXTS.items()}

        def cosine(query: str, text: str) -> float:
            if query == text:
                return 1.0
            other = names.get(text, text)
            found = LIKE.get((query, other), LIKE.get((other, query)))
            return (0.5 if text in names else 0.3) if found is None else found

        return np.array([[cosine(q, t) for t in texts] for q in queries], np.float32)


async def replayed(name: str, threshold: float, events=EVENTS) -> list[str]:
    methods = {method.name: method for method in rivals(await Cosines.of(events, Encoder()), 2)}
    with methods[name].opened(threshold) as cache:
        return [outcome(e, await cache.ask(e)) for e in events]


@pytest.mark.parametrize(
    ("name", "threshold", "expected"),
    [
        # The second event differs in case only; the last comes when all has expired.
        ("exact question", 9.0, ["fetch", "right", "fetch", "fetch", "fetch"]),
        ("cosine of questions", 0.95, ["fetch", "right", "fetch", "fetch", "fetch"]),
        # A like question about another river is served the first river's passages.
        ("cosine of questions", 0.85, ["fetch", "right", "wrong", "fetch", "fetch"]),
        ("cosine of questions", 0.2, ["fetch", "right", "wrong", "right", "fetch"]),
        ("cosine of questions, passages shared", 0.85, ["fetch", "right", "wrong", "fetch", "fetch"]),
        ("cosine of passages", 0.75, ["fetch", "fetch", "fetch", "right", "fetch"]),
        ("cosine of passages", 0.4, ["fetch", "right", "wrong", "right", "fetch"]),
        ("best possible", 9.0, ["fetch", "right", "fetch", "right", "fetch"]),
    ],
)
async def test_each_serves_what_it_takes_for_the_same(name, threshold, expected):
    assert await replayed(name, threshold) == expected


async def test_a_threshold_that_nothing_reaches_always_fetches():
    assert await replayed("cosine of questions", float("inf")) == ["fetch"] * 5


async def test_nothing_answers_a_question_without_support():
    asked = [event(0, RISE, "alps", "alps"), event(1, RISE, "alps", "", id="u")]
    assert await replayed("exact question", 0.0, asked) == ["fetch", "wrong"]
    assert await replayed("best possible", 0.0, asked) == ["fetch", "fetch"]


async def test_shared_passages_are_as_fresh_as_any_fetch_made_them():
    events = [
        event(0, RISE, "alps sea", "alps"),
        event(900, "Into which sea flows the Rhine?", "alps sea", "sea"),
        event(1500, RISE, "alps sea", "alps", id="last"),
    ]
    own, shared = "cosine of questions", "cosine of questions, passages shared"
    assert await replayed(own, 0.9, events) == ["fetch", "fetch", "fetch"]
    assert await replayed(shared, 0.9, events) == ["fetch", "fetch", "right"]


async def test_a_fetch_of_the_same_passage_does_not_shorten_its_time():
    last = event(900, RISE, "alps sea", "alps", id="last")
    soon = event(10, "Into which sea flows the Rhine?", "sea", "sea").model_copy(update={"ttl": 20.0})
    outcomes = await replayed("cosine of questions, passages shared", 0.9, [EVENTS[0], soon, last])
    assert outcomes == ["fetch", "fetch", "right"]


async def test_the_decision_counts_what_the_passages_say():
    class Words:
        def pieces(self, text):
            return text.lower().replace("?", "").replace(".", "").split()

        def join(self, pieces):
            return " ".join(pieces)

    cosines = await Cosines.of(EVENTS, Encoder())
    method = decision(cosines, KeptFor(Encoder(), Words(), PieceCounts(9, {}), 0.5))
    with method.opened(0.6) as cache:
        asked = [await cache.ask(e) for e in EVENTS]
    # The Po is named nowhere, which costs it the like question; the sea is in the Rhine's passages.
    assert [outcome(e, a) for e, a in zip(EVENTS, asked, strict=True)] == [
        "fetch", "right", "wrong", "right", "fetch"
    ]  # fmt: skip
    assert 0.3 < asked[2].score < 0.9
    assert asked[3].score > 0.3
