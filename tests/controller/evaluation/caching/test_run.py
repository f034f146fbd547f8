import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from streams import event
from sufficit.controller.evaluation.caching.asking import Asked, Cache, Method, fetched
from sufficit.controller.evaluation.caching.run import CachingHeader, Plan, levels, run_stream
from sufficit.tools.errors import InputError

EVENTS = [event(n, f"Question {n}?", "alps", "alps" if n % 2 else "", need=f"n{n}") for n in range(6)]


class Scored:
    """Judges event n by n / 10, and serves from the threshold on."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    async def ask(self, event) -> Asked:
        score = event.time / 10 if event.time else None
        hit = score is not None and score >= self.threshold
        return Asked(score, tuple(fetched(event)) if hit else None)


class Counted:
    def __init__(self, fixed: bool = False) -> None:
        self.opened: list[float] = []
        self.method = Method("fixed" if fixed else "scored", fixed, self.open)

    @contextmanager
    def open(self, threshold: float) -> Iterator[Cache]:
        self.opened.append(threshold)
        yield Scored(0.0 if self.method.fixed else threshold)


def plan(*methods: Counted) -> tuple[Plan, CachingHeader]:
    found = Plan(tuple(m.method for m in methods), {"scored": 3})
    return found, found.header(EVENTS, "settings", {}, 8)


async def run(path, *methods: Counted):
    chosen, header = plan(*methods)
    seen = []
    rows = await run_stream(chosen, EVENTS, header, path, lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]
    return rows


async def test_thresholds_are_quantiles_of_what_a_method_judged_by(tmp_path):
    swept, fixed = Counted(), Counted(fixed=True)
    rows = await run(tmp_path / "r.jsonl", swept, fixed)
    assert [(row.method, row.threshold) for row in rows] == [
        ("scored", None), ("scored", 0.5), ("scored", 0.3), ("scored", 0.1), ("fixed", None)
    ]  # fmt: skip
    assert swept.opened == [float("inf"), 0.5, 0.3, 0.1]
    assert [row.outcomes.count("fetch") for row in rows] == [6, 5, 3, 1, 1]
    assert rows[3].outcomes == ("fetch", "right", "wrong", "right", "wrong", "right")
    assert rows[0].scores == (None, 0.1, 0.2, 0.3, 0.4, 0.5)


async def test_a_killed_run_goes_on_and_a_finished_one_is_read_back(tmp_path):
    path = tmp_path / "r.jsonl"
    whole = await run(path, Counted())
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    rest = Counted()
    assert await run(path, rest) == whole
    assert rest.opened == [0.3, 0.1]
    none = Counted()
    assert await run(path, none) == whole
    assert none.opened == []


async def test_another_runs_file_is_left_alone(tmp_path):
    path = tmp_path / "r.jsonl"
    await run(path, Counted())
    before = path.read_bytes()
    chosen, header = plan(Counted())
    other = header.model_copy(update={"settings": "x"})
    with pytest.raises(InputError, match="settings differ"):
        await run_stream(chosen, EVENTS, other, path, lambda done, total: None)
    assert path.read_bytes() == before
    assert json.loads(before.splitlines()[0])["levels"] == {"scored": 3}


def test_levels_are_scores_that_occurred_each_once():
    assert levels([None, 0.5, 0.5, None, 0.5], 4) == [0.5]
    assert levels([None, None], 4) == []
    assert levels([0.1 * n for n in range(11)], 3) == [0.0, 0.5, 1.0]
