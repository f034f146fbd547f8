"""What of a completion is the answer: the forms in which servers end one."""

from collections.abc import Sequence
from typing import Any, Literal

import pytest
from sufficit.tools.errors import GenerationFailed
from sufficit.tools.generators.client import Reply
from sufficit.tools.generators.completed import UNKNOWN, Completed
from sufficit.tools.generators.completions import read_completion
from sufficit.tools.types import Generation

WORDS = (" Par", "is", "\n", "Q", "<end>", "")


class Letters:
    """An encoding in which id n is WORDS[n]."""

    has_chat_template = False
    control_tokens = ()
    bos = None

    def prompt_ids(self, prompt: Any) -> tuple[int, ...]:
        return ()

    def text_ids(self, text: str) -> tuple[int, ...]:
        return (WORDS.index(text),) if text in WORDS else (0, 1)

    def text(self, ids: Sequence[int]) -> str:
        return "".join(WORDS[id_] for id_ in ids)


def answer(
    tokens: Sequence[str], text: str, finish: Literal["stop", "length"], ids: bool, stop: Sequence[str] = ()
) -> Generation:
    known = tuple(WORDS.index(token) for token in tokens) if ids else None
    logprobs = tuple(-float(n) for n in range(len(tokens)))
    return Completed(text, finish, tuple(tokens), known, logprobs, (), None, "r").generation(
        Letters(), stop, 3
    )


@pytest.mark.parametrize("ids", [True, False], ids=["ids", "text"])
@pytest.mark.parametrize(
    ("tokens", "text", "stop"),
    [
        ((" Par", "is", "<end>"), " Paris", ()),  # the end shown as text
        ((" Par", "is", ""), " Paris", ()),  # the end shown as nothing
        ((" Par", "is"), " Paris", ("\n",)),  # the end, or the stop string, left out
        ((" Par", "is", "\n"), " Paris", ("\n",)),  # the stop string's token shown
        ((" Par", "is", "\n", "Q"), " Paris", ("Z", "\nQ")),  # a stop string of two tokens
        ((" Par", "is", "\n"), " Paris\n", ("\n",)),  # a server that leaves the stop string in
    ],
)
def test_the_end_does_not_belong(ids: bool, tokens: Sequence[str], text: str, stop: Sequence[str]) -> None:
    found = answer(tokens, text, "stop", ids, stop)
    assert found == Generation("Paris", (0, 1), (0.0, -1.0), "stop", 3)


def test_an_answer_that_was_cut_off_is_whole() -> None:
    assert answer((" Par", "is", ""), " Paris", "length", ids=True).token_ids == (0, 1, 5)


def test_an_empty_answer() -> None:
    assert answer(("\n",), "", "stop", ids=True, stop=("\n",)) == Generation("", (), (), "stop", 3)


def test_text_that_is_no_token() -> None:
    choice = Completed(" Paris", "length", (" Par", "?", "\ufffd"), None, (-1.0,) * 3, (), None, "r")
    assert choice.token_ids(Letters().text_ids) == (0, UNKNOWN, UNKNOWN)


def completion(**changes: Any) -> Reply:
    logprobs = {"tokens": ["a"], "token_logprobs": [-1.0], "top_logprobs": [{"a": -1.0, "b": float("-inf")}]}
    choice = {"text": "a", "finish_reason": "stop", "logprobs": logprobs | changes.pop("logprobs", {})}
    return Reply({"choices": [choice | changes]}, "r-1")


def test_minus_infinity_is_missing() -> None:
    for value in (float("-inf"), -9999.0, None, float("nan")):
        choice = read_completion(completion(logprobs={"top_logprobs": [{"a": -1.0, "b": value, "c": -0.5}]}))
        assert choice.steps == ((-0.5, -1.0),)
        assert read_completion(completion(logprobs={"token_logprobs": [value]})).logprobs == (None,)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply({}, "r-1"), "malformed at choices"),
        (Reply({"choices": []}, "r-1"), "malformed at choices"),
        (completion(text=3), r"malformed at choices\.0\.text"),
        (completion(logprobs={"token_logprobs": ["much"]}), "malformed"),
        (completion(logprobs={"token_logprobs": []}), "differ in number"),
        (completion(logprobs={"top_logprobs": [{}, {}]}), "differ in number"),
    ],
)
def test_what_is_no_completion(reply: Reply, told: str) -> None:
    with pytest.raises(GenerationFailed, match=told) as failure:
        read_completion(reply)
    assert failure.value.request_id == "r-1"
