import json
import time
from pathlib import Path

import pytest
from index_commands import run, run_json
from indexes import needs
from sufficit.tools.errors import IndexMissing, InputError
from sufficit.tools.retrievers.embedded import EmbeddedIndex
from sufficit.tools.types import Passage


def test_build_search_delete_add_info(corpus: Path, index: Path):
    assert "Harbour" in run("search", "ship", "--index", index).stdout
    [found] = run_json("search", "ship", "--index", index, "-k", 3)
    assert found["id"] == found["source"] == "h"
    assert found["metadata"] == {"start": 0, "end": 33}
    assert run_json("delete", "h", "nothing", "--index", index)["deleted"] == 1
    assert "Nothing found" in run("search", "ship", "--index", index).stdout
    assert run_json("add", corpus, "--index", index)["passages"] == 2
    info = run_json("info", "--index", index)
    assert (info["passages"], info["schema_version"]) == (2, 2)
    assert "English" in run("info", "--index", index).stdout


def test_problems_are_shown_and_counted(corpus: Path, tmp_path: Path):
    with corpus.open("a") as stream:
        stream.write("{broken\n" * 12 + '{"id": "h", "text": "Again."}\n')
    shown = run("build", corpus, "--index", tmp_path / "index").stdout
    assert "Problems: 1 duplicate, 12 bad line." in shown
    assert f"{corpus}:3: bad line" in shown
    assert "and 3 more" in shown
    report = run_json("build", corpus, "--index", tmp_path / "index")
    assert report["problems"] == {
        "duplicate": 1,
        "empty": 0,
        "bad line": 12,
        "undecodable": 0,
        "unreadable": 0,
    }
    assert len(report["first_problems"]) == 13
    assert (report["documents"], report["read"], report["replaced"], report["passages"]) == (3, 3, 1, 2)


@pytest.mark.parametrize("command", ["build", "add"])
def test_strict_stops_and_keeps_the_old_index(corpus: Path, index: Path, command: str):
    corpus.write_text('{"id": "n", "text": "New."}\n{broken\n')
    failed = run(command, corpus, "--index", index, "--strict", fails=True)
    assert isinstance(failed.exception, InputError)
    assert "corpus.jsonl:2" in str(failed.exception)
    assert run_json("info", "--index", index)["passages"] == 2


def test_what_is_not_a_corpus_keeps_the_old_index(index: Path, tmp_path: Path):
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    failed = run("build", tmp_path / "table.csv", "--index", index, fails=True)
    assert isinstance(failed.exception, InputError)
    assert len(str(failed.exception).splitlines()) <= 2
    assert run_json("info", "--index", index)["passages"] == 2


@pytest.mark.parametrize("command", [("search", "x"), ("add", "CORPUS"), ("delete", "x"), ("info",)])
def test_no_index(corpus: Path, tmp_path: Path, command: tuple[str, ...]):
    arguments = [str(corpus) if part == "CORPUS" else part for part in command]
    failed = run(*arguments, "--index", tmp_path / "none", fails=True)
    assert isinstance(failed.exception, IndexMissing)
    assert not (tmp_path / "none").exists()


def test_an_empty_query_is_refused(index: Path):
    assert isinstance(run("search", " ", "--index", index, fails=True).exception, InputError)


def test_the_folder_comes_from_the_settings_unless_it_is_given(
    index: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUFFICIT_INDEX__PATH", str(index))
    assert run_json("info")["index"] == str(index)


def test_retrieved_text_cannot_command_the_terminal(corpus: Path, tmp_path: Path):
    corpus.write_text(
        json.dumps({"id": "x", "title": "[red]\n", "text": "fog \x1b[2J\x07 :smile: [bold]"}) + "\n"
    )
    run("build", corpus, "--index", tmp_path / "index")
    shown = run("search", "fog", "--index", tmp_path / "index").stdout
    assert "fog ·[2J· :smile: [bold]" in shown
    assert "[red] " in shown


def test_what_has_expired_is_neither_shown_nor_counted(index: Path):
    kept = {"expires": time.time() - 5}
    EmbeddedIndex.open(index).replace([Passage("0", "Ships.", source="web:http://x/", metadata=kept)])
    shown = run_json("info", "--index", index)
    assert (shown["passages"], shown["expired"]) == (2, 1)
    assert [found["source"] for found in run_json("search", "ships", "--index", index)] == ["h"]
    assert run_json("sweep", "--index", index) == {"index": str(index), "deleted": 1, "passages": 2}
    assert "Deleted 0 passages; 2 passages left" in run("sweep", "--index", index).stdout


def test_a_dense_index_is_built_and_found_again(corpus: Path, tmp_path: Path):
    pytest.importorskip("faiss")
    where = ("--index", tmp_path / "dense")
    assert run_json("build", corpus, *where, "--kind", "dense")["passages"] == 2
    assert run_json("info", *where)["model"] == "all-minilm-l6-v2"
    assert run_json("search", "vessels at sea", *where)[0]["id"] == "h"
    assert run_json("delete", "h", *where)["deleted"] == 1
    assert run_json("add", corpus, *where)["passages"] == 2


def test_a_model_without_a_dense_index_is_refused(corpus: Path, tmp_path: Path):
    failed = run("build", corpus, "--index", tmp_path / "i", "--model", "x", fails=True)
    assert isinstance(failed.exception, InputError)
    assert not (tmp_path / "i").exists()


def test_indexes_named_in_the_settings_are_fused(
    corpus: Path, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    corpus.write_text('{"id": "s", "text": "Two ships."}\n')
    run("build", corpus, "--index", tmp_path / "other")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUFFICIT_INDEX__PATH", str(index))
    monkeypatch.setenv("SUFFICIT_INDEX__FUSED_WITH", json.dumps([str(tmp_path / "other")]))
    assert [found["id"] for found in run_json("search", "ship")] == ["h", "s"]


def test_lucene_scores_as_the_settings_say(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    needs("lucene")
    run("build", corpus, "--index", tmp_path / "lucene", "--kind", "lucene")
    scores = []
    for k1 in ("0", "2"):
        monkeypatch.setenv("SUFFICIT_INDEX__LUCENE__K1", k1)
        scores.append(run_json("search", "ship", "--index", tmp_path / "lucene")[0]["score"])
    assert scores[0] > scores[1] > 0
