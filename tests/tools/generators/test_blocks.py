from types import SimpleNamespace

import pytest
import torch
from sufficit.tools.generators.blocks import final_states


class Doubling(torch.nn.Module):
    """A block that doubles, as the first of a tuple where a model wants one."""

    def __init__(self, in_tuple):
        super().__init__()
        self.in_tuple, self.runs = in_tuple, 0

    def forward(self, hidden_states):
        self.runs += 1
        doubled = hidden_states * 2
        return (doubled, None) if self.in_tuple else doubled


class Base(torch.nn.Module):
    """Two columns of width one, three blocks, and a norm that takes ten off; beside them a list of heads."""

    def __init__(self, in_tuple=False, by_name=False):
        super().__init__()
        self.heads = torch.nn.ModuleList([torch.nn.Identity() for _ in range(4)])
        self.blocks = torch.nn.ModuleList([Doubling(in_tuple) for _ in range(3)])
        self.by_name = by_name
        text = SimpleNamespace(num_hidden_layers=3)
        self.config = SimpleNamespace(get_text_config=lambda: text)

    def forward(self, found):
        for block in self.blocks:
            found = block(hidden_states=found) if self.by_name else block(found)
            found = found[0] if isinstance(found, tuple) else found
        return SimpleNamespace(last_hidden_state=found - 10)


ROWS = torch.tensor([[[7.0], [1.0]], [[7.0], [3.0]]], dtype=torch.float64)


@pytest.mark.parametrize("in_tuple", [True, False])
@pytest.mark.parametrize("by_name", [True, False])
def test_layers_are_the_last_columns_in_the_order_asked_for(in_tuple, by_name):
    base = Base(in_tuple, by_name)
    found = final_states(base, [3, 0, 1, 2, 0], lambda: base(ROWS))
    assert (found.shape, found.dtype) == ((5, 2, 1), torch.float32)
    # The last layer is what the model returns, after its norm.
    assert found[:, :, 0].tolist() == [[-2.0, 14.0], [1.0, 3.0], [2.0, 6.0], [4.0, 12.0], [1.0, 3.0]]


@pytest.mark.parametrize(("layers", "ran"), [([0], 0), ([1], 1), ([2, 0], 2), ([0, 3], 3)])
def test_blocks_after_the_deepest_layer_do_not_run(layers, ran):
    base = Base()
    final_states(base, layers, lambda: base(ROWS))
    assert sum(block.runs for block in base.blocks) == ran


def test_the_model_is_as_before_even_after_an_error():
    base = Base()

    def fail():
        base(ROWS)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        final_states(base, [3], fail)
    assert base(ROWS).last_hidden_state[0, -1, 0] == -2.0
    assert final_states(base, [1], lambda: base(ROWS)).shape == (1, 2, 1)
