"""A reranker by its name, whichever kind it is: a sentence encoder, or a cross-encoder."""

from transformers import AutoConfig

from ..models.compute import Device
from ..models.resolve import resolve
from ..protocols import Reranker
from ..readers.adapted import find
from .biencoder import BiEncoderReranker
from .cross_encoder import CrossEncoderReranker
from .head import is_classifier, transformer_of


def open_reranker(model: str, *, device: Device = "auto", threads: int | None = None) -> Reranker:
    """Load a catalogue name, a folder, a hub name or a trained reranker.

    A sequence classifier and a trained reranker read query and text together; anything else is an encoder of
    sentences. Raises ModelMissing where it is not on this machine, CapabilityError for a classifier of more
    than two labels, ArtifactError for a trained reader that is damaged or no reranker.
    """
    kind = CrossEncoderReranker if reads_pairs(model) else BiEncoderReranker
    return kind.load(model, device=device, threads=threads)


def reads_pairs(model: str) -> bool:
    """Whether the model is a cross-encoder, by its architecture. Raises as `open_reranker`."""
    if find(model) is not None:
        return True
    return is_classifier(AutoConfig.from_pretrained(transformer_of(resolve(model))))
