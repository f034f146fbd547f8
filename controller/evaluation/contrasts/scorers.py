"""Scorers by name: which models each stands on, loaded as the settings and the options say."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ....policies.rinse.artifact import EMBEDDED, Artifact, load_artifact
from ....policies.rinse.content import wordpieces_fingerprint
from ....policies.rinse.scorer import Rinse, build_rinse
from ....policies.scorers import attribution, p_true, ragas, self_rag, sufficient_context, uar, upr, yes_no
from ....policies.scorers.cosine import Cosine
from ....policies.scorers.crag import CRAG
from ....policies.scorers.entailment import Entailment, GeneratorEntailment
from ....policies.scorers.flare import FLARE
from ....policies.scorers.idf_overlap import IdfOverlap
from ....policies.scorers.rinse import RinseScorer
from ....policies.scorers.semantic_entropy import SemanticEntropy
from ....policies.scorers.types import Scorer
from ....tools.errors import InputError, SettingsError
from ....tools.generators.transformers import TransformersGenerator
from ....tools.models.catalog import ENCODER
from ....tools.rerankers.biencoder import BiEncoderReranker
from ....tools.wordpieces import WordPieceTokenizer
from ...loading import load_model, load_readers
from ...settings import Settings
from ..readers.lessons import lessons
from .scores import ScoreHeader

_HASH = 16


@dataclass(frozen=True, slots=True)
class ScorerOptions:
    """What a scorer may be given besides the settings.

    `model` stands in place of the settings' generator (for `cosine`, of the packaged encoder) and is where
    released weights are named; `entailment` is a classifier, without which the generator is asked; `heads`
    the folder of UAR's classifiers; `template` a file with another wording of the scorer's prompt.
    """

    model: str | None = None
    entailment: str | None = None
    heads: Path | None = None
    template: Path | None = None


@dataclass(frozen=True, slots=True)
class BuiltScorer:
    """A scorer ready to run, the names and hashes of its models, and the families that it was fitted on."""

    scorer: Scorer
    models: Mapping[str, str]
    fitted_on: tuple[str, ...]

    def header(self, label: str | None = None, at_once: int = 1) -> ScoreHeader:
        """The header of this scorer's files; its name is the label where none is given."""
        name = self.scorer.name
        return ScoreHeader(
            label=label or name,
            scorer=name,
            models=dict(self.models),
            fitted_on=self.fitted_on,
            at_once=at_once,
        )


def build_scorer(name: str, settings: Settings, options: ScorerOptions) -> BuiltScorer:
    """Load the scorer `name`, one of `SCORERS`.

    Raises SettingsError for an unknown name and for an option that this scorer does not take, ModelMissing
    where a model is not on this machine.
    """
    if name not in SCORERS:
        raise SettingsError(f"there is no scorer {name!r}; there are: {', '.join(SCORERS)}")
    loader = _Loader(name, settings, options)
    scorer = SCORERS[name](loader)
    loader.check_all_used()
    return BuiltScorer(scorer, loader.models, loader.fitted_on)


def load_rinse(settings: Settings) -> tuple[Rinse, Artifact, tuple[str, ...]]:
    """RINSE as the settings describe it, its artifact, and the families that anything in it was fitted on."""
    readers, rinse = load_readers(settings), settings.rinse
    policy = build_rinse(
        readers.artifact,
        readers.wordpieces,
        readers.reranker,
        readers.encoder,
        rinse.threshold,
        span=readers.span,
        joint=readers.joint,
    )
    learned = {family for lesson in lessons(rinse).values() for family in lesson.families}
    return policy, readers.artifact, tuple(sorted(learned | set(readers.artifact.provenance.families)))


def backbones(artifact: Artifact) -> dict[str, str]:
    """Names and hashes of the models that an artifact was fitted on."""
    return {part: f"{b.model} {b.fingerprint[:_HASH]}" for part, b in artifact.backbones.items()}


class _Loader:
    """Loads what one scorer asks for, and keeps account of it."""

    def __init__(self, name: str, settings: Settings, options: ScorerOptions) -> None:
        self._name = name
        self._options = options
        self._unused = {key for key in ("model", "entailment", "heads", "template") if getattr(options, key)}
        self.settings = settings
        self.models: dict[str, str] = {}
        self.fitted_on: tuple[str, ...] = ()

    def check_all_used(self) -> None:
        """Raises SettingsError for an option that the scorer has no use for."""
        if self._unused:
            raise SettingsError(f"the scorer {self._name} takes no --{sorted(self._unused)[0]}")

    def generator(self) -> TransformersGenerator:
        """The model that is asked."""
        self._unused.discard("model")
        model = self._options.model or self.settings.generator.model
        generator = load_model(model, self.settings.generator)
        self.models["generator"] = f"{model} {generator.fingerprint[:_HASH]}"
        return generator

    def released(self) -> str:
        """The name of released weights, which must be given."""
        self._unused.discard("model")
        if not self._options.model:
            raise SettingsError(
                f"the scorer {self._name} stands on released weights; name their folder with --model"
            )
        return self._options.model

    def entailment(self, generator: TransformersGenerator) -> Entailment:
        """The entailment classifier where one is named, else the generator."""
        self._unused.discard("entailment")
        name = self._options.entailment
        if not name:
            return GeneratorEntailment(generator)
        from ....tools.critics.classifier import SequenceClassifier  # noqa: PLC0415  only wanted here
        from ....tools.critics.nli import NliClassifier  # noqa: PLC0415

        chosen = self.settings.generator
        classifier = SequenceClassifier.load(name, device=chosen.device, threads=chosen.threads)
        self.models["entailment"] = f"{name} {classifier.fingerprint[:_HASH]}"
        return NliClassifier(classifier)

    def template(self, default: str) -> str:
        """The scorer's own wording, or the file's."""
        self._unused.discard("template")
        file = self._options.template
        if not file:
            return default
        try:
            text = file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{file} cannot be read as a prompt template: {error}") from error
        self.models["template"] = hashlib.sha256(text.encode()).hexdigest()[:_HASH]
        return text

    def cosine(self) -> Scorer:
        self._unused.discard("model")
        chosen = self.settings.generator
        model = self._options.model or ENCODER
        reranker = BiEncoderReranker.load(model, device=chosen.device, threads=chosen.threads)
        self.models["reranker"] = f"{model} {reranker.fingerprint[:_HASH]}"
        return Cosine(reranker)

    def rinse(self) -> Scorer:
        rinse, artifact, fitted_on = load_rinse(self.settings)
        self._account(artifact, fitted_on)
        chosen = self.settings.rinse
        self.models["readers"] = f"encoder {chosen.encoder}, span {chosen.span}, joint {chosen.joint}"
        return RinseScorer(rinse)

    def idf_overlap(self) -> Scorer:
        name = self.settings.rinse.artifact
        artifact = load_artifact(EMBEDDED if name == "embedded" else Path(name))
        self._account(artifact, artifact.provenance.families)
        wordpieces = WordPieceTokenizer.load(self.settings.rinse.wordpieces)
        artifact.check_backbone("wordpieces", wordpieces_fingerprint(wordpieces))
        return IdfOverlap(wordpieces, artifact.content.counts)

    def _account(self, artifact: Artifact, fitted_on: tuple[str, ...]) -> None:
        self.models |= backbones(artifact) | {"artifact": artifact_key(artifact)}
        self.fitted_on = fitted_on

    def crag(self) -> Scorer:
        from ....tools.critics.crag import CragEvaluator  # noqa: PLC0415  only wanted here

        model, chosen = self.released(), self.settings.generator
        evaluator = CragEvaluator.load(model, device=chosen.device, threads=chosen.threads)
        self.models["evaluator"] = f"{model} {evaluator.fingerprint[:_HASH]}"
        return CRAG(evaluator)

    def self_rag(self) -> Scorer:
        self.released()
        return self_rag.SelfRagCritic(self.generator(), self.template(self_rag.TEMPLATE))

    def uar(self) -> Scorer:
        from ....tools.critics.uar import load_uar_heads  # noqa: PLC0415  only wanted here

        self.released()
        self._unused.discard("heads")
        if not self._options.heads:
            raise SettingsError("the scorer uar needs its four classifiers; name their folder with --heads")
        heads = load_uar_heads(self._options.heads)
        digest = hashlib.sha256(b"".join(heads[head].tobytes() for head in sorted(heads)))
        self.models["heads"] = digest.hexdigest()[:_HASH]
        return uar.UAR(self.generator(), heads, self.template(uar.TEMPLATE))

    def p_true(self) -> Scorer:
        return p_true.PTrue(self.generator(), self.settings.prompts, self.template(p_true.TEMPLATE))

    def attribution(self) -> Scorer:
        generator = self.generator()
        return attribution.Attribution(generator, self.entailment(generator), self.settings.prompts)

    def semantic_entropy(self) -> Scorer:
        generator = self.generator()
        return SemanticEntropy(generator, self.entailment(generator), self.settings.prompts)


def artifact_key(artifact: Artifact) -> str:
    """What tells one fitted artifact from another: data, left-out families, seed and date."""
    return hashlib.sha256(artifact.provenance.model_dump_json().encode()).hexdigest()[:_HASH]


SCORERS: Mapping[str, Callable[[_Loader], Scorer]] = {
    "rinse": _Loader.rinse,
    "idf-overlap": _Loader.idf_overlap,
    "cosine": _Loader.cosine,
    "yes-no": lambda load: yes_no.YesNo(load.generator(), load.template(yes_no.TEMPLATE)),
    "upr": lambda load: upr.UPR(load.generator(), load.template(upr.TEMPLATE)),
    "sufficient-context": lambda load: sufficient_context.SufficientContext(
        load.generator(), load.template(sufficient_context.TEMPLATE)
    ),
    "ragas": lambda load: ragas.ContextRelevance(load.generator(), load.template(ragas.TEMPLATE)),
    "crag": _Loader.crag,
    "self-rag": _Loader.self_rag,
    "uar": _Loader.uar,
    "p-true": _Loader.p_true,
    "attribution": _Loader.attribution,
    "semantic-entropy": _Loader.semantic_entropy,
    "flare": lambda load: FLARE(load.generator(), load.settings.prompts),
}
"""Every scorer by the name that `--scorer` takes."""
