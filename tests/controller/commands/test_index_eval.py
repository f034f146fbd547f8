from pathlib import Path

import pytest
from index_commands import run, run_json
from sufficit.tools.errors import InputError, StorageError


def test_eval_reports_measures_and_writes_the_run(corpus: Path, index: Path, tmp_path: Path):
    pytest.importorskip("ir_measures")
    (tmp_path / "q").write_text('{"_id": "1", "text": "ships"}\n{"_id": "2", "text": "zyzzyva"}\n')
    (tmp_path / "qrels").write_text("query-id\tcorpus-id\tscore\n1\th\t1\n2\tl\t1\n")
    given = ("eval", "--index", index, "--queries", tmp_path / "q", "--qrels", tmp_path / "qrels")
    report = run_json(*given, "--k", 3, "--k", 1, "--run", tmp_path / "run")
    assert report["questions"] == 2
    assert report["measures"] == dict.fromkeys(
        ("recall@1", "recall@3", "ndcg@1", "ndcg@3", "mrr@1", "mrr@3"), 0.5
    )
    [line] = (tmp_path / "run").read_text().splitlines()
    assert line.startswith("1 Q0 h 1 ")
    assert "recall@20    0.500" in run(*given).stdout
    # An index fused with itself finds the same.
    assert run_json(*given, "--index", index)["measures"]["recall@5"] == 0.5


@pytest.fixture
def judged(index: Path, tmp_path: Path) -> tuple[object, ...]:
    pytest.importorskip("ir_measures")
    (tmp_path / "q").write_text('{"_id": "1", "text": "ships"}\n{"_id": "2", "text": "lamp"}\n')
    (tmp_path / "qrels").write_text("1 0 h 1\n2 0 l 1\n")
    return "eval", "--qrels", tmp_path / "qrels", "--queries", tmp_path / "q", "--index", index


def test_a_run_is_measured_without_an_index(judged: tuple[object, ...], tmp_path: Path):
    searched = run_json(*judged, "--run", tmp_path / "run")
    measured = run_json(*judged[:3], "--run-in", tmp_path / "run")
    assert measured == {**searched, "median_ms": None}
    (tmp_path / "foreign").write_text("1 Q0 x 1 9 bm25\n1 Q0 h 2 8 bm25\n")  # finds nothing for question 2
    assert run_json(*judged[:3], "--run-in", tmp_path / "foreign")["measures"]["mrr@5"] == 0.25
    assert "recall@5     0.500\n" in run(*judged[:3], "--run-in", tmp_path / "foreign").stdout
    for wrong in ((*judged, "--run-in", tmp_path / "run"), judged[:3]):
        assert isinstance(run(*wrong, fails=True).exception, InputError)


def test_a_run_that_cannot_be_written_is_refused_before_the_searches(
    judged: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def never(*_: object) -> None:
        raise AssertionError("searched")

    monkeypatch.setattr("sufficit.controller.commands.index_eval.retriever_of", never)
    for place in (tmp_path, tmp_path / "none" / "run", tmp_path / "q" / "run"):
        assert isinstance(run(*judged, "--run", place, fails=True).exception, StorageError)
    (tmp_path / "qrels").write_text("1\ta harbour\t1\n")
    failed = run(*judged, "--run", tmp_path / "run", fails=True).exception
    assert isinstance(failed, InputError)
    assert "'a harbour'" in str(failed)


def test_a_document_that_a_run_cannot_hold_stops_at_once(
    judged: tuple[object, ...], corpus: Path, index: Path, tmp_path: Path
):
    corpus.write_text('{"id": "two ships", "text": "Ships."}\n')
    run("add", corpus, "--index", index)
    assert isinstance(run(*judged, "--run", tmp_path / "run", fails=True).exception, InputError)
    assert not (tmp_path / "run").exists()
    assert run_json(*judged)["questions"] == 2


def test_the_measures_are_shown_before_the_run_is_written(
    judged: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise StorageError("disk full")

    monkeypatch.setattr("sufficit.controller.commands.index_eval.write_run", full)
    failed = run(*judged, "--run", tmp_path / "run", fails=True)
    assert isinstance(failed.exception, StorageError)
    assert "mrr@20" in failed.stdout
