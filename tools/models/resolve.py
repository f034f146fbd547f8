"""From a model's name in the settings to a folder on this machine.

The name is one of: a catalogue name, a folder, a GGUF file, or a name on the Hugging Face hub.
"""

from pathlib import Path

from ..errors import InputError, ModelMissing
from .catalog import CATALOG
from .store import Progress, path

_HUB_FILES = ("*.safetensors", "*.json", "*.txt", "*.model", "*.jinja")


def resolve(model: str, progress: Progress = lambda _: None) -> Path:
    """The folder of `model`, ready for transformers.

    A GGUF file is converted on first use. Raises ModelMissing in at most two lines that say how to get the
    model, InputError for a file that is no model.
    """
    if model in CATALOG:
        return _ready(path(model), progress)
    local = Path(model).expanduser()
    if local.exists():
        return _ready(local, progress)
    if local.suffix == ".gguf" or model.startswith((".", "/", "~")) or model.count("/") > 1:
        raise ModelMissing(f"there is no model at {local}; check the path, or run: sufficit models list")
    return _from_hub(model)


def _ready(local: Path, progress: Progress) -> Path:
    if local.is_file():
        if local.suffix != ".gguf":
            raise InputError(f"{local} is no model: give a folder with config.json, or a .gguf file")
        from .gguf import convert  # noqa: PLC0415  torch is slow to import

        return convert(local, progress)
    # sentence-transformers may keep the transformer in a folder below.
    if not any((local / name).is_file() for name in ("config.json", "modules.json")):
        raise InputError(f"{local} is no model folder: it has no config.json")
    return local


def _from_hub(name: str) -> Path:
    """A snapshot from the hub's own cache, else downloaded into it."""
    import huggingface_hub  # noqa: PLC0415  only wanted here, and slow to import

    for local_only in (True, False):
        try:
            snapshot = huggingface_hub.snapshot_download(
                name, allow_patterns=list(_HUB_FILES), local_files_only=local_only
            )
        except (OSError, ValueError):
            continue
        if list(Path(snapshot).glob("*.safetensors")):
            return Path(snapshot)
    raise ModelMissing(
        f"model {name!r} is neither in the local hub cache nor to be had from the hub.\n"
        f"Give a folder, a .gguf file, or what `sufficit models install` brings: {', '.join(CATALOG)}"
    )
