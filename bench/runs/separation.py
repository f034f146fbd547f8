"""What RINSE's score tells across questions, from a run of `sufficit eval run` that has answered all of them.

    python bench/runs/separation.py RUN/CONFIGURATION

Pairwise accuracy compares evidence sets of one question; a threshold compares those of different questions.
Prints how well the generator answers with and without all annotated support in the pool, and how often the
score is higher for a pool with all of it, and for an answer that is right, than for one without (0.5 is
chance). Takes configurations that always answer, such as examples/ablations/no-rinse.toml.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sufficit.controller.evaluation.runs.grading import grade
from sufficit.controller.evaluation.runs.rows import PredictionRow, read_rows

Flags = NDArray[np.bool_]


def higher(scores: NDArray[np.float64], chosen: Flags) -> float:
    """How often a score of the chosen is above one of the others; ties count one half."""
    differences = scores[chosen][:, None] - scores[~chosen][None]
    return float(np.mean(0.5 * (1 + np.sign(differences))))


def complete(row: PredictionRow) -> bool:
    """Whether all annotated support is in the pool."""
    return set(row.support or ()) <= row.supported(row.pool)


def main(rows: Sequence[PredictionRow]) -> None:
    """Both comparisons, over the answered questions with annotated support and a score."""
    judged = [row for row in rows if row.support and row.score is not None and row.action == "answer"]
    scores = np.array([row.score for row in judged], np.float64)
    held = np.array([complete(row) for row in judged])
    grades = [grade(row) for row in judged]
    f1 = np.array([found.f1 for found in grades])
    print(f"{len(judged)} of {len(rows)} questions; all support is in the pool of {held.sum()}")
    print(f"F1 with all support {f1[held].mean():.3f}, without {f1[~held].mean():.3f}")
    right = np.array([found.right for found in grades])
    told = higher(scores, held), higher(scores, right)
    print("score higher with all support {:.3f}, for right answers {:.3f}".format(*told))


if __name__ == "__main__":
    main(read_rows(Path(sys.argv[1]) / "predictions.jsonl"))
