"""Answer thresholds of a fitted RINSE on held-out groups. (Design: from score to action)"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...policies.rinse.artifact import Artifact, reader_set
from ...policies.rinse.provenance import AnswerThreshold
from ...policies.rinse.records import ContrastRecord, read_records
from ...policies.rinse.sampling import usable
from ...policies.rinse.threshold import ScoredRecord, answer_threshold
from ...policies.rinse.training import is_held_out
from ...tools.errors import InputError
from .contrasts.scores import ScoreRow
from .readers.lessons import Lesson


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Records that may set a threshold.

    `seen` counts those that the artifact or a trained reader was fitted on, `unpaired` those of groups with
    one label only; neither is among `records`.
    """

    records: Sequence[ContrastRecord]
    seen: int
    unpaired: int


def held_out_records(files: Sequence[Path], artifact: Artifact, lessons: Iterable[Lesson]) -> HeldOut:
    """The records of `files` that nothing was fitted on.

    Of a file that the artifact was fitted on these are its held-out groups; questions that a trained reader
    may have learned from are left out everywhere. Raises InputError for a file or line that cannot be read,
    and where no group with both labels is left.
    """
    known, fresh, seen = artifact.provenance, list[ContrastRecord](), 0
    taught = list(lessons)
    for file in files:
        fitted = _sha256(file) in known.data.values()
        for record in read_records(file):
            held = not fitted or is_held_out(_fitted_name(record), known.seed, known.held_out)
            if held and not any(lesson.holds(record) for lesson in taught):
                fresh.append(replace(record, group=f"{record.construction}/{record.group}"))
            else:
                seen += 1
    kept, unpaired = usable(fresh)
    if not kept:
        raise InputError(
            f"no group with both labels is left to calibrate on ({seen} records were fitted on); "
            "give contrasts of other questions, made with: sufficit contrasts build"
        )
    return HeldOut(kept, seen, unpaired)


def thresholds(rows: Sequence[ScoreRow], alphas: Sequence[float]) -> list[AnswerThreshold]:
    """The answer threshold at every risk in `alphas`, in (0, 1); rows without a score are passed over.

    Raises InputError where there are too few groups for a risk.
    """
    scored = [ScoredRecord(row.group, row.label, row.score) for row in rows if row.score is not None]
    return [answer_threshold(scored, alpha) for alpha in sorted(set(alphas))]


def reachable(rows: Sequence[ScoreRow], alphas: Sequence[float]) -> list[float]:
    """The risks that so many groups can promise: those of at least 1 / (groups + 1)."""
    groups = {row.group for row in rows if row.score is not None and not row.label}
    return [alpha for alpha in alphas if alpha >= 1 / (len(groups) + 1)]


def with_threshold(
    artifact: Artifact, readers: Iterable[str], found: AnswerThreshold, calibrated_on: Mapping[str, str]
) -> Artifact:
    """The artifact with another threshold for `readers`, and the hashes of the files that it rests on."""
    provenance = artifact.provenance.model_copy(
        update={"calibrated_on": {**artifact.provenance.calibrated_on, **calibrated_on}}
    )
    merged = {**artifact.thresholds, reader_set(readers): found}
    return replace(artifact, thresholds=merged, provenance=provenance)


def hashes(files: Iterable[Path]) -> dict[str, str]:
    """SHA-256 of every file by its name."""
    return {file.name: _sha256(file) for file in files}


def _sha256(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error


def _fitted_name(record: ContrastRecord) -> str:
    """The name that a fit knows the record's group by, see `usable`."""
    return f"{record.family}/{record.group}"
