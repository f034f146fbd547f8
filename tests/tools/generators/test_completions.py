import math

import pytest
from sufficit.tools.errors import GenerationFailed
from sufficit.tools.generators.client import Reply
from sufficit.tools.generators.completions import (
    generation_body,
    present,
    read_completion,
    scoring_body,
    step_entries,
)


def completed(tokens=("a",), top=None, **more):
    logprobs = {"tokens": tokens, "token_logprobs": [-1.0] * len(tokens), "top_logprobs": top}
    body = {"choices": [{"text": "a", "logprobs": logprobs} | more.pop("choice", {})]} | more
    return read_completion(Reply(body, "r-1"))


@pytest.mark.parametrize(
    ("logprob", "kept"),
    [(-1.0, -1.0), (0.0, 0.0), (-9998.5, -9998.5), (-9999.0, None), (-1e9, None), (None, None)]
    + [(value, None) for value in (math.nan, math.inf, -math.inf)],
)
def test_what_a_server_writes_for_nothing_is_a_missing_value(logprob, kept):
    assert present(logprob) == kept


def test_a_step_is_descending_and_holds_equal_values_apart():
    assert step_entries([-2.0, None, -0.5, -9999.0, -0.5]) == (-0.5, -0.5, -2.0)
    assert step_entries([None]) == ()


def test_a_completion_is_greedy_and_asks_for_ids_where_the_server_has_them():
    body = generation_body("m", (1, 2), 32, 5, ("\n",), vllm=False)
    assert body == {
        "model": "m", "prompt": [1, 2], "max_tokens": 32, "temperature": 0, "logprobs": 5, "stop": ["\n"]
    }  # fmt: skip
    assert generation_body("m", (1, 2), 32, 5, ("\n",), vllm=True) == body | {
        "return_tokens_as_token_ids": True,
        "repetition_penalty": 1.0,
    }


def test_a_tokens_own_log_probability_is_asked_for_even_without_others():
    body = generation_body("m", (), 32, 0, (), vllm=False)
    assert body["logprobs"] == 1
    assert "stop" not in body


def test_scoring_generates_nothing_and_echoes_the_prompt():
    body = scoring_body("m", (1, 2), vllm=False)
    assert (body["max_tokens"], body["echo"], body["prompt"], body["logprobs"]) == (0, True, [1, 2], 1)


@pytest.mark.parametrize(
    ("tokens", "ids"),
    [
        (("token_id:7", "token_id:0"), (7, 0)),
        ((), ()),
        (("token_id:7", "a"), None),
        (("7", "8"), None),
        (("token_id:", "token_id:8"), None),
        (("token_id:-1",), None),
        (("token_id:token_id:1",), None),
    ],
)
def test_ids_are_known_if_every_token_is_one(tokens, ids):
    assert completed(tokens).ids == ids


def test_what_a_server_may_leave_out():
    choice = completed()
    assert (choice.finish, choice.steps, choice.prompt_tokens) == ("stop", (), None)
    choice = completed(choice={"finish_reason": "length"}, usage={"prompt_tokens": 9, "completion_tokens": 1})
    assert (choice.finish, choice.prompt_tokens, choice.request_id) == ("length", 9, "r-1")
    assert completed(choice={"finish_reason": "content_filter"}).finish == "stop"


def test_the_first_echoed_token_has_no_step():
    assert completed(("a", "b"), [None, {"b": -1.0, "c": -0.5}]).steps == ((), (-0.5, -1.0))


@pytest.mark.parametrize(
    ("choices", "told"),
    [([{"text": "a"}], "has no log-probabilities"), ([{"text": "a"}] * 2, "malformed at choices")],
)
def test_a_reply_without_what_was_asked_for_is_a_failure(choices, told):
    with pytest.raises(GenerationFailed, match=told):
        read_completion(Reply({"choices": choices}, "r-1"))
