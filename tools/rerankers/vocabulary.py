"""The words that an encoder knows: those that its tokenizer holds whole."""

import re
from typing import Final

from transformers import PreTrainedTokenizerBase

_CONTINUES: Final = "##"  # WordPiece marks what goes on with a word
_BEGINS: Final = ("▁", "Ġ")  # SentencePiece and byte-level BPE mark what begins one
# Thai, Lao, Burmese, Khmer, kana, Han and Hangul, where words stand without spaces.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+"
)


def whole_words(tokenizer: PreTrainedTokenizerBase) -> frozenset[str]:
    """Pieces that can stand as words, as text without their marks; special and reserved pieces left out."""
    special = set(tokenizer.all_special_tokens)
    pieces = [
        piece
        for piece in tokenizer.get_vocab()
        if piece not in special and not (piece.startswith("[") and piece.endswith("]"))
    ]
    begin = [piece for piece in pieces if piece.startswith(_BEGINS)]
    if not begin:
        return frozenset(piece for piece in pieces if not piece.startswith(_CONTINUES))
    words = (tokenizer.convert_tokens_to_string([piece]).strip() for piece in begin)
    return frozenset((*words, *(piece for piece in pieces if _UNSPACED.fullmatch(piece))))
