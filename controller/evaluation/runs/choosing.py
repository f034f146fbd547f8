"""Which rows a path names: those of a run folder, or of one configuration in it."""

from dataclasses import dataclass
from pathlib import Path

from ....tools.errors import InputError
from .comparison import RunComparison, compare_rows
from .folder import RunFolder
from .rows import PredictionRow


@dataclass(frozen=True, slots=True)
class Chosen:
    """A run folder and the rows, by configuration, that were asked for."""

    folder: RunFolder
    rows: dict[str, list[PredictionRow]]


def chosen(path: Path) -> Chosen:
    """The rows of a run folder, or of DIR/CONFIGURATION alone.

    Raises InputError where `path` is neither, or what it names has not ended.
    """
    whole, parent = RunFolder(path), RunFolder(path.parent)
    if whole.header.exists() or not parent.header.exists():
        return Chosen(whole, whole.read_predictions())
    rows = parent.read_predictions()
    if path.name not in rows:
        raise InputError(f"{path}: no such configuration has ended in {path.parent}; {_those(rows)}")
    return Chosen(parent, {path.name: rows[path.name]})


def compare_paths(first: Path, second: Path) -> list[RunComparison]:
    """Compare two configurations, or those of equal names in two run folders.

    Raises InputError where `chosen` does, and where it is not clear what to compare with what.
    """
    one, two = chosen(first), chosen(second)
    if len(one.rows) == len(two.rows) == 1:
        pairs = [(*one.rows, *two.rows)]
    else:
        pairs = [(name, name) for name in one.rows if name in two.rows]
    if one.folder.path.resolve() == two.folder.path.resolve():
        pairs = [(left, right) for left, right in pairs if left != right]
    if not pairs:
        raise InputError(
            f"{first} and {second}: unclear what to compare; name one configuration of each as "
            f"{first.name}/NAME. {first}: {_those(one.rows)}; {second}: {_those(two.rows)}"
        )
    return [
        compare_rows(
            left if left != right else str(one.folder.path / left),
            one.rows[left],
            right if left != right else str(two.folder.path / right),
            two.rows[right],
        )
        for left, right in pairs
    ]


def _those(rows: dict[str, list[PredictionRow]]) -> str:
    return f"there are: {', '.join(rows)}"
