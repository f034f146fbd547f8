"""A bot over the handbook: answers the questions of standard input, a line each, with citations or a reason.

Run `python examples/bot.py` and type; the models come by `sufficit models install`.
"""

import asyncio
import sys
from pathlib import Path

from sufficit.controller.answer import Answer
from sufficit.controller.build import build
from sufficit.controller.settings import load
from sufficit.tools.errors import InputError
from sufficit.tools.retrievers.corpora.reading import read_corpus
from sufficit.tools.retrievers.embedded import EmbeddedIndex

HANDBOOK = Path(__file__).parent / "handbook"
INDEX = Path(".demo/bot-index")


def reply(answer: Answer) -> str:
    """What the bot says: an abstention is an answer with a reason, not an error."""
    if answer.answer is None:
        return f"I cannot answer that from the handbook. {answer.reason}"
    said = answer.answer if answer.grounded else f"{answer.answer} (from memory: not in the handbook)"
    cited = [f"[{number}] {found.title}: {found.text}" for number, found in enumerate(answer.citations, 1)]
    return "\n".join([said, *cited])


async def main() -> None:
    EmbeddedIndex.build(INDEX, read_corpus([HANDBOOK]))
    # A small generator prefers its own wording; a budget bounds what one question may cost.
    controller = build(load([f"index.path={INDEX}", "trustmargin.tau=-4", "budget.seconds=60"]).settings)
    for line in sys.stdin:
        try:
            answer, _ = await controller.answer(line)
        except InputError as error:
            print(f"> {error}\n")
            continue
        print(f"> {line.strip()}\n{reply(answer)}\n")


if __name__ == "__main__":
    asyncio.run(main())
