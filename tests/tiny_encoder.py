"""A tiny BERT encoder with random weights, for tests of the readers and of their training."""

from pathlib import Path

import torch
from transformers import BertConfig, BertModel, BertTokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TEXT = (
    "a is the of in who what where when mayor river town long miles mill built painted bridge opened by "
    "north south east west ada ben cleo dov eva finn arden belmar corvale dunmere old new 1820 1911 glass . ?"
)
WORDS = TEXT.split()
MAX_TOKENS = 48


def save_encoder(folder: Path, seed: int = 5) -> Path:
    """Three layers of width 16; its words are `WORDS`, everything else is unknown to it."""
    vocabulary = {piece: index for index, piece in enumerate([*SPECIAL, *WORDS])}
    BertTokenizer(vocab=vocabulary, model_max_length=MAX_TOKENS).save_pretrained(folder)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=3, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=256, initializer_range=0.3,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    return folder
