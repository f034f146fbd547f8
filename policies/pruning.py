"""The pruner that the settings describe, put together from its parts."""

from .gates import Gated
from .guard import Guarded
from .igp import IGP, IGPSettings, Probe
from .near_duplicates import Deduplicated
from .set_aware import SetAwareIGP
from .types import Pruner, Sufficiency


def build_pruner(probe: Probe, sufficiency: Sufficiency, settings: IGPSettings) -> Pruner:
    """IGP behind its gates, after near-duplicates are out, under the sufficiency guard."""
    pruner: Pruner = SetAwareIGP(probe, settings) if settings.set_aware else IGP(probe, settings)
    pruner = Gated(pruner, probe, settings)
    if settings.near_duplicate is not None:
        pruner = Deduplicated(pruner, probe, settings.near_duplicate)
    return Guarded(pruner, sufficiency, settings) if settings.guard else pruner
