import pytest
from sufficit.tools.errors import CapabilityError, InputError
from sufficit.tools.generators.encoding import PromptEncoder
from sufficit.tools.types import Prompt
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

WORDS = {"<unk>": 0, "<s>": 1, "</s>": 2, "hello": 3, "world": 4}
TEMPLATE = "{{ bos_token }}{% for m in messages %}{{ m['content'] }} {% endfor %}"


def tokenizer(bos: str | None = "<s>", template: str | None = None) -> PreTrainedTokenizerFast:
    backend = Tokenizer(models.WordLevel(WORDS, unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    made = PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token=bos, eos_token="</s>", unk_token="<unk>"
    )
    made.chat_template = template
    return made


def test_one_bos_whatever_the_template_writes() -> None:
    for template in (TEMPLATE, "{{ bos_token }}" + TEMPLATE, TEMPLATE.replace("{{ bos_token }}", "")):
        encoder = PromptEncoder(tokenizer(template=template), "m")
        assert encoder.prompt_ids(Prompt("hello", style="chat", system="world")) == (1, 4, 3)
        assert encoder.prompt_ids(Prompt("hello")) == (1, 3)
        assert encoder.prompt_ids(Prompt("<s><s>hello")) == (1, 3)
        assert encoder.prompt_ids(Prompt("")) == (1,)


def test_a_tokenizer_without_bos_gets_none() -> None:
    encoder = PromptEncoder(tokenizer(bos=None), "m")
    assert encoder.prompt_ids(Prompt("hello world")) == (3, 4)
    with pytest.raises(InputError, match="the prompt is empty, and m has no token"):
        encoder.prompt_ids(Prompt(""))


def test_a_system_text_only_where_there_is_one() -> None:
    encoder = PromptEncoder(tokenizer(template="{% for m in messages %}{{ m['content'] }} {% endfor %}"), "m")
    assert encoder.prompt_ids(Prompt("hello", style="chat", system="world")) == (1, 4, 3)
    assert encoder.prompt_ids(Prompt("hello", style="chat")) == (1, 3)


def test_chat_without_a_template_and_with_one_that_refuses() -> None:
    plain = PromptEncoder(tokenizer(), "m")
    assert not plain.has_chat_template
    with pytest.raises(CapabilityError, match="m has no chat template"):
        plain.prompt_ids(Prompt("hello", style="chat"))
    refusing = "{{ raise_exception('System role not supported') }}"
    with pytest.raises(CapabilityError, match="System role not supported"):
        PromptEncoder(tokenizer(template=refusing), "m").prompt_ids(Prompt("hello", style="chat"))


def test_control_tokens_are_all_added_tokens_but_white_space() -> None:
    made = tokenizer()
    made.add_tokens([AddedToken("<tool>", special=False), AddedToken("\n\n", special=False)])
    assert set(PromptEncoder(made, "m").control_tokens) == {"<unk>", "<s>", "</s>", "<tool>"}


def test_continuations_stand_alone() -> None:
    encoder = PromptEncoder(tokenizer(), "m")
    assert encoder.text_ids("") == ()
    assert encoder.text_ids("world") == (4,)
    assert encoder.text([3, 2]) == "hello"
