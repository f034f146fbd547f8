import pytest
from pydantic import ValidationError
from sufficit.policies.probe_prompts import ProbePrompts


def test_a_profile_fills_what_is_not_set() -> None:
    chat = ProbePrompts(profile="chat", system="Be brief.")
    assert (chat.style, chat.without_passage, chat.examples, chat.stop) == ("chat", "{question}", (), ())
    assert chat.system == "Be brief."
    small = ProbePrompts(stop=())
    assert (small.style, len(small.examples), small.stop) == ("completion", 2, ())
    assert ProbePrompts.model_validate_json(chat.model_dump_json()) == chat


@pytest.mark.parametrize(
    "changes",
    [
        {"with_passage": "{question}"},
        {"with_passage": "{context}"},
        {"with_passage": "{question} {context} {context}"},
        {"without_passage": "{question} {context}"},
        {"without_passage": "Say something."},
        {"profile": "poem"},
        {"unknown": 1},
    ],
)
def test_templates_without_their_places_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ProbePrompts.model_validate(changes)
