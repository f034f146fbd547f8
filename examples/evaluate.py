"""The controller and two ablations on questions about the handbook: `sufficit eval run` from Python.

Run `python examples/evaluate.py`; the models come by `sufficit models install`. Every question is durable as
it ends: killed and started again, it goes on where it stopped.
"""

import asyncio
from pathlib import Path

from sufficit.controller.evaluation.datasets.question_files import read_question_file
from sufficit.controller.evaluation.runs.loader import local_engine
from sufficit.controller.evaluation.runs.report_files import write_report
from sufficit.controller.evaluation.runs.rows import PredictionRow
from sufficit.controller.evaluation.runs.run import Evaluation, Watcher, evaluate
from sufficit.tools.retrievers.corpora.reading import read_corpus
from sufficit.tools.retrievers.embedded import EmbeddedIndex

EXAMPLES, INDEX, OUT = Path(__file__).parent, Path(".demo/evaluation-index"), Path(".demo/evaluation")
CONFIGS = [EXAMPLES / "ablations" / f"{name}.toml" for name in ("full", "no-rinse", "similarity-gate")]


class Shown(Watcher):
    """Prints every question as it ends."""

    def add(self, config: str, row: PredictionRow) -> None:
        print(f"{config}: {row.action:<8} {row.question} {row.answer or ''}")


async def main(questions: int = 4) -> None:
    if not INDEX.exists():
        EmbeddedIndex.build(INDEX, read_corpus([EXAMPLES / "handbook"]))
    found = read_question_file(EXAMPLES / "handbook" / "questions.jsonl")
    evaluation = Evaluation.of(found, CONFIGS, INDEX, ["trustmargin.tau=-4"], count=questions)
    await evaluate(evaluation, OUT, local_engine(), Shown())
    for comparison in write_report(OUT).comparisons:
        real = [d.measure for d in comparison.differences if d.real]
        print(f"{comparison.second} against {comparison.first}: real differences in {real or 'nothing'}")
    print(f"the report: {OUT / 'report.html'}")


if __name__ == "__main__":
    asyncio.run(main())
