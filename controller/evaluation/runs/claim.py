"""Whose an output folder is: one run's at a time, and never two different ones'."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic_core import to_json

from ....tools.errors import InputError
from .configurations import Configuration
from .folder import ConfigHeader, DataHeader, RunFolder, RunHeader
from .writing import half_written, storage_errors, write_whole

_LOCK = ".lock"


@contextmanager
def claimed(folder: RunFolder, data: DataHeader, configurations: Sequence[Configuration]) -> Iterator[None]:
    """Hold the folder for this run; the system frees it when the process ends, however it ends.

    Raises InputError, and touches nothing, where the folder is in use, holds something else, or what another
    run made of the same configurations on other things, naming what differs.
    """
    _check_place(folder)
    with storage_errors(folder.path):
        folder.path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder.path / _LOCK)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise InputError(
                f"another process is running into {folder.path}; wait until it is done"
            ) from error
    try:
        _sweep(folder)
        header = folder.read_header() if folder.header.exists() else RunHeader(data=data, configurations={})
        _check_same(folder.path, "the questions", _asked(header.data), _asked(data))
        for configuration in configurations:
            known = header.configurations.get(configuration.name)
            if known is not None:
                _check_same(folder.path, configuration.name, _identity(known), _identity(configuration))
        if not folder.header.exists():
            _publish(folder, header)
        yield
    finally:
        lock.release()


def enter(folder: RunFolder, configuration: Configuration, models: Mapping[str, str]) -> ConfigHeader:
    """Write into run.json what a configuration runs on, once its models are loaded.

    Raises InputError where it ran on other models before.
    """
    entry = ConfigHeader(
        hashes=configuration.hashes, models=dict(models), settings=dict(configuration.changes)
    )
    header = folder.read_header()
    known = header.configurations.get(configuration.name)
    if known is not None:
        _check_same(folder.path, configuration.name, {"models": known.models}, {"models": entry.models})
    else:
        configurations = {**header.configurations, configuration.name: entry}
        _publish(folder, header.model_copy(update={"configurations": configurations}))
    return entry


def _check_place(folder: RunFolder) -> None:
    path = folder.path
    if path.exists() and not path.is_dir():
        raise InputError(f"--out {path} is a file; name a folder")
    if not path.is_dir() or folder.header.exists():
        return
    if any(entry.name != _LOCK and not half_written(entry) for entry in path.iterdir()):
        raise InputError(f"{path} is not empty and holds no run.json; choose another --out")


def _sweep(folder: RunFolder) -> None:
    """Remove what a killed run had not written whole; the lock says that nobody is at it."""
    with storage_errors(folder.path):
        for file in [*folder.path.glob(".*"), *folder.path.glob("*/.*")]:
            if half_written(file):
                file.unlink(missing_ok=True)


def _publish(folder: RunFolder, header: RunHeader) -> None:
    write_whole(folder.header, [to_json(header.model_dump(mode="json"), indent=2) + b"\n"])


def _asked(data: DataHeader) -> dict[str, Any]:
    """The questions, wherever their file lies."""
    return data.model_dump(exclude={"file", "left_out"})


def _identity(of: Configuration | ConfigHeader) -> dict[str, Any]:
    settings = of.changes if isinstance(of, Configuration) else of.settings
    return {"settings": dict(settings), "hashes": of.hashes.model_dump()}


def _check_same(path: Path, what: str, held: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    differing = list(_differences(held, wanted))
    if differing:
        shown = "; ".join(differing[:4]) + ("; …" if len(differing) > 4 else "")
        raise InputError(
            f"{path} holds another run. {what}: {shown}.\nChoose another --out; nothing was touched."
        )


def _differences(held: Mapping[str, Any], wanted: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Every leaf at which two mappings differ, hashes cut short."""
    for key in sorted(held.keys() | wanted.keys()):
        was, now = held.get(key), wanted.get(key)
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            yield from _differences(was, now, f"{prefix}{key}.")
        elif was != now:
            yield f"{prefix}{key} was {_shown(was)}, is {_shown(now)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text[1:13] + "…" if isinstance(value, str) and len(value) == 64 else text
