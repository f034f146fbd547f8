from pipelines import finding, writing
from staged import passages
from sufficit.controller.strategies.rag import VanillaRAG

RHINE, PO = passages("The Rhine rises in the Alps.", "The Po rises on Monviso.")


async def test_answers_from_what_the_question_finds():
    writer, answers = writing(lambda prompt: "the Alps" if "Alps" in prompt.text else "no idea")
    pipeline = VanillaRAG(finding({"Rhine": [RHINE, PO]}), answers, passages=1)
    answer, read = await pipeline.answer("Where does the Rhine rise?")
    assert (answer.text, read) == ("the Alps", (RHINE,))
    assert "Monviso" not in writer.asked()[0]


async def test_without_passages_it_is_the_closed_book_answer():
    writer, answers = writing(lambda prompt: "no idea")
    answer, read = await VanillaRAG(finding({}), answers).answer("Where does the Rhine rise?")
    assert (answer.text, read) == ("no idea", ())
    assert "<context>" not in writer.asked()[0]
