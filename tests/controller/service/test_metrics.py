from prometheus_client.parser import text_string_to_metric_families
from scripted import ScriptedGenerator
from staged import FixedSearch, FixedSufficiency, controller, passages
from sufficit.controller.service.keys import ANYONE
from sufficit.controller.service.metrics import Metrics
from sufficit.controller.service.service import Call
from sufficit.controller.settings import load
from sufficit.controller.trace import Fault
from sufficit.policies.types import SufficiencyReport
from sufficit.tools.errors import ToolError

CALL = Call("id", ANYONE, "/v1/answer")
FOUND = passages("The Rhine rises in the Alps.", "Bread needs salt.")


def samples(metrics: Metrics) -> dict[tuple[str, ...], float]:
    """Every sample by name and label values; a text that cannot be parsed fails."""
    families = list(text_string_to_metric_families(metrics.text().decode()))
    assert len({family.name for family in families}) == len(families)
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


async def asked(score: float, *assignments: str, search=lambda query: FOUND) -> dict[tuple[str, ...], float]:
    metrics = Metrics()
    settings = load(assignments, environment={}).settings
    loop = controller(FixedSearch(search), FixedSufficiency(lambda _: score), ScriptedGenerator(), settings)
    answer, _ = await loop.answer("Where does the Rhine rise?", lambda event: metrics.heard(CALL, event))
    read = samples(metrics)
    assert read["sufficit_spent_total", "model_calls"] == answer.budget.spent["model_calls"]
    return read


async def test_an_answered_question_shows_in_every_distribution():
    read = await asked(1.2)
    assert read["sufficit_decisions_total", "answer"] == 1
    assert read["sufficit_answers_total", "answer", "true", "agree"] == 1
    assert read["sufficit_sufficiency_score_bucket", "1.5"] == 1
    assert read["sufficit_sufficiency_score_bucket", "1.0"] == 0
    assert read["sufficit_information_gain_count",] == 2
    assert read["sufficit_stage_seconds_count", "prune"] == 1
    assert read["sufficit_stage_seconds_count", "total"] == 1
    assert read["sufficit_igp_questions",] == 1
    assert read["sufficit_spent_total", "generated_tokens"] > 0


async def test_an_abstention_a_fault_and_a_spent_budget_are_counted():
    assert (await asked(-1.0))["sufficit_answers_total", "abstain", "false", "none"] == 1

    def gone(query: str):
        raise ToolError("index gone")

    assert (await asked(1.0, search=gone))["sufficit_faults_total", "ToolError", "retrieve"] == 1
    stopped = await asked(1.0, "budget.model_calls=3")
    assert stopped["sufficit_budget_ends_total", "model_calls", "write"] == 1


def test_tokens_of_prompts_and_calls_of_readers_are_no_budget():
    metrics = Metrics()
    cost = {"model_calls": 1, "prompt_tokens": 7, "reader_calls": 2}
    metrics.heard(CALL, Fault(stage="prune", error="ToolError", message="gone", cost=cost))
    read = samples(metrics)
    assert read["sufficit_prompt_tokens_total",] == 7
    assert read["sufficit_reader_calls_total",] == 2
    assert {key[1]: n for key, n in read.items() if key[0] == "sufficit_spent_total"} == {"model_calls": 1}


def test_responses_and_gauges():
    metrics = Metrics()
    metrics.responded("POST", "/v1/answer", 200, 0.2)
    metrics.responded("BREW", "unmatched", 404, 0.001)
    waiting = [3]
    metrics.watch("queue_waiting", "requests that wait", lambda: waiting[0])
    read = samples(metrics)
    assert read["sufficit_http_requests_total", "POST", "/v1/answer", "200"] == 1
    assert read["sufficit_http_requests_total", "other", "unmatched", "404"] == 1
    assert read["sufficit_http_request_seconds_bucket", "0.25", "/v1/answer"] == 1
    metrics.count("cache_hits", "of the cache", lambda: 7)
    read = samples(metrics)
    assert read["sufficit_cache_hits_total",] == 7
    assert read["sufficit_queue_waiting",] == 3
    waiting[0] = 0
    assert samples(metrics)["sufficit_queue_waiting",] == 0


def test_two_applications_do_not_count_for_each_other():
    one, other = Metrics(), Metrics()
    one.decided(CALL, SufficiencyReport(0.7, 0.0, (), (), 1), 0.01)
    assert samples(one)["sufficit_evidence_total", "hit"] == 1
    assert samples(one)["sufficit_evidence_seconds_bucket", "0.01"] == 1
    assert ("sufficit_evidence_total", "hit") not in samples(other)
