"""The configurations of a run: a settings file each, and what tells one from another."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from ....policies.rinse.artifact import EMBEDDED, artifact_hash, load_artifact
from ....tools.errors import InputError, SettingsError
from ....tools.retrievers.identity import index_hash
from ...settings import Settings, flat, load, settings_hash
from .rows import Hashes

DEFAULT = "default"
NO_DEADLINE = "budget.seconds=86400"
"""An assignment for configurations that share calls: a deadline would be hardest on the first, which pays."""
# The run's own files lie beside the configurations' folders.
_NAME = re.compile(r"(?!.*\.(json|md|html|png)$)\w[\w.\-]*")


@dataclass(frozen=True, slots=True)
class Configuration:
    """A name, which is that of its folder too, its settings, and the hashes of all that it rests on."""

    name: str
    settings: Settings
    hashes: Hashes

    @property
    def changes(self) -> Mapping[str, Any]:
        """The settings that are not the defaults, by dotted key, as plain JSON values."""
        defaults = flat(Settings())
        changed = {key: value for key, value in flat(self.settings).items() if value != defaults[key]}
        plain: dict[str, Any] = json.loads(to_json(changed, inf_nan_mode="strings"))
        return plain


def read_configurations(
    files: Sequence[Path], assignments: Sequence[str], index: Path | None, data: str
) -> tuple[Configuration, ...]:
    """A configuration a file, named as the file is; without a file one of the name `default`.

    `assignments` and `index` go into all of them; `data` is the hash of the questions. Raises InputError for
    two files of one name, SettingsError for settings that no evaluation can have, and as loading does.
    """
    names = [file.stem for file in files] or [DEFAULT]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"two --config files are called {twice[0]}; each names a folder: rename one")
    indexes: dict[tuple[Path, ...], str] = {}
    found: list[Configuration] = []
    sources: Sequence[Path | None] = files or (None,)
    for name, file in zip(names, sources, strict=True):
        if not _NAME.fullmatch(name):
            raise InputError(f"--config {file}: a folder gets its name: use letters, digits, - and _")
        options = {"index.path": index} if index else {}
        settings = load(assignments, file, options=options).settings
        _check(name, settings)
        paths = settings.index.paths
        if paths not in indexes:
            indexes[paths] = _index_hash(paths)
        found.append(Configuration(name, settings, _hashes(settings, indexes[paths], data)))
    return tuple(found)


def _check(name: str, settings: Settings) -> None:
    if settings.web.on and settings.web.keep_days:
        raise SettingsError(
            f"{name}: web.keep_days = {settings.web.keep_days:g} writes to the index between questions,\n"
            "so that their order would count; set it to 0"
        )


def _hashes(settings: Settings, index: str, data: str) -> Hashes:
    artifact = settings.rinse.artifact
    loaded = load_artifact(EMBEDDED if artifact == "embedded" else Path(artifact))
    return Hashes(settings=settings_hash(settings), artifact=artifact_hash(loaded), index=index, data=data)


def _index_hash(paths: Sequence[Path]) -> str:
    """The index's hash; of several that are fused, the hash of theirs."""
    every = [index_hash(path) for path in paths]
    return every[0] if len(every) == 1 else hashlib.sha256("\n".join(every).encode()).hexdigest()
