"""The user's cache folder: where installed and converted models live, and how they get there unbroken.

A finished folder appears under its final name by one rename; whatever else stands in the cache is
scratch that the next writer throws away. So a reader never needs a lock, and a killed writer leaves nothing
to mend.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
from filelock import FileLock

from ..errors import StorageError


def cache_dir() -> Path:
    """The cache folder: SUFFICIT_CACHE_DIR if set, else the platform's user cache folder. Need not exist."""
    override = os.environ.get("SUFFICIT_CACHE_DIR", "")
    if override:
        return Path(override).expanduser()
    return platformdirs.user_cache_path("sufficit", appauthor=False)


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn what the file system refuses into a StorageError that names `path`."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            advice = "is on a full disk; free space there"
        else:
            advice = f"cannot be read or written ({error.strerror or error}); see to its permissions"
        raise StorageError(f"{path} {advice}, or set SUFFICIT_CACHE_DIR to another folder") from error


@contextmanager
def new_folder(final: Path) -> Iterator[Path | None]:
    """Make the folder `final` once, whoever else tries at the same time.

    Yields a scratch folder to fill, which becomes `final` when the block ends well; yields None when another
    process has made it meanwhile. Raises StorageError where the disk refuses.
    """
    if final.exists():
        yield None
        return
    prefix = f".{final.name}."
    with storage_errors(final.parent):
        final.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(final.parent / f"{prefix}lock")
        with lock:
            if final.exists():
                yield None
                return
            for left_over in final.parent.glob(f"{prefix}*.partial"):
                shutil.rmtree(left_over, ignore_errors=True)
            scratch = Path(tempfile.mkdtemp(prefix=prefix, suffix=".partial", dir=final.parent))
            try:
                yield scratch
                scratch.replace(final)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
