import io

import pytest
from rich.console import Console
from scripted import ScriptedGenerator
from staged import FixedSearch, FixedSufficiency, controller, passages
from sufficit.controller.report import Report, plain
from sufficit.tools.errors import ToolError


async def shown(
    question="Where does the Rhine rise?", score=1.0, texts=("The Rhine rises in the Alps.",), **options
):
    out = io.StringIO()
    loop = controller(FixedSearch(lambda q: passages(*texts)), FixedSufficiency(lambda _: score), **options)
    await loop.answer(question, Report(Console(file=out, width=100)))
    return out.getvalue()


async def test_every_stage_and_the_ending_are_shown():
    report = await shown(
        generator=ScriptedGenerator(
            answer=lambda p: "the Alps" if "Alps" in p.text else "Berlin",
            steps=lambda p: ((-0.01, -6.0),) if "Alps" in p.text else ((-0.7, -0.7),),
        )
    )
    for expected in (
        "Question  Where does the Rhine rise?",
        "1 found, 1 new",
        "RINSE  +1.00 (content +1.00)",
        "answer. The evidence scores 1.00",
        "'Berlin', NU(q)",
        "1 of 1 admitted",
        "T0 (doc0.md)",
        "'the Alps'",
        "rag. M_prior",
        "[1] T0 (doc0.md): The Rhine rises in the Alps.",
    ):
        assert expected in report


async def test_an_abstention_says_why():
    report = await shown(score=-1.0)
    assert "Abstained" in report
    assert "does not reach" in report


async def test_faults_and_stops_are_shown():
    from sufficit.controller.settings import load

    def fail(*_):
        raise ToolError("[red]no markup[/red] \x1b[2J")

    report = await shown(generator=ScriptedGenerator(steps=fail))
    assert "open: ToolError: [red]no markup[/red]" in report
    assert "\x1b" not in report
    stopped = await shown(settings=load(["budget.model_calls=2"], environment={}).settings)
    assert "budget.model_calls = 2" in stopped


@pytest.mark.parametrize("text", ["a\x1b[31mb", "a\x00b", "a\x9bb"])
def test_text_cannot_steer_a_terminal(text: str):
    assert plain(text).isprintable()
    assert plain("one\n two\t") == "one two"


async def test_a_page_that_could_not_be_had_is_named():
    from sufficit.controller.stages import PageVisit, Visit

    class Broken:
        async def gather(self, query: str) -> Visit:
            return Visit((), (PageVisit("http://a.example/", 0, "FetchFailed: too slow"),))

    report = await shown(score=-1.0, web=Broken())
    assert "web  " in report
    assert "http://a.example/: FetchFailed: too slow" in report
