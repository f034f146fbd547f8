"""What a node did, counted, and an estimate of how often it was wrong to serve what it held."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...policies.rinse.artifact import reader_set
from ...policies.rinse.provenance import AnswerThreshold
from ...policies.types import SufficiencyReport


@dataclass(frozen=True, slots=True)
class Counters:
    """Since the node was started; of all scopes together.

    `judged` lookups found passages to judge before any fetch. `fetches` were made; `shared` lookups missed
    and shared the fetch of another; `settled` ones missed without a fetch, for what one had brought for the
    same need did not suffice and is fresh. `swept` counts expired passages that sweeps deleted.
    `fetches_saved` = hits + shared: fetches without which a need was served, or shared another's fetch.
    `wrong_hits` estimates how many hits were wrong: `wrong_hit_estimate` where RINSE decides, else the share
    of them that the settings name; None where neither is known.
    """

    lookups: int = 0
    judged: int = 0
    hits: int = 0
    filled: int = 0
    misses: int = 0
    fetches: int = 0
    shared: int = 0
    settled: int = 0
    swept: int = 0
    fetches_saved: int = 0
    wrong_hits: float | None = None


def wrong_hit_estimate(judged: int, hits: int, threshold: AnswerThreshold | None) -> float | None:
    """How many of the hits were probably wrong: passages served that do not suffice.

    Of the `judged` lookups let I be those whose held passages did not suffice. On held-out records a share r
    (`insufficient_rate`) of such, and a share s (`sufficient_rate`) of the others, reaches the threshold, so
    hits = s (judged − I) + r I; the estimate is r I, with I solved for and kept within [0, judged]. Where
    s ≤ r the rates cannot tell the two apart, and it is the most it can be: the smaller of hits and r judged.
    It holds as far as the traffic is like the records that the threshold was calibrated on. None where the
    threshold in use is not a calibrated one.
    """
    if threshold is None:
        return None
    wrong, right = threshold.insufficient_rate, threshold.sufficient_rate
    if right <= wrong:
        return min(float(hits), wrong * judged)
    insufficient = (right * judged - hits) / (right - wrong)
    return min(float(hits), wrong * min(max(insufficient, 0.0), float(judged)))


def calibrated(
    report: SufficiencyReport, thresholds: Mapping[str, AnswerThreshold]
) -> AnswerThreshold | None:
    """The calibration of the threshold that a report used; None where the settings gave another."""
    found = thresholds.get(reader_set(score.reader for score in report.readers))
    return found if found is not None and found.value == report.threshold else None
