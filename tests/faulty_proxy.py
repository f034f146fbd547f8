"""A proxy before a generator's server that does something wrong when it is told to."""

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
from http_server import Connection, HttpServer, Request, Response, refusal


@dataclass
class FaultyProxy:
    """`faults` are for the next completions, one each; "" lets one pass. Then all pass.

    reset: half of the body, then the connection is reset. truncated: JSON that ends early. A status:
    that. stall: nothing for `stall_seconds`. bare: no log-probabilities. unknown: the first token's is
    -9999. holes: of a step's, all but two are -9999, -inf or null.
    """

    upstream: str
    faults: list[str] = field(default_factory=list)
    stall_seconds: float = 30.0
    retry_after: str | None = None
    asked: int = 0

    @asynccontextmanager
    async def serving(self):
        client = httpx.AsyncClient(base_url=self.upstream, timeout=60)
        async with client as self._http, HttpServer(self._handle) as server:
            yield server

    async def _handle(self, request: Request, connection: Connection) -> Response | None:
        fault = ""
        if request.path == "/v1/completions":
            self.asked += 1
            fault = self.faults.pop(0) if self.faults else ""
        if fault == "stall":
            await asyncio.sleep(self.stall_seconds)
        if fault.isdecimal():
            response = refusal("the engine said no", int(fault))
            return (
                response
                if self.retry_after is None
                else Response(response.status, response.body, {"retry-after": self.retry_after})
            )
        answer = await self._http.request(
            request.method, request.path, content=request.body, headers={"content-type": "application/json"}
        )
        response = Response(answer.status_code, answer.content)
        if fault == "reset":
            await connection.send(response.raw()[:-40])
            connection.reset()
            return None
        return _spoilt(response, fault)


def _spoilt(response: Response, fault: str) -> Response:
    if fault == "truncated":
        return Response(200, response.body[: len(response.body) // 2])
    body = json.loads(response.body)
    if fault == "bare":
        body["choices"][0]["logprobs"] = None
    if fault == "unknown":
        body["choices"][0]["logprobs"]["token_logprobs"][0] = -9999.0
    if fault == "holes":
        for top in body["choices"][0]["logprobs"]["top_logprobs"]:
            for number, name in enumerate(list(top)):
                top[name] = [top[name], -9999.0, float("-inf"), None][min(number, 3)] if number else top[name]
    return Response(response.status, json.dumps(body).encode()) if fault else response
