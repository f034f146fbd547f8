import random

import pytest
from sufficit.controller.cache.node import need_key
from sufficit.controller.evaluation.caching.paraphrases import paraphrase

QUESTIONS = ["Who is the mother of Ada?", "In what year did Rome fall?", "How far is it?", "Which sea is it?"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_it_is_another_question_that_keeps_what_is_asked_for(question):
    draws = random.Random(1)
    found = {paraphrase(question, draws) for _ in range(40)}
    assert len(found) > 3
    assert need_key(question) not in {need_key(other) for other in found}
    names = [word.strip("?") for word in question.split()[1:] if word[0].isupper()]
    assert all(name in other for name in names for other in found)


def test_templates_turn_the_question_where_they_fit():
    draws = random.Random(1)
    found = {paraphrase("Who is the mother of Ada?", draws) for _ in range(40)}
    assert "Tell me who the mother of Ada is." in found
    assert paraphrase("How far is it?", random.Random(2)) == paraphrase("How far is it?", random.Random(2))
