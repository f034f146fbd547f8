"""What a process of ours sets for the libraries below it, and what it leaves alone."""

import json
import os
import platform
import subprocess
import sys

import pytest

PROBE = """
import json, os, resource
import sufficit.controller.environment as environment
import torch

def churn():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        torch.ones(2_000_000)  # 8 MB: large enough to be mapped anew each time
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

churn()
print(json.dumps({"faults": churn(), "policy": os.environ["OMP_WAIT_POLICY"]}))
"""


def probe(**variables: str) -> dict[str, object]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "OMP_"))}
    done = subprocess.run(
        [sys.executable, "-c", PROBE], env=kept | variables, capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the allocator is not glibc's")
def test_memory_that_is_taken_again_is_not_returned_first() -> None:
    ours = probe()
    theirs = probe(MALLOC_MMAP_THRESHOLD_="131072", OMP_WAIT_POLICY="active")
    assert ours["policy"] == "passive"
    assert theirs["policy"] == "active"
    assert isinstance(ours["faults"], int)
    assert isinstance(theirs["faults"], int)
    assert ours["faults"] * 10 < theirs["faults"]
