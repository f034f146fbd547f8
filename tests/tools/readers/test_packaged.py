"""The readers that ship: small, whole, over the packaged encoder, and reading as they did when trained."""

import json

import pytest
from sufficit.controller.evaluation.readers.sample import sample_scores
from sufficit.tools.models import store
from sufficit.tools.readers.adapted import PACKAGED

FOLDERS = sorted(path.parent for path in PACKAGED.glob("*/reader.json"))


def test_they_take_little_room():
    sizes = [file.stat().st_size for folder in FOLDERS for file in folder.iterdir()]
    assert FOLDERS
    assert sum(sizes) < 8_000_000


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_they_say_where_they_come_from(folder):
    told = json.loads((folder / "reader.json").read_text())["provenance"]
    assert told["data"]
    assert all(len(digest) == 64 for digest in told["data"].values())
    assert told["families"]
    assert sum(told["items"].values()) > 100
    assert {"left_out", "share", "training", "packages", "date", "loss"} <= told.keys()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_recorded_scores_are_found_again(folder):
    store.install("all-minilm-l6-v2")
    header = json.loads((folder / "reader.json").read_text())
    scores = sample_scores(header["kind"], folder)
    assert scores == [pytest.approx(row, abs=2e-3) for row in header["provenance"]["sample"]]
    assert len({round(score, 3) for row in scores for score in row}) > 1
