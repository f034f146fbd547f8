import json

import pytest
from sufficit.controller.evaluation.arbitration.cases import Case, read_cases
from sufficit.controller.evaluation.datasets.examples import make_passage
from sufficit.controller.evaluation.datasets.questions import questions_of, read_items
from sufficit.tools.errors import InputError

ALPS = make_passage("Rhine", "The Rhine rises in the Alps.")
BARE = make_passage("", "It snows.")
QUESTION = {"question": "Where does the Rhine rise?"}


def written(tmp_path, value, name="cases.json"):
    file = tmp_path / name
    file.write_text(json.dumps(value, indent=2))
    return file


def test_plain_lines(tmp_path):
    rows = [
        QUESTION
        | {"id": 0, "passages": ["It snows.", {"title": "Rhine", "text": ALPS.text}, " "], "rag": "Alps"},
        QUESTION | {"passages": [], "direct": "", "rag": None, "answer": "the Alps"},
    ]
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    found = read_cases(file)
    assert found.format == "plain"
    assert found.cases == (
        Case("0", QUESTION["question"], (BARE, ALPS), None, "Alps", ()),
        Case("2", QUESTION["question"], (), "", None, ("the Alps",)),
    )


@pytest.mark.parametrize("other", [{"golden_answers": ["the Alps"]}, {"context": "Rivers"}])
def test_a_row_with_passages_is_plain_whatever_else_it_has(tmp_path, other):
    item = QUESTION | {"passages": ["It snows."], "direct": "Bern", "rag": "Alps"}
    found = read_cases(written(tmp_path, [item | other]))
    assert found.format == "plain"
    (case,) = found.cases
    assert (case.passages, case.direct, case.rag) == ((BARE,), "Bern", "Alps")


def test_the_place_of_an_item_without_an_id_is_told_from_the_ids_that_there_are(tmp_path):
    items = [QUESTION | {"passages": []} | named for named in ({"id": 2}, {}, {}, {"qid": "#2"})]
    found = read_cases(written(tmp_path, items))
    assert [case.id for case in found.cases] == ["2", "##2", "3", "#2"]


def test_flashrags_intermediate_data(tmp_path):
    output = {
        "retrieval_result": [{"contents": f'"Rhine"\n{ALPS.text}'}, {"contents": "It snows."}],
        "pred": "A",
    }
    found = read_cases(
        written(tmp_path, [QUESTION | {"id": "t_1", "golden_answers": ["the Alps"], "output": output}])
    )
    assert found.format == "FlashRAG"
    assert found.cases == (Case("t_1", QUESTION["question"], (ALPS, BARE), None, "A", ("the Alps",)),)


@pytest.mark.parametrize(
    "context",
    [
        [["Rhine", ["The Rhine rises ", "in the Alps."]]],
        {"title": ["Rhine"], "sentences": [["The Rhine rises", " in the Alps."]]},
        [["Rhine", " The Rhine rises in the Alps."]],
    ],
)
def test_hotpotqa_in_all_layouts(tmp_path, context):
    found = read_cases(written(tmp_path, [QUESTION | {"_id": "h", "answer": "the Alps", "context": context}]))
    assert found.format == "HotpotQA"
    assert found.cases == (Case("h", QUESTION["question"], (ALPS,), None, None, ("the Alps",)),)


def test_trustmargins_retrieved_questions(tmp_path):
    item = QUESTION | {"test_id": 0, "answer": ["the Alps", "Alps"], "passages": ["It snows."]}
    found = read_cases(written(tmp_path, [item]))
    assert found.format == "TrustMargin"
    assert found.cases == (Case("0", QUESTION["question"], (BARE,), None, None, ("the Alps", "Alps")),)


def test_trustmargins_predictions_bring_both_answers(tmp_path):
    said = {"direct_answer": "Bern", "rag_answer": "Alps"}
    record = QUESTION | {
        "test_id": "0",
        "answer": "the Alps",
        "passages": ["It snows."],
        "method_debug": said,
    }
    value = {"method": "trustmargin", "datasets": {"a": {"records": [record]}, "b": {"records": [record]}}}
    found = read_cases(written(tmp_path, value))
    assert [(case.id, case.direct, case.rag) for case in found.cases] == [
        ("a/0", "Bern", "Alps"),
        ("b/0", "Bern", "Alps"),
    ]


def test_answers_beside_any_format_win(tmp_path):
    item = QUESTION | {"context": [["Rhine", [ALPS.text]]], "direct": "Bern", "rag": "Alps"}
    (case,) = read_cases(written(tmp_path, [item])).cases
    assert (case.direct, case.rag) == ("Bern", "Alps")


def test_what_no_file_can_hold_is_made_readable_and_numbers_are_answers(tmp_path):
    item = QUESTION | {
        "id": "\ud800",
        "passages": ["\udc00 snow"],
        "direct": "\ud800",
        "answers": [1962, "x"],
    }
    (case,) = read_cases(written(tmp_path, [item])).cases
    assert (case.id, case.passages[0].text, case.direct) == ("?", "? snow", "?")
    assert case.answers == ("1962", "x")


def test_a_candidate_answer_that_is_a_number_or_a_truth_value_is_read_as_gold_ones_are(tmp_path):
    item = QUESTION | {"passages": [], "direct": 1901, "rag": True, "answers": [1901, True]}
    (case,) = read_cases(written(tmp_path, [item])).cases
    assert (case.direct, case.rag) == case.answers == ("1901", "yes")


FORMATS = [
    {"passages": []},
    {"test_id": 0, "passages": []},
    {"context": []},
    {"golden_answers": [], "output": {"retrieval_result": []}},
]


@pytest.mark.parametrize("fields", FORMATS)
@pytest.mark.parametrize(
    "gold",
    [
        {"possible_answers": '["Alps", "the Alps"]'},
        {"answers": True},
        {"answers": [None, "Alps"]},
        {"answers": {"text": ["Alps"]}},
        {"answers": 0},
        {"metadata": {"answers": ["Alps"]}},
        {"answerable": False, "answers": ["Alps"]},
    ],
)
def test_gold_answers_are_those_of_a_question_file(tmp_path, fields, gold):
    file = written(tmp_path, [QUESTION | fields | gold])
    (question,) = questions_of(file, read_items(file), {})
    assert read_cases(file).cases[0].answers == question.answers


def test_the_digest_tells_files_apart(tmp_path):
    one = read_cases(written(tmp_path, [QUESTION | {"passages": ["It snows."]}], "one.json"))
    other = read_cases(written(tmp_path, [QUESTION | {"passages": ["It rains."]}], "other.json"))
    again = read_cases(written(tmp_path, [QUESTION | {"passages": [" It snows."]}], "again.json"))
    assert one.digest == again.digest != other.digest


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "holds no question"),
        ({"datasets": {"a": []}}, "hold no `records`"),
        ({"datasets": [3]}, "hold no `records`"),
        ([3], r"item 1: its fields \(none\) are of no format"),
        ([{"question": "Why?"}], r"needed: passages\+question\+test_id or"),
        ([QUESTION | {"passages": []}, {"question": "Why?"}], "item 2: not in the plain format"),
        ([{"question": " ", "passages": []}], "item 1: the question is empty"),
        ([QUESTION | {"passages": [3]}], "item 1: 3 is not a string"),
        ([QUESTION | {"passages": 3}], "item 1: its passages are not a list"),
        ([QUESTION | {"passages": ALPS.text}], "item 1: its passages are not a list"),
        ([QUESTION | {"passages": None}], "item 1: its passages are not a list"),
        ([QUESTION | {"context": ALPS.text}], "item 1: its context is not"),
        ([QUESTION | {"context": {"title": ["a"], "sentences": []}}], "item 1: its context is not"),
        ([QUESTION | {"passages": [], "answers": {"a": 1}}], "item 1: the answer {'a': 1} is no text"),
        ([QUESTION | {"passages": [{"title": "x"}]}], "item 1: no field 'contents'"),
        ([QUESTION | {"passages": [], "direct": [1901]}], r"item 1: \[1901\] is not a string"),
        ([QUESTION | {"golden_answers": []}], "no output.retrieval_result"),
        ([QUESTION | {"golden_answers": [], "output": "x"}], r"json, item 1: its output is not an object"),
        (
            [QUESTION | {"test_id": 0, "passages": ["p"], "method_debug": "x"}],
            r"json, item 1: its method_debug is not an object",
        ),
        ([QUESTION | {"id": "a", "passages": []}] * 2, "item 2: the id a comes twice"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path, value, message):
    with pytest.raises(InputError, match=message):
        read_cases(written(tmp_path, value))
