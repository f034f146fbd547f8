import pytest
from sufficit.controller.cache.counters import calibrated, wrong_hit_estimate
from sufficit.policies.rinse.provenance import AnswerThreshold
from sufficit.policies.types import ReaderScore, SufficiencyReport


def threshold(wrong: float, right: float, value: float = 1.0) -> AnswerThreshold:
    return AnswerThreshold(value=value, alpha=0.2, groups=50, insufficient_rate=wrong, sufficient_rate=right)


def test_the_estimate_finds_the_wrong_hits_that_the_rates_imply():
    # 100 judged, 40 of them insufficient: 0.1 * 40 + 0.5 * 60 = 34 hits, 4 of them wrong.
    assert wrong_hit_estimate(100, 34, threshold(0.1, 0.5)) == pytest.approx(4)


@pytest.mark.parametrize(
    ("judged", "hits", "rates", "expected"),
    [
        (100, 90, (0.1, 0.5), 0.0),  # more hits than even all sufficient would give
        (100, 1, (0.1, 0.5), 1.0),  # fewer than all insufficient would give: no more wrong ones than hits
        (100, 15, (0.2, 0.2), 15.0),  # rates that tell nothing apart: the most there can be
        (100, 30, (0.2, 0.1), 20.0),
        (0, 0, (0.1, 0.5), 0.0),
    ],
)
def test_the_estimate_stays_within_what_is_possible(judged, hits, rates, expected):
    assert wrong_hit_estimate(judged, hits, threshold(*rates)) == pytest.approx(expected)


def test_a_threshold_that_was_not_calibrated_gives_no_estimate():
    readers = (ReaderScore("joint", 0, 0, 0), ReaderScore("content", 0, 0, 0))
    found = threshold(0.1, 0.5, 1.5)
    assert calibrated(SufficiencyReport(2.0, 1.5, readers, (), 1), {"content+joint": found}) is found
    assert calibrated(SufficiencyReport(2.0, 1.4, readers, (), 1), {"content+joint": found}) is None
    assert calibrated(SufficiencyReport(2.0, 1.5, readers[:1], (), 1), {"content+joint": found}) is None
    assert wrong_hit_estimate(10, 5, None) is None
