"""What Prometheus reads: counted from the events of every run as they happen, and from every response.

A registry of the application's own, so that two applications in one process do not count for each other.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from ...policies.gates import lone_gains
from ...policies.types import SufficiencyReport
from ..answer import Answer
from ..budget import PROMPT_TOKENS, READER_CALLS
from ..drift import Drift
from ..drift import metrics as drift_metrics
from ..trace import Decided, Event, Fault, Finished, Pruned, Scored, Stopped
from .service import Call

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

DRIFT_WINDOW = 100
"""Questions that the drift gauges look back on."""

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
GAINS = (-0.5, -0.2, -0.1, -0.05, 0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
SCORES = (-4, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4)

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """An observer; `responded`, `watch` and `count` add what runs and decisions do not show."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self._drift = Drift(DRIFT_WINDOW)
        self._decisions = Counter(
            "sufficit_decisions", "decisions of the loop", ["action"], registry=registry
        )
        self._answers = Counter(
            "sufficit_answers",
            "questions that ended, by action, trusted answer and whether evidence carries it",
            ["action", "source", "grounded"],
            registry=registry,
        )
        self._hits = Counter("sufficit_evidence", "hit or miss decisions", ["decision"], registry=registry)
        self._deciding = Histogram(
            "sufficit_evidence_seconds", "time of one decision", buckets=SECONDS, registry=registry
        )
        self._spent = Counter("sufficit_spent", "spent of each counted budget", ["limit"], registry=registry)
        self._unbounded = {
            PROMPT_TOKENS: Counter(
                "sufficit_prompt_tokens", "tokens of prompts that models read", registry=registry
            ),
            READER_CALLS: Counter(
                "sufficit_reader_calls", "calls of rerankers and small readers", registry=registry
            ),
        }
        self._ends = Counter(
            "sufficit_budget_ends", "runs that a limit ended", ["limit", "stage"], registry=registry
        )
        self._faults = Counter("sufficit_faults", "stages that failed", ["stage", "error"], registry=registry)
        self._stages = Histogram(
            "sufficit_stage_seconds", "time in a stage, a run", ["stage"], buckets=SECONDS, registry=registry
        )
        self._gains = Histogram(
            "sufficit_information_gain", "IG(d, q) of probed passages", buckets=GAINS, registry=registry
        )
        self._scores = Histogram(
            "sufficit_sufficiency_score", "s(q, E) of evidence sets", buckets=SCORES, registry=registry
        )
        self._requests = Counter(
            "sufficit_http_requests", "responses", ["method", "route", "status"], registry=registry
        )
        self._latency = Histogram(
            "sufficit_http_request_seconds",
            "time until a response is complete",
            ["route"],
            buckets=SECONDS,
            registry=registry,
        )

    def heard(self, call: Call, event: Event) -> None:  # noqa: ARG002  see Observer
        """See Observer: take note of an event of a run."""
        self._drift(event)
        for name, amount in event.cost.items():
            counter = self._unbounded.get(name) or self._spent.labels(name)
            counter.inc(amount)
        match event:
            case Scored(report=report) if report.score is not None:
                self._scores.observe(report.score)
            case Decided(decision=decision):
                self._decisions.labels(decision.action).inc()
            case Pruned(report=pruned):
                for gain in lone_gains(pruned):
                    self._gains.observe(gain)
            case Fault(stage=stage, error=error):
                self._faults.labels(stage, error).inc()
            case Stopped(limit=limit, stage=stage):
                self._ends.labels(limit, stage).inc()
            case Finished(answer=answer):
                self._finished(answer)

    def _finished(self, answer: Answer) -> None:
        self._answers.labels(answer.action, answer.source, str(answer.grounded).lower()).inc()
        for stage, seconds in answer.timings.items():
            self._stages.labels(stage).observe(seconds)

    def decided(self, call: Call, report: SufficiencyReport, seconds: float) -> None:  # noqa: ARG002
        """See Observer: count a hit-or-miss decision that no run made."""
        self._hits.labels("hit" if report.sufficient else "miss").inc()
        self._deciding.observe(seconds)
        if report.score is not None:
            self._scores.observe(report.score)

    def responded(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a response; `route` is the path's template, so that no request adds a label of its own."""
        self._requests.labels(method if method in METHODS else "other", route, str(status)).inc()
        self._latency.labels(route).observe(seconds)

    def watch(self, name: str, help_: str, value: Callable[[], float]) -> None:
        """Add the gauge `sufficit_NAME`, read whenever somebody asks."""
        Gauge(f"sufficit_{name}", help_, registry=self._registry).set_function(value)

    def count(self, name: str, help_: str, value: Callable[[], float]) -> None:
        """Add the counter `sufficit_NAME_total`, which somebody else counts."""
        self._registry.register(_Counted(f"sufficit_{name}", help_, value))

    def text(self) -> bytes:
        """Everything in the text format 0.0.4, the drift of information gain over the last runs included."""
        return generate_latest(self._registry) + drift_metrics(self._drift.report()).encode()


@dataclass(frozen=True, slots=True)
class _Counted(Collector):
    name: str
    help: str
    value: Callable[[], float]

    def collect(self) -> Iterator[CounterMetricFamily]:
        yield CounterMetricFamily(self.name, self.help, value=self.value())
