from pipelines import writing
from staged import passages
from sufficit.controller.strategies.short_answers import ShortAnswers
from sufficit.policies.answering import AnswerPrompts


async def test_what_does_not_fit_is_not_read():
    writer, _ = writing(lambda prompt: "x")
    short, long = passages("one two", "word " * 50)
    answers = ShortAnswers.by(writer, AnswerPrompts(context_tokens=10), 8)
    _, read = await answers.from_passages("Who?", [long, short])
    assert read == (short,)
    assert "word word" not in writer.asked()[0]
