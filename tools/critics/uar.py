"""The four heads of UAR as released: a file of PyTorch weights each, `score.weight` of shape (2, width)."""

from pathlib import Path
from pickle import UnpicklingError

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import InputError

PREFIXES = {"intent": "intent", "knowledge": "know", "time": "time", "self": "self"}
_WEIGHT = "score.weight"


def load_uar_heads(folder: Path) -> dict[str, NDArray[np.float32]]:
    """The heads `intent`, `knowledge`, `time` and `self`, each of shape (2, width).

    Every head is the one `.pth` file under `folder` whose name begins with intent, know, time or self. Files
    are read as weights only: nothing in them is run. Raises InputError where a head is missing or damaged.
    """
    files = sorted(folder.rglob("*.pth")) if folder.is_dir() else []
    heads = {}
    for head, prefix in PREFIXES.items():
        found = [file for file in files if file.name.lower().startswith(prefix)]
        if len(found) != 1:
            raise InputError(
                f"{folder} holds {len(found)} files {prefix}*.pth, one is needed; name the folder of UAR's "
                "classifiers for one model"
            )
        heads[head] = _weights(found[0])
    return heads


def _weights(file: Path) -> NDArray[np.float32]:
    try:
        state = torch.load(file, map_location="cpu", weights_only=True)
        weights: NDArray[np.float32] = state[_WEIGHT].float().numpy()
    except (OSError, RuntimeError, EOFError, UnpicklingError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{file} is no UAR head: it has no readable {_WEIGHT}") from error
    return weights
