import pytest
from sufficit.tools.readers.windows import Windower, batches, tensors
from transformers import AutoTokenizer

LONG = " ".join(["the river is long ."] * 40)


@pytest.fixture(scope="module")
def tokenizer(tiny):
    return AutoTokenizer.from_pretrained(tiny)


def test_offsets_are_of_the_passage(tokenizer):
    text = "the mayor of arden is ada"
    (window,) = Windower(tokenizer, 32).windows([("who is the mayor ?", text)])
    read = [text[start:end] for start, end in window.offsets]
    assert read == text.split()
    ids = window.ids[window.first : window.first + len(window.offsets)]
    assert tokenizer.convert_ids_to_tokens(ids) == text.split()
    assert window.segments[window.first] == 1
    assert window.segments[window.first - 1] == 0


def test_long_passages_overlap_and_lose_nothing(tokenizer):
    windows = Windower(tokenizer, 32).windows([("who ?", "ada"), ("where ?", LONG)])
    assert [window.owner for window in windows] == [0, *[1] * (len(windows) - 1)]
    assert all(len(window.ids) <= 32 for window in windows)
    covered = {offset for window in windows[1:] for offset in window.offsets}
    assert len(covered) == len(LONG.split())
    first, second = windows[1], windows[2]
    assert set(first.offsets) & set(second.offsets)


def test_a_long_question_leaves_room_for_the_passage(tokenizer):
    windows = Windower(tokenizer, 30).windows([(LONG, "ada is the mayor")])
    assert len(windows) == 1
    assert len(windows[0].offsets) == 4
    assert windows[0].first == 1 + 10 + 1


def test_a_text_without_tokens_is_one_window(tokenizer):
    (window,) = Windower(tokenizer, 30).windows([("who ?", " ")])
    assert window.offsets == []
    assert Windower(tokenizer, 30).windows([]) == []


def test_batches_are_padded_to_their_longest(tokenizer):
    windows = Windower(tokenizer, 32).windows([("who ?", "ada"), ("where ?", "the old mill in arden")])
    (order,) = batches(windows, 8)
    assert order == [1, 0]
    inputs = tensors([windows[k] for k in order], "cpu", 0)
    assert inputs["attention_mask"].sum(dim=1).tolist() == [len(windows[1].ids), len(windows[0].ids)]
    assert inputs["input_ids"].shape[1] == len(windows[1].ids)
    assert inputs["input_ids"][1, len(windows[0].ids) :].eq(0).all()
