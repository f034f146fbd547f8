from pathlib import Path

import pytest
from native_files import FACTS, musique, nq, squad, two_hop, two_wiki, write_json, write_lines
from sufficit.controller.evaluation.datasets.examples import Fact
from sufficit.controller.evaluation.datasets.sources import read_source
from sufficit.tools.errors import InputError


def test_hotpotqa(tmp_path: Path) -> None:
    source = read_source(write_json(tmp_path / "a.json", [two_hop(0), two_hop(1)]))
    assert (source.format, source.bad) == ("HotpotQA", ())
    example = source.examples[0]
    assert (example.id, example.answers) == ("hop0", ("Alder River",))
    assert example.support == {0, 1}
    assert example.passages[0].title == example.passages[0].source == "Ada Brook"
    assert example.passages[0].text == "Ada Brook is a painter. The painter was born in Northmere."
    assert example.facts == ()


def test_the_hubs_copies_hold_columns(tmp_path: Path) -> None:
    for row, second, facts in ((two_hop(0), "sentences", {}), (two_wiki(0), "content", {"evidences": {}})):
        titles, texts = zip(*row["context"], strict=True)
        needed, places = zip(*row["supporting_facts"], strict=True)
        columns = {
            "context": {"title": titles, second: texts},
            "supporting_facts": {"title": needed, "sent_id": places},
        }
        if facts:
            names = ("fact", "relation", "entity")
            columns["evidences"] = dict(zip(names, zip(*row["evidences"], strict=True), strict=True))
        hub = {"id": row["_id"], **{key: row[key] for key in ("question", "answer")}, **columns}
        (found,) = read_source(write_lines(tmp_path / "hub.jsonl", [hub])).examples
        (same,) = read_source(write_lines(tmp_path / "own.jsonl", [row])).examples
        assert found == same


def test_a_paragraph_may_be_one_text(tmp_path: Path) -> None:
    whole = two_hop(0)
    whole["context"] = [[title, " ".join(sentences)] for title, sentences in whole["context"]]
    source = read_source(write_json(tmp_path / "a.json", [whole]))
    assert source.examples[0].passages[0].text == "Ada Brook is a painter. The painter was born in Northmere."


def test_two_wiki_brings_facts(tmp_path: Path) -> None:
    source = read_source(write_json(tmp_path / "a.json", [two_wiki(0)], indent=2))
    assert source.format == "2WikiMultiHopQA"
    assert source.examples[0].facts == (
        Fact(0, "Ada Brook", "Northmere"), Fact(1, "Northmere Town", "Alder River"),
    )  # fmt: skip


def test_repeated_passages_count_once_and_ambiguous_support_is_a_bad_row(tmp_path: Path) -> None:
    repeated, ambiguous, harmless = two_hop(0), two_hop(1), two_hop(2)
    repeated["context"].append(repeated["context"][0])
    ambiguous["context"].append([ambiguous["context"][0][0], ["Someone else of that name."]])
    harmless["context"].append([harmless["context"][4][0], ["Another harbour of that name."]])
    source = read_source(write_json(tmp_path / "a.json", [repeated, ambiguous, harmless]))
    assert [len(example.passages) for example in source.examples] == [5, 6]
    assert source.examples[0].support == {0, 1}
    assert [(bad.row, bad.reason) for bad in source.bad] == [
        (2, "two passages have the title of the annotated support")
    ]


def test_musique(tmp_path: Path) -> None:
    source = read_source(write_lines(tmp_path / "a.jsonl", [musique(0), musique(0, answerable=False)]))
    assert source.format == "MuSiQue"
    first, second = source.examples
    assert first.answers == ("Alder River", "Alder brook")
    assert first.support == {0, 1}
    assert first.facts[0] == Fact(0, "Ada Brook", "Northmere")
    assert (first.answerable, second.answerable) == (True, False)


@pytest.mark.parametrize("layout", [{}, {"indent": 1}])
def test_squad(tmp_path: Path, layout: dict[str, int]) -> None:
    source = read_source(write_json(tmp_path / "a.json", squad(), **layout))
    assert source.format == "SQuAD 2.0"
    assert [example.answerable for example in source.examples] == [True, True, False, True]
    assert source.examples[0].answers == ("Orla Quist",)
    assert source.examples[0].passages == source.examples[2].passages
    assert source.examples[0].passages[0].title == "Old Mill"


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_nq_oracle_keeps_the_gold_passage(tmp_path: Path, name: str) -> None:
    source = read_source(write_lines(tmp_path / name, [nq(0), nq(1)]))
    assert source.format == "NQ-oracle"
    assert [passage.text for passage in source.examples[0].passages] == [FACTS[0][2]]
    assert len({example.id for example in source.examples}) == 2


def test_bad_rows_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    no_gold = nq(1) | {"ctxs": []}
    empty_passage = nq(1) | {"ctxs": [{"title": "t", "text": " ", "isgold": True}]}
    rows = ["{broken", "", nq(0), no_gold, {"question": "?"}, "[1]", empty_passage, nq(2) | {"question": " "}]
    source = read_source(write_lines(tmp_path / "a.jsonl", rows))
    assert [example.question for example in source.examples] == [FACTS[0][0]]
    assert [bad.row for bad in source.bad] == [1, 4, 5, 6, 7, 8]
    reasons = " | ".join(bad.reason for bad in source.bad)
    for expected in ("no passage is marked isgold", "no 'ctxs'", "passage 't' is empty", "question is empty"):
        assert expected in reasons


def test_a_bad_squad_paragraph_is_left_out_whole(tmp_path: Path) -> None:
    content = squad()
    content["data"][0]["paragraphs"][0]["qas"][1]["answers"] = []
    source = read_source(write_json(tmp_path / "a.json", content))
    assert [example.id for example in source.examples] == ["b1"]
    assert [(bad.row, bad.reason) for bad in source.bad] == [
        (1, "question a2 is answerable and has no answer")
    ]


@pytest.mark.parametrize("content", ['{"id": 1}\n', "", "[]", "plain text", '[{"_id": "1", "question'])
def test_an_unknown_format_is_an_input_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(InputError, match="no row of a known format"):
        read_source(tmp_path / "a.json")


def test_unreadable_files_are_input_errors(tmp_path: Path) -> None:
    whole = write_lines(tmp_path / "a.jsonl.gz", [nq(0)] * 50).read_bytes()
    (tmp_path / "cut.gz").write_bytes(whole[:-20])
    (tmp_path / "latin.json").write_bytes(b"\xff\xfe\xfd")
    for name in ("cut.gz", "latin.json", "none.json"):
        with pytest.raises(InputError, match=f"{name} cannot be read"):
            read_source(tmp_path / name)
