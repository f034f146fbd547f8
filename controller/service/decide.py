"""POST /v1/decide: does what a cache holds answer the question, or must new content be fetched?"""

from typing import Annotated

from fastapi import APIRouter, Body, Request

from .decide_body import Batch, DecideRequest, DecisionBody, DecisionsBody
from .deciding import decided
from .dependencies import CallDep, ServiceDep
from .errors import documented
from .leaving import unless_gone

router = APIRouter(tags=["decisions"])


@router.post("/v1/decide", responses=documented(400, 401, 404, 413, 415, 422, 429, 500, 502, 503, 504))
async def decide(
    body: Annotated[DecideRequest, Body()], request: Request, service: ServiceDep, call: CallDep
) -> DecisionBody | DecisionsBody:
    """Hit or miss for one question, or for a batch of up to 1,000, in one RINSE pass each."""
    if isinstance(body, Batch):
        work = decided(service, call, body.items, "items.{}.")
        return DecisionsBody(decisions=await unless_gone(request, work))
    (one,) = await unless_gone(request, decided(service, call, [body]))
    return one
