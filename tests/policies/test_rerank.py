from fixed_probe import FixedProbe, ids, named
from scripted import ScriptedGenerator
from sufficit.policies.igp import IGPSettings
from sufficit.policies.rerank import RELEVANCE_TEMPLATE, Reranked, RetrieverOrder
from sufficit.policies.scorers.types import Scored
from sufficit.policies.scorers.upr import UPR
from sufficit.policies.scorers.yes_no import YesNo
from sufficit.tools.types import Passage

PROBE = FixedProbe({}, {"a": 60, "b": 50, "c": 40})


class ByLetter:
    """Scores a passage by a table; reads one at a time."""

    name = "by letter"

    def __init__(self, **scores: float) -> None:
        self._scores = scores

    async def score(self, question, passages):
        (passage,) = passages
        return Scored(self._scores[passage.id])


async def test_the_retrievers_order_is_kept_up_to_m() -> None:
    passages = [Passage("a", "A.", score=3.0), Passage("b", "B.", score=5.0), Passage("c", "C.")]
    report = await RetrieverOrder(PROBE, IGPSettings(top_m=2)).prune("Why?", passages, 0.5)
    assert (ids(report.admitted), report.method) == ("ab", "retriever")
    assert [gain.gain for gain in report.gains] == [3.0, 5.0, None]
    assert report.gains[2].reason == "2 passages that rank higher were admitted"


async def test_a_scorer_orders_and_prunes_nothing() -> None:
    pruner = Reranked(ByLetter(a=-9.0, b=2.0, c=2.0), PROBE, IGPSettings(threshold=0.5))
    report = await pruner.prune("Why?", named("abc"), 0.5)
    assert (ids(report.admitted), report.method) == ("bca", "by letter")
    assert [gain.uncertainty for gain in report.gains] == [None, None, None]


async def test_tokens_are_a_limit_for_rivals_too() -> None:
    pruner = Reranked(ByLetter(a=3.0, b=2.0, c=1.0), PROBE, IGPSettings(token_budget=100))
    assert ids((await pruner.prune("Why?", named("abc"), 0.5)).admitted) == "ac"


async def test_without_candidates_nothing_is_scored() -> None:
    assert (await Reranked(ByLetter(), PROBE, IGPSettings()).prune("Why?", [], 0.5)).gains == ()
    assert (await RetrieverOrder(PROBE, IGPSettings()).prune("Why?", [], 0.5)).gains == ()


async def test_the_generators_rivals_prefer_the_passage_that_answers() -> None:
    def logprobs(prompt, continuation):
        good = "textb" in prompt.text
        return (-0.1 if good == ("no" not in continuation.lower()) else -3.0,)

    for scorer in (YesNo, UPR):
        generator = ScriptedGenerator(logprobs=logprobs)
        built = YesNo(generator, RELEVANCE_TEMPLATE) if scorer is YesNo else UPR(generator)
        report = await Reranked(built, PROBE, IGPSettings()).prune("Why?", named("abc"), 0.5)
        assert ids(report.admitted)[0] == "b"
