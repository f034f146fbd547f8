"""What tells one state of an index from another: a hash of its files."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from .layout import manifest_path, read_manifest, storage_error


def index_hash(path: Path) -> str:
    """SHA-256 over the manifest and the files of the index at `path`, of any kind, hexadecimal.

    A copy has the same hash. An index that was changed has another, and so has one that was built again, be
    it from the same corpus. Reads every file once. Raises IndexMissing where there is no index, StorageError
    where it cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for name, file in _files(path):
            with file.open("rb") as content:
                digest.update(f"{name}\n".encode())
                digest.update(hashlib.file_digest(content, "sha256").digest())
    except OSError as error:
        raise storage_error(path, error) from error
    return digest.hexdigest()


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    """Files with the names they are hashed under, the version's own name left out."""
    foreign = not manifest_path(path).exists() and any(path.glob("segments_*"))
    folder = path if foreign else path / read_manifest(path).folder
    if not foreign:
        yield manifest_path(path).name, manifest_path(path)
    for file in sorted(folder.iterdir()):
        if file.is_file() and not file.name.endswith(".lock"):
            yield file.name, file
