"""From pair files to a RINSE artifact: load the models, measure, fit, score on families left out."""

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...policies.rinse.artifact import Artifact
from ...policies.rinse.cache import FeatureCache
from ...policies.rinse.fit import fit_artifact
from ...policies.rinse.leave_out import measure_left_out
from ...policies.rinse.measure import Backbones, Measurer
from ...policies.rinse.provenance import FamilyAccuracy
from ...policies.rinse.records import ContrastRecord, read_records
from ...policies.rinse.sampling import in_whole_groups, sample_groups, usable
from ...policies.rinse.threshold import check_held_out
from ...policies.rinse.training import FitSettings, Progress, measure_records
from ...tools.errors import InputError
from ...tools.rerankers.opening import open_reranker
from ...tools.wordpieces import WordPieceTokenizer
from ..loading import load_joint, load_model, load_span
from ..settings import Settings
from .readers.lessons import lessons


@dataclass(frozen=True, slots=True)
class PairData:
    """Records to fit on. `files` maps file names to SHA-256.

    `skipped` counts records that teach nothing, `taught` those that the reranker was trained on, with what
    lost its pair by them.
    """

    records: Sequence[ContrastRecord]
    files: dict[str, str]
    skipped: int
    taught: int = 0


def read_pairs(files: Sequence[Path], left_out: Sequence[str]) -> PairData:
    """The records of `files` outside the families `left_out`.

    Raises InputError for a file or line that cannot be read, two files of one name, a family that is in none
    of the files, and where no pair is left.
    """
    records: list[ContrastRecord] = []
    hashes: dict[str, str] = {}
    for file in files:
        if file.name in hashes:
            raise InputError(f"two pair files are called {file.name}; rename one to tell them apart")
        records += list(read_records(file))
        with file.open("rb") as stream:
            hashes[file.name] = hashlib.file_digest(stream, "sha256").hexdigest()
    families = {record.family for record in records}
    unknown = sorted(set(left_out) - families)
    if unknown:
        raise InputError(
            f"no family {unknown[0]!r} in the pair files; there are: {', '.join(sorted(families))}"
        )
    kept, skipped = usable(record for record in records if record.family not in left_out)
    if not kept:
        raise InputError("no group holds a sufficient and an insufficient record: nothing to fit on")
    return PairData(kept, hashes, skipped)


def load_backbones(settings: Settings, *, latent: bool) -> Backbones:
    """The models that the settings name. Raises ModelMissing where one is not here."""
    names = {"wordpieces": settings.rinse.wordpieces, "reranker": settings.rinse.reranker}
    wordpieces = WordPieceTokenizer.load(settings.rinse.wordpieces)
    chosen = settings.generator
    reranker = open_reranker(settings.rinse.reranker, device=chosen.device, threads=chosen.threads)
    encoder = None
    if latent and settings.rinse.encoder is not None:
        encoder = load_model(settings.rinse.encoder, chosen)
    named = {"encoder": settings.rinse.encoder, "span": settings.rinse.span, "joint": settings.rinse.joint}
    return Backbones(
        wordpieces,
        reranker,
        encoder,
        names | {part: name for part, name in named.items() if name is not None},
        span=load_span(settings.rinse, chosen),
        joint=load_joint(settings.rinse, chosen),
        learned=lessons(settings.rinse),
    )


def untaught(data: PairData, backbones: Backbones) -> PairData:
    """Without the questions that a trained reranker has learned from: nothing can be read off its scores.

    Raises InputError where no others are left.
    """
    lesson = backbones.learned.get("reranker")
    if lesson is None:
        return data
    records = in_whole_groups([record for record in data.records if not lesson.holds(record)])
    if not records:
        raise InputError("the reranker was trained on all these questions; train it with a --share below 1")
    return replace(data, records=records, taught=len(data.records) - len(records))


def fit_pairs(
    data: PairData,
    backbones: Backbones,
    settings: FitSettings,
    cache: Path,
    left_out: Sequence[str],
    *,
    report: bool,
    progress: Progress,
) -> Artifact:
    """Measure what the cache does not hold, then fit.

    With `report` the provenance also holds the accuracy on every family left out in turn. Raises InputError
    where too little is left to fit on, StorageError where the cache cannot be written.
    """
    sample = sample_groups(data.records, settings.groups, settings.seed)
    held = {r.group for r in sample if settings.holds_out(r) and r.family not in left_out}
    check_held_out(len(held), settings.alpha)  # before hours of measuring
    with FeatureCache(cache) as kept:
        measured = asyncio.run(measure_records(data.records, Measurer(backbones, kept), settings, progress))
    described = backbones.described()
    artifact = fit_artifact(measured, settings, described, data.files, left_out)
    if not report:
        return artifact
    return recorded(artifact, measure_left_out(measured, settings, described, data.files, left_out))


def recorded(artifact: Artifact, accuracies: Iterable[FamilyAccuracy]) -> Artifact:
    """The artifact with the accuracies of its own readers and of their sums."""
    own = tuple(row for row in accuracies if set(row.scorer.split("+")) <= artifact.standards.keys())
    return replace(artifact, provenance=artifact.provenance.model_copy(update={"accuracy": own}))
