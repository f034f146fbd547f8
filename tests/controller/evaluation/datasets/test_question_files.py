import json
import os

import pytest
from native_files import musique, nq, squad, two_hop, two_wiki, write_json, write_lines
from sufficit.controller.evaluation.datasets.question_files import read_question_file
from sufficit.tools.errors import InputError

BEIR = {"_id": "b1", "text": "Who?", "metadata": {"answers": ["Ada"]}}
FLASHRAG = {
    "id": "f1",
    "question": "Who?",
    "golden_answers": ["Ada"],
    "metadata": {"supporting_facts": {"title": ["Ada Lind", "Oslo"], "sent_id": [0, 2]}},
}


def facts(question):
    return question.id, question.answers, question.answerable, tuple(question.relevant)


@pytest.mark.parametrize(
    ("row", "format_", "expected"),
    [
        (BEIR, "BEIR", ("b1", ("Ada",), None, ())),
        (FLASHRAG, "FlashRAG", ("f1", ("Ada",), None, ("Ada Lind", "Oslo"))),
        ({"question": "Who?", "answer": ["Ada", "A."]}, "NQ-open", ("1", ("Ada", "A."), None, ())),
        ({"test_id": 0, "question": "Who?", "answer": "Ada"}, "TrustMargin", ("0", ("Ada",), None, ())),
        (
            {"id": 0, "question": "Who?", "possible_answers": '["Ada", "A."]'},
            "PopQA",
            ("0", ("Ada", "A."), None, ()),
        ),
        ({"question": "Who?", "answers": "Ada"}, "plain JSON", ("1", ("Ada",), None, ())),
        (two_hop(0), "HotpotQA", ("hop0", ("Alder River",), None, ("Ada Brook", "Northmere Town"))),
        (two_wiki(0), "2WikiMultiHopQA", ("hop0", ("Alder River",), None, ("Ada Brook", "Northmere Town"))),
        (nq(0), "NQ-oracle", ("25bf4bbed0458f08", ("Mara Venn",), None, ("Page 0",))),
    ],
)
def test_a_format_is_found_from_the_rows(tmp_path, row, format_, expected):
    for file in (write_lines(tmp_path / "a.jsonl", [row]), write_json(tmp_path / "a.json", [row])):
        found = read_question_file(file)
        assert (found.format, facts(found.questions[0])) == (format_, expected)


def test_unanswerable_questions_stay(tmp_path):
    found = read_question_file(write_json(tmp_path / "a.json", squad()))
    assert found.format == "SQuAD 2.0"
    assert [facts(question) for question in found.questions][1:3] == [
        ("a2", ("1820",), True, ()),
        ("a3", (), False, ()),
    ]
    found = read_question_file(write_lines(tmp_path / "m.jsonl", [musique(0), musique(1, answerable=False)]))
    assert [(q.answerable, len(q.answers)) for q in found.questions] == [(True, 2), (False, 0)]
    none = {"text": [], "answer_start": []}
    for row in (
        {"question": "Why?", "answerable": False},
        {"question": "Why?", "metadata": {"answerable": False}},
        {"question": "Why?", "answers": none},
    ):
        rows = [{"question": "Who?", "answer": "Ada"}, row]
        found = read_question_file(write_lines(tmp_path / "p.jsonl", rows))
        assert [facts(q)[1:3] for q in found.questions] == [(("Ada",), True), ((), False)]


def test_questions_that_nobody_can_score_are_named(tmp_path):
    file = write_lines(tmp_path / "a.jsonl", [BEIR, {"_id": "b2", "text": "Why?"}, BEIR | {"_id": "b3"}])
    found = read_question_file(file)
    assert ([q.id for q in found.questions], found.unscored) == (["b1", "b3"], ("b2",))


def test_labels_count_in_the_digest(tmp_path):
    file = write_lines(tmp_path / "a.jsonl", [BEIR])
    (tmp_path / "q.tsv").write_text("query-id\tcorpus-id\tscore\nb1\td7\t1\n")
    with_labels = read_question_file(file, tmp_path / "q.tsv")
    assert tuple(with_labels.questions[0].relevant) == ("d7",)
    assert with_labels.digest != read_question_file(file).digest
    (tmp_path / "q.tsv").write_text("query-id\tcorpus-id\tscore\nb2\td7\t1\n")
    with pytest.raises(InputError, match=r"q\.tsv judges none of the questions of"):
        read_question_file(file, tmp_path / "q.tsv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no question"),
        (b"[]", "holds no question"),
        (json.dumps([BEIR, BEIR]).encode(), "1 ids stand at more than one question: 'b1'"),
        (json.dumps([BEIR, {"_id": "b1", "text": "Why?"}]).encode(), "more than one question: 'b1'"),
        (json.dumps([{"question": "Why?", "answers": []}]).encode(), "no question with an answer"),
        ('{"question": "é", "answer": "x"}\n'.encode() + b'{"question": "\xe9"}\n', "line 2: byte 0xe9"),
        ('{"question": "Wer?", "answer": "x"}'.encode("utf-16"), "line 1: byte 0xff.*\n.*-f utf-16"),
    ],
)
def test_bad_files_are_named(tmp_path, content, message):
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_question_file(tmp_path / "a.jsonl")


def test_a_byte_order_mark_and_half_a_character_do_no_harm(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(
        b'\xef\xbb\xbf{"id": "\\ud800", "question": "W\\ud800?", "answer": "x"}'
    )
    question = read_question_file(tmp_path / "a.jsonl").questions[0]
    assert (question.id, question.text) == ("?", "W??")
    (tmp_path / "b.json").write_bytes(b"\xef\xbb\xbf" + json.dumps([two_hop(0)]).encode())
    assert read_question_file(tmp_path / "b.json").format == "HotpotQA"


def test_what_can_be_read_only_once_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", tmp_path):
        with pytest.raises(InputError, match="is no regular file"):
            read_question_file(place)
