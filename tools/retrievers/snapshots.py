"""One commit of an index over a folder, opened, and how it is told from a newer one."""

import os
from pathlib import Path
from typing import Final

from .engine import Engine, Reader
from .layout import Manifest, check_manifest, manifest_path, read_manifest, storage_error

_OPEN_ATTEMPTS: Final = 5


class Snapshot:
    """An opened reader that is closed when it is neither the newest nor in use."""

    def __init__(self, reader: Reader, manifest: Manifest, stamp: tuple[int, ...]) -> None:
        self.reader = reader
        self.manifest = manifest
        self.stamp = stamp
        self.users = 0
        self.retired = False


def open_newest(path: Path, engine: Engine) -> Snapshot:
    """Open the current version, again if a build replaces and removes it meanwhile."""
    for attempt in range(_OPEN_ATTEMPTS):
        manifest = read_manifest(path)
        check_manifest(path, manifest, engine.kind, engine.made_with)
        # The stamp comes before opening: a commit in between makes it old, never unseen.
        try:
            stamp = stamp_of(path, engine, manifest)
            return Snapshot(engine.open(path / manifest.folder), manifest, stamp)
        except engine.errors as error:
            if attempt == _OPEN_ATTEMPTS - 1 or read_manifest(path) == manifest:
                raise storage_error(path, error) from error
    raise AssertionError("unreachable: the last attempt returns or raises")


def stamp_of(path: Path, engine: Engine, manifest: Manifest) -> tuple[int, ...]:
    """Identity of the manifest, which is replaced, never changed, and of the version's last commit."""
    try:
        status = os.stat(manifest_path(path))  # noqa: PTH116  (Path.stat costs twice as much, at every search)
        return (status.st_ino, status.st_mtime_ns, status.st_size, *engine.stamp(path / manifest.folder))
    except OSError:
        return ()


def close_unused(snapshot: Snapshot) -> None:
    """Close a snapshot that a newer one has replaced, when its last reader is done."""
    if snapshot.retired and snapshot.users == 0:
        snapshot.reader.close()
