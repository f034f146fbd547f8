import pytest
from sufficit.tools.errors import IndexLocked, IndexMismatch, IndexMissing, StorageError
from sufficit.tools.retrievers import layout
from sufficit.tools.retrievers.layout import (
    Manifest,
    check_manifest,
    manifest_path,
    new_version,
    publish,
    read_manifest,
    remove_leftovers,
    storage_error,
    write_lock,
)

MANIFEST = Manifest("dense", "version-0", {"model": "m", "version": 1})


def names(path):
    return sorted(entry.name for entry in path.iterdir())


def test_what_is_published_is_read_back_and_nothing_else_is_left(tmp_path):
    publish(tmp_path, Manifest("embedded", "version-1"))
    publish(tmp_path, MANIFEST)
    assert read_manifest(tmp_path) == MANIFEST
    assert names(tmp_path) == ["sufficit-index.json"]


def test_a_manifest_that_names_no_kind_is_an_embedded_indexs(tmp_path):
    manifest_path(tmp_path).write_text('{"folder": "version-0", "tokenizer": 1}')
    assert read_manifest(tmp_path) == Manifest("embedded", "version-0", {"tokenizer": 1})


def test_no_index_names_the_command_that_makes_one(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(IndexMissing, match=f"sufficit index build CORPUS --index {path}"):
            read_manifest(path)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", '"word"', "{}", '{"folder": 7}', '{"folder":"f","kind":1}']
)
def test_a_damaged_manifest_says_to_rebuild(tmp_path, text):
    manifest_path(tmp_path).write_text(text)
    with pytest.raises(StorageError, match=r"is damaged\.\nRebuild it"):
        read_manifest(tmp_path)


def test_a_manifest_that_cannot_be_read_is_not_called_missing(tmp_path):
    manifest_path(tmp_path).write_bytes(b"\xff")
    with pytest.raises(StorageError, match="cannot be read"):
        read_manifest(tmp_path)
    manifest_path(tmp_path).unlink()
    manifest_path(tmp_path).mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        read_manifest(tmp_path)


def test_an_index_must_be_of_the_kind_and_made_with_the_same(tmp_path):
    check_manifest(tmp_path, MANIFEST, "dense", {"model": "m", "version": 1})
    check_manifest(tmp_path, MANIFEST, "dense", {})
    for kind, made_with, told in (
        ("lucene", {}, "has kind 'dense', not 'lucene'"),
        ("dense", {"model": "n"}, "has model 'm', not 'n'"),
        ("dense", {"version": 2}, "has version 1, not 2"),
        ("dense", {"width": 3}, "has width None, not 3"),
    ):
        with pytest.raises(IndexMismatch, match=told):
            check_manifest(tmp_path, MANIFEST, kind, made_with)


def test_new_versions_are_empty_folders_of_their_own(tmp_path):
    one, other = new_version(tmp_path), new_version(tmp_path)
    assert one != other
    assert not [*one.iterdir(), *other.iterdir()]


def left_by_a_killed_build(path):
    kept, left = new_version(path), new_version(path)
    (left / "part").write_text("half")
    (path / "sufficit-index.json.0a1b.tmp").write_text("{")
    (path / "notes.txt").write_text("mine")
    return kept.name, left.name


def test_leftovers_are_removed_and_nothing_else(tmp_path):
    kept, _ = left_by_a_killed_build(tmp_path)
    publish(tmp_path, Manifest("embedded", kept))
    remove_leftovers(tmp_path)
    assert names(tmp_path) == sorted(["notes.txt", "sufficit-index.json", kept])


def test_without_a_manifest_no_version_was_ever_whole(tmp_path):
    left_by_a_killed_build(tmp_path)
    remove_leftovers(tmp_path)
    assert names(tmp_path) == ["notes.txt"]


@pytest.mark.parametrize("text", ["{", "[]", "{}", "7", "\udcff"])
def test_what_a_damaged_manifest_may_have_named_is_kept(tmp_path, text):
    left_by_a_killed_build(tmp_path)
    manifest_path(tmp_path).write_text(text, errors="surrogateescape")
    before = names(tmp_path)
    remove_leftovers(tmp_path)
    assert names(tmp_path) == before


def test_one_writer_at_a_time_and_the_next_after_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "_PATIENCE", 0.01)
    with write_lock(tmp_path), pytest.raises(IndexLocked, match="Another process"), write_lock(tmp_path):
        pass
    with pytest.raises(ZeroDivisionError), write_lock(tmp_path):
        raise ZeroDivisionError
    with write_lock(tmp_path):
        pass


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (OSError(28, "No space left on device"), StorageError, "The disk is full"),
        (ValueError("IO error: OS error 122"), StorageError, "The disk is full"),
        (ValueError("An error: A worker thread encountered an Error"), StorageError, "The disk is full"),
        (ValueError("LockFailure(LockBusy, None)"), IndexLocked, "Another process is writing"),
        (OSError(13, "Permission denied"), StorageError, "cannot be used: [Errno 13] Permission denied\n"),
        (ValueError("first\nsecond"), StorageError, "cannot be used: first\nRebuild it"),
        (ValueError(), StorageError, "cannot be used: ValueError\nRebuild it"),
    ],
)
def test_what_an_error_means(tmp_path, error, kind, told):
    found = storage_error(tmp_path, error)
    assert type(found) is kind
    assert told in str(found)
    assert str(tmp_path) in str(found)
