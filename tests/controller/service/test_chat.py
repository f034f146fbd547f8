"""The official client against a real server on loopback."""

from collections.abc import Iterator

import httpx
import openai
import pytest
from scripted import ScriptedGenerator
from serving import served, service
from staged import FixedSearch, FixedSufficiency, passages
from sufficit.controller.service.keys import Client
from sufficit.tools.errors import CapabilityError, ToolError
from sufficit.tools.types import Prompt

FOUND = passages("The Rhine rises in the Alps.", "Bread needs salt.")
QUESTION = {"role": "user", "content": "Where does the Rhine rise?"}


def answer(prompt: Prompt) -> str:
    if "Speak French" in prompt.text:
        return "les Alpes"
    return "the Alps" if "Rhine rises in the Alps" in prompt.text else "Berlin"


def chatting(score: float = 1.0, *assignments: str, found=lambda query: FOUND, **options):
    return service(
        *assignments,
        search=FixedSearch(found),
        sufficiency=FixedSufficiency(lambda _: score),
        generator=GENERATOR,
        **options,
    )


GENERATOR = ScriptedGenerator(answer=answer)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(chatting()) as url:
        yield url


@pytest.fixture(scope="module")
def abstaining() -> Iterator[str]:
    with served(chatting(-1.0)) as url:
        yield url


def client(url: str, **options: object) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, **options)


def prompts() -> list[str]:
    """What the generator was asked to write, in this test."""
    return [prompt.text for method, asked in GENERATOR.calls for prompt in asked if method == "generate"]


@pytest.fixture(autouse=True)
def _forget() -> None:
    GENERATOR.calls.clear()


def test_an_answer_with_its_citations_and_its_decision(url: str):
    reply = client(url).chat.completions.create(
        model="sufficit", messages=[QUESTION], temperature=0.2, user="u"
    )
    (choice,) = reply.choices
    assert (choice.message.content, choice.finish_reason) == ("the Alps", "stop")
    (annotation,) = choice.message.annotations
    assert annotation.url_citation.model_dump() == {
        "start_index": 0,
        "end_index": 8,
        "title": "T0",
        "url": "doc0.md",
    }
    assert reply.sufficit["action"] == "answer"
    assert reply.sufficit["abstained"] is False
    assert reply.sufficit["citations"][0]["text"] == "The Rhine rises in the Alps."
    assert reply.usage.completion_tokens == reply.sufficit["budget"]["spent"]["generated_tokens"]
    assert reply.usage.completion_tokens_details.reasoning_tokens == reply.usage.completion_tokens - 2
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


def test_an_abstention_is_a_message_and_a_field(abstaining: str):
    reply = client(abstaining).chat.completions.create(model="sufficit", messages=[QUESTION])
    assert reply.choices[0].message.content.startswith("I cannot answer that from the documents at hand. ")
    assert "-1.00" in reply.choices[0].message.content
    assert reply.choices[0].message.annotations == []
    assert reply.sufficit["abstained"] is True


@pytest.mark.parametrize("usage", [True, False])
def test_a_stream_says_the_same_in_chunks(url: str, usage: bool):
    options = {"stream_options": {"include_usage": True}} if usage else {}
    whole = client(url).chat.completions.create(model="sufficit", messages=[QUESTION])
    chunks = list(
        client(url).chat.completions.create(model="sufficit", messages=[QUESTION], stream=True, **options)
    )
    assert len({chunk.id for chunk in chunks}) == 1
    assert chunks[0].choices[0].delta.role == "assistant"
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content
    ends = [c for c in chunks if c.choices and c.choices[0].finish_reason]
    assert [c.choices[0].finish_reason for c in ends] == ["stop"]
    assert ends[0].sufficit["citations"] == whole.sufficit["citations"]
    annotated = [c.choices[0].delta.annotations for c in chunks[1:2]]
    assert annotated[0][0]["url_citation"]["url"] == "doc0.md"
    assert [c.usage for c in chunks if c.usage] == ([whole.usage] if usage else [])


def test_the_streaming_helper_of_the_client_works(url: str):
    with client(url).chat.completions.stream(model="sufficit", messages=[QUESTION]) as stream:
        final = stream.get_final_completion()
    assert final.choices[0].message.content == "the Alps"


def test_a_stream_ends_with_the_sentinel_and_holds_comments_while_it_works(url: str):
    body = {"model": "sufficit", "messages": [QUESTION], "stream": True}
    response = httpx.post(f"{url}/v1/chat/completions", json=body)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.text.endswith("data: [DONE]\n\n")
    assert ": still at work" in response.text


def test_history_and_instructions_reach_the_prompts_and_a_follow_up_its_question(url: str):
    chat = client(url).chat.completions
    first = chat.create(model="sufficit", messages=[QUESTION])
    # As a bot does it: the message object of the response goes back as it came.
    messages = [
        {"role": "system", "content": "Speak French."},
        QUESTION,
        first.choices[0].message,
        {"role": "user", "content": [{"type": "text", "text": "And how far does it flow?"}]},
    ]
    GENERATOR.calls.clear()
    reply = chat.create(model="sufficit", messages=messages)
    assert reply.choices[0].message.content == "les Alpes"
    assert reply.sufficit["turns_read"] == 2
    assert reply.sufficit["question"] == "Where does the Rhine rise? the Alps And how far does it flow?"
    for prompt in prompts():
        assert "Instructions: Speak French." in prompt
        assert "User: Where does the Rhine rise?\nAssistant: the Alps\n</conversation>" in prompt
    # The next conversation knows nothing of this one.
    GENERATOR.calls.clear()
    chat.create(model="sufficit", messages=[QUESTION])
    assert all("French" not in prompt and "conversation" not in prompt for prompt in prompts())


def test_max_tokens_and_stop_reach_the_generator(url: str):
    before = client(url).chat.completions.create(model="sufficit", messages=[QUESTION])
    reply = client(url).chat.completions.create(
        model="sufficit", messages=[QUESTION], max_completion_tokens=1, stop=["\n\n"]
    )
    assert all("\n\n" in prompt.stop for method, asked in GENERATOR.calls[-2:] for prompt in asked)
    # What opening reserves is less by the tokens that the answer may not have.
    left = reply.sufficit["budget"]["left"]["generated_tokens"]
    assert left == before.sufficit["budget"]["left"]["generated_tokens"]
    assert reply.sufficit["trace_id"] != before.sufficit["trace_id"]


TOOL = {"type": "function", "function": {"name": "f", "parameters": {}}}


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("n", {"n": 2}),
        ("tools", {"tools": [TOOL]}),
        ("logprobs", {"logprobs": True}),
        ("response_format.type", {"response_format": {"type": "json_object"}}),
        ("temperature", {"temperature": 3}),
        ("max_tokens", {"max_tokens": 0}),
        ("stop", {"stop": ["a", "b", "c", "d", "e"]}),
        ("surprise", {"extra_body": {"surprise": 1}}),
        ("messages", {"messages": []}),
        ("messages", {"messages": [{"role": "system", "content": "Be brief."}]}),
        ("messages", {"messages": [QUESTION] * 65}),
        ("messages.1.role", {"messages": [QUESTION, {"role": "assistant", "content": "The"}]}),
        ("messages.0.role", {"messages": [{"role": "tool", "tool_call_id": "x", "content": "y"}]}),
        ("messages.0.content", {"messages": [{"role": "user", "content": " "}]}),
        ("messages.0.content", {"messages": [{"role": "user", "content": "x" * 5000}]}),
        ("messages.0.content", {"messages": [{"role": "system", "content": "x " * 600}, QUESTION]}),
    ],
)
def test_what_cannot_be_done_is_refused_by_the_name_of_its_field(url: str, field: str, changes: dict):
    arguments = {"model": "sufficit", "messages": [QUESTION]} | changes
    with pytest.raises(openai.UnprocessableEntityError) as refused:
        client(url).chat.completions.create(**arguments)
    assert refused.value.body["field"] == field
    assert refused.value.request_id == refused.value.body["request_id"]
    assert GENERATOR.calls == []


def test_another_model_is_not_found(url: str):
    with pytest.raises(openai.NotFoundError, match="sufficit"):
        client(url).chat.completions.create(model="gpt-4o", messages=[QUESTION])
    assert [model.id for model in client(url).models.list()] == ["sufficit"]


def test_a_failing_tool_still_ends_in_a_completion():
    def gone(query: str):
        raise ToolError("index gone")

    with served(chatting(found=gone)) as url:
        reply = client(url).chat.completions.create(model="sufficit", messages=[QUESTION])
        assert reply.sufficit["abstained"]


def test_what_fails_after_a_stream_has_begun_is_an_error_of_the_client():
    def unable(prompt: Prompt):
        raise CapabilityError("K is too large")

    broken = service(generator=ScriptedGenerator(steps=unable))
    with served(broken) as url, pytest.raises(openai.APIError) as failed:
        list(client(url).chat.completions.create(model="sufficit", messages=[QUESTION], stream=True))
    assert failed.value.type == "misconfigured"


def test_a_full_queue_and_an_unknown_key_are_typed_also_in_a_stream():
    keyed = chatting(clients=[Client(name="bot", sha256="0" * 64)])
    with served(keyed) as url, pytest.raises(openai.AuthenticationError):
        client(url).chat.completions.create(model="sufficit", messages=[QUESTION], stream=True)
    full = chatting(1.0, "service.concurrent=1", "service.queue=0")
    # Somebody else holds the only turn.
    full.room._turns._value = 0
    with served(full) as url, pytest.raises(openai.RateLimitError) as refused:
        client(url).chat.completions.create(model="sufficit", messages=[QUESTION], stream=True)
    assert int(refused.value.response.headers["Retry-After"]) >= 1


def test_a_real_generator_is_cut_by_max_tokens_and_the_reply_says_so(generator):
    real = service(search=FixedSearch(lambda query: FOUND), generator=generator)
    with served(real) as url:
        reply = client(url).chat.completions.create(
            model="sufficit",
            max_tokens=2,
            messages=[{"role": "system", "content": "Answer at length."}, QUESTION],
        )
    assert reply.choices[0].finish_reason == "length"
    assert generator.count_tokens(reply.choices[0].message.content) <= 2
    assert reply.usage.prompt_tokens > 50
