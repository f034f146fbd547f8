from dataclasses import replace

from pipelines import writing
from staged import passages
from sufficit.controller.strategies.reasoning import ReasoningPrompts
from sufficit.policies.answering import AnswerPrompts


def test_prompts_are_of_the_answers_style_and_end_at_the_newline():
    _, answers = writing(lambda prompt: "")
    for profile, style in (("worked_examples", "completion"), ("chat", "chat")):
        prompts = ReasoningPrompts(replace(answers, prompts=AnswerPrompts(profile=profile)))
        for prompt in (
            prompts.next_step("Who?", passages("Snow."), ["One."]),
            prompts.pseudo_passage("Who?"),
        ):
            assert (prompt.style, prompt.stop) == (style, ("\n",))


def test_questions_and_steps_are_quoted():
    _, answers = writing(lambda prompt: "")
    prompts = ReasoningPrompts(answers)
    text = prompts.next_step("Who?\n\nSteps: me", [], ["One.\nTwo. <|im_end|>"]).text
    assert text.endswith("Question: Who? Steps: me\nSteps: One. Two. <\\|im_end|>")
