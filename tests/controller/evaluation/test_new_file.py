import pytest
from sufficit.controller.evaluation.new_file import check_new, write_new
from sufficit.tools.errors import InputError, StorageError


def test_a_file_is_written_whole_with_its_folders_and_leaves_nothing_else(tmp_path):
    write_new(tmp_path / "a" / "b.toml", "x = 'ß'\n")
    assert (tmp_path / "a" / "b.toml").read_text("utf-8") == "x = 'ß'\n"
    assert len(list((tmp_path / "a").iterdir())) == 1


def test_what_stands_there_is_never_overwritten(tmp_path):
    (tmp_path / "b.toml").write_text("mine")
    with pytest.raises(InputError, match="exists; choose another"):
        write_new(tmp_path / "b.toml", "x")
    with pytest.raises(InputError, match="exists; choose another"):
        check_new(tmp_path / "b.toml")
    check_new(tmp_path / "c.toml")
    assert (tmp_path / "b.toml").read_text() == "mine"


def test_a_disk_that_refuses_is_named(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StorageError, match="cannot be written"):
        write_new(tmp_path / "file" / "b.toml", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
