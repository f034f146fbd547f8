"""What `make demo` runs, as it stands, with its real models."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_demo_shows_every_decision(tmp_path: Path):
    command = [sys.executable, ROOT / "examples" / "demo.py"]
    run = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path, timeout=600)
    shown = run.stdout
    assert "Indexed" in shown
    assert shown.count("Question  ") == 3
    for stage in ("retrieve", "RINSE", "decide", "closed-book", "IGP", "with evidence", "TrustMargin"):
        assert stage in shown
    assert "Abstained" in shown
    assert "[1] " in shown
