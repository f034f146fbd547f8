"""Where an artifact comes from and what it was measured to do."""

import datetime

from pydantic import BaseModel, ConfigDict, Field

from .latent import LatentPrompt


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class AnswerThreshold(_Frozen):
    """The answer threshold of one set of readers, set on held-out groups (design: from score to action).

    `value` is the smallest score at which to answer such that (n · rate + 1) / (n + 1) <= `alpha`, where
    `insufficient_rate` is the rate of answering on insufficient evidence over `groups` = n held-out groups
    (a group's rate is the share of its insufficient records answered). `sufficient_rate` is what that leaves
    of answering on sufficient evidence, likewise averaged over groups.
    """

    value: float
    alpha: float = Field(gt=0, lt=1)
    groups: int = Field(gt=0)
    insufficient_rate: float = Field(ge=0, le=1)
    sufficient_rate: float = Field(ge=0, le=1)


class FamilyAccuracy(_Frozen):
    """Pairwise accuracy on one family that was left out of everything fitted; 95% group-bootstrap interval.

    `scorer` is a reader's name, or several joined by `+` for their sum.
    """

    family: str
    construction: str
    scorer: str
    groups: int
    pairs: int
    accuracy: float = Field(ge=0, le=1)
    low: float
    high: float


class PenaltyChoice(_Frozen):
    """How the content head did under one L2 penalty, on the training family on which it did worst.

    Each family was scored by a head fitted on the others; `loss` is the largest of their mean losses, log 2
    for guessing.
    """

    l2: float = Field(gt=0)
    loss: float = Field(ge=0)


class LayerChoice(_Frozen):
    """How one prompt did at every layer, 0 first: mean pairwise accuracy over training families.

    Each family was scored by the direction of the others.
    """

    prompt: LatentPrompt
    accuracies: tuple[float, ...]


class Provenance(_Frozen):
    """What was fitted, on what, when and with what.

    `data` maps each pair file's name to its SHA-256. `groups` and `records` count per family what entered the
    fit, of whose groups the share `held_out` set the threshold alone; `latent_records` counts those of them
    that the latent reader read. `left_out` lists the families kept away. `penalties` and `layers` are what
    the head's penalty and the latent reader's prompt and layer were chosen by. `accuracy` was measured by
    fitting again without each family. `calibrated_on` names the files, with their SHA-256, that `sufficit
    calibrate` has since set a threshold on.
    """

    data: dict[str, str]
    families: tuple[str, ...]
    left_out: tuple[str, ...]
    groups: dict[str, int]
    records: dict[str, int]
    latent_records: dict[str, int]
    held_out: float
    seed: int
    packages: dict[str, str]
    date: datetime.date
    penalties: tuple[PenaltyChoice, ...] = ()
    layers: tuple[LayerChoice, ...] = ()
    accuracy: tuple[FamilyAccuracy, ...] = ()
    calibrated_on: dict[str, str] = {}
