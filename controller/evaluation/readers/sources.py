"""What readers are trained on: examples by family, without anything that they are to be measured on."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ....policies.rinse.records import ContrastRecord, read_records
from ....policies.rinse.sampling import draw
from ....tools.errors import InputError
from ....tools.types import Passage
from ..contrasts.overlap import words
from ..datasets.examples import Example
from ..datasets.sources import read_source

SENTENCE_WORDS = 8
PURPOSE = "readers"
_STOPS = ".!?\n"


@dataclass(frozen=True, slots=True)
class ReaderData:
    """Examples by family.

    `files` maps file names to SHA-256; `removed` counts, by reason, the examples that were left out, and rows
    that hold none.
    """

    families: Mapping[str, tuple[Example, ...]]
    left_out: tuple[str, ...]
    files: Mapping[str, str]
    removed: Mapping[str, int]

    def identity(self) -> str:
        """Hash of all that the examples depend on."""
        text = repr((sorted(self.files.items()), self.left_out, sorted(self.removed.items())))
        return hashlib.sha256(text.encode()).hexdigest()


def trains(question: str, share: float, seed: int) -> bool:
    """Whether a question belongs to the share that readers are trained on; the rest is for `sufficit fit`."""
    return draw(" ".join(words(question)), seed, PURPOSE) < share


def read_reader_data(
    files: Sequence[tuple[str, Path]],
    left_out: Sequence[str],
    evaluation: Sequence[Path],
    *,
    share: float,
    seed: int,
) -> ReaderData:
    """Read (family, file) pairs in their native formats.

    Families in `left_out` are not trained on. Their questions are removed from the others, and passages that
    are theirs or share a sentence of eight words with theirs; as are those of the contrast files `evaluation`
    (R Appendix E). Of the rest, the questions in `share` are kept. Raises InputError for a file that cannot
    be read and a left-out family without a file.
    """
    families: dict[str, list[Example]] = {}
    hashes = {}
    removed: Counter[str] = Counter()
    for family, path in files:
        source = read_source(path)
        families.setdefault(family, []).extend(source.examples)
        removed["row that cannot be read"] += len(source.bad)
        hashes[f"{family}/{path.name}"] = _sha256(path)
    unknown = sorted(set(left_out) - set(families))
    if unknown:
        raise InputError(f"no data of a family {unknown[0]!r}; there are: {', '.join(sorted(families))}")
    barred = _Barred()
    for family in left_out:
        barred.add_examples(families.pop(family))
    for path in evaluation:
        barred.add_records(read_records(path))
        hashes[f"evaluation/{path.name}"] = _sha256(path)
    kept = {
        family: tuple(_kept(examples, barred, removed, share, seed)) for family, examples in families.items()
    }
    return ReaderData(kept, tuple(sorted(left_out)), hashes, dict(+removed))


def _kept(
    examples: Sequence[Example], barred: "_Barred", removed: Counter[str], share: float, seed: int
) -> Iterable[Example]:
    for example in examples:
        if not trains(example.question, share, seed):
            removed["outside the share"] += 1
        elif words(example.question) in barred.questions:
            removed["question of the evaluation"] += 1
        elif any(barred.shares(example.passages[place]) for place in example.support):
            removed["passage of the evaluation"] += 1
        else:
            yield _without(example, barred)


def _without(example: Example, barred: "_Barred") -> Example:
    """The example without distractors of the evaluation; places are counted anew."""
    stay = [k for k, p in enumerate(example.passages) if k in example.support or not barred.shares(p)]
    if len(stay) == len(example.passages):
        return example
    place = {old: new for new, old in enumerate(stay)}
    facts = tuple(
        replace(fact, passage=place[fact.passage]) for fact in example.facts if fact.passage in place
    )
    passages = tuple(example.passages[k] for k in stay)
    return replace(
        example, passages=passages, support=frozenset(place[k] for k in example.support), facts=facts
    )


class _Barred:
    """Questions and long sentences of what readers are to be measured on."""

    def __init__(self) -> None:
        self.questions: set[tuple[str, ...]] = set()
        self._sentences: set[int] = set()
        self._known: dict[str, bool] = {}

    def add_examples(self, examples: Iterable[Example]) -> None:
        for example in examples:
            self._add(example.question, example.passages)

    def add_records(self, records: Iterable[ContrastRecord]) -> None:
        for record in records:
            self._add(record.question, record.passages)

    def _add(self, question: str, passages: Sequence[Passage]) -> None:
        self.questions.add(words(question))
        for passage in passages:
            if passage.id not in self._known:
                self._known[passage.id] = True
                self._sentences.update(_long_sentences(passage.text))

    def shares(self, passage: Passage) -> bool:
        """Whether the passage has a long sentence of the evaluation."""
        if passage.id not in self._known:
            self._known[passage.id] = not self._sentences.isdisjoint(_long_sentences(passage.text))
        return self._known[passage.id]


def _long_sentences(text: str) -> set[int]:
    """Hashes of the sentences of eight words or more, and of the whole text."""
    found = {hash(part) for part in map(words, sentences(text)) if len(part) >= SENTENCE_WORDS}
    return found | {hash(words(text))}


def sentences(text: str) -> list[str]:
    """The text cut after full stops, question and exclamation marks before white space; nothing is lost."""
    found, start = [], 0
    for place in range(1, len(text)):
        if text[place].isspace() and text[place - 1] in _STOPS:
            found.append(text[start:place])
            start = place
    found.append(text[start:])
    return found


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
