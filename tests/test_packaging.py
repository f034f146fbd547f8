"""What is installed: the wheel holds the three floors and their data, and imports in an empty environment."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    # From a copy of what git tracks: a build leaves folders beside the sources.
    source = tmp_path_factory.mktemp("source")
    archive = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=True)
    for name in archive.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, source]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_only_the_package_and_its_data(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"sufficit"}
    assert {Path(name).suffix for name in names if ".dist-info/" not in name} <= {
        ".py",
        ".json",
        ".safetensors",
        ".typed",
    }
    assert "sufficit/controller/loop.py" in names
    assert "sufficit/policies/rinse/artifacts/embedded/artifact.json" in names
    assert not [name for name in names if "test" in name or "handbook" in name]


def test_it_installs_and_imports_in_an_empty_environment(wheel: Path, tmp_path: Path):
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", wheel], check=True, cwd=tmp_path)
    # The loop, traces and replay need no model, so they import without the extras.
    code = "import sufficit.controller, sufficit.controller.loop, sufficit.controller.cli"
    subprocess.run([python, "-c", code], check=True, cwd=tmp_path)
    version = subprocess.run(
        [tmp_path / "venv" / "bin" / "sufficit", "settings", "--json"],
        check=True,
        capture_output=True,
        cwd=tmp_path,
    )
    assert b"igp.threshold" in version.stdout
