"""Loads what a comparison of caches stands on, and says in the file's header what that was."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...build import sufficiency
from ...loading import load_readers
from ...settings import Settings
from ..contrasts.scorers import artifact_key
from .nodes import SWEPT, node_methods
from .rivals import Cosines, rivals
from .run import CachingHeader, Plan
from .stream import Event

RIVAL_LEVELS = 60
"""Thresholds of the similarity caches, which cost next to nothing."""


@dataclass(frozen=True, slots=True)
class LoadedBench:
    """A plan, and the header of the file that it writes."""

    plan: Plan
    header: CachingHeader


async def load_bench(settings: Settings, events: Sequence[Event], passages: int, levels: int) -> LoadedBench:
    """Load RINSE and the sentence encoder, which is RINSE's reranker, and encode the stream.

    Raises UsageError where something is missing or does not fit.
    """
    readers = load_readers(settings)
    similar = rivals(await Cosines.of(events, readers.reranker), passages)
    # The similarity caches come first: they take seconds, the node minutes.
    methods = (*similar, *node_methods(sufficiency(settings, readers), passages))
    swept = {method.name: RIVAL_LEVELS for method in similar if not method.fixed}
    plan = Plan(methods, {SWEPT: levels, **swept})
    decides = settings.rinse.model_dump_json() + artifact_key(readers.artifact)
    models = {"encoder of the cosines": readers.reranker.fingerprint}
    return LoadedBench(plan, plan.header(events, decides, models, passages))
