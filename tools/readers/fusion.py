"""How passages that were each read beside the question come to be read together.

Every passage gives a few slots, each the mean of its token states under learned attention. The slots of all
passages then attend to each other, without any notion of order: what one passage says can change what
another counts for. A set's score is the same for every order of its passages.
"""

import torch
from torch import nn

SLOTS = 4
WIDTH = 128
LAYERS = 2


class Slots(nn.Module):
    """Token states (windows, tokens, width) to slots (windows, SLOTS, WIDTH)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(SLOTS, width) * width**-0.5)
        self.project = nn.Linear(width, WIDTH)
        self.slot = nn.Parameter(torch.randn(SLOTS, WIDTH) * 0.1)
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """`mask` (windows, tokens) is 1 where there is a token."""
        logits = torch.einsum("wtd,sd->wst", states, self.queries)
        logits = logits.masked_fill(mask[:, None, :] == 0, float("-inf"))
        means = torch.einsum("wst,wtd->wsd", logits.softmax(dim=-1), states)
        # The first slot is the state of the first token, which the encoder itself sums up in.
        means = torch.cat([states[:, :1], means[:, 1:]], dim=1)
        slots: torch.Tensor = self.norm(self.project(means) + self.slot)
        return slots


class Fusion(nn.Module):
    """Slots of a set's windows to one score."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            WIDTH, 4, 2 * WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
        self.attention = nn.Linear(WIDTH, 1)
        self.score = nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, 1))

    def forward(self, slots: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Shape (sets, slots of a set, WIDTH) and mask (sets, slots of a set) to scores (sets,)."""
        absent = mask == 0
        read = self.layers(slots, src_key_padding_mask=absent)
        weights = self.attention(read).squeeze(-1).masked_fill(absent, float("-inf")).softmax(dim=-1)
        mean = torch.einsum("ns,nsd->nd", weights, read)
        most = read.masked_fill(absent[..., None], float("-inf")).amax(dim=1)
        scores: torch.Tensor = self.score(torch.cat([mean, most], dim=-1)).squeeze(-1)
        return scores


def stack_sets(slots: torch.Tensor, sets: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Slots (windows, SLOTS, WIDTH) of the windows in each set, padded, with their mask."""
    longest = max(map(len, sets))
    places = torch.tensor([[*chosen, *[0] * (longest - len(chosen))] for chosen in sets], device=slots.device)
    sizes = torch.tensor([len(chosen) for chosen in sets], device=slots.device)
    mask = torch.arange(longest, device=slots.device)[None, :] < sizes[:, None]
    stacked = slots[places].flatten(1, 2)
    return stacked, mask.repeat_interleave(slots.shape[1], dim=1).long()
