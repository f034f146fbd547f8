"""The controller and two ablations on questions about the handbook: `sufficit eval run` from Python.

Run `python examples/evaluate.py`; the models come by `sufficit models install`. Every question is durable as
it ends: killed and started again, it goes on where it stopped.
"""

import asyncio
from collections.abc import Collection
from pathlib import Path

from sufficit.controller.evaluation.datasets.question_files import read_question_file
from sufficit.controller.evaluation.datasets.sampling import sample
from sufficit.controller.evaluation.runs.agents import LocalEngine
from sufficit.controller.evaluation.runs.configurations import read_configurations
from sufficit.controller.evaluation.runs.folder import DataHeader, RunFolder
from sufficit.controller.evaluation.runs.loader import Loader
from sufficit.controller.evaluation.runs.report_files import write_report
from sufficit.controller.evaluation.runs.rows import PredictionRow
from sufficit.controller.evaluation.runs.run import Evaluation, evaluate
from sufficit.tools.retrievers.corpora.reading import read_corpus
from sufficit.tools.retrievers.embedded import EmbeddedIndex

EXAMPLES = Path(__file__).parent
QUESTIONS = EXAMPLES / "handbook" / "questions.jsonl"
INDEX, OUT = Path(".demo/evaluation-index"), Path(".demo/evaluation")
CONFIGURATIONS = [EXAMPLES / "ablations" / f"{name}.toml" for name in ("full", "no-rinse", "similarity-gate")]


class Shown:
    """Prints every question as it ends."""

    def loading(self, config: str) -> None:
        print(f"{config}:")

    def begin(self, config: str, done: Collection[PredictionRow], total: int) -> None: ...

    def add(self, config: str, row: PredictionRow) -> None:  # noqa: ARG002
        print(f"  {row.action:<8} {row.question} {row.answer or ''}")


async def main(questions: int = 4) -> None:
    if not INDEX.exists():
        EmbeddedIndex.build(INDEX, read_corpus([EXAMPLES / "handbook"]))
    found = read_question_file(QUESTIONS)
    asked = tuple(sample(found.questions, questions))
    header = DataHeader(
        file=QUESTIONS.name,
        format=found.format,
        hash=found.digest,
        questions=len(asked),
        sampled_from=len(found.questions),
    )
    configurations = read_configurations(CONFIGURATIONS, ["trustmargin.tau=-4"], INDEX, found.digest)
    await evaluate(
        Evaluation(header, asked, configurations), RunFolder(OUT), LocalEngine(1, Loader()), Shown()
    )
    for comparison in write_report(OUT).comparisons:
        real = [d.measure for d in comparison.differences if d.real]
        print(f"{comparison.second} against {comparison.first}: real differences in {real or 'nothing'}")
    print(f"the report: {OUT / 'report.html'}")


if __name__ == "__main__":
    asyncio.run(main())
