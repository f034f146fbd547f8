from pathlib import Path

from sufficit.tools.models.resolve import resolve
from sufficit.tools.rerankers.vocabulary import whole_words
from tiny_encoder import WORDS, save_encoder
from tokenizers import Tokenizer, decoders, models
from transformers import AutoTokenizer, PreTrainedTokenizerFast


def test_words_of_wordpiece():
    words = whole_words(AutoTokenizer.from_pretrained(resolve("all-minilm-l6-v2")))
    assert {"vessel", "harbour", "1990"} <= words
    assert not words & {"##ing", "ing##", "[UNK]", "[unused7]", "zyzzyva", "torvane"}


def test_special_pieces_are_no_words(tmp_path: Path):
    assert whole_words(AutoTokenizer.from_pretrained(save_encoder(tmp_path))) == set(WORDS)


def test_words_of_sentencepiece():
    pieces = [("<unk>", 0.0), ("▁harbour", -1.0), ("s", -1.0), ("灯台", -1.0), ("▁", -1.0)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0))
    tokenizer.decoder = decoders.Metaspace()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")
    assert whole_words(fast) - {""} == {"harbour", "灯台"}


def test_words_of_byte_level_pieces():
    vocabulary = {"<unk>": 0, "Ġharbour": 1, "ing": 2, "ĠcafÃ©": 3}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")
    assert whole_words(fast) == {"harbour", "café"}
