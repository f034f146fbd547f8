"""Builds paired sufficiency contrasts from question-answering files (RINSE section 3, Appendix B)."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ....policies.rinse.records import ContrastRecord
from ....tools.errors import InputError
from ..datasets.examples import Example
from ..datasets.sources import Source, read_source
from ..stable import stable_random
from .deletion import deletion
from .groups import Dropped, Group, Outcome
from .overlap import words
from .question_swap import question_swap
from .substitution import substitution

Construction = Literal["substitution", "deletion", "question_swap"]

_CONSTRUCTIONS: Mapping[Construction, Callable[[Sequence[Example], int], Iterator[Outcome]]] = {
    "substitution": substitution,
    "deletion": deletion,
    "question_swap": question_swap,
}


@dataclass(frozen=True, slots=True)
class Contrasts:
    """Built contrasts. `dropped` counts, by reason, the examples and evidence sets that gave no group."""

    records: tuple[ContrastRecord, ...]
    groups: int
    pairs: int
    sources: tuple[Source, ...]
    dropped: Mapping[str, int]


def build_contrasts(
    paths: Sequence[Path],
    construction: Construction,
    family: str,
    *,
    groups: int | None = None,
    seed: int = 17,
) -> Contrasts:
    """Read the files and make contrasts of one construction.

    The same files, construction and seed give the same records. `groups` draws that many of the groups, None
    keeps all. Examples whose id or normalised question came before are left out. Raises InputError for a file
    that cannot be read, for a family without a name, and where no group can be made.
    """
    if not family.strip():
        raise InputError("the family is empty; name the data set, such as --family hotpotqa")
    sources = tuple(read_source(path) for path in paths)
    dropped: Counter[str] = Counter()
    examples = _distinct([example for source in sources for example in source.examples], dropped)
    made: list[Group] = []
    for outcome in _CONSTRUCTIONS[construction](examples, seed):
        if isinstance(outcome, Dropped):
            dropped[outcome.reason] += 1
        else:
            made.append(outcome)
    if not made:
        reasons = ", ".join(f"{reason} ({count})" for reason, count in dropped.most_common(3))
        raise InputError(f"no {construction} group can be made of these files: {reasons or 'no examples'}")
    chosen = _sample(made, groups, seed)
    records = tuple(record for group in chosen for record in _records(group, construction, family))
    pairs = sum(len(group.sufficient) * len(group.insufficient) for group in chosen)
    return Contrasts(records, len(chosen), pairs, sources, dict(dropped.most_common()))


def _distinct(examples: Sequence[Example], dropped: Counter[str]) -> list[Example]:
    """The first of all examples with one id or normalised question; variants of both labels share them."""
    ids: set[tuple[str, bool]] = set()
    questions: set[tuple[tuple[str, ...], bool]] = set()
    kept = []
    for example in examples:
        key, question = (example.id, example.answerable), (words(example.question), example.answerable)
        if key in ids:
            dropped["repeated id"] += 1
        elif question in questions:
            dropped["repeated question"] += 1
        else:
            kept.append(example)
        ids.add(key)
        questions.add(question)
    return kept


def _sample(groups: list[Group], count: int | None, seed: int) -> list[Group]:
    if count is None or count >= len(groups):
        return groups
    places = stable_random(seed, "groups").sample(range(len(groups)), count)
    return [groups[place] for place in sorted(places)]


def _records(group: Group, construction: Construction, family: str) -> Iterator[ContrastRecord]:
    name = f"{family}/{construction}/{group.id}"
    for label, sides in ((True, group.sufficient), (False, group.insufficient)):
        for side in sides:
            question, passages, answers, support = side
            yield ContrastRecord(name, family, construction, question, passages, label, answers, support)
