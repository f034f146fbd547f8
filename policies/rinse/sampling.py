"""Which groups a fit reads, and which it keeps back: decided by hashes, the same for every run of a seed."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .records import ContrastRecord


def usable(records: Iterable[ContrastRecord]) -> tuple[list[ContrastRecord], int]:
    """The records that a fit can learn from, and how many others there were.

    A record needs a passage with text, its group both labels. Group names are made distinct over families.
    """
    named = [replace(record, group=f"{record.family}/{record.group}") for record in records]
    filled = [record for record in named if any(passage.text.strip() for passage in record.passages)]
    kept = in_whole_groups(filled)
    return kept, len(named) - len(kept)


def in_whole_groups(records: Sequence[ContrastRecord]) -> list[ContrastRecord]:
    """The records of groups that hold both labels."""
    labels: dict[str, set[bool]] = {}
    for record in records:
        labels.setdefault(record.group, set()).add(record.label)
    return [record for record in records if len(labels[record.group]) == 2]


def draw(group: str, seed: int, purpose: str) -> float:
    """A number in [0, 1) that depends on nothing but these three."""
    digest = hashlib.blake2b(f"{purpose}\n{seed}\n{group}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def sample_groups(records: Sequence[ContrastRecord], groups: int | None, seed: int) -> list[ContrastRecord]:
    """The records of at most `groups` groups of every family (None: of all).

    A smaller sample with the same seed is a part of a larger one.
    """
    if groups is None:
        return list(records)
    families: dict[str, set[str]] = {}
    for record in records:
        families.setdefault(record.family, set()).add(record.group)
    chosen: set[str] = set()
    for names in families.values():
        chosen.update(sorted(names, key=lambda name: draw(name, seed, "sample"))[:groups])
    return [record for record in records if record.group in chosen]


def thin(records: Sequence[ContrastRecord], side: int) -> list[ContrastRecord]:
    """At most the first `side` records of each label in every group."""
    seen: Counter[tuple[str, bool]] = Counter()
    kept = []
    for record in records:
        seen[record.group, record.label] += 1
        if seen[record.group, record.label] <= side:
            kept.append(record)
    return kept


def family_folds(records: Sequence[ContrastRecord]) -> NDArray[np.str_]:
    """The fold of every record for choices made on training families: its family.

    Where there is one family only, each half of its groups is a fold.
    """
    folds = np.array([record.family for record in records])
    if len(np.unique(folds)) > 1:
        return folds
    _, numbers = np.unique([record.group for record in records], return_inverse=True)
    return (numbers % 2).astype(np.str_)
