"""How an index lies on disk, and how one version takes the place of another.

    DIR/sufficit-index.json     the manifest: its kind, which version is current, and what it was made with
    DIR/version-<hex>/          one index of that kind
    DIR/write.lock              held by the one writer

A build writes a new version folder beside the current one and then replaces the manifest in one step: killed
at any moment, it leaves the old manifest or the new one, each naming a whole version. Folders that no
manifest names are what killed builds left; the next build removes them.
"""

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import IndexLocked, IndexMismatch, IndexMissing, StorageError

_MANIFEST = "sufficit-index.json"
_LOCK = "write.lock"
_VERSION_PREFIX = "version-"
# How the system and the engines speak of a disk without room. Of an error in its writing thread tantivy
# only says that the thread ended; the thread does nothing but write.
_FULL = (
    *("no space left", "os error 28", "disk quota", "os error 122", "file too large", "os error 27"),
    *("worker thread encountered an error", "disk is full", "disk i/o error"),
)
_PATIENCE = 1.0  # seconds to wait for another writer: an `add` of a few passages takes less


@dataclass(frozen=True, slots=True)
class Manifest:
    """`kind` of an index, `folder`, the name of its current version, and what it was `made_with`.

    In the file all stand side by side.
    """

    kind: str
    folder: str
    made_with: Mapping[str, str | int] = field(default_factory=dict)

    def flat(self) -> dict[str, str | int]:
        """As it is written."""
        return {"kind": self.kind, **self.made_with, "folder": self.folder}


def manifest_path(path: Path) -> Path:
    """Where the manifest of the index at `path` lies; replaced as a whole, never changed."""
    return path / _MANIFEST


def read_manifest(path: Path) -> Manifest:
    """The manifest of the index at `path`, of whichever kind.

    Raises
    ------
    IndexMissing: if there is none.
    StorageError: if it cannot be read.
    """
    try:
        text = manifest_path(path).read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise IndexMissing(
            f"There is no index at {path}.\nMake one: sufficit index build CORPUS --index {path}"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"The manifest of the index at {path} cannot be read: {error}") from error
    try:
        found = json.loads(text)
        kind, folder = found.pop("kind", "embedded"), found.pop("folder")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise StorageError(f"The manifest of the index at {path} is damaged.\n{_rebuild(path)}") from error
    if not isinstance(kind, str) or not isinstance(folder, str):
        raise StorageError(f"The manifest of the index at {path} is damaged.\n{_rebuild(path)}")
    return Manifest(kind, folder, found)


def check_manifest(path: Path, found: Manifest, kind: str, made_with: Mapping[str, str | int]) -> None:
    """Raise IndexMismatch unless the index at `path` is of this kind and was made with these."""
    for name, expected in {"kind": kind, **made_with}.items():
        if (value := found.flat().get(name)) != expected:
            raise IndexMismatch(
                f"The index at {path} has {name} {value!r}, not {expected!r}.\n{_rebuild(path)}"
            )


def publish(path: Path, manifest: Manifest) -> None:
    """Make `manifest` the current one, in one step, durably."""
    temporary = path / f"{_MANIFEST}.{secrets.token_hex(4)}.tmp"
    with temporary.open("w", encoding="utf-8") as stream:
        json.dump(manifest.flat(), stream, indent=2)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(manifest_path(path))
    _sync_folder(path)


def new_version(path: Path) -> Path:
    """An empty folder for a version, not yet named by the manifest."""
    folder = path / (_VERSION_PREFIX + secrets.token_hex(8))
    folder.mkdir()
    return folder


def remove_leftovers(path: Path) -> None:
    """Remove versions that the manifest does not name, and half-written manifests. Needs the lock.

    Readers that still have a removed version open go on reading it.
    """
    try:
        current = json.loads(manifest_path(path).read_text(encoding="utf-8"))["folder"]
    except FileNotFoundError:
        current = None
    except (OSError, ValueError, KeyError, TypeError):
        return  # a damaged manifest: what it named is not ours to throw away
    for entry in path.iterdir():
        if entry.name.startswith(_VERSION_PREFIX) and entry.name != current:
            shutil.rmtree(entry, ignore_errors=True)
        elif entry.name.startswith(f"{_MANIFEST}.") and entry.name.endswith(".tmp"):
            entry.unlink(missing_ok=True)


@contextmanager
def write_lock(path: Path) -> Iterator[None]:
    """Hold the index at `path` for writing; the system frees it when the process ends, however it ends.

    Raises
    ------
    IndexLocked: if another writer keeps it for longer than a second.
    StorageError: if the lock file cannot be made.
    """
    lock = FileLock(path / _LOCK)
    try:
        lock.acquire(timeout=_PATIENCE)
    except Timeout as error:
        raise IndexLocked(
            f"Another process is writing to the index at {path}.\nWait until it is done."
        ) from error
    except OSError as error:
        raise storage_error(path, error) from error
    try:
        yield
    finally:
        lock.release()


def storage_error(path: Path, error: Exception) -> StorageError | IndexLocked:
    """What an error of the file system or the engine means to the user."""
    words = str(error).lower()
    if "lockbusy" in words:
        return IndexLocked(f"Another process is writing to the index at {path}.\nWait until it is done.")
    if any(sign in words for sign in _FULL):
        return StorageError(
            f"The disk is full at {path}, or a limit is reached; the index is as it was.\n"
            "Free some space and try again."
        )
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    return StorageError(f"The index at {path} cannot be used: {reason}\n{_rebuild(path)}")


def _rebuild(path: Path) -> str:
    return f"Rebuild it: sufficit index build CORPUS --index {path}"


def _sync_folder(path: Path) -> None:
    if os.name != "posix":  # elsewhere folders cannot be opened
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
