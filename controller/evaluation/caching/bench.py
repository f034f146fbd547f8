"""Loads what a comparison of caches stands on, and says in the file's header what that was."""

from collections.abc import Sequence
from dataclasses import dataclass

from ....tools.errors import SettingsError
from ...build import sufficiency
from ...cache.opening import open_kept_for
from ...loading import load_readers
from ...settings import Settings
from ..contrasts.scorers import artifact_key
from .nodes import RINSE, node_methods
from .rivals import Cosines, decision, rivals
from .run import CachingHeader, Plan
from .stream import Event

RIVAL_LEVELS = 60
"""Thresholds of the decision and of the similarity caches, which cost next to nothing."""


@dataclass(frozen=True, slots=True)
class LoadedBench:
    """A plan, and the header of the file that it writes."""

    plan: Plan
    header: CachingHeader


async def load_bench(settings: Settings, events: Sequence[Event], passages: int, levels: int) -> LoadedBench:
    """Load RINSE and the sentence encoder, which is under RINSE's reranker, and encode the stream.

    Raises UsageError where something is missing or does not fit.
    """
    readers = load_readers(settings)
    kept_for = open_kept_for(settings, readers)
    if kept_for is None:
        raise SettingsError("the comparison needs a number for cache.alike; RINSE alone is compared as well")
    cosines = await Cosines.of(events, readers.whole_texts)
    similar = [decision(cosines, kept_for), *rivals(cosines, passages)]
    # These come first: they take seconds, the node minutes.
    methods = (*similar, *node_methods(sufficiency(settings, readers), passages, kept_for))
    swept = {method.name: RIVAL_LEVELS for method in similar if not method.fixed}
    plan = Plan(methods, {RINSE: levels, **swept})
    decides = f"{settings.rinse.model_dump_json()}{artifact_key(readers.artifact)}{settings.cache.alike}"
    models = {"encoder of the cosines": readers.whole_texts.fingerprint}
    return LoadedBench(plan, plan.header(events, decides, models, passages))
