"""RINSE section 4: s(q, E) = Σ_r (h_r(q, E) - ĉ_r(|E|) - μ_r) / σ_r over readers r, with equal weights."""

import asyncio
import math
from collections.abc import Sequence

from ...tools.errors import ArtifactError, InputError, ModelOutputError
from ...tools.protocols import Encoder, JointReader, Reranker, SpanReader, WordPieces
from ...tools.types import Passage
from ..types import Reader, ReaderScore, Reading, SufficiencyReport
from .artifact import Artifact, reader_set
from .content import ContentReader, wordpieces_fingerprint
from .joint import SetReader
from .latent import LatentReader
from .span import AnswerSpanReader


class Rinse:
    """The sufficiency policy over some or all of an artifact's readers.

    `threshold` overrides the answer threshold that the artifact holds for these readers. Raises ArtifactError
    where the artifact lacks one of the readers or a threshold for them.
    """

    def __init__(self, artifact: Artifact, readers: Sequence[Reader], threshold: float | None = None) -> None:
        names = [reader.name for reader in readers]
        unknown = sorted(set(names) - set(artifact.standards))
        if unknown or not names:
            raise ArtifactError(
                f"the RINSE artifact has no reader {unknown}; it has {sorted(artifact.standards)}"
            )
        key = reader_set(names)
        if threshold is None:
            if key not in artifact.thresholds:
                raise ArtifactError(
                    f"the RINSE artifact has no threshold for {key}; it has {sorted(artifact.thresholds)}"
                )
            threshold = artifact.thresholds[key].value
        self._artifact = artifact
        self._readers = tuple(readers)
        self._threshold = threshold

    @property
    def readers(self) -> frozenset[str]:
        """Names of the readers that it stands on."""
        return frozenset(reader.name for reader in self._readers)

    async def score(self, question: str, passages: Sequence[Passage]) -> SufficiencyReport:
        """Score the evidence set; an empty one gets a report without a score.

        The readers run concurrently. Raises InputError for a passage without text, which would count as one
        and say nothing, and ModelOutputError where a model returns NaN or infinity.
        """
        if not passages:
            return SufficiencyReport(None, self._threshold, (), (), 0)
        blank = [passage.id for passage in passages if not passage.text.strip()]
        if blank:
            raise InputError(f"passage {blank[0]!r} is empty; leave out what says nothing")
        readings = await asyncio.gather(*(reader.read(question, passages) for reader in self._readers))
        scores = tuple(
            self._term(reader.name, reading, len(passages))
            for reader, reading in zip(self._readers, readings, strict=True)
        )
        coverage = next((reading.coverage for reading in readings if reading.coverage), ())
        total = sum(score.standardised for score in scores)
        return SufficiencyReport(total, self._threshold, scores, coverage, len(passages))

    def _term(self, name: str, reading: Reading, size: int) -> ReaderScore:
        if not math.isfinite(reading.raw):
            raise ModelOutputError(f"the {name} reader returned {reading.raw}; check its model's weights")
        standard = self._artifact.standards[name]
        return ReaderScore(
            name, reading.raw, standard.curve.at(size), standard.standardise(reading.raw, size)
        )


def build_rinse(
    artifact: Artifact,
    wordpieces: WordPieces,
    reranker: Reranker,
    encoder: Encoder | None,
    threshold: float | None = None,
    *,
    span: SpanReader | None = None,
    joint: JointReader | None = None,
) -> Rinse:
    """RINSE on these backbones, each checked against the artifact.

    A reader without its model is left out; every report names the readers that it stands on. Raises
    ArtifactError where a backbone is not the one that the artifact was fitted on, or was none of them.
    """
    artifact.check_backbone("wordpieces", wordpieces_fingerprint(wordpieces))
    artifact.check_backbone("reranker", reranker.fingerprint)
    readers: list[Reader] = [ContentReader(artifact.content, wordpieces, reranker)]
    if encoder:
        artifact.check_backbone("encoder", encoder.fingerprint)
        if artifact.latent is None:
            raise ArtifactError("the RINSE artifact holds no latent direction; unset rinse.encoder")
        readers.append(LatentReader(artifact.latent, encoder, reranker))
    if span:
        artifact.check_backbone("span", span.fingerprint)
        readers.append(AnswerSpanReader(span))
    if joint:
        artifact.check_backbone("joint", joint.fingerprint)
        readers.append(SetReader(joint, reranker))
    return Rinse(artifact, readers, threshold)
