"""What the README says an extra is for runs in an environment that holds that extra's packages alone."""

import json
import subprocess
import sysconfig
import venv
from collections.abc import Iterable
from importlib.metadata import Distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HANDBOOK = Path(__file__).parents[1] / "examples" / "handbook"


def installed(name: str) -> Distribution | None:
    """The distribution of this name beside the interpreter; none if it is for another platform, say."""
    return next(iter(Distribution.discover(name=name, path=[sysconfig.get_path("purelib")])), None)


def closure(project: str, extras: Iterable[str]) -> dict[str, Distribution]:
    """The installed distributions that an install of `project` with `extras` brings."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    left = [(project, frozenset(extras))]
    while left:
        name, wanted = left.pop()
        held = installed(name)
        if held is None:
            continue
        found[canonicalize_name(name)] = held
        for need in map(Requirement, held.requires or ()):
            asked = any(
                need.marker is None or need.marker.evaluate({"extra": extra}) for extra in (*wanted, "")
            )
            pair = (need.name, frozenset(need.extras))
            if asked and pair not in seen:
                seen.add(pair)
                left.append(pair)
    return found


def environment(folder: Path, *extras: str) -> Path:
    """The interpreter of a new environment that links to what an install of Sufficit with `extras` brings."""
    venv.create(folder, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    for held in closure("sufficit", extras).values():
        for top in {file.parts[0] for file in held.files or ()} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(held.locate_file(top))).resolve())
    return folder / "bin" / "python"


def run(python: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([python, *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("generator")
def test_embedded_builds_an_index_and_answers(tmp_path: Path) -> None:
    python = environment(tmp_path / "environment", "embedded")
    assert run(python, "-c", "import httpx").returncode == 1
    sufficit = (python, "-m", "sufficit.controller")
    built = run(*sufficit, "index", "build", HANDBOOK, "--index", tmp_path / "index")
    assert built.returncode == 0, built.stderr
    question = "How many days of annual leave does a full-time employee have?"
    asked = run(*sufficit, "ask", question, "--index", tmp_path / "index", "--json")
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout)["action"] == "answer"


def test_embedded_and_server_open_the_service(tmp_path: Path) -> None:
    python = environment(tmp_path / "environment", "embedded", "server")
    assert run(python, "-c", "import trafilatura").returncode == 1
    opened = run(
        python, "-c", "import sufficit.controller.service.opening, sufficit.controller.service.running"
    )
    assert opened.returncode == 0, opened.stderr
