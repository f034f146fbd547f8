"""What was wrong in a corpus: counted by kind, the first of them named with file and line."""

from collections import Counter
from dataclasses import dataclass
from typing import Final, Literal, get_args

from ...errors import InputError

ProblemKind = Literal["duplicate", "empty", "bad line", "undecodable", "unreadable"]

KINDS: Final[tuple[ProblemKind, ...]] = get_args(ProblemKind)
_KEPT = 1_000  # problems kept by name; the rest is only counted


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that was wrong. `line` counts from 1; None where the whole file is meant.

    `duplicate`: the document was read before and is replaced. `empty`: it has no text and is left out.
    `bad line`: not a document, left out. `undecodable`: bytes that are not UTF-8 were replaced by U+FFFD.
    `unreadable`: the file could not be read, or not to its end.
    """

    kind: ProblemKind
    file: str
    line: int | None
    detail: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.kind}: {self.detail}"


class Problems:
    """Collects problems; a strict one raises InputError at the first."""

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self._counts: Counter[ProblemKind] = Counter()
        self._first: list[Problem] = []

    def add(self, kind: ProblemKind, file: str, line: int | None, detail: str) -> None:
        """Count a problem and keep it if it is among the first thousand.

        Raises
        ------
        InputError: if strict.
        """
        problem = Problem(kind, file, line, detail)
        if self._strict:
            raise InputError(f"{problem}\nMend it, or leave out --strict to go on without it.")
        self._counts[kind] += 1
        if len(self._first) < _KEPT:
            self._first.append(problem)

    @property
    def counts(self) -> dict[ProblemKind, int]:
        """How many of every kind, zeros included."""
        return {kind: self._counts[kind] for kind in KINDS}

    @property
    def first(self) -> tuple[Problem, ...]:
        """The first problems, at most 1,000, in the order they were met."""
        return tuple(self._first)

    def __len__(self) -> int:
        return self._counts.total()
