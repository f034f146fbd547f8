"""A retriever that goes bad: a share of every pool is random passages (TrustMargin section 5.3, Figure 6)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ....tools.errors import InputError
from ....tools.protocols import Retriever
from ....tools.types import Passage, PassageKey
from ..stable import stable_random

_DEPTH: Final = 50  # passages of one search of the walk
_WORDS: Final = 5  # words of a passage that are the next query
_SPARE: Final = 8  # searches of the walk for each that would do if none found a passage again


async def random_passages(
    retriever: Retriever, queries: Sequence[str], count: int, seed: int
) -> tuple[Passage, ...]:
    """At most `count` passages of an index, by a random walk over what it finds; the same for the same seed.

    A retriever can only be searched, so the walk goes from one of the `queries`, which it begins with, to a
    few words of a passage found, to what those find, and so on; it ends when there are enough, or after a
    number of searches that `count` bounds.
    """
    random = stable_random(seed, "random passages")
    found: dict[PassageKey, Passage] = {}
    asked = random.sample(list(queries), len(queries))
    for _ in range(_SPARE * (count // _DEPTH + 1)):
        if len(found) >= count or not (found or asked):
            break
        # Every second query is a question, as long as there are some: a walk alone would stay where it is.
        if asked and (not found or random.random() < 0.5):
            query = asked.pop()
        else:
            query = _some_words(random.choice(list(found.values())).text.split(), random.random())
        found |= {passage.key: passage for passage in await retriever.search(query, _DEPTH)}
    return tuple(random.sample(list(found.values()), min(count, len(found))))


def _some_words(words: Sequence[str], place: float) -> str:
    """A few words in a row, beginning at `place` in [0, 1) of all."""
    start = int(place * max(len(words) - _WORDS + 1, 1))
    return " ".join(words[start : start + _WORDS])


@dataclass(frozen=True, slots=True)
class CorruptedRetriever:
    """Puts random passages of `noise` into the place of a `share` of what is found, in [0, 1].

    Which places and which passages depends on seed and query alone, and a larger share replaces what a
    smaller one does too. A random passage takes the score of the one it replaces.
    """

    retriever: Retriever
    noise: Sequence[Passage]
    share: float
    seed: int

    async def search(self, query: str, k: int) -> list[Passage]:
        """As Retriever.search. Raises InputError where `noise` holds too few that were not found anyway."""
        found = await self.retriever.search(query, k)
        keys = {passage.key for passage in found}
        strangers = [passage for passage in self.noise if passage.key not in keys]
        random = stable_random(self.seed, query)
        places = random.sample(range(len(found)), len(found))[: round(self.share * len(found))]
        if len(strangers) < len(places):
            raise InputError(
                f"{len(places)} of {len(found)} passages are to be random, and the index has only "
                f"{len(strangers)} others; ask for fewer with --passages"
            )
        drawn = random.sample(strangers, min(len(found), len(strangers)))
        for place, stranger in zip(places, drawn, strict=False):
            found[place] = replace(stranger, score=found[place].score)
        return found
