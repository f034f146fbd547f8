import json

import pytest
from rinse_data import contrasts
from sufficit.controller.evaluation.fitting import read_pairs
from sufficit.controller.evaluation.lessons import Lesson, lessons
from sufficit.controller.evaluation.reader_sources import trains
from sufficit.controller.settings import RinseSettings
from sufficit.policies.rinse.records import write_records
from sufficit.tools.errors import ArtifactError, InputError


@pytest.fixture
def files(tmp_path):
    for family in ("one", "two"):
        write_records(tmp_path / f"{family}.jsonl", contrasts(family, 10))
    return [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]


def test_questions_that_a_reader_has_learned_from_are_not_fitted_on(files):
    data = read_pairs(files, [], [Lesson(frozenset({"one"}), 0.5, 17)])
    kept = [record for record in data.records if record.family == "one"]
    assert 0 < len(kept) < 20
    assert not any(trains(record.question, 0.5, 17) for record in kept)
    assert sum(record.family == "two" for record in data.records) == 20
    assert data.skipped == 20 - len(kept)


def test_where_all_was_learned_the_message_names_the_share(files):
    with pytest.raises(InputError, match="--share"):
        read_pairs(files, ["two"], [Lesson(frozenset({"one"}), 1.0, 17)])


def test_lessons_are_read_from_the_reader_that_the_settings_name(tmp_path):
    told = {"families": ["one", "two"], "share": 0.75, "training": {"seed": 3}}
    header = {
        "kind": "joint",
        "encoder": "e",
        "encoder_fingerprint": "f",
        "weights_sha256": "w",
        "max_tokens": 192,
        "provenance": told,
    }
    (tmp_path / "reader.json").write_text(json.dumps(header))
    found = lessons(RinseSettings(joint=str(tmp_path)))
    assert found == {"joint": Lesson(frozenset({"one", "two"}), 0.75, 3)}
    assert lessons(RinseSettings(span="some/model")) == {}
    (tmp_path / "reader.json").write_text("{")
    with pytest.raises(ArtifactError, match="damaged"):
        lessons(RinseSettings(joint=str(tmp_path)))
