"""Rows of arbitrated answers with the margins that a test wants."""

from sufficit.controller.evaluation.arbitration.rows import ArbitrationRow
from sufficit.policies.trustmargin import TrustMarginSettings, verdict_by_margin, verdict_without_scoring
from sufficit.policies.types import Likelihoods
from sufficit.tools.types import Passage

SETTINGS = TrustMarginSettings()
EVIDENCE = [Passage("0", "evidence")]


def row(
    name: str, direct: str, rag: str, prior: float = 0.0, binding: float = 0.0, gold: str = "gold", **changes
) -> ArbitrationRow:
    """A row with these margins; answers that are equal or empty are not scored."""
    views = Likelihoods(-5.0, -5.0 + prior, -5.0, -5.0 + binding, -5.0, -5.0)
    verdict = verdict_without_scoring(EVIDENCE, direct, rag, SETTINGS) or verdict_by_margin(
        views, direct, rag, SETTINGS
    )
    values = {"id": name, "question": f"{name}?", "answers": (gold,), "passages": 1, "verdict": verdict}
    return ArbitrationRow(**(values | {"direct": direct, "rag": rag} | changes))


def failed(name: str, why: str = "NaN everywhere", **changes) -> ArbitrationRow:
    """A row that failed after the closed-book answer, which is right, was there."""
    return ArbitrationRow(id=name, question="?", answers=("gold",), direct="gold", error=why, **changes)
