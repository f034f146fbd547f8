import gzip
import json

import pytest
from sufficit.tools.errors import InputError
from sufficit.tools.retrievers.corpora import jsonl
from sufficit.tools.retrievers.corpora.jsonl import read_jsonl
from sufficit.tools.retrievers.corpora.problems import Problems


@pytest.fixture
def read(tmp_path):
    def reading(content, name="c.jsonl"):
        """Documents by line, the problems, and the sum of what was told of the bytes read."""
        path, problems, told = tmp_path / name, Problems(), []
        path.write_bytes(content)
        found = {line: document for document, line in read_jsonl(path, problems, told.append)}
        assert sum(told) <= len(content)
        return found, problems

    return reading


def one(read, value):
    found, problems = read(json.dumps({"id": "1", "text": "t"} | value).encode())
    assert len(problems) == 0
    return found[1]


def test_lines_are_counted_with_the_blank_ones(read):
    found, _ = read(b'\n{"id": "1", "text": "one"}\n \r\n\n{"id": "2", "text": "two"}')
    assert {line: document.text for line, document in found.items()} == {2: "one", 5: "two"}


@pytest.mark.parametrize("name", ["c.jsonl", "c.jsonl.gz", "c"])
def test_compression_is_told_by_the_content_not_by_the_name(read, name):
    line = b'{"id": "1", "text": "one"}\n'
    for content in (line, gzip.compress(line), gzip.compress(line) * 2):
        found, _ = read(content, name)
        assert {document.text for document in found.values()} == {"one"}


def test_an_empty_file_holds_nothing_and_is_no_error(read):
    for content in (b"", b"\n \n", gzip.compress(b"")):
        found, problems = read(content)
        assert (found, len(problems)) == ({}, 0)


@pytest.mark.parametrize(
    ("fields", "source"),
    [
        ({"id": 7}, "7"),
        ({"id": 0}, "0"),
        ({"id": -1}, "-1"),
        ({"_id": "a b", "id": "other"}, "a b"),
        ({"id": "\x00"}, "\ufffd"),
    ],
)
def test_ids_are_texts_or_whole_numbers_and_beirs_comes_first(read, fields, source):
    document = one(read, fields)
    assert document.source == document.whole_id == source


@pytest.mark.parametrize("id_", ["", True, 1.0, None, [1], {}])
def test_what_is_no_id(read, id_):
    _, problems = read(json.dumps({"id": id_, "text": "t"}).encode())
    assert [problem.detail for problem in problems.first] == ["no _id or id"]


@pytest.mark.parametrize("fields", [{"text": None}, {"text": ["t"]}, {"title": 7}, {"title": ["T"]}])
def test_text_and_title_must_be_strings(read, fields):
    _, problems = read(json.dumps({"id": "1", "text": "t"} | fields).encode())
    assert problems.counts["bad line"] == 1


def test_a_title_may_be_null_and_loses_outer_space(read):
    assert one(read, {"title": None}).title == ""
    assert one(read, {"title": " T\x00 \n"}).title == "T\ufffd"


@pytest.mark.parametrize(
    ("url", "kept"), [("https://x.example/", "https://x.example/"), ("", None), (7, None), (None, None)]
)
def test_a_url_is_kept_if_it_is_one(read, url, kept):
    assert one(read, {"url": url}).url == kept


def test_scalar_metadata_is_kept(read):
    metadata = {"s": "\x00", "i": 3, "f": 1.5, "b": True, "n": None, "l": [1], "o": {"x": 1}}
    assert one(read, {"metadata": metadata}).metadata == {"s": "\ufffd", "i": 3, "f": 1.5, "b": True}
    assert one(read, {"metadata": [1]}).metadata == {}


def test_bytes_that_are_not_utf_8_are_replaced_and_reported_once(read):
    found, problems = read(b'{"id": "1", "text": "\xff\xfe"}\n\xff\xfe\n')
    assert found[1].text == "\ufffd\ufffd"
    assert [(problem.kind, problem.line) for problem in problems.first] == [
        ("undecodable", 1),
        ("bad line", 2),
    ]
    assert problems.first[0].detail == "byte 22 is not UTF-8"


def test_a_file_is_given_up_after_a_hundred_lines_of_something_else(read, tmp_path):
    problems = Problems()
    (tmp_path / "c.csv").write_bytes(b"a,b\n" * 500)
    with pytest.raises(InputError, match=r"c\.csv is not JSON Lines"):
        list(read_jsonl(tmp_path / "c.csv", problems, lambda _: None))
    assert len(problems) == 100
    found, problems = read(b"a,b\n" * 99 + b'{"id": "1", "text": "t"}\n' + b"a,b\n" * 200)
    assert (list(found), len(problems)) == ([100], 299)


def test_an_object_that_is_no_document_still_makes_it_json_lines(read):
    found, problems = read(b'{"question": "Why?"}\n[1]\n')
    assert (found, len(problems)) == ({}, 2)


SHORT = b'{"id": "1", "text": "t"}'


@pytest.mark.parametrize("length", [41, 80, 81, 82, 123, 200])
def test_a_line_that_is_too_long_is_left_out_whole_and_the_next_is_read(read, monkeypatch, length):
    monkeypatch.setattr(jsonl, "_LONGEST_LINE", 40)
    found, problems = read(SHORT + b"\n" + b"x" * length + b"\n" + SHORT)
    assert list(found) == [1, 3]
    assert [(problem.line, problem.detail) for problem in problems.first] == [(2, "longer than 40 bytes")]


@pytest.mark.parametrize("end", [b"", b"\n", b"\n" + SHORT])
def test_a_line_of_the_longest_length_is_read(read, monkeypatch, end):
    monkeypatch.setattr(jsonl, "_LONGEST_LINE", len(SHORT))
    found, problems = read(SHORT + end)
    assert (1 in found, len(problems)) == (True, 0)
