"""Where local models compute: the device, the threads, and whose turn it is."""

import os
import threading
from pathlib import Path
from typing import Literal

import torch

from ..errors import SettingsError

Device = Literal["auto", "cpu", "cuda"]

TURN = threading.Lock()
"""Held by the local model that computes. Two on the same cores are many times slower side by side than one
after the other: the threads of each wait for a core that the other's have."""


def resolve_device(device: Device) -> Literal["cpu", "cuda"]:
    """`auto` is CUDA where torch sees a GPU. Raises SettingsError for a CUDA that is not there."""
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise SettingsError("device = cuda, but torch sees no GPU here; set it to cpu or auto")
    return device


def available_threads() -> int:
    """Threads this process may use: OMP_NUM_THREADS if set, else its cores, or the cgroup's share of them."""
    # OpenMP takes a list, a number for each level of nesting.
    wanted = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else (os.cpu_count() or 1)
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, min(cores, int(quota) // int(period)))
    except (OSError, ValueError):  # no cgroup, or no limit in it ("max")
        return cores
