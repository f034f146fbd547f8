from sufficit.controller.evaluation.pruning.pruners import as_set, beyond, igp
from sufficit.policies.igp import GateSettings, IGPSettings

GATES = GateSettings(min_uncertainty=0.5)
OWN = IGPSettings(method="retriever", set_aware=True, gates=GATES)


def test_the_papers_rows_are_the_papers_whatever_the_settings_switch_on():
    chosen = igp(0.1).settings(OWN, 3)
    assert chosen == IGPSettings(threshold=0.1, top_m=3, near_duplicate=None, guard=False)


def test_as_set_changes_nothing_but_the_threshold_and_m():
    chosen = as_set(0.1).settings(OWN, 3)
    assert (chosen.method, chosen.threshold, chosen.top_m) == ("information_gain", 0.1, 3)
    assert (chosen.set_aware, chosen.guard, chosen.gates) == (True, True, GATES)


def test_each_row_beyond_the_paper_adds_what_its_name_says():
    paper = igp(0.1).settings(OWN, 5)
    rows = {method.name: method.settings(OWN, 5) for method in beyond(0.1)}
    assert list(rows) == [
        "igp(0.1) common horizon",
        "igp(0.1) near-duplicates",
        "igp(0.1) set-aware",
        "igp(0.1) guard",
        "igp(0.1) set-aware, guard",
        "igp(0.1) as set",
    ]
    assert rows["igp(0.1) near-duplicates"] == paper.model_copy(update={"near_duplicate": 0.9})
    assert rows["igp(0.1) set-aware, guard"] == paper.model_copy(update={"set_aware": True, "guard": True})
