"""Tokenizers of the models that read text: whatever a text says, it is text.

A page may hold `[SEP]` or `</s>`. Read as the model's own control tokens they would end one input and begin
another, or mask a word.
"""

from pathlib import Path

from transformers import AutoTokenizer, PreTrainedTokenizerBase


def load_tokenizer(folder: Path | str) -> PreTrainedTokenizerBase:
    """The tokenizer in a folder of transformers; control tokens are added to a text and never read in one."""
    tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder, split_special_tokens=True)
    return tokenizer
