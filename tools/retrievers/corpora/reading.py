"""Reading a corpus: paths in, passages out, with what was wrong on the way."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import InputError
from ...types import Passage
from .document import Document
from .files import FILE_READERS, read_file
from .jsonl import FORMATS, read_jsonl
from .problems import Problems


def read_corpus(paths: Sequence[Path], *, strict: bool = False, root: Path | None = None) -> "CorpusReading":
    """Find the files of a corpus; iterating the result reads them.

    A folder gives its .txt, .md and .html files, at any depth, hidden ones left out, in the order of their
    names; a file of another suffix is read as JSON Lines. A JSON Lines document's source is its id. A file's
    source is its path relative to `root`, by default the deepest folder that holds all of `paths`: for one
    folder its own, for one file the file's. A document read twice is given twice and noted as duplicate: the
    later one replaces.

    Raises
    ------
    InputError: if a path does not exist or a folder holds nothing readable; while iterating, if a file is not
        JSON Lines, if the whole corpus holds no passage, and, if strict, at the first problem.
    """
    if not paths:
        raise InputError(f"No corpus is named.\nRead are: {FORMATS}.")
    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist; name files or folders of the corpus.")
    base = root.resolve() if root else _common_folder(paths)
    problems = Problems(strict=strict)
    files = tuple(file for path in paths for file in _files(path, problems))
    return CorpusReading(files, base, problems)


@dataclass(slots=True)
class CorpusReading:
    """One pass over a corpus. Iterate once: gives passages, those of one document together.

    `bytes_read` of `bytes_total` (as stored, so compressed where compressed) is the progress; `documents`
    counts those that gave passages; `problems` what was left out or mended.
    """

    files: tuple[Path, ...]
    root: Path
    problems: Problems
    bytes_total: int = field(init=False)
    bytes_read: int = field(init=False, default=0)
    documents: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.bytes_total = sum(_size(file) for file in self.files)

    def __iter__(self) -> Iterator[Passage]:
        seen: set[int] = set()  # hashes, not ids: a large corpus must fit in memory
        for file in self.files:
            for document, line in self._documents(file):
                passages = list(document.passages())
                if not passages:
                    self.problems.add("empty", str(file), line, f"{document.source!r} has no text")
                    continue
                if (identity := hash(document.source)) in seen:
                    self.problems.add(
                        "duplicate", str(file), line, f"{document.source!r} replaces an earlier one"
                    )
                seen.add(identity)
                self.documents += 1
                yield from passages
        if not self.documents:
            first = self.problems.first
            why = f"The first problem was {first[0]}" if first else f"Read are: {FORMATS}"
            raise InputError(f"No passage was found in {len(self.files)} file(s).\n{why}.")

    def _documents(self, file: Path) -> Iterator[tuple[Document, int | None]]:
        if file.suffix.lower() in FILE_READERS:
            document = read_file(file, _source(file, self.root), self.problems)
            self._advance(_size(file))
            if document is not None:
                yield document, None
            return
        try:
            yield from read_jsonl(file, self.problems, self._advance)
        except OSError as error:
            self.problems.add("unreadable", str(file), None, error.strerror or str(error))

    def _advance(self, count: int) -> None:
        self.bytes_read += count


def _files(path: Path, problems: Problems) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = False

    def unreadable(error: OSError) -> None:
        problems.add("unreadable", str(error.filename), None, error.strerror or str(error))

    for folder, folders, names in os.walk(path, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and Path(name).suffix.lower() in FILE_READERS:
                found = True
                yield Path(folder, name)
    if not found:
        raise InputError(f"{path} holds no .txt, .md or .html file.\nName JSON Lines files themselves.")


def _common_folder(paths: Sequence[Path]) -> Path:
    folders = [path.resolve() if path.is_dir() else path.resolve().parent for path in paths]
    try:
        return Path(os.path.commonpath(folders))
    except ValueError:  # on several drives
        return folders[0]


def _source(file: Path, root: Path) -> str:
    """Path of a file relative to the root, with slashes; the whole path if it lies outside."""
    full = file.parent.resolve() / file.name
    name = full.relative_to(root) if full.is_relative_to(root) else full
    return os.fsencode(name.as_posix()).decode(errors="replace")


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
