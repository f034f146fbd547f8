"""How RINSE does on a family that it has never seen: fitted again without each family, then scored on it.

Head, IDF, direction, prompt, layer, size correction and standardisation all do without the family's records.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from .accuracy import pairwise_accuracy
from .artifact import Artifact, Backbone, reader_set
from .fit import fit_artifact, reader_terms
from .provenance import FamilyAccuracy
from .records import pairs
from .training import Example, FitSettings, TrainingData


@dataclass(frozen=True, slots=True)
class Summary:
    """One scorer over all families: the mean and the minimum of its families' accuracies.

    A family's accuracy is the mean over its constructions.
    """

    scorer: str
    average: float
    minimum: float


def measure_left_out(
    data: TrainingData,
    settings: FitSettings,
    backbones: Mapping[str, Backbone],
    files: Mapping[str, str],
    left_out: Collection[str] = (),
) -> list[FamilyAccuracy]:
    """Pairwise accuracy of every reader and of their sum on each family outside `left_out`.

    The families in `left_out` are neither fitted on nor scored. A reader that was trained on a family has no
    part in its accuracy; a family of the reranker's, on which the content reader stands, has no row. Raises
    InputError where too little is left to fit on.
    """
    away = {*left_out, *data.trained.get("reranker", ())}
    families = sorted({example.record.family for example in data.examples} - away)
    rows: list[FamilyAccuracy] = []
    for family in families:
        known = {reader for reader, trained in data.trained.items() if family in trained}
        blind = _without(data, known)
        artifact = fit_artifact(blind, settings, backbones, files, {family, *left_out})
        rows += family_accuracies(artifact, [e for e in blind.examples if e.record.family == family])
    return rows


def _without(data: TrainingData, readers: Collection[str]) -> TrainingData:
    """The data as if these trained readers had read nothing."""
    if not readers:
        return data

    def left(raws: Mapping[str, float]) -> dict[str, float]:
        return {name: raw for name, raw in raws.items() if name not in readers}

    return replace(
        data,
        examples=[replace(example, raws=left(example.raws)) for example in data.examples],
        padded=[replace(example, raws=left(example.raws)) for example in data.padded],
    )


def family_accuracies(artifact: Artifact, examples: Sequence[Example]) -> list[FamilyAccuracy]:
    """Accuracy of each reader, and of the sum of all, by construction, on examples of one family.

    A reader is measured on the records that it has read, the sum on those that all have read.
    """

    def construction(example: Example) -> str:
        return example.record.construction

    rows = []
    for name, members in groupby(sorted(examples, key=construction), key=construction):
        chosen = list(members)
        terms = [
            reader_terms(example, artifact.content, artifact.latent, artifact.standards) for example in chosen
        ]
        readers = sorted(artifact.standards)
        for scorer in dict.fromkeys([*((reader,) for reader in readers), tuple(readers)]):
            rows += _accuracy(chosen, terms, scorer, name)
    return rows


def _accuracy(
    examples: Sequence[Example],
    terms: Sequence[Mapping[str, float]],
    scorer: tuple[str, ...],
    construction: str,
) -> list[FamilyAccuracy]:
    """One row, or none where the scorer has read no pair."""
    read = [
        (example.record, sum(term[reader] for reader in scorer))
        for example, term in zip(examples, terms, strict=True)
        if all(reader in term for reader in scorer)
    ]
    found = list(pairs([record for record, _ in read]))
    if not found:
        return []
    accuracy = pairwise_accuracy(found, [score for _, score in read])
    return [
        FamilyAccuracy(
            family=read[0][0].family,
            construction=construction,
            scorer=reader_set(scorer),
            groups=accuracy.groups,
            pairs=accuracy.pairs,
            accuracy=accuracy.value,
            low=accuracy.low,
            high=accuracy.high,
        )
    ]


def summarise(rows: Sequence[FamilyAccuracy]) -> list[Summary]:
    """Average and minimum of every scorer over families."""
    summaries = []
    for scorer in dict.fromkeys(row.scorer for row in rows):
        families: dict[str, list[float]] = {}
        for row in rows:
            if row.scorer == scorer:
                families.setdefault(row.family, []).append(row.accuracy)
        means = [float(np.mean(values)) for values in families.values()]
        summaries.append(Summary(scorer, float(np.mean(means)), min(means)))
    return summaries
