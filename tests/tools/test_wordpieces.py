import pytest
from sufficit.tools.errors import CapabilityError
from sufficit.tools.wordpieces import WordPieceTokenizer
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast


@pytest.fixture(scope="module")
def wordpieces() -> WordPieceTokenizer:
    return WordPieceTokenizer.load("all-minilm-l6-v2")


def test_pieces_are_lower_cased_and_marked(wordpieces: WordPieceTokenizer) -> None:
    assert wordpieces.pieces("Who's unaffable Röntgen?") == [
        "who", "'", "s", "una", "##ffa", "##ble", "ron", "##t", "##gen", "?",
    ]  # fmt: skip


def test_a_long_text_is_neither_cut_nor_padded(wordpieces: WordPieceTokenizer) -> None:
    assert wordpieces.pieces("word " * 1000) == ["word"] * 1000
    assert wordpieces.pieces("word") == ["word"]
    assert wordpieces.pieces("  ") == []


def test_join_reads_as_words(wordpieces: WordPieceTokenizer) -> None:
    assert wordpieces.join(["una", "##ffa", "##ble", "man"]) == "unaffable man"
    assert wordpieces.join(["##ffa", "##ble", "man"]) == "ffable man"
    assert wordpieces.join([]) == ""


def test_words_that_the_vocabulary_lacks_are_not_each_other(wordpieces: WordPieceTokenizer) -> None:
    pieces = wordpieces.pieces("What does 🙂🙂 mean?")
    assert pieces == ["what", "does", "[UNK]🙂🙂", "mean", "?"]
    assert wordpieces.pieces("🙂🙂") == pieces[2:3] != wordpieces.pieces("🍕")
    assert wordpieces.join(pieces) == "what does 🙂🙂 mean ?"


def test_another_kind_of_tokenizer_is_refused(tmp_path) -> None:
    PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.Unigram([("a", 0.0)]))).save_pretrained(
        tmp_path
    )
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(CapabilityError, match="no WordPiece tokenizer"):
        WordPieceTokenizer.load(str(tmp_path))
