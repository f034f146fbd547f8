"""The house as the design draws it: three floors, no arrow up, every folder packaged."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = {"tools": 1, "policies": 2, "controller": 3}
MODULES = sorted(path for floor in FLOORS for path in (ROOT / floor).rglob("*.py"))


def imported_floors(path: Path) -> set[str]:
    """The floors that a module imports from, by relative and by absolute imports."""
    depth = len(path.relative_to(ROOT).parts) - 1
    floors = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            # A level above the floor's own folder leaves the floor.
            names = [f"sufficit.{node.module}"] if node.level == depth + 1 else [node.module or ""]
            names = names if node.level in (0, depth + 1) else []
        floors |= {name.split(".")[1] for name in names if name.startswith("sufficit.")}
    return floors


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_arrow_goes_up(path: Path):
    own = FLOORS[path.relative_to(ROOT).parts[0]]
    assert all(FLOORS[floor] <= own for floor in imported_floors(path))


def test_the_check_sees_an_arrow(tmp_path: Path):
    assert imported_floors(ROOT / "controller" / "loop.py") == {"policies", "tools"}
    assert imported_floors(ROOT / "policies" / "rinse" / "scorer.py") == {"tools"}


def test_every_folder_with_modules_is_packaged():
    packaged = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = {"sufficit." + ".".join(path.parent.relative_to(ROOT).parts) for path in MODULES}
    assert folders == set(packaged)
