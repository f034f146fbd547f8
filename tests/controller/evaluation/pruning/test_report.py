import pytest
from sufficit.controller.evaluation.pruning.report import pruning_grids, pruning_report, spearman
from sufficit.controller.evaluation.pruning.run import Cell, PruningRow


def test_spearman_with_ties():
    assert spearman([1, 2, 3], [10, 20, 90]) == pytest.approx(1.0)
    assert spearman([1, 2, 3], [9, 5, 1]) == pytest.approx(-1.0)
    # Ranks 1, 2.5, 2.5, 4 against 1, 3, 2, 4.
    assert spearman([1, 2, 2, 3], [1, 3, 2, 4]) == pytest.approx(0.9486833)
    assert spearman([1, 1], [1, 2]) is None
    assert spearman([1], [2]) is None


def test_one_passage_is_also_compared_with_the_retrievers_five():
    def cell(method, top_m, f1, tokens):
        return Cell(
            method=method, top_m=top_m, admitted=top_m, tokens=tokens, answer="Vell", f1=f1, ndcg=None
        )

    cells = (
        cell("retriever", 1, 0.0, 100),
        cell("igp(0)", 1, 1.0, 100),
        cell("retriever", 5, 0.5, 400),
        cell("igp(0)", 5, 0.5, 200),
    )
    rows = [PruningRow(question=f"{n}?", candidates=10, cells=cells) for n in range(3)]
    report = pruning_report(rows)
    assert [(line.method, line.saved, line.gain.value) for line in report.across] == [
        ("retriever", 0.75, -0.5),
        ("igp(0)", 0.75, 0.5),
    ]
    assert any("retriever at TopM = 5" in grid.title for grid in pruning_grids(report))
