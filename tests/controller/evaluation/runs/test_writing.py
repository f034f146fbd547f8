import errno
import os

import pytest
from sufficit.controller.evaluation.runs.writing import storage_errors, write_whole
from sufficit.tools.errors import StorageError


@pytest.mark.parametrize(
    ("number", "advice"), [(errno.ENOSPC, "free space and start"), (errno.EACCES, "choose another --out")]
)
def test_the_advice_fits_the_error(tmp_path, number, advice):
    message = f"a cannot be written: {os.strerror(number)}; {advice}"
    with pytest.raises(StorageError, match=message), storage_errors(tmp_path / "a"):
        raise OSError(number, os.strerror(number))


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    def parts():
        yield b"half"
        raise OSError(errno.ENOSPC, "No space left on device")

    write_whole(tmp_path / "new" / "a", [b"whole", b" file"])
    with pytest.raises(StorageError):
        write_whole(tmp_path / "new" / "a", parts())
    assert [(file.name, file.read_bytes()) for file in (tmp_path / "new").iterdir()] == [("a", b"whole file")]
