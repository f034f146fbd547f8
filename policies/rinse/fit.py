"""Fitting RINSE on measured records: content head, latent direction, size correction, scale, threshold.

Nothing here runs a model, and nothing here sees a record of a family that is left out.
"""

import datetime
import platform
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, combinations

import numpy as np

from ...tools.errors import InputError
from .artifact import Artifact, Backbone, reader_set
from .content import ContentModel
from .content_fit import fit_content
from .direction import LatentSample, fit_direction, layer_accuracies
from .idf import PieceCounts
from .latent import LatentModel, LatentPrompt
from .provenance import AnswerThreshold, LayerChoice, PenaltyChoice, Provenance
from .size import Standard, fit_padding, fit_standard
from .threshold import ScoredRecord, answer_threshold
from .training import Example, FitSettings, PaddedExample, TrainingData

PACKAGES = ("numpy", "scipy", "torch", "transformers", "tokenizers", "sufficit")


def fit_artifact(
    data: TrainingData,
    settings: FitSettings,
    backbones: Mapping[str, Backbone],
    files: Mapping[str, str],
    left_out: Collection[str] = (),
) -> Artifact:
    """Fit everything on the families not in `left_out`.

    `files` maps the names of the pair files to their SHA-256. Raises InputError where too little is left.
    """
    kept = [example for example in data.examples if example.record.family not in left_out]
    fitted = [example for example in kept if not example.held_out]
    if not fitted:
        raise InputError("no pair is left to fit on; give more pairs, or leave fewer families out")
    counts = PieceCounts.sum(part for family, part in data.counts.items() if family not in left_out)
    content, penalties = fit_content([e.record for e in fitted], [e.coverage for e in fitted], counts)
    latent, layers = fit_latent(fitted, settings.prompts)
    padded = [example for example in data.padded if example.family not in left_out]
    standards = fit_standards(fitted, padded, content, latent)
    return Artifact(
        backbones={part: found for part, found in backbones.items() if latent or part != "encoder"},
        content=content,
        latent=latent,
        standards=standards,
        thresholds=_thresholds([e for e in kept if e.held_out], content, latent, standards, settings.alpha),
        provenance=_provenance(kept, settings, files, left_out, penalties=penalties, layers=layers),
    )


def fit_latent(
    examples: Sequence[Example], prompts: Sequence[LatentPrompt]
) -> tuple[LatentModel | None, tuple[LayerChoice, ...]]:
    """The latent reader's direction, at the prompt and layer that serve the training families best.

    Layer 0 is never chosen: the embedding of the prompt's last token is the same for every record.
    """
    read = [example for example in examples if example.states]
    if not read:
        return None, ()
    choices = []
    for prompt in prompts:
        accuracies = layer_accuracies(_sample(read, prompt))
        choices.append(LayerChoice(prompt=prompt, accuracies=tuple(map(float, accuracies))))
    best = max(choices, key=lambda choice: max(choice.accuracies[1:]))
    layer = 1 + int(np.argmax(best.accuracies[1:]))
    direction = fit_direction(_sample(read, best.prompt))[layer]
    return LatentModel(best.prompt, layer, direction), tuple(choices)


def _sample(examples: Sequence[Example], prompt: LatentPrompt) -> LatentSample:
    records = [example.record for example in examples]
    return LatentSample(records, np.array([example.states[prompt] for example in examples]))


def fit_standards(
    examples: Sequence[Example],
    padded: Sequence[PaddedExample],
    content: ContentModel,
    latent: LatentModel | None,
) -> dict[str, Standard]:
    """Size correction, mean and standard deviation of every reader."""
    scores = [content.raw(example.coverage) for example in examples]
    standards = {"content": fit_standard(sizes(examples), scores)}
    measured = [(example, other_raws(example, latent)) for example in examples]
    stretched = [(example, other_raws(example, latent)) for example in padded]
    for name in sorted({name for _, raws in measured for name in raws}):
        read = [(example, raws[name]) for example, raws in measured if name in raws]
        wide = [(example, raws[name]) for example, raws in stretched if name in raws]
        curve = fit_padding([e.record for e, _ in wide], [e.size for e, _ in wide], [raw for _, raw in wide])
        standards[name] = fit_standard(sizes([e for e, _ in read]), [raw for _, raw in read], curve)
    return standards


def sizes(examples: Sequence[Example]) -> list[int]:
    """|E| of every example."""
    return [len(example.record.passages) for example in examples]


def other_raws(example: Example | PaddedExample, latent: LatentModel | None) -> dict[str, float]:
    """Raw scores of all readers but the content reader, of those that have read the record."""
    raws = dict(example.raws)
    if latent and example.states:
        raws["latent"] = latent.raw(example.states[latent.prompt][latent.layer])
    return raws


def reader_terms(
    example: Example, content: ContentModel, latent: LatentModel | None, standards: Mapping[str, Standard]
) -> dict[str, float]:
    """Each reader's term of s(q, E) on a measured record; readers that did not read it are not there."""
    raws = {"content": content.raw(example.coverage)} | other_raws(example, latent)
    return {
        name: standards[name].standardise(raw, len(example.record.passages)) for name, raw in raws.items()
    }


def _thresholds(
    held_out: Sequence[Example],
    content: ContentModel,
    latent: LatentModel | None,
    standards: Mapping[str, Standard],
    alpha: float,
) -> dict[str, AnswerThreshold]:
    """The answer threshold of every set of readers, each on the held-out records that all of it has read."""
    terms = [reader_terms(example, content, latent, standards) for example in held_out]
    names = sorted(standards)
    sets = chain.from_iterable(combinations(names, size) for size in range(1, len(names) + 1))
    thresholds = {}
    for chosen in sets:
        records = [
            ScoredRecord(example.record.group, example.record.label, sum(term[name] for name in chosen))
            for example, term in zip(held_out, terms, strict=True)
            if all(name in term for name in chosen)
        ]
        thresholds[reader_set(chosen)] = answer_threshold(records, alpha)
    return thresholds


def _provenance(
    examples: Sequence[Example],
    settings: FitSettings,
    files: Mapping[str, str],
    left_out: Collection[str],
    *,
    penalties: tuple[PenaltyChoice, ...],
    layers: tuple[LayerChoice, ...],
) -> Provenance:
    groups = Counter(family for family, _ in {(e.record.family, e.record.group) for e in examples})
    return Provenance(
        data=dict(files),
        families=tuple(sorted(groups)),
        left_out=tuple(sorted(left_out)),
        groups=dict(sorted(groups.items())),
        records=dict(sorted(Counter(e.record.family for e in examples).items())),
        latent_records=dict(sorted(Counter(e.record.family for e in examples if e.states).items())),
        held_out=settings.held_out,
        seed=settings.seed,
        packages={"python": platform.python_version()} | _versions(),
        date=datetime.datetime.now(datetime.UTC).date(),
        penalties=penalties,
        layers=layers,
    )


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "absent"
    return found
