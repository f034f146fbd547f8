from scripted import ScriptedGenerator
from sufficit.policies.scorers.attribution import Attribution
from sufficit.tools.types import Passage


class Holds:
    """A premise entails a hypothesis to the degree that is written in it."""

    def __init__(self):
        self.hypotheses = []

    async def entails(self, premises, hypotheses):
        self.hypotheses += hypotheses
        return [float(premise.split()[-1]) for premise in premises]


async def test_the_best_passage_attributes_the_claim():
    entailment = Holds()
    scorer = Attribution(ScriptedGenerator(answer=lambda prompt: "Ada"), entailment)
    scored = await scorer.score("Who?", [Passage("1", "a 0.2"), Passage("2", "b 0.9")])
    assert scored.value == 0.9
    assert entailment.hypotheses == ['The answer to the question "Who?" is Ada.'] * 2


async def test_an_empty_answer_claims_nothing():
    scored = await Attribution(ScriptedGenerator(answer=lambda prompt: "."), Holds()).score(
        "Who?", [Passage("1", "a 0.9")]
    )
    assert (scored.value, scored.note) == (0.0, "the answer is empty")
