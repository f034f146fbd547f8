import pytest
from scripted import ScriptedGenerator
from sufficit.policies.answering import AnswerPrompts
from sufficit.policies.scorers.answers import Answerer
from sufficit.tools.errors import InputError
from sufficit.tools.types import Passage

LONG = "word " * 50


def answerer():
    return Answerer(ScriptedGenerator(), AnswerPrompts(context_tokens=30))


def test_what_does_not_fit_is_noted():
    asked = answerer().ask("Who?", [Passage("1", LONG), Passage("2", "Ada.")])
    assert asked.note == "not all passages fit into the prompt"
    assert "Ada." in asked.prompt.text
    assert answerer().ask("Who?", [Passage("2", "Ada.")]).note == ""


def test_a_closed_book_answer_is_never_scored():
    with pytest.raises(InputError, match="no passage fits"):
        answerer().ask("Who?", [Passage("1", LONG)])
