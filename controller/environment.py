"""How the libraries below are to behave in a process of ours; imported before any of them is loaded.

Whoever has set these variables keeps what they set.
"""

import os

# A waiting OpenMP thread that spins takes the core from the one it waits for, as soon as anything else runs.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Tokenizers warn after a fork, and gain nothing from threads at the batch sizes here.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
