import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from native_files import nq, squad, two_hop, two_wiki, write_json, write_lines
from sufficit.controller.evaluation.contrasts.build import build_contrasts
from sufficit.controller.evaluation.contrasts.overlap import checkable, holds, words
from sufficit.controller.evaluation.datasets.sources import read_source
from sufficit.policies.rinse.records import pairs
from sufficit.tools.errors import InputError


@pytest.fixture
def two_wiki_file(tmp_path: Path) -> Path:
    return write_json(tmp_path / "two.json", [two_wiki(number) for number in range(6)])


def test_records_name_their_group_family_and_construction(two_wiki_file: Path) -> None:
    built = build_contrasts([two_wiki_file], "substitution", "invented")
    assert (built.groups, len(built.records), built.pairs) == (6, 18, 12)
    assert len(list(pairs(built.records))) == 12
    record = built.records[0]
    assert (record.group, record.family) == ("invented/substitution/hop0", "invented")
    assert [record.label for record in built.records[:3]] == [True, False, False]


def test_repeats_across_files_are_left_out(two_wiki_file: Path, tmp_path: Path) -> None:
    same_id, same_question = two_hop(0), two_hop(1)
    same_id["question"] = "Something else?"
    same_question |= {"_id": "other", "question": same_question["question"].upper()}
    second = write_json(tmp_path / "second.json", [same_id, same_question])
    built = build_contrasts([two_wiki_file, second], "deletion", "invented")
    assert built.groups == 6
    assert (built.dropped["repeated id"], built.dropped["repeated question"]) == (1, 1)
    assert [source.format for source in built.sources] == ["2WikiMultiHopQA", "HotpotQA"]


def test_groups_are_drawn_with_the_seed(two_wiki_file: Path) -> None:
    whole = build_contrasts([two_wiki_file], "substitution", "invented", seed=3)
    drawn = build_contrasts([two_wiki_file], "substitution", "invented", groups=2, seed=3)
    assert (drawn.groups, drawn.pairs, len(drawn.records)) == (2, 4, 6)
    assert [record for record in whole.records if record in drawn.records] == list(drawn.records)
    assert drawn == build_contrasts([two_wiki_file], "substitution", "invented", groups=2, seed=3)
    assert build_contrasts([two_wiki_file], "substitution", "invented", groups=99, seed=3) == whole


def test_no_group_is_an_input_error(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a.json", squad())
    with pytest.raises(InputError, match=r"no deletion group .* unanswerable in the source \(1\)"):
        build_contrasts([path], "deletion", "invented")


def test_hash_seeds_change_nothing(tmp_path: Path, two_wiki_file: Path) -> None:
    lines = write_lines(tmp_path / "nq.jsonl", [nq(number) for number in range(4)])
    program = (
        "import sys; from pathlib import Path\n"
        "from sufficit.controller.evaluation.contrasts.build import build_contrasts as b\n"
        "print(b([Path(sys.argv[1])], 'substitution', 'f').records)\n"
        "print(b([Path(sys.argv[2])], 'question_swap', 'f').records)\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, str(two_wiki_file), str(lines)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(outputs) == 1


REAL = [
    ("2wiki", "substitution", ["2wiki/dev_small.json"]),
    ("musique", "substitution", ["musique/musique_ans_train_100.jsonl", "musique/musique_ans_dev_200.jsonl"]),
    ("musique", "deletion", ["musique/musique_ans_train_100.jsonl"]),
    ("nq", "substitution", ["nq/nq-open-oracle.jsonl.gz"]),
    ("nq", "question_swap", ["nq/nq-open-oracle.jsonl.gz"]),
]


@pytest.mark.parametrize(("family", "construction", "files"), REAL)
def test_no_real_insufficient_side_holds_a_gold_answer(
    shared_data: Path, family: str, construction: str, files: list[str]
) -> None:
    """But for the support that stays where a passage that leads to the answer was removed."""
    paths = [shared_data / name for name in files]
    examples = {words(e.question): e for path in paths for e in read_source(path).examples}
    built = build_contrasts(paths, construction, family)
    assert built.groups > 50
    sides = defaultdict(set)
    for record in built.records:
        sides[record.group].add(record.label)
        if record.label:
            continue
        example = examples[words(record.question)]
        support = {example.passages[place].id for place in example.support}
        removed = support - {passage.id for passage in record.passages}
        assert removed, "all support is there"
        answers = checkable(example.question, example.answers)
        holders = {passage.id for passage in record.passages if holds(passage, answers)}
        assert holders <= support
        if any(p.id in removed and holds(p, answers) for p in example.passages):
            assert not holders
    assert all(labels == {True, False} for labels in sides.values())


def test_real_squad_keeps_the_passage(shared_data: Path) -> None:
    built = build_contrasts([shared_data / "squad/dev-v2.0-half.json"], "question_swap", "squad")
    assert built.groups == 646
    evidence = defaultdict(set)
    for record in built.records:
        evidence[record.group].add(tuple(passage.id for passage in record.passages))
    assert all(len(sets) == 1 for sets in evidence.values())
