from pathlib import Path

import pytest
from sufficit.tools.errors import InputError, StorageError
from sufficit.tools.retrievers.trec import ranked_documents, read_qrels, read_queries, read_run, write_run
from sufficit.tools.types import Passage


def test_a_run_comes_back_as_it_went_out(tmp_path: Path):
    rankings = {"q1": {"d/2": 0.1 + 0.2, "d1": 1e-9, "é": -3.0}, "q2": {"d1": 1.0}}
    write_run(tmp_path / "run", rankings, tag="mine")
    assert (tmp_path / "run").read_text().splitlines()[0] == "q1 Q0 d/2 1 0.30000000000000004 mine"
    found = read_run(tmp_path / "run")
    assert found == rankings
    assert [list(ranking) for ranking in found.values()] == [["d/2", "d1", "é"], ["d1"]]


def test_a_run_of_others_is_sorted_by_score(tmp_path: Path):
    (tmp_path / "run").write_text("q\tQ0\ta\t1\t1.5\tx\nq Q0 b 2 2.5 x\n\n")
    assert list(read_run(tmp_path / "run")["q"].items()) == [("b", 2.5), ("a", 1.5)]


@pytest.mark.parametrize("line", ["q Q0 d 1 1.0", "q Q0 d 1 high tag", "q Q0 d x 1 1.0 tag"])
def test_what_is_no_run(tmp_path: Path, line: str):
    (tmp_path / "run").write_text(f"q Q0 d 1 1.0 t\n{line}\n")
    with pytest.raises(InputError, match="run:2 is no line of a run"):
        read_run(tmp_path / "run")


def test_ids_with_white_space_cannot_be_written(tmp_path: Path):
    (tmp_path / "run").write_text("old")
    with pytest.raises(InputError, match="white space"):
        write_run(tmp_path / "run", {"q": {"a b": 1.0}})
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]
    with pytest.raises(StorageError, match="cannot be written"):
        write_run(tmp_path / "none" / "run", {"q": {"a": 1.0}})


@pytest.mark.parametrize(
    "text",
    [
        "query-id\tcorpus-id\tscore\nq\td 1\t2\nq\te\t0\n",
        "q\td 1\t2\nq\te\t0\n",
        "q\t0\td 1\t2\nq\t0\te\t0\n",
        "\ufeffquery-id\tcorpus-id\tscore\r\nq\td 1\t2\r\nq\te\t0\r\n",
    ],
)
def test_judgements_in_either_format(tmp_path: Path, text: str):
    (tmp_path / "qrels").write_text(text)
    assert read_qrels(tmp_path / "qrels") == {"q": {"d 1": 2, "e": 0}}


def test_judgements_with_spaces_between(tmp_path: Path):
    (tmp_path / "qrels").write_text("301 0 FBIS3-10082 1\n301  0  x  -1\n")
    assert read_qrels(tmp_path / "qrels") == {"301": {"FBIS3-10082": 1, "x": -1}}


@pytest.mark.parametrize(
    ("text", "what"),
    [("q\td\t1\nq\td\n", "qrels:2 is no judgement"), ("", "no judgements"), ("a b c\n", "no judgements")],
)
def test_what_is_no_judgement(tmp_path: Path, text: str, what: str):
    (tmp_path / "qrels").write_text(text)
    with pytest.raises(InputError, match=what):
        read_qrels(tmp_path / "qrels")


def test_queries(tmp_path: Path):
    (tmp_path / "queries").write_text(
        '{"_id": 7, "text": "Who?", "metadata": {}}\n\n{"_id": "b", "text": "What?"}\n'
    )
    assert read_queries(tmp_path / "queries") == {"7": "Who?", "b": "What?"}
    (tmp_path / "queries").write_text('{"_id": 7}\n')
    with pytest.raises(InputError, match="queries:1 is no query"):
        read_queries(tmp_path / "queries")
    with pytest.raises(InputError, match="cannot be read"):
        read_queries(tmp_path / "none")


def test_a_document_ranks_by_its_best_passage():
    found = [
        Passage("0", "", "", "d", None, 3.0),
        Passage("x", "", score=2.0),
        Passage("1", "", "", "d", None, 1.0),
    ]
    assert ranked_documents(found) == {"d": 3.0, "x": 2.0}


@pytest.mark.parametrize("grade", ["nan", "inf", "-inf"])
def test_a_grade_that_is_no_finite_number_is_no_judgement(tmp_path: Path, grade: str):
    file = tmp_path / "qrels"
    file.write_text(f"q1 0 d1 1\nq2 0 d2 {grade}\n")
    with pytest.raises(InputError, match="is no judgement"):
        read_qrels(file)
