import random
from dataclasses import replace

import pytest
from sufficit.controller.evaluation.arbitration.calibration import (
    PUBLISHED,
    TAUS,
    Setting,
    SettingGrid,
    calibrate,
)
from sufficit.controller.evaluation.arbitration.rows import ArbitrationRow
from sufficit.policies.trustmargin import TrustMarginSettings, verdict_by_margin, verdict_without_scoring
from sufficit.policies.types import Likelihoods
from sufficit.tools.errors import InputError

SETTINGS = TrustMarginSettings()


def row(number, prior, binding, rag_is_right, **changes):
    """M_prior and M_bind as told; exactly one of both answers is right."""
    views = Likelihoods(0.0, prior, 0.0, binding, 0.0, 0.0)
    values = {
        "id": str(number),
        "question": "Where?",
        "answers": ("Oslo",),
        "direct": "Bergen" if rag_is_right else "Oslo",
        "rag": "Oslo" if rag_is_right else "Bergen",
    }
    verdict = verdict_by_margin(views, values["direct"], values["rag"], SETTINGS)
    return ArbitrationRow(**(values | {"verdict": verdict} | changes))


def separable(count, tau, seed=0):
    """RAG is right exactly where M_prior is above tau; M_bind is noise."""
    draws = random.Random(seed)
    margins = [draws.uniform(tau - 4, tau + 4) for _ in range(count)]
    return [row(n, m, draws.uniform(-8, 8), m > tau) for n, m in enumerate(margins)]


def test_the_setting_that_separates_is_found_and_its_gain_is_shown_on_held_out_questions():
    found = calibrate(separable(200, -4.25), "F1", SettingGrid(), 5, 17)
    assert found.setting.weight == 0.0
    assert found.setting.tau in {-4.5, -4.0}
    assert found.held_out > 0.9
    assert found.held_out - found.published == pytest.approx(found.gain.value)
    assert found.gain.low > 0.1
    assert (found.labelled, found.deciding, found.oracle, found.at_edge) == (200, 200, 1.0, False)
    assert found.direct + found.rag == pytest.approx(1.0)
    assert sum(fold.questions for fold in found.folds) == 200
    assert found.held_out == pytest.approx(sum(f.questions * f.grade for f in found.folds) / 200)


def test_margins_that_say_nothing_gain_nothing_when_held_out():
    draws = random.Random(3)
    rows = [row(n, draws.gauss(0, 3), draws.gauss(0, 3), draws.random() < 0.5) for n in range(150)]
    found = calibrate(rows, "F1", SettingGrid(), 5, 17)
    # The best of the whole grid looks better than it is; held-out questions tell.
    assert max(cell.f1 for cell in found.cells) > found.held_out
    assert found.gain.low < 0 < found.gain.high


def test_ties_go_to_the_setting_nearest_the_published_one():
    # RAG is right wherever there is a choice, by margins no setting of the grid can miss.
    rows = [row(n, 50.0, 50.0, True) for n in range(60)]
    found = calibrate(rows, "EM", SettingGrid(), 5, 17)
    assert found.setting == PUBLISHED
    assert {fold.setting for fold in found.folds} == {PUBLISHED}
    assert (found.gain.value, found.gain.low, found.gain.high) == (0.0, 0.0, 0.0)


def test_settings_are_ordered_by_their_distance_from_the_published_one():
    grid = SettingGrid((0.0, 0.5, 1.0), (-2.0, -1.5))
    assert grid.settings[:2] == [Setting(0.5, -1.5), Setting(0.0, -1.5)]
    assert grid.settings[-1] == Setting(1.0, -2.0)
    assert PUBLISHED.tau in TAUS


@pytest.mark.parametrize(
    ("grid", "setting", "at_edge"),
    [
        (SettingGrid((0.0, 1.0), (-2.0, -1.0, 0.0)), Setting(0.0, -1.0), False),
        (SettingGrid((0.0, 1.0), (-2.0, -1.0, 0.0)), Setting(1.0, -1.0), True),
        (SettingGrid((0.0, 1.0), (-2.0, -1.0, 0.0)), Setting(0.0, -2.0), True),
        (SettingGrid((0.5,), (-2.0, -1.0, 0.0)), Setting(0.5, -1.0), False),
        (SettingGrid((0.0, 1.0), (-1.5,)), Setting(0.0, -1.5), False),
    ],
)
def test_the_edges_of_a_grid(grid, setting, at_edge):
    assert grid.at_edge(setting) == at_edge


def test_the_order_of_rows_and_what_has_no_gold_answer_change_nothing():
    rows = separable(80, -3.25)
    unlabelled = [one.model_copy(update={"id": f"u{one.id}", "answers": ()}) for one in rows[:20]]
    found = calibrate(rows, "F1", SettingGrid(), 4, 1)
    assert calibrate([*unlabelled, *reversed(rows)], "F1", SettingGrid(), 4, 1) == found
    assert calibrate(rows, "F1", SettingGrid(), 4, 2).folds != found.folds


def test_failed_questions_stay_in_the_denominator():
    rows = separable(60, -3.25)
    failed = [one.model_copy(update={"id": f"f{one.id}", "verdict": None, "error": "gone"}) for one in rows]
    found = calibrate([*rows, *failed], "F1", SettingGrid(), 5, 17)
    assert (found.labelled, found.failed, found.oracle) == (120, 60, 0.5)


def test_too_few_labelled_questions_are_refused():
    rows = [one.model_copy(update={"answers": ()}) for one in separable(70, -3)]
    with pytest.raises(InputError, match="49 of 70 questions have gold answers; to calibrate takes 50"):
        calibrate([*separable(49, -3), *rows[49:]], "F1", SettingGrid(), 5, 17)


def test_too_few_questions_on_which_the_choice_matters_are_refused():
    agreed = replace(verdict_without_scoring([object()], "Oslo", "Oslo", SETTINGS))
    same = [row(n, 0, 0, True, direct="Oslo", verdict=agreed) for n in range(100, 160)]
    with pytest.raises(InputError, match="only on 9 of 69 labelled questions has one answer the better F1"):
        calibrate([*separable(9, -3), *same], "F1", SettingGrid(), 5, 17)
