"""In which ways every question is run."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ....tools.errors import UsageError
from ...strategies.build import PIPELINES

CORRUPTION: Final = "corruption="
PIPELINE: Final = "pipeline="


@dataclass(frozen=True, slots=True)
class Plan:
    """At least one pipeline, the first of them the plain one, and shares of random passages in its pool.

    `passages` are asked of the retriever for a question; `seed` draws the random ones; `at_once` questions
    run together. Raises UsageError for a pipeline that there is not, a share outside [0, 1], or two
    shares that would have one name.
    """

    pipelines: tuple[str, ...] = ("rag",)
    shares: tuple[float, ...] = ()
    passages: int = 20
    seed: int = 17
    at_once: int = 1

    def __post_init__(self) -> None:
        for name in self.pipelines:
            if name not in PIPELINES:
                raise UsageError(f"there is no pipeline {name!r}; choose of {', '.join(PIPELINES)}")
        for share in self.shares:
            if not 0 <= share <= 1:
                raise UsageError(f"a share of random passages must lie in [0, 1], not be {share:g}")
        for one, other in pairwise(sorted(set(self.shares))):
            if f"{one:g}" == f"{other:g}":
                raise UsageError(f"the shares {one!r} and {other!r} are the same at six digits; give one")


@dataclass(frozen=True, slots=True)
class Trial:
    """A pipeline, the share of random passages in [0, 1], and its name in the rows, "" for the plain one."""

    variant: str
    pipeline: str
    share: float = 0.0


def plan_trials(plan: Plan) -> tuple[Trial, ...]:
    """The plain pipeline, then the others, then the plain one on pools corrupted by every share above 0."""
    first, *others = dict.fromkeys(plan.pipelines)
    return (
        Trial("", first),
        *(Trial(f"{PIPELINE}{name}", name) for name in others),
        *(Trial(f"{CORRUPTION}{share:g}", first, share) for share in sorted(set(plan.shares)) if share > 0),
    )
