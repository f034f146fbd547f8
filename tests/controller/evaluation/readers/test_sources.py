import json

import pytest
from native_files import musique, nq, squad, two_wiki, write_json, write_lines
from sufficit.controller.evaluation.readers.sources import read_reader_data, sentences, trains
from sufficit.policies.rinse.records import ContrastRecord, write_records
from sufficit.tools.errors import InputError
from sufficit.tools.types import Passage


@pytest.fixture
def files(tmp_path):
    return [
        ("wiki", write_json(tmp_path / "wiki.json", [two_wiki(k) for k in range(4)])),
        ("hops", write_lines(tmp_path / "hops.jsonl", [musique(k) for k in range(2, 6)])),
        ("mill", write_json(tmp_path / "mill.json", squad())),
        ("web", write_lines(tmp_path / "web.jsonl", [nq(k) for k in range(4)])),
    ]


def read(files, left_out=(), evaluation=(), share=1.0):
    return read_reader_data(files, left_out, evaluation, share=share, seed=17)


def test_families_are_kept_apart_and_named(files):
    data = read(files)
    assert {family: len(found) for family, found in data.families.items()} == {
        "wiki": 4,
        "hops": 4,
        "mill": 4,
        "web": 4,
    }
    assert set(data.files) == {"wiki/wiki.json", "hops/hops.jsonl", "mill/mill.json", "web/web.jsonl"}
    assert data.removed == {}


def test_rows_that_cannot_be_read_are_counted(files):
    (_, wiki), *others = files
    rows = json.loads(wiki.read_text())
    wiki.write_text(json.dumps([*rows, rows[0] | {"_id": "x", "supporting_facts": [["No such title", 0]]}]))
    assert read([("wiki", wiki), *others]).removed == {"row that cannot be read": 1}


def test_a_left_out_family_takes_what_others_share_with_it(files):
    """Examples 2 and 3 of both sets are the same: question and needed passages."""
    data = read(files, ["hops"])
    assert "hops" not in data.families
    assert [example.id for example in data.families["wiki"]] == ["hop0", "hop1"]
    assert data.removed == {"question of the evaluation": 2}
    assert data.left_out == ("hops",)


def test_a_needed_passage_of_the_evaluation_is_not_trained_on(files, tmp_path):
    sentence = "The Glass Bridge was opened in 1911 by the mayor."
    longer = f"Something before. {sentence} Something behind."
    record = ContrastRecord("g", "f", "c", "Anything else?", (Passage("1", longer),), True)
    path = tmp_path / "evaluation.jsonl"
    write_records(path, [record])
    data = read(files, evaluation=[path])
    assert data.removed == {"passage of the evaluation": 1}
    assert "when was the glass bridge opened" not in [e.question for e in data.families["web"]]


def test_a_distractor_of_the_evaluation_is_taken_out(files, tmp_path):
    text = "A guild of painters with 1 hundred members."
    path = tmp_path / "evaluation.jsonl"
    write_records(path, [ContrastRecord("g", "f", "c", "Anything else?", (Passage("1", text),), True)])
    before = {example.id: example for example in read(files).families["wiki"]}["hop1"]
    after = {example.id: example for example in read(files, evaluation=[path]).families["wiki"]}["hop1"]
    assert len(after.passages) == len(before.passages) - 1
    assert {after.passages[k].id for k in after.support} == {before.passages[k].id for k in before.support}
    facts = [(after.passages[fact.passage].title, fact.value) for fact in after.facts]
    assert facts == [(before.passages[fact.passage].title, fact.value) for fact in before.facts]


def test_the_share_parts_questions_whatever_their_family(files):
    half = read(files, share=0.5)
    kept = {example.question for found in half.families.values() for example in found}
    everything = {example.question for found in read(files).families.values() for example in found}
    assert kept == {question for question in everything if trains(question, 0.5, 17)}
    assert 0 < len(kept) < len(everything)
    assert trains("Who  painted IT?", 0.5, 17) == trains("who painted it", 0.5, 17)


def test_what_the_data_rest_on_changes_their_identity(files):
    assert read(files).identity() == read(files).identity()
    assert len({read(files).identity(), read(files, ["web"]).identity(), read(files[:3]).identity()}) == 3


def test_a_family_without_data_cannot_be_left_out(files):
    with pytest.raises(InputError, match="no data of a family 'news'"):
        read(files, ["news"])


def test_sentences_lose_nothing():
    text = "One is here. Two? Three\nfour 4.5 five!"
    assert sentences(text) == ["One is here.", " Two?", " Three\nfour 4.5 five!"]
    assert "".join(sentences(text)) == text
