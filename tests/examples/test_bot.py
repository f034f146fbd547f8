"""`examples/bot.py` as it stands, with its real models."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
KNOWN = "How many days of annual leave does a full-time employee have?"
UNKNOWN = "Who received the Torvane Medal in 2021?"


def test_the_bot_cites_abstains_and_takes_an_empty_line(tmp_path: Path):
    command = [sys.executable, ROOT / "examples" / "bot.py"]
    run = subprocess.run(
        command,
        check=True,
        input=f"{KNOWN}\n\n{UNKNOWN}\n",
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=600,
    )
    known, empty, unknown = run.stdout.strip().split("\n\n")
    assert known.startswith(f"> {KNOWN}\n")
    assert "[1] Annual leave" in known
    assert empty == "> the question is empty; ask one"
    assert unknown.startswith(f"> {UNKNOWN}\n")
    assert "I cannot answer that from the handbook." in unknown
