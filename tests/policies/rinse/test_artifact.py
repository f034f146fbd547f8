import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rinse_data import PROMPT, training_data, with_joint
from sufficit.policies.rinse.artifact import (
    JSON_FILE,
    WEIGHTS_FILE,
    Backbone,
    artifact_hash,
    load_artifact,
    save_artifact,
)
from sufficit.policies.rinse.fit import fit_artifact
from sufficit.policies.rinse.training import FitSettings
from sufficit.tools.errors import ArtifactError, InputError, StorageError

BACKBONES = {name: Backbone(name, f"{name}-hash") for name in ("wordpieces", "reranker", "encoder")}


@pytest.fixture(scope="module")
def artifact():
    return fit_artifact(training_data(), FitSettings((PROMPT,)), BACKBONES, {"pairs.jsonl": "ab" * 32})


@pytest.fixture
def folder(artifact, tmp_path):
    save_artifact(artifact, tmp_path / "artifact")
    return tmp_path / "artifact"


def test_comes_back_as_it_was(artifact, folder):
    loaded = load_artifact(folder)
    assert loaded.backbones == artifact.backbones
    assert loaded.standards == artifact.standards
    assert loaded.thresholds == artifact.thresholds
    assert loaded.provenance == artifact.provenance
    assert loaded.content.counts == artifact.content.counts
    assert np.array_equal(loaded.content.weights, artifact.content.weights)
    assert loaded.latent.prompt == artifact.latent.prompt
    assert loaded.latent.direction == pytest.approx(artifact.latent.direction, abs=1e-7)


def test_saving_again_replaces_and_leaves_nothing_else(artifact, folder):
    content = replace(artifact.content, weights=artifact.content.weights + 1)
    save_artifact(replace(artifact, content=content), folder)
    assert load_artifact(folder).content.weights == pytest.approx(artifact.content.weights + 1)
    assert [path.name for path in folder.parent.iterdir()] == ["artifact"]


def test_what_is_no_artifact_is_not_replaced(artifact, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    save_artifact(artifact, notes)
    (notes / "thesis.txt").write_text("years of work")
    for place in (notes, notes / "thesis.txt"):
        with pytest.raises(InputError, match="is no artifact; choose another --out"):
            save_artifact(artifact, place)
    assert (notes / "thesis.txt").read_text() == "years of work"


def test_the_hash_tells_one_artifact_from_another(artifact, folder):
    assert artifact_hash(load_artifact(folder)) == artifact_hash(load_artifact(folder))
    content = replace(artifact.content, weights=artifact.content.weights + 1)
    assert artifact_hash(replace(artifact, content=content)) != artifact_hash(artifact)
    assert artifact_hash(replace(artifact, thresholds={})) != artifact_hash(artifact)


def test_a_failed_write_leaves_the_old_one(artifact, folder, monkeypatch):
    before = (folder / JSON_FILE).read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(StorageError, match="No space left"):
        save_artifact(artifact, folder)
    monkeypatch.undo()
    assert (folder / JSON_FILE).read_bytes() == before
    load_artifact(folder)
    assert [path.name for path in folder.parent.iterdir()] == ["artifact"]


def test_an_old_one_comes_back_where_the_new_one_cannot_take_its_place(artifact, folder, monkeypatch):
    before = (folder / JSON_FILE).read_bytes()
    rename = Path.replace

    def refuse(path, target):
        if path.name.startswith(f".{folder.name}-"):
            raise OSError(30, "Read-only file system")
        return rename(path, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(StorageError, match="Read-only file system"):
        save_artifact(artifact, folder)
    monkeypatch.undo()
    assert (folder / JSON_FILE).read_bytes() == before
    assert [path.name for path in folder.parent.iterdir()] == ["artifact"]


@pytest.mark.parametrize("name", [JSON_FILE, WEIGHTS_FILE])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_truncated_file_is_named(folder, name, share):
    whole = (folder / name).read_bytes()
    (folder / name).write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ArtifactError, match=name):
        load_artifact(folder)


@pytest.mark.parametrize("name", [JSON_FILE, WEIGHTS_FILE])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ArtifactError, match=name):
        load_artifact(folder)


def test_one_changed_byte_of_the_weights_is_seen(folder):
    whole = bytearray((folder / WEIGHTS_FILE).read_bytes())
    whole[-1] ^= 1
    (folder / WEIGHTS_FILE).write_bytes(whole)
    with pytest.raises(ArtifactError, match="another hash"):
        load_artifact(folder)


def edited(folder, change):
    values = json.loads((folder / JSON_FILE).read_text())
    change(values)
    (folder / JSON_FILE).write_text(json.dumps(values))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v.update(schema_version=99), "schema version 99"),
        (lambda v: v.pop("thresholds"), "thresholds"),
        (lambda v: v["thresholds"].pop("content+latent"), "no threshold for content.latent"),
        (lambda v: v["standards"].pop("latent"), "standards are for"),
        (lambda v: v["standards"]["content"].update(mu="high"), "standards.content.mu"),
        (lambda v: v.update(surprise=1), "surprise"),
        (lambda v: v.update(documents=-1), "documents"),
        (lambda v: v["standards"]["content"].update(sigma=0), "standards.content.sigma"),
    ],
)
def test_what_does_not_fit_is_named(folder, change, message):
    edited(folder, change)
    with pytest.raises(ArtifactError, match=message):
        load_artifact(folder)


def test_json_that_is_no_object_is_named(folder):
    (folder / JSON_FILE).write_text("[1, 2]")
    with pytest.raises(ArtifactError, match="damaged"):
        load_artifact(folder)


def test_another_backbone_is_refused(artifact):
    artifact.check_backbone("reranker", "reranker-hash")
    with pytest.raises(ArtifactError, match="another encoder: encoder with hash encoder-hash"):
        artifact.check_backbone("encoder", "something else")


def test_a_trained_reader_is_kept_with_its_standard(tmp_path):
    backbones = BACKBONES | {"joint": Backbone("joint", "hash")}
    fitted = fit_artifact(with_joint(training_data()), FitSettings((PROMPT,)), backbones, {})
    save_artifact(fitted, tmp_path / "a")
    loaded = load_artifact(tmp_path / "a")
    assert loaded.standards == fitted.standards
    assert loaded.backbones["joint"] == Backbone("joint", "hash")
    standards = {name: found for name, found in fitted.standards.items() if name != "joint"}
    save_artifact(replace(fitted, standards=standards), tmp_path / "b")
    with pytest.raises(ArtifactError, match="standards are for"):
        load_artifact(tmp_path / "b")
