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
    "One document answers it": "How many days of annual leave does a full-time employee have?",
    "Two documents answer it together": "Which team won the cardboard regatta in 2024, and who leads it?",
    "The handbook does not say": "Who received the Torvane Medal in 2021?",
}

# A generator of 135 million parameters prefers its own wording by far more than the models that TrustMargin's
# published threshold of -1.5 was set on.
SETTINGS = [f"index.path={INDEX}", "trustmargin.tau=-4"]


async def main() -> None:
    console = Console(highlight=False)
    corpus = read_corpus([HANDBOOK])
    report = EmbeddedIndex.build(INDEX, corpus)
    console.print(f"Indexed {report.passages} passages of {corpus.documents} documents\n")
    controller = build(load(SETTINGS).settings)
    for kind, question in QUESTIONS.items():
        console.rule(kind)
        await controller.answer(question, Report(console))


if __name__ == "__main__":
    asyncio.run(main())
