from sufficit.controller.evaluation.datasets.questions import Question
from sufficit.controller.evaluation.datasets.sampling import sample


def test_samples_grow():
    questions = [Question(str(n), "?", ("a",), {}) for n in range(30)]
    small, large = sample(questions, 5), sample(questions, 12)
    assert len(small) == 5
    assert {q.id for q in small} < {q.id for q in large}
    assert [int(q.id) for q in large] == sorted(int(q.id) for q in large)
    assert sample(questions, None) == sample(questions, 99) == questions
