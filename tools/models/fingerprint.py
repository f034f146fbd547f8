"""The fingerprint of a model: a hash of its weights and tokenizer, computed once.

An artifact stores the fingerprints of the models that it was fitted on, and is refused by any other.
"""

import hashlib
import os
from pathlib import Path

from ..errors import ModelMissing
from .cache import cache_dir, storage_errors
from .store import sha256

FINGERPRINT_FILE = "fingerprint"
"""Name of the file that holds a folder's fingerprint, where the folder is Sufficit's own."""

_TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.txt")


def fingerprint(folder: Path) -> str:
    """SHA-256 over the weights and tokenizer files of a model folder, hexadecimal.

    A folder converted from a GGUF file carries its source's hash, which does not depend on who converted it.
    Raises ModelMissing for a folder without weights.
    """
    own = folder / FINGERPRINT_FILE
    if own.is_file():
        return own.read_text().strip()
    files = _hashed_files(folder)
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name} {remembered_sha256(file)}\n".encode())
    return digest.hexdigest()


def remembered_sha256(file: Path) -> str:
    """SHA-256 of a file, hexadecimal, computed once for its path, size and time of change."""
    with storage_errors(file):
        status = file.stat()
    key = hashlib.sha256(f"{file.resolve()}|{status.st_size}|{status.st_mtime_ns}".encode()).hexdigest()
    remembered = cache_dir() / "fingerprints" / key
    if remembered.is_file():
        return remembered.read_text().strip()
    digest = sha256(file)
    write_text_atomically(remembered, digest)
    return digest


def write_text_atomically(file: Path, text: str) -> None:
    """Write `text` so that a reader sees all of it or nothing. Raises StorageError."""
    with storage_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch = file.with_name(f".{file.name}.{os.getpid()}.partial")
        scratch.write_text(text + "\n")
        scratch.replace(file)


def _hashed_files(folder: Path) -> list[Path]:
    weights = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))
    if not weights:
        raise ModelMissing(f"{folder} holds no weights (*.safetensors); it is not a model folder")
    return weights + [file for name in _TOKENIZER_FILES if (file := folder / name).is_file()]
