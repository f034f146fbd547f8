from pathlib import Path

from native_files import musique, squad, two_wiki, write_json, write_lines
from sufficit.controller.evaluation.contrasts.deletion import deletion
from sufficit.controller.evaluation.contrasts.groups import Dropped, Group
from sufficit.controller.evaluation.datasets.sources import read_source


def test_one_needed_passage_is_missing_at_the_same_sizes(tmp_path: Path) -> None:
    examples = read_source(
        write_json(tmp_path / "a.json", [two_wiki(number) for number in range(6)])
    ).examples
    groups = list(deletion(examples, 17))
    assert groups == list(deletion(examples, 17))
    for example, group in zip(examples, groups, strict=True):
        assert isinstance(group, Group)
        needed = {example.passages[place].id for place in example.support}
        own = {passage.id for passage in example.passages}
        missing = set()
        for side in group.sufficient:
            assert needed <= {p.id for p in side.passages} <= own
        for side in group.insufficient:
            ids = {p.id for p in side.passages}
            assert ids < own
            missing |= needed - ids
        assert len(missing) == 1
        sizes = [len(side.passages) for side in group.sufficient]
        assert sizes == [len(side.passages) for side in group.insufficient]
        assert len(set(sizes)) == 2


def test_reasons_for_no_group(tmp_path: Path) -> None:
    examples = read_source(write_json(tmp_path / "s.json", squad())).examples
    assert {made.reason for made in deletion(examples, 17) if isinstance(made, Dropped)} == {
        "unanswerable in the source",
        "no passages besides the needed ones",
    }
    held = musique(0)
    held["paragraphs"][3]["paragraph_text"] = "The Alder brook is here as well."
    examples = read_source(write_lines(tmp_path / "m.jsonl", [held])).examples
    assert list(deletion(examples, 17)) == [
        Dropped("hop0", "the answer stands in a passage that is not support")
    ]
