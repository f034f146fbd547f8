import pytest
from fixed_probe import FixedProbe, ids
from sufficit.policies.igp import IGPSettings
from sufficit.policies.pruning import build_pruner
from sufficit.policies.types import SufficiencyReport
from sufficit.tools.types import Passage

TEXT = "the boat leaves the quay when the tide allows it and comes back with the next one"
PASSAGES = [Passage("a", TEXT), Passage("b", TEXT), Passage("c", "Snow."), Passage("d", "Rain.")]


class NeedsSnow:
    async def score(self, question, passages):
        held = {passage.id for passage in passages}
        return SufficiencyReport(1.0 if "c" in held else -1.0, 0.0, (), (), len(held))


@pytest.mark.parametrize(
    ("settings", "admitted"),
    [
        ({}, "ac"),
        ({"guard": False}, "a"),
        ({"guard": False, "near_duplicate": None}, "ab"),
        ({"guard": False, "set_aware": True}, "ad"),
        ({"guard": False, "gates": {"min_pass_rate": 0.9}}, "acd"),
        ({"guard": False, "method": "retriever"}, "acd"),
        ({"guard": False, "method": "retriever", "top_m": 1, "gates": {"min_pass_rate": 0.9}}, "a"),
    ],
)
async def test_every_part_can_be_switched(settings: dict[str, object], admitted: str) -> None:
    alone = {"a": 0.1, "b": 0.1, "c": 0.5, "d": 0.6}
    probe = FixedProbe({"": alone, "a": {"c": 0.2, "d": 0.05}, "ad": {"c": 0.2}})
    pruner = build_pruner(probe, NeedsSnow(), IGPSettings.model_validate(settings))
    assert ids((await pruner.prune("Why?", PASSAGES, 0.5)).admitted) == admitted
