"""POST /v1/cache/lookup: serve a need from what is held, fetch on a miss, and decide again."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import APIRouter, FastAPI, Request

from ...tools.errors import InputError, SufficitError
from ..cache.fetching import Need
from ..cache.node import CacheNode, Lookup
from ..question import checked_question
from .cache_body import LookupBody, LookupRequest, lookup_body
from .deciding import BUDGET
from .dependencies import CallDep, ServiceDep
from .errors import Refused, documented
from .leaving import unless_gone
from .service import Call, Service

log = logging.getLogger("sufficit.service")


@asynccontextmanager
async def _sweeping(app: FastAPI) -> AsyncIterator[None]:
    """Sweeps the cache from time to time while the application runs."""
    service: Service = app.state.service
    sweeper = asyncio.create_task(_sweep(service.cache, service.settings.cache.sweep_seconds))
    try:
        yield
    finally:
        sweeper.cancel()
        with suppress(asyncio.CancelledError):
            await sweeper


async def _sweep(node: CacheNode, seconds: float) -> None:
    """Never ends by itself: a sweep that fails is logged, and the next one may do better."""
    while True:
        await asyncio.sleep(seconds)
        try:
            await node.sweep()
        except (SufficitError, OSError) as error:
            log.warning("expired passages could not be swept: %s", error)


router = APIRouter(tags=["decisions"], lifespan=_sweeping)


@router.post("/v1/cache/lookup", responses=documented(400, 401, 413, 415, 422, 429, 500, 503, 504))
async def lookup(body: LookupRequest, request: Request, service: ServiceDep, call: CallDep) -> LookupBody:
    """Hit, filled or miss for one question, with the passages; nothing is generated.

    A tenant, that of the API key, sees only what was fetched for itself, and there only within one scope.
    Lookups that miss the same need at once share one fetch, and a need is not fetched for again while what
    did not suffice for it is fresh. A hit never prolongs a passage's time.
    """
    found = await unless_gone(request, _looked_up(service, call, body))
    return lookup_body(body.question.strip(), found)


async def _looked_up(service: Service, call: Call, body: LookupRequest) -> Lookup:
    """One turn of the queue, and one decision of the key's budget, whether it misses or hits.

    Raises Refused 422, 429 and 504, and RunError where a model or the disk fails.
    """
    question = checked_question(body.question, service.settings.question_characters)
    # Two parts in one name that no other two parts make.
    need = Need(question, json.dumps([call.client.tenant, body.scope]))
    seconds = service.settings.budget.seconds
    async with service.room.turn(seconds) as left:
        service.keys.spend(call.client, BUDGET, 1)
        try:
            async with asyncio.timeout(left):
                return await service.cache.lookup(need, may_fetch=body.fetch)
        except TimeoutError:
            raise Refused(504, "deadline", f"the lookup took over {seconds:g} seconds") from None
        except InputError as error:
            raise Refused(422, "no_room", str(error), "scope") from error
