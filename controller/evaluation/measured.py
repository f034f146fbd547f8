"""Accuracies measured elsewhere, to be recorded in an artifact."""

import json
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from ...policies.rinse.provenance import FamilyAccuracy
from ...tools.errors import InputError


class _Value(BaseModel):
    value: float = Field(ge=0, le=1)
    low: float
    high: float
    pairs: int
    groups: int


class _Set(BaseModel):
    scorer: str
    family: str
    construction: str
    accuracy: _Value
    seen: bool


class _Comparison(BaseModel):
    sets: list[_Set]


def read_accuracies(file: Path) -> tuple[FamilyAccuracy, ...]:
    """What `contrasts ablate --json` printed for scorers of which none has seen the family that it scored.

    Raises InputError for a file that is none, and for a scorer that has seen its family.
    """
    try:
        found = _Comparison.model_validate(json.loads(file.read_text("utf-8"))).sets
    except (OSError, ValueError, ValidationError) as error:
        raise InputError(f"{file} is not what `sufficit contrasts ablate --json` prints") from error
    seen = next((each for each in found if each.seen), None)
    if seen:
        raise InputError(
            f"in {file} what scored {seen.family} was fitted or trained on it; use one that was not"
        )
    return tuple(
        FamilyAccuracy(
            family=each.family,
            construction=each.construction,
            scorer=each.scorer,
            groups=each.accuracy.groups,
            pairs=each.accuracy.pairs,
            accuracy=each.accuracy.value,
            low=each.accuracy.low,
            high=each.accuracy.high,
        )
        for each in found
    )
