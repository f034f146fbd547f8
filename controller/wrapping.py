"""Models that stand around other models: what every such one passes on unchanged."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ..tools.protocols import Encoder, Generator
from ..tools.types import Capabilities


class Fingerprinted(Protocol):
    """A reranker or a small reader, as far as all of them are known alike."""

    @property
    def fingerprint(self) -> str:
        """Hash of the weights and tokenizer, stored in artifacts."""
        ...


ReaderT = TypeVar("ReaderT", bound=Fingerprinted)


@dataclass(frozen=True, slots=True)
class AroundReader(Generic[ReaderT]):
    """What a reranker or small reader around another is known by, which is what the other is known by."""

    reader: ReaderT

    @property
    def fingerprint(self) -> str:
        """That of the reader."""
        return self.reader.fingerprint


@dataclass(frozen=True, slots=True)
class AroundGenerator:
    """What a generator around another is known by, which is what the other is known by."""

    generator: Generator

    @property
    def capabilities(self) -> Capabilities:
        """Those of the generator."""
        return self.generator.capabilities

    def count_tokens(self, text: str) -> int:
        """As `Generator.count_tokens`; no call of the model."""
        return self.generator.count_tokens(text)


@dataclass(frozen=True, slots=True)
class AroundEncoder:
    """What an encoder around another is known by, which is what the other is known by."""

    encoder: Encoder

    @property
    def fingerprint(self) -> str:
        """That of the encoder."""
        return self.encoder.fingerprint

    @property
    def capabilities(self) -> Capabilities:
        """Those of the encoder."""
        return self.encoder.capabilities

    @property
    def depth(self) -> int:
        """That of the encoder."""
        return self.encoder.depth

    def count_tokens(self, text: str) -> int:
        """As `Encoder.count_tokens`; no call of the model."""
        return self.encoder.count_tokens(text)
