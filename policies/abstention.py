"""What happens when the evidence does not suffice: abstain, or answer from memory and say so.

Models are right in a third or more of the questions whose context is insufficient, so an answer from memory
can be worth giving; whoever gives it marks it as resting on no evidence.
"""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ..tools.normalisation import is_blank
from ..tools.types import Generation

OnInsufficient = Literal["abstain", "closed_book_if_confident", "closed_book"]


class AbstentionSettings(BaseModel):
    """Which of the three, and when the generator counts as confident.

    The two thresholds matter to `closed_book_if_confident` only; calibrate them on questions of the kind that
    will be asked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    on_insufficient: OnInsufficient = "abstain"
    max_uncertainty: float = Field(default=0.2, ge=0.0, le=1.0, description="largest NU(q) that is confident")
    min_logprob: float = Field(
        default=-0.5, le=0.0, description="least mean token log-probability that is confident, in nats"
    )


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether the closed-book answer may be given, and why; no reason where it was never asked for."""

    granted: bool
    reason: str


class ClosedBookRule:
    """Decides whether the closed-book answer may stand in for one from evidence."""

    def __init__(self, settings: AbstentionSettings) -> None:
        self._settings = settings

    def permits(self, direct: Generation | None, baseline: float | None) -> Permission:
        """May `direct` be given? `baseline` is NU(q) in [0, 1]; None stands for what could not be had.

        An empty answer never may. What was not measured, and NaN, is not confident.
        """
        settings = self._settings
        if settings.on_insufficient == "abstain":
            return Permission(False, "")
        if direct is None or is_blank(direct.text):
            return Permission(False, "There is no closed-book answer to give.")
        if settings.on_insufficient == "closed_book":
            return Permission(True, "The settings allow the closed-book answer; it rests on no evidence.")
        logprob = direct.mean_logprob
        if baseline is None or not baseline <= settings.max_uncertainty:
            return Permission(False, f"NU(q) = {_shown(baseline)} is above {settings.max_uncertainty:g}.")
        if logprob is None or not logprob >= settings.min_logprob:
            return Permission(
                False,
                f"The answer's mean log-probability = {_shown(logprob)} is under {settings.min_logprob:g}.",
            )
        return Permission(True, "The model is confident of its closed-book answer; it rests on no evidence.")


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"
