import pytest
from native_files import musique, nq, squad, two_hop, two_wiki
from sufficit.controller.evaluation.datasets.examples import Fact
from sufficit.controller.evaluation.datasets.formats import FORMATS

BY_NAME = {known.name: known for known in FORMATS}


def read(name, row):
    return list(BY_NAME[name].read(row))


def paragraph():
    return {"title": "Old_Mill", **squad()["data"][0]["paragraphs"][0]}


ROWS = {
    "2WikiMultiHopQA": two_wiki(0),
    "HotpotQA": two_hop(0),
    "MuSiQue": musique(0),
    "SQuAD 2.0": paragraph(),
    "NQ-oracle": nq(0),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_first_format_whose_fields_a_row_has_is_its_own(name):
    assert next(known.name for known in FORMATS if known.fields <= ROWS[name].keys()) == name


@pytest.mark.parametrize("name", ["2WikiMultiHopQA", "HotpotQA"])
def test_space_around_titles_and_facts_does_not_part_them(name):
    row = two_wiki(0)
    row["context"][0][0] = " Ada Brook"
    row["supporting_facts"][1][0] = "Northmere Town "
    row["evidences"] = [["Ada Brook ", "birthplace", " Northmere"]]
    (example,) = read(name, row)
    assert example.support == {0, 1}
    assert example.facts == (Fact(0, "Ada Brook", "Northmere"),)


def test_support_by_its_sentences_counts_a_passage_once():
    row = two_hop(0)
    row["supporting_facts"] = [["Ada Brook", 0], ["Ada Brook", 1]]
    assert read("HotpotQA", row)[0].support == {0}
    row["supporting_facts"] = [["Nobody", 0]]
    with pytest.raises(KeyError, match="Nobody"):
        read("HotpotQA", row)


def test_facts_about_what_no_passage_is_about_are_left_out():
    row = two_wiki(0)
    row["evidences"].append(["Nobody", "birthplace", "Nowhere"])
    assert len(read("2WikiMultiHopQA", row)[0].facts) == 2
    assert read("2WikiMultiHopQA", row | {"evidences": None})[0].facts == ()


def test_musique_knows_paragraphs_by_their_number_not_by_their_place():
    row = musique(0)
    row["paragraphs"].insert(0, row["paragraphs"].pop(1))
    row["paragraphs"].insert(0, row["paragraphs"].pop())
    (example,) = read("MuSiQue", row)
    assert example.support == {1, 2}
    assert [fact.passage for fact in example.facts] == [2, 1]


def test_musique_steps_without_a_paragraph_give_no_fact():
    row = musique(0)
    row["question_decomposition"][1]["paragraph_support_idx"] = None
    assert read("MuSiQue", row)[0].facts == (Fact(0, "Ada Brook", "Northmere"),)


def test_musique_without_aliases_and_without_a_word_on_answerability():
    row = musique(0) | {"answer_aliases": None}
    del row["answerable"]
    (example,) = read("MuSiQue", row)
    assert (example.answers, example.answerable) == (("Alder River",), True)


def test_squad_gives_every_question_its_paragraph_and_repeated_answers_once():
    row = paragraph()
    row["qas"][0]["answers"].append({"text": "Quist"})
    first, second, third = read("SQuAD 2.0", row)
    assert first.answers == ("Orla Quist", "Quist")
    assert (third.answers, third.answerable) == ((), False)
    assert first.passages == second.passages == third.passages
    assert first.support == third.support == {0}


def test_squad_of_the_first_version_holds_answerable_questions_only():
    row = paragraph()
    del row["qas"][2]
    for entry in row["qas"]:
        del entry["is_impossible"]
    assert [example.answerable for example in read("SQuAD 2.0", row)] == [True, True]


def test_nq_is_known_by_its_id_or_else_by_its_question():
    assert read("NQ-oracle", nq(0) | {"id": 7})[0].id == "7"
    first, again, other = (read("NQ-oracle", row)[0].id for row in (nq(0), nq(0), nq(1)))
    assert first == again != other


@pytest.mark.parametrize(
    ("name", "changes", "error"),
    [
        ("HotpotQA", {"answer": 7}, TypeError),
        ("HotpotQA", {"context": [["Ada Brook", ["A.", None]]]}, TypeError),
        ("HotpotQA", {"context": [["Ada Brook", [" "]]]}, ValueError),
        ("HotpotQA", {"supporting_facts": [["Ada Brook"]]}, ValueError),
        ("MuSiQue", {"paragraphs": [{"idx": 0, "title": "T", "paragraph_text": "t"}]}, KeyError),
        ("SQuAD 2.0", {"context": ["no text"]}, TypeError),
        ("NQ-oracle", {"answers": []}, ValueError),
        ("NQ-oracle", {"answers": [None]}, TypeError),
    ],
)
def test_a_row_without_the_fields_or_of_other_types_is_refused(name, changes, error):
    with pytest.raises(error):
        read(name, ROWS[name] | changes)
