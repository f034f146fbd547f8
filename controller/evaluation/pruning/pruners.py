"""The ways of pruning that `sufficit eval igp` compares: IGP, what goes beyond it, and its rivals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....policies.igp import GateSettings, IGPSettings
from ....policies.probing import RolloutProbe
from ....policies.pruning import build_pruner
from ....policies.rerank import RELEVANCE_TEMPLATE, Reranked, RetrieverOrder
from ....policies.scorers.cosine import Cosine
from ....policies.scorers.types import Scorer
from ....policies.scorers.upr import UPR
from ....policies.scorers.yes_no import YesNo
from ....policies.types import Pruner, Sufficiency
from ....tools.protocols import Generator, Reranker

REFERENCE = "retriever"
"""What all others are compared with: the first candidates in the order in which they were found."""

_PAPER: dict[str, Any] = {
    "method": "information_gain",
    "near_duplicate": None,
    "set_aware": False,
    "guard": False,
    "common_horizon": False,
    "gates": GateSettings(),
}


@dataclass(frozen=True, slots=True)
class Models:
    """What the methods stand on besides the generator. Without `cross_encoder` that rival is left out."""

    sufficiency: Sufficiency
    bi_encoder: Reranker
    cross_encoder: Reranker | None = None


Build = Callable[[RolloutProbe, Generator, Models, IGPSettings], Pruner]


@dataclass(frozen=True, slots=True)
class Method:
    """One way of pruning: its name in reports, how it is built, and the settings that it changes."""

    name: str
    build: Build
    changes: Mapping[str, Any] = field(default_factory=lambda: _PAPER)

    def settings(self, settings: IGPSettings, top_m: int) -> IGPSettings:
        """These settings with the method's changes and M."""
        return settings.model_copy(update={**self.changes, "top_m": top_m})


def _pruned(probe: RolloutProbe, _: Generator, models: Models, settings: IGPSettings) -> Pruner:
    return build_pruner(probe, models.sufficiency, settings)


def _retriever(probe: RolloutProbe, _: Generator, __: Models, settings: IGPSettings) -> Pruner:
    return RetrieverOrder(probe, settings)


def _rival(scorer: Callable[[Generator, Models], Scorer]) -> Build:
    def build(probe: RolloutProbe, generator: Generator, models: Models, settings: IGPSettings) -> Pruner:
        return Reranked(scorer(generator, models), probe, settings)

    return build


def rivals(models: Models) -> list[Method]:
    """The retriever's order and the rerankers of IGP Table 3, as far as their models are there."""
    found = [
        Method(REFERENCE, _retriever),
        Method("bi-encoder", _rival(lambda _, given: Cosine(given.bi_encoder))),
        Method("yes-no", _rival(lambda generator, _: YesNo(generator, RELEVANCE_TEMPLATE))),
        Method("qlm", _rival(lambda generator, _: UPR(generator))),
    ]
    cross_encoder = models.cross_encoder
    if cross_encoder is not None:
        found.insert(1, Method("cross-encoder", _rival(lambda *_: Cosine(cross_encoder))))
    return found


def igp(threshold: float, top_k: int | None = None, max_tokens: int | None = None) -> Method:
    """The paper's IGP at T_p, with K and MT where they are not the settings'; at -inf it only reranks."""
    changes = _PAPER | {"threshold": threshold}
    name = "ig" if threshold == float("-inf") else f"igp({threshold:g})"
    if top_k is not None and max_tokens is not None:
        changes |= {"top_k": top_k, "max_tokens": max_tokens}
        name += f" K={top_k} MT={max_tokens}"
    return Method(name, _pruned, changes)


def as_set(threshold: float) -> Method:
    """IGP at T_p with everything else as the settings have it."""
    changes = {"method": "information_gain", "threshold": threshold}
    return Method(f"igp({threshold:g}) as set", _pruned, changes)


def beyond(threshold: float) -> list[Method]:
    """IGP at T_p with what goes beyond the paper, one thing at a time, and with what the settings have on."""
    parts: dict[str, dict[str, Any]] = {
        "common horizon": {"common_horizon": True},
        "near-duplicates": {"near_duplicate": IGPSettings().near_duplicate},
        "set-aware": {"set_aware": True},
        "guard": {"guard": True},
        "set-aware, guard": {"set_aware": True, "guard": True},
    }
    alone = [
        Method(f"igp({threshold:g}) {name}", _pruned, {**_PAPER, "threshold": threshold, **changes})
        for name, changes in parts.items()
    ]
    return [*alone, as_set(threshold)]


def paper_methods(models: Models, thresholds: Sequence[float]) -> list[Method]:
    """The rows of IGP Table 4: rivals, IG order, IGP at every threshold; what goes beyond, at the last."""
    levels = [igp(float("-inf")), *map(igp, thresholds)]
    return [*rivals(models), *levels, *beyond(thresholds[-1])]
