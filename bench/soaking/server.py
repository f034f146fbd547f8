"""The server under soak: the real service, over a generator and a web that fail as the dice say.

    python server.py FOLDER

Prints its port as the first line. Every fault is one that the real tools raise.
"""

import asyncio
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote, unquote

import sufficit.controller.environment  # noqa: F401  before torch
from sufficit.controller.loading import load_tools
from sufficit.controller.service.logs import write_json_lines
from sufficit.controller.service.opening import open_service
from sufficit.controller.service.running import Server, bind
from sufficit.controller.settings import load
from sufficit.controller.wrapping import AroundGenerator
from sufficit.tools.errors import ExtractFailed, FetchFailed, FetchRefused, ModelOutputError, ToolError
from sufficit.tools.types import Generation, Hit, Page, Passage, Prompt, Rollout
from sufficit.tools.web.toolbox import WebTools

SETTINGS = (
    "service.port=0",
    "service.concurrent=4",
    "service.queue=4",
    "budget.seconds=30",
    "budget.rounds=2",
    "budget.web_fetches=1",
    "index.passages_per_round=4",
    "generator.answer_tokens=8",
    "igp.max_tokens=8",
    "cache.keep_seconds=20",
    "cache.sweep_seconds=5",
)
PLACE = "https://pages.test/"


@dataclass(frozen=True, slots=True)
class Dice:
    """Decides, from a seed, what fails."""

    dice: random.Random = field(default_factory=lambda: random.Random(0))

    async def throw(self, share: float, *errors: Exception) -> None:
        """Raise one of the errors in a share of calls, and be slow in as many others."""
        drawn = self.dice.random()
        if drawn < share:
            raise self.dice.choice(errors)
        if drawn < 2 * share:
            await asyncio.sleep(0.3)


@dataclass(frozen=True, slots=True)
class FaultyGenerator(AroundGenerator):
    """The generator, which fails in one call of twenty."""

    dice: Dice

    async def generate(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Generation]:
        """As the generator, or not."""
        await self._throw()
        return await self.generator.generate(prompts, max_tokens)

    async def rollout(self, prompts: Sequence[Prompt], max_tokens: int, top_k: int) -> list[Rollout]:
        """As the generator, or not."""
        await self._throw()
        return await self.generator.rollout(prompts, max_tokens, top_k)

    async def score(self, prompt: Prompt, continuations: Sequence[str]) -> list[tuple[float, ...]]:
        """As the generator, or not."""
        await self._throw()
        return await self.generator.score(prompt, continuations)

    async def _throw(self) -> None:
        await self.dice.throw(0.05, ToolError("injected"), ModelOutputError("injected"), OSError("injected"))


@dataclass(frozen=True, slots=True)
class FaultyWeb:
    """A web in which every question has a page that answers it, unless something fails."""

    dice: Dice

    async def search(self, query: str, k: int) -> list[Hit]:
        """One hit, whose address holds the question."""
        await self.dice.throw(0.1, FetchFailed("injected"))
        return [Hit(PLACE + quote(query, safe=""))][:k]

    async def fetch(self, url: str) -> Page:
        """A page that repeats the question as a statement."""
        await self.dice.throw(0.2, FetchFailed("injected"), FetchRefused("injected"), ValueError("injected"))
        asked = unquote(url.removeprefix(PLACE)).removeprefix("What is ").removesuffix("?")
        return Page(url, "text", f"Here {asked} is told: {asked} is secret-{asked}-secret.".encode())

    async def extract(self, page: Page) -> list[Passage]:
        """The page as one passage."""
        await self.dice.throw(0.05, ExtractFailed("injected"))
        return [Passage("0", page.content.decode(), source=page.url, url=page.url)]


def main(folder: Path) -> None:
    """Serve until told to stop."""
    write_json_lines()
    settings = load(
        [*SETTINGS, f"index.path={folder / 'index'}", f"cache.folder={folder / 'cache'}"], environment={}
    ).settings
    tools, dice = load_tools(settings), Dice()
    web = FaultyWeb(dice)
    faulty = replace(tools, generator=FaultyGenerator(tools.generator, dice), web=WebTools(web, web, web))
    with bind(settings.service) as bound:
        service = open_service(settings, faulty)
        print(bound.getsockname()[1], flush=True)
        Server(service).run(sockets=[bound])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
