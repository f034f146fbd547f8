"""Events of a small made-up stream, by hand."""

from sufficit.controller.evaluation.caching.stream import Event, StreamPassage

TEXTS = {
    "alps": "The Rhine rises in the Alps of Switzerland.",
    "sea": "The Rhine flows into the North Sea.",
    "po": "The Po rises in the Cottian Alps.",
}


def event(time: float, question: str, brings: str, support: str, **more) -> Event:
    """`brings` and `support` name passages of `TEXTS`, apart by spaces."""
    given = {"id": f"e{time:g}", "need": question, "ttl": 1000.0} | more
    return Event(
        time=time,
        question=question,
        passages=tuple(StreamPassage(id=name, text=TEXTS[name]) for name in brings.split()),
        support=tuple(support.split()),
        **given,
    )
