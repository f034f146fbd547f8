"""What trained readers have learned from: no record of it may set their scale or a threshold."""

from collections.abc import Mapping
from dataclasses import dataclass

from ....policies.rinse.records import ContrastRecord
from ....tools.readers.adapted import provenance
from ...settings import RinseSettings
from .sources import trains


@dataclass(frozen=True, slots=True)
class Lesson:
    """The families that a reader was trained on, and the share of their questions, drawn by `seed`."""

    families: frozenset[str]
    share: float
    seed: int

    def holds(self, record: ContrastRecord) -> bool:
        """Whether the reader may have been trained on the record's question."""
        return record.family in self.families and trains(record.question, self.share, self.seed)


def lessons(settings: RinseSettings) -> Mapping[str, Lesson]:
    """The lesson of each trained reader that the settings name, the content reader's reranker among them.

    A model from elsewhere has none on record.
    """
    found = {}
    named = {"reranker": settings.reranker, "span": settings.span, "joint": settings.joint}
    for reader, model in named.items():
        told = provenance(model) if model else {}
        if told:
            families, training = frozenset(map(str, told["families"])), told["training"]
            found[reader] = Lesson(families, float(told["share"]), int(training["seed"]))
    return found
