"""A shared cache of passages in front of the handbook: hit or miss is whether what is held suffices.

Nothing is generated. Run `python examples/cache_node.py`; the model comes by `sufficit models install`.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sufficit.controller.build import sufficiency
from sufficit.controller.cache.fetching import Fetched, Need
from sufficit.controller.cache.node import CacheNode
from sufficit.controller.cache.settings import CacheSettings
from sufficit.controller.settings import load
from sufficit.controller.stages import PageVisit
from sufficit.controller.web import Keeper
from sufficit.tools.retrievers.corpora.reading import read_corpus
from sufficit.tools.retrievers.embedded import EmbeddedIndex

HANDBOOK = Path(__file__).parent / "handbook"
QUESTIONS = (
    "How many days of annual leave does a full-time employee have?",
    "How many days of annual leave does a full-time employee get?",
    "Who received the Torvane Medal in 2021?",
)


@dataclass(frozen=True)
class Origin:
    """Stands for the site behind the cache: what a miss fetches."""

    site: EmbeddedIndex

    async def fetch(self, need: Need, keeper: Keeper) -> Fetched:
        pages = await self.site.search(need.question, 3)
        for page in pages:
            await keeper.keep([page])
        return Fetched(tuple(PageVisit(page.source, 1) for page in pages))


async def main(folder: Path) -> None:
    EmbeddedIndex.build(folder / "site", read_corpus([HANDBOOK]))
    origin = Origin(EmbeddedIndex.open(folder / "site"))
    node = CacheNode(CacheSettings(folder=folder / "cache"), sufficiency(load().settings), origin)
    for question in QUESTIONS:
        lookup = await node.lookup(Need(question, scope="staff"))
        print(f"{lookup.outcome:<7} {question}\n        {lookup.reason}")
        print("".join(f"        {passage.title}\n" for passage in lookup.passages))
    counted = node.counters()
    print(f"{counted.hits} of {counted.lookups} lookups needed no fetch")


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        asyncio.run(main(Path(scratch)))
