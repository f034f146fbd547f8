import pytest
from streams import event
from sufficit.controller.evaluation.caching.plot import plot_caching
from sufficit.controller.evaluation.caching.report import caching_grids, caching_report
from sufficit.controller.evaluation.caching.run import CachingRow
from sufficit.tools.errors import InputError

EVENTS = [
    event(n, f"Question {n}?", "alps", "alps", need=f"n{n // 4}", kind="first" if n % 4 == 0 else "repeat")
    for n in range(80)
]


def row(method: str, threshold: float | None, pattern: str) -> CachingRow:
    """`pattern`, of f, r and w, over and over."""
    names = {"f": "fetch", "r": "right", "w": "wrong"}
    outcomes = tuple(names[pattern[n % len(pattern)]] for n in range(80))
    return CachingRow(method=method, threshold=threshold, scores=(0.5,) * 80, outcomes=outcomes)


ROWS = [
    row("sufficit", None, "f"),
    row("sufficit", 0.1, "frrw"),  # 3 of 4 saved, a third of them wrong
    row("sufficit", 0.2, "frrf"),  # half saved, none wrong
    row("sufficit", 0.3, "frff"),
    row("cosine", None, "f"),
    row("cosine", 0.7, "rrrw"),
    row("cosine", 0.9, "frff"),
    row("always wrong", None, "fwww"),
]


@pytest.fixture(scope="module")
def report():
    return caching_report(EVENTS, ROWS)


def lines(report):
    return {line.method: line for line in report.lines}


def test_the_best_point_saves_most_at_few_enough_wrong_hits(report):
    node, cosine = lines(report)["sufficit"], lines(report)["cosine"]
    assert (node.best.threshold, node.best.saved.value, node.best.wrong.value) == (0.2, 0.5, 0.0)
    assert (cosine.best.threshold, cosine.best.saved.value) == (0.9, 0.25)
    assert lines(report)["always wrong"].best is None
    assert node.difference is None
    assert cosine.difference.value == pytest.approx(-0.25)
    assert cosine.difference.excludes_zero


def test_every_point_has_its_shares_with_intervals(report):
    points = {point.threshold: point for point in lines(report)["sufficit"].points}
    assert points[0.1].saved.value == 0.75
    assert points[0.1].wrong.value == pytest.approx(1 / 3)
    assert points[None].saved.value == points[None].wrong.value == 0.0
    # Every group is alike, so no draw differs.
    assert points[0.1].wrong.low == pytest.approx(points[0.1].wrong.high)


def test_held_out_thresholds_are_chosen_on_the_other_groups():
    # Right in the first half of the groups, wrong in the second: what one half chooses fails in the other.
    from sufficit.controller.evaluation.stable import stable_id

    first = [int(stable_id(e.drawn_with), 16) % 2 == 0 for e in EVENTS]
    assert 0 < sum(first) < len(EVENTS)
    mixed = CachingRow(
        method="sufficit",
        threshold=0.5,
        scores=(0.5,) * 80,
        outcomes=tuple("right" if flag else "wrong" for flag in first),
    )
    line = caching_report(EVENTS, [mixed]).lines[0]
    assert line.best is None
    assert line.held_out_wrong == 1.0
    assert line.held_out_saved == pytest.approx(1 - sum(first) / len(EVENTS))


def test_hits_are_told_by_kind_of_event(report):
    assert report.kinds == {"first": 20, "repeat": 60}
    assert lines(report)["sufficit"].kinds == {"first": (0, 0), "repeat": (40, 0)}


def test_tables_and_plot(report, tmp_path):
    best, by_kind = caching_grids(report)
    assert best.rows[0][:4] == ("sufficit", "0.200", "0.500 [0.500, 0.500]", "0.000 [0.000, 0.000]")
    assert best.rows[2][:3] == ("always wrong", "none", "0.000")
    assert by_kind.header == ("method", "first (20)", "repeat (60)")
    plot_caching(report, tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_text().startswith("<?xml")


def test_rows_of_another_stream_are_refused():
    with pytest.raises(InputError, match="not of this stream"):
        caching_report(EVENTS[:5], ROWS)
    with pytest.raises(InputError, match="go on with it"):
        caching_report(EVENTS, [ROWS[4]])
