"""Tiny random models of the shapes in which the compared methods released theirs."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForSequenceClassification,
)

WORDS = (
    *("who", "is", "the", "mayor", "of", "arden", "belmar", "ada", "voss", "ben", "river", "long"),
    *("miles", ".", "?", ":", "[SEP]", "yes", "no"),
)


def tokenizer(
    *, specials: dict[str, str], added: tuple[str, ...] = (), template: str | None = None, longest: int = 64
):
    vocabulary = ["<unk>", *specials.values(), *WORDS]
    backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(vocabulary)}, "<unk>"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if template:
        single, pair = template.split("|")
        named = [(token, vocabulary.index(token)) for token in specials.values()]
        backend.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=named)
    found = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>", **specials)
    found.add_tokens(list(added))
    found.model_max_length = longest
    return found


def crag_evaluator(folder: Path) -> Path:
    """T5 with one label, as the released T5-large."""
    words = tokenizer(
        specials={"pad_token": "<pad>", "eos_token": "</s>"}, template="$A </s>|$A </s> $B </s>"
    )
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=len(words), d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, num_labels=1,
        pad_token_id=words.pad_token_id, eos_token_id=words.eos_token_id, decoder_start_token_id=0,
    )  # fmt: skip
    return _save(T5ForSequenceClassification(config), words, folder)


def nli_classifier(
    folder: Path, labels: tuple[str, ...] = ("entailment", "neutral", "contradiction")
) -> Path:
    """A BERT over pairs with the labels of mDeBERTa's NLI models."""
    words = tokenizer(
        specials={"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[S]"},
        template="[CLS] $A [S]|[CLS] $A [S] $B:1 [S]:1",
    )
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64, id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
    )  # fmt: skip
    return _save(BertForSequenceClassification(config), words, folder)


def llama(folder: Path, added: tuple[str, ...] = ()) -> Path:
    """A Llama whose vocabulary holds `added`, such as Self-RAG's reflection tokens."""
    words = tokenizer(specials={"bos_token": "<s>", "eos_token": "</s>"}, added=added, longest=512)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=512,
        bos_token_id=words.bos_token_id, eos_token_id=words.eos_token_id,
    )  # fmt: skip
    return _save(LlamaForCausalLM(config), words, folder)


def uar_heads(folder: Path, width: int = 16) -> Path:
    """Four files as they are released for Llama-2 7B."""
    torch.manual_seed(0)
    for head in ("Intent", "Know", "Time", "Self"):
        inner = folder / f"{head}_aware_llama2_7b_chat"
        inner.mkdir(parents=True)
        torch.save({"score.weight": torch.randn(2, width)}, inner / f"{head.lower()}_cls_7b.pth")
    return folder


def _save(model, words, folder: Path) -> Path:
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder
