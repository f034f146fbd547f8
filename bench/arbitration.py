"""Whether TrustMargin's margins are those of six plain forward passes, on real questions.

    python bench/arbitration.py [QUESTIONS [FILE]]

QUESTIONS (50) are those of FILE, in any format that `sufficit arbitrate` reads, on which the embedded model's
closed-book and RAG answers differ, so that margins decide. By default FILE is a sample of 2WikiMultiHopQA
beside the repository; where it is absent, nothing is measured. Prints the largest differences and the time of
both ways; exits with 1 where a margin is off by more than 0.001.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

from generators import MODEL, line, plain_views
from sufficit.controller.evaluation.arbitration.cases import Case, read_cases
from sufficit.controller.evaluation.arbitration.rows import ArbitrationRow
from sufficit.controller.evaluation.arbitration.run import Bench, arbitrated
from sufficit.policies.answering import AnswerPrompts, PromptWriter
from sufficit.policies.trustmargin import TrustMarginSettings, binding_margin, prior_margin, trust_margin
from sufficit.tools.generators.transformers import TransformersGenerator
from sufficit.tools.models import store
from sufficit.tools.types import Generation

QUESTIONS = 50
FILE = Path(__file__).resolve().parents[2] / "shared" / "data" / "2wiki" / "dev_sample.json"
TOLERANCE = 1e-3
ANSWER_TOKENS = 32


async def scored(bench: Bench, cases: tuple[Case, ...]) -> AsyncIterator[tuple[Case, ArbitrationRow]]:
    """The cases that margins decide, with their rows."""
    for case in cases:
        row = await arbitrated(bench, case)
        if row.likelihoods is not None:
            yield case, row


async def main(questions: int, file: Path) -> bool:
    """All comparisons; True where every margin agrees."""
    store.install(MODEL)
    generator = TransformersGenerator.load(MODEL)
    settings = TrustMarginSettings()
    bench = Bench(generator, AnswerPrompts(), ANSWER_TOKENS, settings)
    writer = PromptWriter(generator, bench.prompts)
    off = {"M_prior": 0.0, "M_bind": 0.0, "M": 0.0}
    plain_seconds = shared_seconds = 0.0
    done = 0
    async for case, row in scored(bench, read_cases(file).cases):
        views = row.likelihoods
        assert views is not None
        answers = [Generation(text or "", (), (), "stop", 0) for text in (row.direct, row.rag)]
        began = time.perf_counter()
        plain = plain_views(generator, writer, case.question, case.passages, (answers[0], answers[1]))
        plain_seconds += time.perf_counter() - began
        shared_seconds += row.seconds["scoring"]
        for name, margin in (("M_prior", prior_margin), ("M_bind", binding_margin)):
            off[name] = max(off[name], abs(margin(plain) - margin(views)))
        weight = settings.weight
        off["M"] = max(off["M"], abs(trust_margin(plain, weight) - trust_margin(views, weight)))
        done += 1
        print(
            f"{done:3} {case.id}: M {trust_margin(views, weight):+.4f}, off {off['M']:.1e} at most",
            flush=True,
        )
        if done == questions:
            break
    print(f"{done} questions; seconds: plain {plain_seconds:.1f}, after RAG generation {shared_seconds:.1f}")
    met = [
        line(f"largest difference of {name} x 1000", 1e3 * value, "<= 1", value <= TOLERANCE)
        for name, value in off.items()
    ]
    return all(met) and done > 0


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else QUESTIONS
    source = Path(sys.argv[2]) if len(sys.argv) > 2 else FILE
    if not source.exists():
        raise SystemExit(f"nothing measured: {source} is not here" if len(sys.argv) > 2 else 0)
    raise SystemExit(not asyncio.run(main(wanted, source)))
