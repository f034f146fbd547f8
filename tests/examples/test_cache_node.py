"""`examples/cache_node.py` as it stands, with its real models."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_need_is_filled_then_hit_and_what_nothing_answers_is_a_miss(tmp_path: Path):
    command = [sys.executable, ROOT / "examples" / "cache_node.py"]
    run = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path, timeout=600)
    outcomes = [line.split()[0] for line in run.stdout.splitlines() if line[:1] in set("hfm")]
    assert outcomes == ["filled", "hit", "miss"]
    assert "Annual leave" in run.stdout
    assert "1 of 3 lookups needed no fetch" in run.stdout
