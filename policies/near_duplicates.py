"""Near-duplicates: passages that say nothing that another one does not say, found without any model.

A passage is one if nearly all its word triples stand in an earlier passage, and all its words too: a name, a
number or a *not* of its own may change what it says.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..tools.types import Passage, PassageKey
from .igp import Probe
from .types import PassageGain, Pruner, PruneReport

_WORD = re.compile(r"\w+")
_TRIPLE = 3


def near_duplicates(passages: Sequence[Passage], share: float) -> Mapping[PassageKey, PassageKey]:
    """Each passage of which at least `share`, in (0, 1], stands in an earlier one, with that one's key.

    The earlier one is never a near-duplicate itself, so what is left says all. A passage without a word is
    the duplicate of none.
    """
    kept: list[tuple[PassageKey, set[tuple[str, ...]], set[str]]] = []
    found: dict[PassageKey, PassageKey] = {}
    for passage in passages:
        triples, words = _parts(f"{passage.title} {passage.text}")
        for key, others, other_words in kept:
            if triples and len(triples & others) >= share * len(triples) and words <= other_words:
                found[passage.key] = key
                break
        else:
            kept.append((passage.key, triples, words))
    return found


def _parts(text: str) -> tuple[set[tuple[str, ...]], set[str]]:
    """Word triples and words, without case."""
    words = _WORD.findall(text.lower())
    ends = range(min(_TRIPLE, len(words)), len(words) + 1) if words else ()
    return {tuple(words[max(0, end - _TRIPLE) : end]) for end in ends}, set(words)


class Deduplicated:
    """A pruner that never sees near-duplicates; they are reported last, each with the passage it repeats."""

    def __init__(self, pruner: Pruner, probe: Probe, share: float) -> None:
        self._pruner = pruner
        self._probe = probe
        self._share = share

    async def prune(self, question: str, passages: Sequence[Passage], baseline: float) -> PruneReport:
        """As the pruner does for the passages that are left."""
        repeated = near_duplicates(passages, self._share)
        distinct = [passage for passage in passages if passage.key not in repeated]
        report = await self._pruner.prune(question, distinct, baseline)
        copies = [passage for passage in passages if passage.key in repeated]
        barred = tuple(
            self._barred(copy, repeated[copy.key], rank)
            for rank, copy in enumerate(copies, start=len(distinct) + 1)
        )
        return replace(report, gains=report.gains + barred)

    def _barred(self, copy: Passage, original: PassageKey, rank: int) -> PassageGain:
        reason = f"repeats {original.source or original.id}"
        return PassageGain(copy.key, None, None, rank, self._probe.tokens(copy), False, reason, barred=True)
