from pathlib import Path

from native_files import nq, squad, write_json, write_lines
from sufficit.controller.evaluation.contrasts.groups import Dropped, Group
from sufficit.controller.evaluation.contrasts.question_swap import question_swap
from sufficit.controller.evaluation.datasets.sources import read_source


def test_squad_questions_are_grouped_by_passage(tmp_path: Path) -> None:
    made = list(question_swap(read_source(write_json(tmp_path / "a.json", squad())).examples, 17))
    group, dropped = made
    assert isinstance(group, Group)
    assert [side.question for side in group.sufficient] == ["Who built the mill?", "When was the mill built?"]
    assert [side.question for side in group.insufficient] == ["Who tore down the mill?"]
    assert len({side.passages for side in map(_ids, (*group.sufficient, *group.insufficient))}) == 1
    assert isinstance(dropped, Dropped)


def _ids(side):
    return side._replace(passages=tuple(passage.id for passage in side.passages))


def test_a_question_with_both_labels_is_left_out(tmp_path: Path) -> None:
    content = squad()
    asked = content["data"][0]["paragraphs"][0]["qas"]
    asked.append(asked[0] | {"id": "a4", "answers": [], "is_impossible": True})
    group = next(iter(question_swap(read_source(write_json(tmp_path / "a.json", content)).examples, 17)))
    assert isinstance(group, Group)
    assert [side.question for side in group.sufficient] == ["When was the mill built?"]
    assert [side.question for side in group.insufficient] == ["Who tore down the mill?"]


def test_elsewhere_a_related_question_is_drawn(tmp_path: Path) -> None:
    rows = [nq(number) for number in range(4)]
    made = list(question_swap(read_source(write_lines(tmp_path / "a.jsonl", rows)).examples, 17))
    for row, group, partner in zip(rows, made, (1, 0, 3, 2), strict=True):
        assert isinstance(group, Group)
        assert group.sufficient[0].question == row["question"]
        assert group.insufficient[0].question == rows[partner]["question"]
        assert group.insufficient[0].passages == group.sufficient[0].passages
