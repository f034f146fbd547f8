"""A stream from question files: first questions, repeats, paraphrases, near misses, and expiries.

Everything follows from which questions share which passages; no data set is known by name.

- `first`: a question that opens a group.
- `repeat`, `paraphrase`: the same again later, word for word or in other words.
- `sibling`: another question that the group's fetched passages also answer.
- `near_miss`: another question about the group's passages that they do not answer: one that its data set
  marks as unanswerable, or whose support is only partly among them.
"""

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from ....tools.errors import InputError
from ....tools.types import Passage
from ..datasets.examples import Example
from ..stable import stable_random
from .paraphrases import paraphrase
from .stream import Event, StreamPassage

_MOST = 2
"""Events of one kind in a group are drawn from 0 to this many, as far as there are questions for them."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a stream is drawn. `seconds` is its length; a fetch brings at most `passages`, all support first.

    What a fetch brings is out of date after a time drawn evenly on a logarithmic scale between a
    `shortest_share` of the stream's length and the whole of it.
    """

    events: int
    seed: int
    seconds: float = 7 * 86_400.0
    passages: int = 5
    shortest_share: float = 0.05


def build_stream(files: Sequence[Sequence[Example]], recipe: Recipe) -> list[Event]:
    """A stream of `recipe.events` events, groups taken from the files in turn; sorted by time.

    The same examples and recipe give the same stream. Raises InputError where there are too few questions.
    """
    events: list[Event] = []
    used: set[str] = set()
    pools = [_Pool(examples, recipe) for examples in files]
    turns = zip_longest(*(pool.bases() for pool in pools))
    for pool, base in ((p, b) for turn in turns for p, b in zip(pools, turn, strict=True) if b):
        if len(events) >= recipe.events:
            break
        if base.id not in used:
            events += pool.group(base, used)
    if len(events) < recipe.events:
        raise InputError(f"the files give {len(events)} events, not {recipe.events}; ask for fewer --events")
    return sorted(events[: recipe.events], key=lambda event: (event.time, event.id))


class _Pool:
    """One file's examples, and which of them share passages."""

    def __init__(self, examples: Sequence[Example], recipe: Recipe) -> None:
        self._examples = examples
        self._recipe = recipe
        self._about: Mapping[str, list[Example]] = defaultdict(list)
        for example in examples:
            for passage in example.passages:
                self._about[passage.id].append(example)

    def bases(self) -> Iterator[Example]:
        """The answerable questions in an order that the seed gives."""
        order = [example for example in self._examples if example.answerable and example.support]
        stable_random(self._recipe.seed, "bases").shuffle(order)
        return iter(order)

    def group(self, base: Example, used: set[str]) -> list[Event]:
        """The events of one group; the questions in it are marked as used."""
        draws = stable_random(self._recipe.seed, base.id)
        length = self._recipe.seconds
        began = draws.uniform(0, 0.6 * length)
        found = []
        for number, (kind, example, question) in enumerate(self._chosen(base, used, draws)):
            time = began if kind == "first" else draws.uniform(began, length)
            found.append(
                Event(
                    time=round(time, 3),
                    id=f"{base.id}/{number}",
                    need=example.id,
                    question=question,
                    passages=tuple(map(_given, self._brought(example))),
                    support=_support(example),
                    ttl=self._lifetime(draws),
                    kind=kind,
                    group=base.id,
                )
            )
            used.add(example.id)
        return found

    def _chosen(self, base: Example, used: set[str], draws: random.Random) -> list[tuple[str, Example, str]]:
        """Kind, example and wording of every event of a group."""
        near, siblings = self._relatives(base, used)
        draws.shuffle(siblings)
        chosen = [("first", base, base.question)]
        chosen += [("repeat", base, base.question)] * draws.randint(0, _MOST)
        paraphrases = [paraphrase(base.question, draws) for _ in range(draws.randint(0, _MOST))]
        chosen += [("paraphrase", base, question) for question in paraphrases]
        chosen += [("sibling", e, e.question) for e in siblings[: draws.randint(0, _MOST)]]
        chosen += [("near_miss", e, e.question) for e in near[: draws.randint(0, _MOST)]]
        return chosen

    def _relatives(self, base: Example, used: set[str]) -> tuple[list[Example], list[Example]]:
        """Near misses, those that share most of what the base needs first, and siblings."""
        held = {passage.id for passage in self._brought(base)}
        needed = set(_support(base))
        around = {e.id: e for id_ in sorted(held) for e in self._about[id_]}
        others = [e for name, e in around.items() if name not in used | {base.id}]
        siblings = [e for e in others if e.answerable and set(_support(e)) <= held]
        near = [e for e in others if not (e.answerable and set(_support(e)) <= held)]
        near.sort(key=lambda e: -len(needed & {passage.id for passage in e.passages}))
        return near, siblings

    def _brought(self, example: Example) -> list[Passage]:
        """What a fetch for the example brings: its support, then others of its passages."""
        support = [example.passages[place] for place in sorted(example.support)]
        others = [p for place, p in enumerate(example.passages) if place not in example.support]
        stable_random(self._recipe.seed, f"fetch {example.id}").shuffle(others)
        return [*support, *others[: max(0, self._recipe.passages - len(support))]]

    def _lifetime(self, draws: random.Random) -> float:
        share = math.exp(draws.uniform(math.log(self._recipe.shortest_share), 0.0))
        return round(self._recipe.seconds * share, 3)


def _support(example: Example) -> tuple[str, ...]:
    if not example.answerable:
        return ()
    return tuple(sorted(example.passages[place].id for place in example.support))


def _given(passage: Passage) -> StreamPassage:
    return StreamPassage(id=passage.id, text=passage.text, title=passage.title)


def kinds(events: Iterable[Event]) -> dict[str, int]:
    """How many events there are of each kind."""
    counts: dict[str, int] = defaultdict(int)
    for event in events:
        counts[event.kind] += 1
    return dict(counts)
