"""One scorer on evidence sets that grow by shared passages (RINSE Table 7)."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ....policies.rinse.records import ContrastRecord
from ....policies.scorers.types import Scorer
from .additions import COUNTS, Additions
from .scores import Additions as AdditionsHeader
from .scores import ScoreHeader, record_key
from .scoring import by_set, score_records


@dataclass(frozen=True, slots=True)
class Grown:
    """The files of scores, one a count. `fewest` is, by family and construction, how many passages the group
    got that got the fewest where most are added: a small pool holds no more.
    """

    paths: list[Path]
    fewest: Mapping[tuple[str, str], int]


Progress = Callable[[str, int, int], None]
"""Called with a label, how many of its records are done, and how many there are."""


async def score_grown(
    records: Sequence[ContrastRecord],
    scorer: Scorer,
    header: ScoreHeader,
    folder: Path,
    progress: Progress,
    *,
    seed: int,
    counts: Sequence[int] = COUNTS,
) -> Grown:
    """Score `records` once for each count of added passages.

    Rows are by the key of the record before anything was added, so that counts can be compared pair by pair;
    the header pins what was added. Raises as `score_records`.
    """
    sets = by_set(records)
    additions = [Additions(members, seed, max(counts)) for members in sets.values()]
    pool = hashlib.sha256("".join(found.pool for found in additions).encode()).hexdigest()[:16]
    paths = []
    for count in counts:
        label = f"{header.label} +{count}"
        grown = {
            record_key(record): larger
            for members, found in zip(sets.values(), additions, strict=True)
            for record, larger in zip(members, found.at(count), strict=True)
        }
        named = header.model_copy(
            update={"label": label, "additions": AdditionsHeader(count=count, seed=seed, pool=pool)}
        )
        path = folder / f"plus-{count:03}.jsonl"
        await score_records(grown, scorer, named, path, partial(progress, label))
        paths.append(path)
    fewest = [found.fewest(max(counts)) for found in additions]
    return Grown(paths, dict(zip(sets, fewest, strict=True)))
