"""A reranker by its name, whichever kind it is: a sentence encoder, a trained one, or a cross-encoder."""

from transformers import AutoConfig

from ..models.compute import Device
from ..models.resolve import resolve
from ..protocols import Reranker
from ..readers.adapted import find
from .biencoder import BiEncoderReranker
from .cross_encoder import CrossEncoderReranker
from .head import is_classifier, transformer_of
from .projected import ProjectedReranker


def open_reranker(model: str, *, device: Device = "auto", threads: int | None = None) -> Reranker:
    """Load a catalogue name, a folder, a hub name or a trained reranker.

    A sequence classifier reads query and text together; what is no trained reader either is an encoder of
    sentences. Raises ModelMissing where it is not on this machine, CapabilityError for a classifier of more
    than two labels, ArtifactError for a trained reader that is damaged or no reranker.
    """
    if find(model) is not None:
        return ProjectedReranker.load(model, device=device, threads=threads)
    classifies = is_classifier(AutoConfig.from_pretrained(transformer_of(resolve(model))))
    kind = CrossEncoderReranker if classifies else BiEncoderReranker
    return kind.load(model, device=device, threads=threads)


def whole_texts(reranker: Reranker) -> Reranker:
    """What compares whole texts: the encoder under a trained reranker, which was trained on parts of
    questions, or the reranker itself.
    """
    return reranker.encoder if isinstance(reranker, ProjectedReranker) else reranker
