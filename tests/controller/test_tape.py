import pytest
from scripted import generation
from staged import passages
from sufficit.controller.budget import BudgetSettings, Ledger
from sufficit.controller.stages import PageVisit, Visit, Written
from sufficit.controller.tape import (
    Diverged,
    RecordedOpener,
    RecordedPruning,
    RecordedSearch,
    RecordedSufficiency,
    RecordedViews,
    RecordedWriter,
    Tape,
    stage_of,
)
from sufficit.controller.trace import (
    VERSION,
    Arbitrated,
    Decided,
    Fault,
    Opened,
    Pruned,
    Retrieved,
    Scored,
    Started,
    Stopped,
    Wrote,
)
from sufficit.policies.types import (
    Candidate,
    Decision,
    GuardReport,
    Likelihoods,
    PassageGain,
    ProbeRound,
    PruneReport,
    ReaderScore,
    SubsetScore,
    SufficiencyReport,
    Verdict,
)
from sufficit.tools.errors import BudgetExhausted, ToolError

ONE, TWO, THREE = POOL = tuple(passages("one", "two", "three"))
OPENED = Opened(direct=generation("a"), baseline=0.5, cost={"model_calls": 2})
FAULT = Fault(stage="open", error="GenerationFailed", message="gone")
STOPPED = Stopped(stage="open", limit="model_calls", allowed=7)
GUARD = GuardReport(0.5, (SubsetScore((ONE.key,), 0.25), SubsetScore((), None)), (), "")


def ledger(**limits):
    return Ledger(BudgetSettings(**limits))


def retrieved(origin, query, *found):
    return Retrieved(origin=origin, query=query, passages=found, new=tuple(p.key for p in found))


def scored(passages, *standardised, score=9.0):
    readers = tuple(ReaderScore("content", 0.0, 0.0, value) for value in standardised)
    return Scored(report=SufficiencyReport(score, 0.5, readers, (), passages))


def gained(passage, uncertainty, tokens, baseline=None):
    return PassageGain(passage.key, uncertainty, None, 1, tokens, False, "", baseline=baseline)


def pruned(*gains, **more):
    return Pruned(report=PruneReport((), 0.5, gains, 20, 64, 0.05, **more), cost={"model_calls": 1})


def arbitrated(likelihoods):
    verdict = Verdict("rag", "a", "", likelihoods, None, None, None, 0.5, -1.5, tie=False)
    return Arbitrated(verdict=verdict)


@pytest.mark.parametrize(
    ("event", "stage"),
    [
        (Started(version=VERSION, question="?", settings={}, models={}, web=False), None),
        (Decided(decision=Decision("abstain", "", None, 0.0, None, {})), None),
        (OPENED, "open"),
        (retrieved("index", "?"), "retrieve"),
        (retrieved("web", "?"), "web"),
        (scored(1), "score"),
        (pruned(), "prune"),
        (Wrote(rag=generation("a"), read=()), "write"),
        (arbitrated(None), "arbitrate"),
        (Fault(stage="web", error="ToolError", message=""), "web"),
        (Stopped(stage="score", limit="seconds", allowed=1.0), "score"),
    ],
)
def test_the_stage_of_every_event(event, stage):
    assert stage_of(event) == stage


async def test_each_stage_is_played_in_its_own_order_at_its_price():
    tape, account = Tape([retrieved("index", "a", ONE), OPENED, retrieved("index", "b", TWO)]), ledger()
    search = RecordedSearch(tape, account, "retrieve")
    assert await search.search("a", 8) == [ONE]
    assert await search.search("b", 8) == [TWO]
    assert account.spent()["model_calls"] == 0
    assert await RecordedOpener(tape, account, {}).open("?") == (OPENED.direct, 0.5)
    assert account.spent()["model_calls"] == 2
    with pytest.raises(Diverged, match="nothing more was recorded of the stage 'retrieve'"):
        await search.search("c", 8)


def test_a_fault_comes_again_under_its_own_name_as_a_tools():
    with pytest.raises(ToolError, match="gone") as raised:
        Tape([FAULT]).take("open", Opened, ledger())
    assert type(raised.value).__name__ == "GenerationFailed"


def test_a_limit_that_ended_the_run_ends_it_again():
    with pytest.raises(BudgetExhausted) as raised:
        Tape([STOPPED]).take("open", Opened, ledger())
    assert (raised.value.limit, raised.value.allowed) == ("model_calls", 7)


def test_a_smaller_budget_does_not_pay_for_what_was_measured():
    with pytest.raises(BudgetExhausted, match=r"budget\.model_calls = 1"):
        Tape([OPENED]).take("open", Opened, ledger(model_calls=1))


def test_an_event_of_another_kind_is_a_divergence():
    with pytest.raises(Diverged, match="the stage 'web' was recorded as 'retrieved'"):
        Tape([retrieved("web", "a")]).take("web", Opened, ledger())


async def test_the_web_gives_its_pages_and_another_query_is_a_divergence():
    visit = Retrieved(
        origin="web", query="a", passages=(ONE,), new=(ONE.key,), pages=(PageVisit("https://x.example/", 1),)
    )
    tape = Tape([visit, visit])
    web = RecordedSearch(tape, ledger(), "web")
    assert await web.gather("a") == Visit((ONE,), visit.pages)
    with pytest.raises(Diverged, match="the next query is 'b', recorded was 'a'"):
        await web.gather("b")


async def test_readers_are_summed_again_against_the_threshold_now_set():
    tape = Tape([scored(3, 0.5, 0.25), scored(3, 0.5), scored(3)])
    kept = await RecordedSufficiency(tape, ledger(), None).score("?", POOL)
    assert (kept.score, kept.threshold) == (0.75, 0.5)
    raised = await RecordedSufficiency(tape, ledger(), 0.6).score("?", POOL)
    assert (raised.score, raised.threshold, raised.sufficient) == (0.5, 0.6, False)
    # Without readers nothing was measured, whatever the report says.
    assert (await RecordedSufficiency(tape, ledger(), None).score("?", POOL)).score is None


async def test_another_number_of_passages_was_not_scored():
    with pytest.raises(Diverged, match="2 passages are to be scored, recorded were 3"):
        await RecordedSufficiency(Tape([scored(3, 0.5)]), ledger(), None).score("?", POOL[:2])


async def test_a_scoring_that_failed_names_the_threshold_for_no_passages():
    tape = Tape([Fault(stage="score", error="ToolError", message="gone"), scored(0, score=None)])
    sufficiency = RecordedSufficiency(tape, ledger(), None)
    with pytest.raises(ToolError):
        await sufficiency.score("?", POOL)
    assert (await sufficiency.score("?", ())).score is None


def pruning(event, threshold=None):
    account = ledger()
    return RecordedPruning(Tape([event]), account, threshold), account


async def test_pruning_is_paid_once_however_often_it_is_asked():
    probe, account = pruning(pruned(gained(ONE, 0.25, 7), gained(TWO, None, 900)))
    one, two = Candidate(ONE.key, 0.25, 7), Candidate(TWO.key, None, 900)
    assert await probe.uncertainties("?", [TWO, ONE]) == (two, one)
    assert await probe.uncertainties("?", [ONE]) == (one,)
    assert (probe.tokens(ONE), probe.tokens(TWO)) == (7, 900)
    assert account.spent()["model_calls"] == 1
    with pytest.raises(Diverged, match="was not probed"):
        await probe.uncertainties("?", [ONE, THREE])
    with pytest.raises(Diverged, match="was not there"):
        probe.tokens(THREE)


async def test_what_was_probed_after_admitted_passages_is_told_apart_by_them():
    alone, after = Candidate(TWO.key, 0.5, 7, 0.75), Candidate(TWO.key, 0.25, 7)
    rounds = (ProbeRound((ONE.key,), (after,)),)
    probe, _ = pruning(pruned(gained(ONE, 0.5, 7), gained(TWO, 0.5, 7, 0.75), rounds=rounds))
    assert await probe.uncertainties("?", [TWO]) == (alone,)
    assert await probe.uncertainties("?", [TWO], [ONE]) == (after,)
    with pytest.raises(Diverged):
        await probe.uncertainties("?", [ONE], [TWO])
    with pytest.raises(Diverged):
        await probe.uncertainties("?", [THREE], [ONE])


async def test_the_guard_finds_the_sets_that_it_scored_and_no_others():
    guard, _ = pruning(pruned(guard=GUARD))
    assert await guard.score("?", [ONE]) == SufficiencyReport(0.25, 0.5, (), (), 1)
    assert (await guard.score("?", [])).score is None
    lowered, _ = pruning(pruned(guard=GUARD), threshold=0.125)
    assert (await lowered.score("?", [ONE])).sufficient
    for other in ([TWO], [ONE, TWO]):
        with pytest.raises(Diverged, match="the guard scores a set"):
            await guard.score("?", other)
    unguarded, _ = pruning(pruned())
    with pytest.raises(Diverged, match="the guard scores a set"):
        await unguarded.score("?", [ONE])


async def test_an_answer_is_known_for_the_admitted_passages_in_their_order_alone():
    wrote = Wrote(rag=generation("a"), read=(ONE.key,))

    def writer(admitted):
        return RecordedWriter(Tape([wrote]), ledger(), admitted)

    keys = (ONE.key, TWO.key)
    assert await writer(keys).write("?", [ONE, TWO]) == Written(wrote.rag, (ONE.key,))
    for other in ([TWO, ONE], [ONE], []):
        with pytest.raises(Diverged, match="other passages were admitted"):
            await writer(keys).write("?", other)
    assert (await writer(None).write("?", [THREE])).rag == wrote.rag


async def test_answers_that_were_not_scored_have_no_likelihoods():
    six = Likelihoods(-1.0, -2.0, -3.0, -4.0, -5.0, -6.0)
    views = RecordedViews(Tape([arbitrated(six), arbitrated(None)]), ledger())
    assert await views.likelihoods("?", POOL, generation("a"), generation("b")) == six
    with pytest.raises(Diverged, match="were not scored"):
        await views.likelihoods("?", POOL, generation("a"), generation("b"))
