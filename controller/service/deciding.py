"""Hit or miss: one RINSE pass a question, within what queue and key allow. Nothing is generated."""

import asyncio
import time
from collections.abc import Sequence

from ...policies.kept_for import KeptMatch
from ...policies.query import UncoveredWindows
from ...policies.types import SufficiencyReport, WindowCoverage
from ...tools.errors import InputError
from ...tools.types import Passage
from ..question import checked_question
from .decide_body import DecisionBody, KeptForBody, OverIndex, OverPassages
from .errors import Refused
from .passages import held, kept_sets
from .service import Call, Service

AT_ONCE = 8  # questions of one batch that are prepared while the model computes
BUDGET = "decisions_per_day"

_QUERY = UncoveredWindows()


async def decided(
    service: Service, call: Call, items: Sequence[OverPassages | OverIndex], place: str = ""
) -> tuple[DecisionBody, ...]:
    """Decide every item, in order, in one turn of the queue; `place` says where in the body an item stands.

    Raises Refused 404 for an unknown index, 422 for an overlong question, 429 and 504 as queue, key and
    deadline say, RunError where a model or an index fails.
    """
    for number, item in enumerate(items):
        _check(service, item, place.format(number))
    places = asyncio.Semaphore(AT_ONCE)

    async def one(item: OverPassages | OverIndex) -> DecisionBody:
        async with places:
            return await _decided(service, call, item)

    async with service.room.turn(service.settings.budget.seconds) as seconds:
        service.keys.spend(call.client, BUDGET, len(items))
        try:
            async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(item)) for item in items]
        except TimeoutError:
            limit = service.settings.budget.seconds
            raise Refused(504, "deadline", f"{len(items)} decisions took over {limit:g} seconds") from None
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
    return tuple(task.result() for task in tasks)


def _check(service: Service, item: OverPassages | OverIndex, prefix: str) -> None:
    """Raises Refused for what only the server's settings can tell; the field begins with `prefix`."""
    if isinstance(item, OverIndex) and item.index not in service.indexes:
        known = ", ".join(sorted(service.indexes))
        raise Refused(404, "unknown_index", f"the indexes served here are: {known}", f"{prefix}index")
    try:
        checked_question(item.question, service.settings.question_characters)
    except InputError as error:
        raise Refused(422, "invalid_value", str(error), f"{prefix}question") from error


async def _decided(service: Service, call: Call, item: OverPassages | OverIndex) -> DecisionBody:
    began = time.monotonic()
    question = item.question.strip()
    match = await _match(service, item, question)
    passages = match.kept.passages if match else await _passages(service, item, question)
    report = await service.sufficiency.score(question, passages)
    for observer in service.observers:
        observer.decided(call, report, time.monotonic() - began)
    return decision(question, report, match)


async def _match(service: Service, item: OverPassages | OverIndex, question: str) -> KeptMatch | None:
    """The likest question that passages were kept for; None where none says, or RINSE alone decides."""
    if service.kept_for is None or isinstance(item, OverIndex):
        return None
    return await service.kept_for.best(question, kept_sets(item.passages))


async def _passages(service: Service, item: OverPassages | OverIndex, question: str) -> Sequence[Passage]:
    if isinstance(item, OverPassages):
        return held(item.passages)
    most = service.settings.index.passages_per_round
    return await service.indexes[item.index].search(question, most)


def decision(question: str, report: SufficiencyReport, match: KeptMatch | None = None) -> DecisionBody:
    """A report as a decision; with a match that one decides.

    Without passages the whole question is uncovered. On a miss where no narrower query is left, it is what to
    fetch.
    """
    hit = report.sufficient if match is None else match.serves
    whole = WindowCoverage(question, 0.0, 0.0)
    open_windows = [window for window in report.coverage or (whole,) if window.overlap < 1.0]
    query = None if hit else _QUERY.next(question, report, ()) or question
    return DecisionBody.model_validate(
        {
            "decision": "hit" if hit else "miss",
            "kept_for": match and _kept_for(match),
            "score": report.score,
            "threshold": report.threshold,
            "readers": report.readers,
            "uncovered": sorted(open_windows, key=lambda window: (window.overlap, window.relevance)),
            "suggested_query": query,
            "passages": report.passages,
        }
    )


def _kept_for(match: KeptMatch) -> KeptForBody:
    return KeptForBody(
        question=match.kept.question,
        cosine=match.cosine,
        covered=match.covered,
        uncovered=match.uncovered,
        missing=match.missing,
        score=match.score,
        threshold=match.threshold,
    )
