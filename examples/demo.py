"""Three questions to the handbook of an invented company, each with every decision shown.

Run it with `make demo`; the models come by `sufficit models install`.
"""

import asyncio
from pathlib import Path

from rich.console import Console
from sufficit.controller.build import build
from sufficit.controller.report import Report
from sufficit.controller.settings import load
from sufficit.tools.retrievers.corpora.reading import read_corpus
from sufficit.tools.retrievers.embedded import EmbeddedIndex

HANDBOOK = Path(__file__).parent / "handbook"
INDEX = Path(".demo/index")

QUESTIONS = {
    "One document answers it": "What is the measuring range of the Bowline 3?",
    "Two documents answer it together": "Who manages the site where the Prusik is made?",
    "The handbook does not say": "What is the price of the Bowline Mini?",
}


async def main() -> None:
    console = Console(highlight=False)
    corpus = read_corpus([HANDBOOK])
    report = EmbeddedIndex.build(INDEX, corpus)
    console.print(f"Indexed {report.passages} passages of {corpus.documents} documents\n")
    controller = build(load([f"index.path={INDEX}"]).settings)
    for kind, question in QUESTIONS.items():
        console.rule(kind)
        await controller.answer(question, Report(console))


if __name__ == "__main__":
    asyncio.run(main())
