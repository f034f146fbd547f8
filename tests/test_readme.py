"""Every command of the README runs as it stands there, in order, and so does its Python."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(sh|python)\n(.*?)```", README, re.DOTALL)

# Run by CI itself, which calls make, and by test_packaging, which installs the wheel.
ELSEWHERE = ("make ", "pip install")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "examples", folder / "examples")
    return folder


@pytest.mark.parametrize(("language", "code"), BLOCKS)
def test_a_block_runs(place: Path, language: str, code: str):
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    if language == "sh":
        lines = [line for line in code.splitlines() if not line.startswith(ELSEWHERE)]
        command = ["bash", "-euo", "pipefail", "-c", "\n".join(lines)]
    else:
        command = [sys.executable, "-c", code]
    run = subprocess.run(
        command, check=False, cwd=place, env=environment, capture_output=True, text=True, timeout=300
    )
    # 3: the question of the example was answered by an abstention, which is an answer too.
    assert run.returncode in (0, 3), run.stderr
    assert "Traceback" not in run.stderr


def test_the_readme_has_what_it_promises():
    assert {language for language, _ in BLOCKS} == {"sh", "python"}
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"(?:`|^)make ([a-z-]+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_setting_in_the_readme_exists():
    from sufficit.controller.settings import keys

    for key in re.findall(r"(?:--set |`)((?:[a-z_]+\.)+[a-z_]+)(?==|`)", README):
        assert key in keys() or key.endswith((".py", ".toml", ".jsonl")), key
