import subprocess
import sys

import pytest
from sufficit.controller.evaluation.journal import Journal, read_journal
from sufficit.tools.errors import InputError, StorageError

HEADER = {"version": 1, "label": "é"}


def test_rows_are_there_when_append_returns(tmp_path):
    path = tmp_path / "new" / "a.jsonl"
    with Journal(path, HEADER) as journal:
        journal.append([{"n": 1}, {"n": 2}])
        assert read_journal(path) == (HEADER, [{"n": 1}, {"n": 2}])


def test_a_torn_line_is_dropped_and_the_file_goes_on(tmp_path):
    path = tmp_path / "a.jsonl"
    with Journal(path, HEADER) as journal:
        journal.append([{"n": 1}, {"n": 2}])
    whole = path.read_bytes()
    for cut in range(2, len(b'{"n": 2}\n')):
        path.write_bytes(whole[:-cut])
        assert read_journal(path)[1] == [{"n": 1}]
    with Journal(path, HEADER) as journal:
        assert journal.rows == [{"n": 1}]
        journal.append([{"n": 3}])
    assert read_journal(path)[1] == [{"n": 1}, {"n": 3}]


def test_a_last_row_that_only_lacks_its_newline_is_read(tmp_path):
    path = tmp_path / "a.jsonl"
    with Journal(path, HEADER) as journal:
        journal.append([{"n": 1}, {"n": 2}])
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    assert read_journal(path) == (HEADER, [{"n": 1}, {"n": 2}])
    with Journal(path, HEADER) as journal:
        assert journal.rows == [{"n": 1}]
        journal.append([{"n": 3}])
    assert read_journal(path)[1] == [{"n": 1}, {"n": 3}]


def test_a_torn_header_is_written_again(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"version"')
    with Journal(path, HEADER) as journal:
        assert journal.rows == []
    assert read_journal(path) == (HEADER, [])


def test_another_header_is_refused_and_nothing_is_touched(tmp_path):
    path = tmp_path / "a.jsonl"
    with Journal(path, HEADER) as journal:
        journal.append([{"n": 1}])
    before = path.read_bytes()
    with pytest.raises(InputError, match="label differ"):
        Journal(path, HEADER | {"label": "b"})
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["a user's only line", '{"x": 1}\n{"torn', "a\nb"])
def test_a_file_of_something_else_is_left_as_it_is(tmp_path, text):
    (tmp_path / "notes.txt").write_text(text)
    with pytest.raises(InputError):
        Journal(tmp_path / "notes.txt", HEADER)
    assert (tmp_path / "notes.txt").read_text() == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no whole line: nothing is recorded in it"),
        ("{}\nno json\n", "line 2: not JSON"),
        ("[1]\n", "line 1: not a JSON object"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, text, message):
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(InputError, match=message):
        read_journal(tmp_path / "a.jsonl")


def test_places_that_are_not_there(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        Journal(tmp_path / "file" / "a.jsonl", HEADER)
    with pytest.raises(InputError, match="cannot be read"):
        read_journal(tmp_path / "none.jsonl")


def test_nan_never_reaches_a_file(tmp_path):
    with Journal(tmp_path / "a.jsonl", HEADER) as journal, pytest.raises(ValueError, match="JSON"):
        journal.append([{"n": float("nan")}])
    assert read_journal(tmp_path / "a.jsonl")[1] == []


WRITER = """
import sys
from pathlib import Path
from sufficit.controller.evaluation.journal import Journal
with Journal(Path(sys.argv[1]), {"version": 1, "label": "\u00e9"}) as journal:
    journal.append([{"n": 1}])
    print("open", flush=True)
    sys.stdin.read()
"""


def test_only_one_process_writes_and_its_death_frees_the_file(tmp_path):
    path = tmp_path / "a.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        for header in (HEADER, HEADER | {"label": "b"}):
            with pytest.raises(InputError, match="another process is writing"):
                Journal(path, header)
        assert read_journal(path) == (HEADER, [{"n": 1}])
        other.kill()
    with Journal(path, HEADER) as journal:
        journal.append([{"n": 2}])
    assert read_journal(path)[1] == [{"n": 1}, {"n": 2}]
    assert [file.name for file in tmp_path.iterdir()] == ["a.jsonl"]
