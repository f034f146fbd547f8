"""The pruner that the settings describe, put together from its parts."""

from .gates import Gated
from .guard import Guarded
from .igp import IGP, IGPSettings, Probe
from .near_duplicates import Deduplicated
from .rerank import RetrieverOrder
from .set_aware import SetAwareIGP
from .types import Pruner, Sufficiency


def build_pruner(probe: Probe, sufficiency: Sufficiency, settings: IGPSettings) -> Pruner:
    """IGP behind its gates, or the retriever's order, after near-duplicates are out, under the guard."""
    if settings.method == "retriever":
        pruner: Pruner = RetrieverOrder(probe, settings)
    else:
        pruner = SetAwareIGP(probe, settings) if settings.set_aware else IGP(probe, settings)
        pruner = Gated(pruner, probe, settings)
    if settings.near_duplicate is not None:
        pruner = Deduplicated(pruner, probe, settings.near_duplicate)
    return Guarded(pruner, sufficiency, settings) if settings.guard else pruner
