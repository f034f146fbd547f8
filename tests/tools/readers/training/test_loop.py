import pytest
import torch
from sufficit.tools.errors import InputError, ModelOutputError
from sufficit.tools.readers.training import loop
from sufficit.tools.readers.training.loop import TrainSettings, train
from torch import nn


class Line:
    """Learns y = 2x from items of different lengths."""

    def __init__(self, items: int = 24) -> None:
        torch.manual_seed(0)
        self.module = self.encoder = nn.Linear(1, 1)
        self.xs = torch.linspace(-1, 1, items)[:, None]
        self.seen: list[list[int]] = []

    def __len__(self) -> int:
        return len(self.xs)

    def length(self, item: int) -> int:
        return item % 7

    def loss(self, items):
        self.seen.append(list(items))
        return ((self.module(self.xs[list(items)]) - 2 * self.xs[list(items)]) ** 2).mean()

    def head(self):
        return {}


SETTINGS = TrainSettings(steps=40, batch=4, rate=0.1)


def silent(done: int, total: int, loss: float) -> None:
    pass


def test_learns_and_repeats_exactly(tmp_path):
    first, second = Line(), Line()
    loss = train(first, SETTINGS, tmp_path / "a", "data", silent)
    assert loss < 0.05
    assert train(second, SETTINGS, tmp_path / "b", "data", silent) == loss
    assert first.seen == second.seen


def test_a_killed_run_ends_as_an_unbroken_one(tmp_path, monkeypatch):
    whole = Line()
    train(whole, SETTINGS, tmp_path / "whole", "data", silent)
    monkeypatch.setattr(loop, "SAVE_SECONDS", -1.0)

    def killed(done: int, total: int, loss: float) -> None:
        if done == 17:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(Line(), SETTINGS, tmp_path / "broken", "data", killed)
    resumed = Line()
    train(resumed, SETTINGS, tmp_path / "broken", "data", silent)
    assert len(resumed.seen) == 40 - 16
    assert torch.equal(resumed.module.weight, whole.module.weight)


def test_a_checkpoint_of_other_data_or_settings_is_refused(tmp_path):
    train(Line(), SETTINGS, tmp_path / "c", "data", silent)
    with pytest.raises(InputError, match="other data or settings"):
        train(Line(), SETTINGS, tmp_path / "c", "other data", silent)
    with pytest.raises(InputError, match="other data or settings"):
        train(Line(), TrainSettings(steps=41, batch=4, rate=0.1), tmp_path / "c", "data", silent)


@pytest.mark.parametrize("content", [b"", b"no checkpoint", b"PK\x03\x04"])
def test_a_damaged_checkpoint_is_named(tmp_path, content):
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(InputError, match="is no checkpoint, or damaged; delete it"):
        train(Line(), SETTINGS, tmp_path / "c", "data", silent)


def test_every_item_is_seen_once_a_pass(tmp_path):
    task = Line()
    train(task, TrainSettings(steps=12, batch=4), tmp_path / "c", "data", silent)
    for start in (0, 6):
        seen = [item for batch in task.seen[start : start + 6] for item in batch]
        assert sorted(seen) == list(range(24))
    assert task.seen[:6] != task.seen[6:]


def test_the_rate_rises_then_falls():
    rates = [loop._schedule(step, TrainSettings(steps=100, warmup=0.1)) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9] == 1.0 == max(rates)
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert 0 < rates[-1] < 0.02


def test_nothing_to_train_on_and_nan_are_errors(tmp_path):
    with pytest.raises(InputError, match="nothing to train on"):
        train(Line(0), SETTINGS, tmp_path / "a", "data", silent)
    broken = Line()
    torch.nn.init.constant_(broken.module.bias, float("nan"))
    with pytest.raises(ModelOutputError, match="loss is nan"):
        train(broken, SETTINGS, tmp_path / "b", "data", silent)
