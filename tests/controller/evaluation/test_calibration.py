from dataclasses import replace

import pytest
from rinse_data import contrasts
from sufficit.controller.evaluation.calibration import hashes, held_out_records
from sufficit.controller.evaluation.readers.lessons import Lesson
from sufficit.policies.rinse.artifact import EMBEDDED, load_artifact
from sufficit.policies.rinse.records import write_records
from sufficit.policies.rinse.training import is_held_out
from sufficit.tools.errors import InputError


@pytest.fixture(scope="module")
def artifact():
    return load_artifact(EMBEDDED)


@pytest.fixture
def pairs(tmp_path):
    write_records(tmp_path / "pairs.jsonl", contrasts("f", 40))
    return tmp_path / "pairs.jsonl"


def fitted_on(artifact, path):
    return replace(artifact, provenance=artifact.provenance.model_copy(update={"data": hashes([path])}))


def test_of_a_file_that_was_fitted_on_only_held_out_groups_are_left(artifact, pairs):
    assert len(held_out_records([pairs], artifact, []).records) == 80
    known = artifact.provenance
    found = held_out_records([pairs], fitted_on(artifact, pairs), [])
    held = {f"g{n}" for n in range(40) if is_held_out(f"f/g{n}", known.seed, known.held_out)}
    assert {record.group for record in found.records} == {f"f/made_up/{group}" for group in held}
    assert found.seen == 80 - len(found.records) > 0


def test_questions_that_a_reader_learned_from_are_left_out(artifact, pairs):
    half = held_out_records([pairs], artifact, [Lesson(frozenset({"f"}), 0.5, 17)])
    assert 0 < len(half.records) < 80
    with pytest.raises(InputError, match="80 records were fitted on"):
        held_out_records([pairs], artifact, [Lesson(frozenset({"f"}), 1.0, 17)])
    assert len(held_out_records([pairs], artifact, [Lesson(frozenset({"g"}), 1.0, 17)]).records) == 80
