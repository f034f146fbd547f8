"""WordPiece tokens of plain text, as the content reader's question windows need them (RINSE, section 4)."""

from collections.abc import Sequence
from typing import Self

from tokenizers import Tokenizer
from transformers import AutoTokenizer

from .errors import CapabilityError
from .models.catalog import ENCODER
from .models.resolve import resolve

_CONTINUATION = "##"
_UNKNOWN = "[UNK]"


class WordPieceTokenizer:
    """Pieces of a text and readable text of pieces, by a fast WordPiece tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        # Packaged tokenizers often carry a length limit and padding for sentence batches.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer

    @classmethod
    def load(cls, model: str) -> Self:
        """Load the tokenizer of a catalogue name, folder or hub name.

        Raises ModelMissing where it is not on this machine, CapabilityError where it is not WordPiece.
        """
        backend = getattr(AutoTokenizer.from_pretrained(resolve(model)), "backend_tokenizer", None)
        if not isinstance(backend, Tokenizer) or type(backend.model).__name__ != "WordPiece":
            raise CapabilityError(f"{model} has no WordPiece tokenizer; rinse.wordpieces = {ENCODER} has one")
        return cls(backend)

    def pieces(self, text: str) -> list[str]:
        """The pieces of `text`, lower-cased where the tokenizer is, continuation pieces marked by `##`.

        A word that the vocabulary lacks is one piece, marked by `[UNK]`: it is no other such word.
        """
        encoded = self._tokenizer.encode(text, add_special_tokens=False)
        unknown = self._tokenizer.model.unk_token
        return [
            f"{_UNKNOWN}{text[start:end].lower()}" if piece == unknown else piece
            for piece, (start, end) in zip(encoded.tokens, encoded.offsets, strict=True)
        ]

    def join(self, pieces: Sequence[str]) -> str:
        """Readable text of consecutive pieces, without their marks."""
        text = ""
        for piece in pieces:
            if piece.startswith(_CONTINUATION):
                text += piece.removeprefix(_CONTINUATION)
            else:
                text += f" {piece.removeprefix(_UNKNOWN)}"
        return text.strip()
