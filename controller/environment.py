"""How the libraries below are to behave in a process of ours; imported before any of them is loaded.

Whoever has set these variables keeps what they set.
"""

import ctypes
import os
import sys

_ONE_ARENA, _MAP_THRESHOLD, _TRIM_THRESHOLD = (-8, 1), (-3, 32 << 20), (-1, 512 << 20)
"""glibc's M_ARENA_MAX, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, and what they are set to, in bytes."""


def _keep_freed_memory() -> None:
    """Let glibc hand freed memory out again rather than return it to the system at once.

    A forward pass frees and takes the same hundreds of megabytes over and over, and every page that comes
    back from the system is cleared first: without this, that is a tenth of the time of a long prompt. At most
    512 MB are kept at the heap's end. Elsewhere than on glibc, and where the environment sets malloc itself,
    nothing happens.
    """
    if sys.platform != "linux" or any(name.startswith(("MALLOC_", "GLIBC_TUNABLES")) for name in os.environ):
        return
    try:
        change = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    for setting in (_ONE_ARENA, _MAP_THRESHOLD, _TRIM_THRESHOLD):
        change(*setting)


# A waiting OpenMP thread that spins takes the core from the one it waits for, as soon as anything else runs.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Tokenizers warn after a fork, and gain nothing from threads at the batch sizes here.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
_keep_freed_memory()
