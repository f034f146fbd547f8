import torch
from sufficit.tools.readers.fusion import SLOTS, WIDTH, Fusion, Slots, stack_sets


def test_a_sets_score_is_the_same_for_every_order():
    torch.manual_seed(0)
    fusion = Fusion().eval()
    slots = torch.randn(5, SLOTS, WIDTH)
    scores = fusion(*stack_sets(slots, [[0, 1, 2], [2, 0, 1], [0, 1, 3]]))
    assert torch.allclose(scores[0], scores[1], atol=1e-5)
    assert not torch.allclose(scores[0], scores[2], atol=1e-3)


def test_padding_does_not_reach_the_score():
    torch.manual_seed(0)
    fusion = Fusion().eval()
    slots = torch.randn(5, SLOTS, WIDTH)
    alone = fusion(*stack_sets(slots, [[0, 1]]))
    beside = fusion(*stack_sets(slots, [[0, 1], [0, 1, 2, 3, 4]]))
    assert torch.allclose(alone[0], beside[0], atol=1e-5)


def test_one_passage_changes_what_another_counts_for():
    """The score is no sum over passages: what 1 adds depends on whether 0 or 2 is there."""
    torch.manual_seed(0)
    fusion = Fusion().eval()
    slots = torch.randn(3, SLOTS, WIDTH)
    with_0, with_01, with_2, with_21 = fusion(*stack_sets(slots, [[0, 0], [0, 1], [2, 2], [2, 1]])).tolist()
    assert abs((with_01 - with_0) - (with_21 - with_2)) > 1e-3


def test_slots_do_not_see_padding():
    torch.manual_seed(0)
    slots = Slots(8)
    states = torch.randn(1, 6, 8)
    mask = torch.tensor([[1, 1, 1, 1, 0, 0]])
    changed = states.clone()
    changed[:, 4:] = 9.0
    assert torch.allclose(slots(states, mask), slots(changed, mask), atol=1e-6)
    assert torch.allclose(slots(states, mask), slots(states[:, :4], mask[:, :4]), atol=1e-6)
