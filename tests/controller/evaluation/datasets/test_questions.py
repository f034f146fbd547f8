import gzip
import json

import pytest
from sufficit.controller.evaluation.datasets.questions import read_items, read_questions
from sufficit.tools.errors import InputError

ROWS = [
    {"id": "q1", "question": "Who?", "answers": ["Ada", "Ada Lind"], "supporting": ["a.md"]},
    {"_id": "q2", "text": "Where?", "metadata": {"answers": ["Oslo"]}},
    {"question": "When?", "answer": "1901"},
    {"id": "q4", "question": "Why?", "answers": []},
]


def lines(rows):
    return "\n".join(map(json.dumps, rows)) + "\n"


def test_every_layout_is_read(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text(lines(ROWS))
    found, without = read_questions(file)
    assert [(q.id, q.text, q.answers, dict(q.relevant)) for q in found] == [
        ("q1", "Who?", ("Ada", "Ada Lind"), {"a.md": 1}),
        ("q2", "Where?", ("Oslo",), {}),
        ("3", "When?", ("1901",), {}),
    ]
    assert without == 1
    (tmp_path / "q.json").write_text(json.dumps(ROWS))
    (tmp_path / "q.jsonl.gz").write_bytes(gzip.compress(lines(ROWS).encode()))
    assert read_questions(tmp_path / "q.json") == read_questions(tmp_path / "q.jsonl.gz") == (found, 1)


def test_relevance_labels_of_their_own(tmp_path):
    (tmp_path / "q.jsonl").write_text(lines(ROWS))
    (tmp_path / "q.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td7\t2\n")
    found, _ = read_questions(tmp_path / "q.jsonl", tmp_path / "q.tsv")
    assert [dict(q.relevant) for q in found] == [{"a.md": 1}, {"d7": 2}, {}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no question"),
        ("nonsense", "neither JSON"),
        ('{"question": "Why?", "answer": "x"}\n{"question', "line 2, column 2: Unterminated string"),
        ("[" * 100_000, "line 1 cannot be read: maximum recursion"),
        ('{"question": "Why?", "answer": [["x"], ["y"]]}\n', r"item 1: the answer \['x'\] is no text"),
        ("3\n", "item 1: no question"),
        ('{"answers": ["x"]}\n', "item 1: no question"),
        ('{"question": "Why?"}\n', "holds no question with an answer"),
    ],
)
def test_other_files_are_refused(tmp_path, text, message):
    (tmp_path / "q.jsonl").write_text(text)
    with pytest.raises(InputError, match=message):
        read_questions(tmp_path / "q.jsonl")


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"q\.jsonl cannot be read"):
        read_questions(tmp_path / "q.jsonl")


def test_a_single_item_over_several_lines_is_one_item(tmp_path):
    (tmp_path / "q.json").write_text(json.dumps(ROWS[0], indent=4))
    assert read_items(tmp_path / "q.json") == [ROWS[0]]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (0, ("0",)),
        (True, ("yes",)),
        ([None, "b"], ("b",)),
        ({"text": ["a", "b"], "answer_start": [1, 9]}, ("a", "b")),
    ],
)
def test_answers_that_are_no_plain_text(tmp_path, given, expected):
    (tmp_path / "q.jsonl").write_text(lines([{"question": "How many?", "answers": given}]))
    assert read_questions(tmp_path / "q.jsonl")[0][0].answers == expected


def test_a_gzipped_file_needs_no_name_for_it(tmp_path):
    (tmp_path / "q.jsonl").write_bytes(gzip.compress(lines(ROWS).encode()))
    assert read_items(tmp_path / "q.jsonl") == ROWS


def test_an_id_at_two_questions_is_refused(tmp_path):
    file = tmp_path / "twice.json"
    file.write_text(json.dumps([{"id": 1, "question": f"Q{n}?", "answer": "a"} for n in range(2)]))
    with pytest.raises(InputError, match="1 ids stand at more than one question: '1'"):
        read_questions(file)
