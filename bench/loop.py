"""The controller's own time for a question: everything but the models and the retrieval.

    python bench/loop.py [QUESTIONS]

The stages around it answer at once; the policies that only decide are the real ones. Exits with 1 where the
median is 5 ms or more.
"""

import asyncio
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from scripted import ScriptedGenerator
from staged import FixedSearch, FixedSufficiency, controller, passages

TARGET = 0.005


async def main(questions: int) -> bool:
    """Ask, and print how long the loop itself took; True where the target is met."""
    found = passages(*(f"Passage {n} about the harbour of Vell, which Mara Oduya built." for n in range(8)))
    generator = ScriptedGenerator(answer=lambda prompt: "Mara" if "Passage" in prompt.text else "Jonas")
    asked = controller(FixedSearch(lambda _: found), FixedSufficiency(lambda _: 1.0), generator)
    seconds = []
    for number in range(questions):
        start = time.process_time()
        answer, _ = await asked.answer(f"Who built the harbour of Vell, number {number}?")
        seconds.append(time.process_time() - start)
        assert answer.action == "answer"
    median = statistics.median(seconds)
    met = median < TARGET
    print(
        f"controller's own time for a question: {median * 1000:.2f} ms   target < {TARGET * 1000:.0f} ms   "
        f"{'met' if met else 'MISSED'}"
    )
    return met


if __name__ == "__main__":
    raise SystemExit(not asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)))
