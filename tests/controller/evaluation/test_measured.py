import json
from pathlib import Path

import pytest
from sufficit.controller.evaluation.measured import read_accuracies
from sufficit.tools.errors import InputError

ACCURACY = {"value": 0.75, "low": 0.6, "high": 0.9, "groups": 4, "pairs": 9}


def row(**changes):
    told = {"scorer": "content+joint", "family": "one", "construction": "deletion", "seen": False, "ties": 0}
    return told | {"accuracy": ACCURACY} | changes


def written(folder: Path, *rows) -> Path:
    file = folder / "ablation.json"
    file.write_text(json.dumps({"sets": rows, "overall": [], "differences": []}))
    return file


def test_every_set_of_every_scorer_is_read(tmp_path: Path) -> None:
    first, second = read_accuracies(written(tmp_path, row(), row(scorer="content", family="two")))
    assert (first.scorer, first.family, first.construction) == ("content+joint", "one", "deletion")
    assert (first.accuracy, first.low, first.high, first.groups, first.pairs) == (0.75, 0.6, 0.9, 4, 9)
    assert (second.scorer, second.family) == ("content", "two")


def test_a_scorer_that_has_seen_its_family_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="what scored two was fitted or trained on it"):
        read_accuracies(written(tmp_path, row(), row(family="two", seen=True)))


@pytest.mark.parametrize(
    "text", ["", "[]", '{"sets": [{}]}', json.dumps({"sets": [row(accuracy=ACCURACY | {"value": 1.5})]})]
)
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(text)
    with pytest.raises(InputError, match="is not what `sufficit contrasts ablate --json` prints"):
        read_accuracies(file)
    with pytest.raises(InputError, match="is not what"):
        read_accuracies(tmp_path / "none.json")
