"""A tiny BERT encoder with random weights, for tests of the readers and of their training."""

from pathlib import Path

import torch
from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TEXT = (
    "a is the of in who what where when mayor river town long miles mill built painted bridge opened by "
    "north south east west ada ben cleo dov eva finn arden belmar corvale dunmere old new 1820 1911 glass . ?"
)
WORDS = TEXT.split()
MAX_TOKENS = 48


def save_encoder(folder: Path, seed: int = 5) -> Path:
    """Three layers of width 16; its words are `WORDS`, everything else is unknown to it."""
    BertModel(_configured(folder, seed)).save_pretrained(folder)
    return folder


def save_classifier(folder: Path, labels: int = 1) -> Path:
    """The same with a head of so many labels: a cross-encoder."""
    BertForSequenceClassification(_configured(folder, num_labels=labels)).save_pretrained(folder)
    return folder


def _configured(folder: Path, seed: int = 5, **more: int) -> BertConfig:
    """Write the tokenizer, seed the weights."""
    vocabulary = {piece: index for index, piece in enumerate([*SPECIAL, *WORDS])}
    BertTokenizer(vocab=vocabulary, model_max_length=MAX_TOKENS).save_pretrained(folder)
    torch.manual_seed(seed)
    return BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=3, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=256, initializer_range=0.3, **more,
    )  # fmt: skip
