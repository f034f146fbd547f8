import gzip
import json
import os
from pathlib import Path

import pytest
from sufficit.tools.errors import InputError
from sufficit.tools.retrievers.corpora.reading import read_corpus
from sufficit.tools.types import Passage

LONG = "The keeper of the north light counts nine ships before noon. " * 40


def lines(path: Path, *values: object) -> Path:
    path.write_text(
        "".join(v + "\n" if isinstance(v, str) else json.dumps(v) + "\n" for v in values), "utf-8"
    )
    return path


def read(*paths: Path, **options: object) -> list[Passage]:
    return list(read_corpus(paths, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "record",
    [
        {"_id": "a/b c", "title": "T", "text": "Some text.", "metadata": {"url": "u", "n": 3, "list": [1]}},
        {"id": "a/b c", "contents": "Some text."},
        {"id": "a/b c", "title": "T", "text": "Some text.", "url": "https://x.example/"},
    ],
)
def test_the_three_kinds_of_json_lines(tmp_path: Path, record: dict[str, object]):
    [passage] = read(lines(tmp_path / "c.jsonl", record))
    assert (passage.id, passage.source, passage.text) == ("a/b c", "a/b c", "Some text.")
    assert passage.title == record.get("title", "")
    assert passage.url == record.get("url")
    assert passage.metadata == {"start": 0, "end": 10} | (
        {"url": "u", "n": 3} if "metadata" in record else {}
    )


def test_a_long_document_is_cut_with_offsets(tmp_path: Path):
    passages = read(lines(tmp_path / "c.jsonl", {"id": 7, "text": LONG}))
    assert [p.id for p in passages] == [str(n) for n in range(len(passages))]
    assert len(passages) == 4
    assert all(p.source == "7" and p.text == LONG[p.metadata["start"] : p.metadata["end"]] for p in passages)


def test_gzip_marks_line_ends_and_bad_bytes(tmp_path: Path):
    data = b'\xef\xbb\xbf{"id":"1","text":"one"}\r\n\r\n{"id":"2","text":"t\xffo"}\r\n'
    data += b'{"id":"3","text":"\\ud800\\u0000"}'
    for name, content in (("c.jsonl", data), ("c.jsonl.gz", gzip.compress(data))):
        path = tmp_path / name
        path.write_bytes(content)
        reading = read_corpus([path])
        assert [p.text for p in reading] == ["one", "t\ufffdo", "\ufffd\ufffd"]
        assert reading.problems.counts["undecodable"] == 1
        assert [(p.line, p.file) for p in reading.problems.first] == [(3, str(path))]
        assert reading.bytes_read == reading.bytes_total == len(content)


def test_a_damaged_gzip_gives_what_can_be_read(tmp_path: Path):
    whole = gzip.compress(
        os.urandom(50_000).hex().encode().join([b'{"id":"1","text":"one"}\n{"id":"2","text":"', b'"}'])
    )
    path = tmp_path / "c.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])
    reading = read_corpus([path])
    assert [p.id for p in reading] == ["1"]
    assert reading.problems.first[0].kind == "unreadable"


def test_problems_are_counted_and_named(tmp_path: Path):
    path = lines(
        tmp_path / "c.jsonl",
        {"id": "1", "text": "one"},
        "{broken",
        "[1]",
        {"text": "no id"},
        {"id": True, "text": "no id either"},
        {"id": "2", "text": 5},
        {"id": "3", "text": " \n"},
        {"id": "1", "text": "one again"},
        "[" * 100_000,
    )
    reading = read_corpus([path])
    assert [p.text for p in reading] == ["one", "one again"]
    assert reading.problems.counts == {
        "duplicate": 1,
        "empty": 1,
        "bad line": 6,
        "undecodable": 0,
        "unreadable": 0,
    }
    assert [p.line for p in reading.problems.first] == [2, 3, 4, 5, 6, 7, 8, 9]
    assert str(reading.problems.first[0]).startswith(f"{path}:2: bad line: not JSON")


def test_strict_stops_at_the_first_problem(tmp_path: Path):
    path = lines(tmp_path / "c.jsonl", {"id": "1", "text": "one"}, "{broken", {"id": "2", "text": "two"})
    with pytest.raises(InputError, match=r"c\.jsonl:2: bad line"):
        read(path, strict=True)


@pytest.mark.parametrize(
    "content", [b"plain words\nmore words\n", os.urandom(5000), b'[\n{"id": 1},\n', b"a,b\n" * 999]
)
def test_what_is_not_json_lines_is_refused_with_the_formats(tmp_path: Path, content: bytes):
    path = tmp_path / "corpus.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"corpus\.csv is not JSON Lines(.|\n)*\.jsonl"):
        read(path)


def test_missing_and_empty_corpora_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no"):
        read(tmp_path)
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(InputError, match="No passage"):
        read(tmp_path / "empty.jsonl")
    with pytest.raises(InputError, match=r"No passage(.|\n)*other\.jsonl:1: bad line: no _id or id"):
        read(lines(tmp_path / "other.jsonl", {"question": "Why?"}))


def test_a_folder_of_mixed_files(tmp_path: Path):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.md").write_text("hidden")
    (tmp_path / "b.txt").write_bytes(b"\xef\xbb\xbfPlain\r\ntext.")
    (tmp_path / "deep" / "a.md").write_text("---\ntitle: no\n---\n\n# The title #\n\nBody *here*.\n")
    (tmp_path / "deep" / "er" / "c d.HTML").write_text("<title>Page</title><p>Para<p>graph")
    (tmp_path / "questions.jsonl").write_text('{"id": "q", "text": "not a document"}')
    found = {p.source: p for p in read(tmp_path)}
    assert list(found) == ["b.txt", "deep/a.md", "deep/er/c d.HTML"]
    assert found["b.txt"].text == "Plain\ntext."
    markdown = found["deep/a.md"]
    assert (markdown.id, markdown.title, markdown.text) == ("0", "The title", "Body *here*.")
    whole = (tmp_path / "deep" / "a.md").read_text()
    assert whole[markdown.metadata["start"] : markdown.metadata["end"]] == markdown.text
    assert (found["deep/er/c d.HTML"].title, found["deep/er/c d.HTML"].text) == ("Page", "Para\n\ngraph")


def test_sources_do_not_clash_between_folders_given_together(tmp_path: Path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.txt").write_text(folder)
    assert [p.source for p in read(tmp_path / "one", tmp_path / "two")] == ["one/same.txt", "two/same.txt"]
    assert [p.source for p in read(tmp_path / "one")] == ["same.txt"]
    assert [p.source for p in read(tmp_path / "one" / "same.txt", root=tmp_path)] == ["one/same.txt"]


def test_files_that_cannot_be_decoded_or_read_do_not_stop_the_rest(tmp_path: Path):
    (tmp_path / "a.txt").write_bytes(b"caf\xe9")
    (tmp_path / "b.txt").write_bytes("sixteen".encode("utf-16"))
    (tmp_path / "c.txt").symlink_to(tmp_path / "gone")
    (tmp_path / "d.txt").write_text("  \n")
    (tmp_path / "e.html").write_text("<div>" * 50_000 + "deep")
    reading = read_corpus([tmp_path])
    assert [p.text for p in reading] == ["caf\ufffd", "sixteen"]
    assert [(p.kind, Path(p.file).name) for p in reading.problems.first] == [
        ("undecodable", "a.txt"),
        ("unreadable", "c.txt"),
        ("empty", "d.txt"),
        ("unreadable", "e.html"),
    ]
