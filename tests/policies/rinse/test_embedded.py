"""The artifact that ships: it loads, stands on the models of the embedded profile, and tells support apart.

The handbook is a corpus that no fit has seen.
"""

import json
import random
from pathlib import Path

import pytest
from sufficit.policies.rinse.accuracy import pairwise_accuracy
from sufficit.policies.rinse.artifact import EMBEDDED, load_artifact
from sufficit.policies.rinse.content import wordpieces_fingerprint
from sufficit.policies.rinse.records import ContrastRecord, pairs
from sufficit.policies.rinse.scorer import build_rinse
from sufficit.tools.types import Passage

HANDBOOK = Path(__file__).parents[3] / "examples" / "handbook"
SETS = 4
GROUPS = 32


@pytest.fixture(scope="module")
def artifact():
    return load_artifact(EMBEDDED)


@pytest.fixture(scope="module")
def contrasts():
    """Each question with its support among other pages, and with one supporting page swapped for another."""
    pages = {
        str(file.relative_to(HANDBOOK)): file.read_text("utf-8")[:1200] for file in HANDBOOK.rglob("*.md")
    }
    records = []
    for row in map(json.loads, (HANDBOOK / "questions.jsonl").read_text("utf-8").splitlines()):
        support = row["supporting"]
        if not support or row["kind"] == "unanswerable":
            continue
        chance = random.Random(row["id"])
        others = chance.sample(sorted(set(pages) - set(support)), SETS)
        sufficient = [*support, *others][:SETS]
        lacking = [*support[1:], *others][:SETS]
        for names, label in ((sufficient, True), (lacking, False)):
            chance.shuffle(names)
            found = tuple(Passage(id=name, text=pages[name], source=name) for name in names)
            records.append(ContrastRecord(row["id"], "handbook", "deletion", row["question"], found, label))
        if len(records) == 2 * GROUPS:
            break
    return records


def test_stands_on_the_models_of_the_embedded_profile(artifact, wordpieces, reranker, encoder):
    artifact.check_backbone("wordpieces", wordpieces_fingerprint(wordpieces))
    artifact.check_backbone("reranker", reranker.fingerprint)
    artifact.check_backbone("encoder", encoder.fingerprint)


def test_says_where_it_comes_from(artifact):
    found = artifact.provenance
    assert len(found.families) >= 4
    assert not found.left_out
    assert all(len(sha256) == 64 for sha256 in found.data.values())
    assert {row.family for row in found.accuracy} == set(found.families)
    size = sum(file.stat().st_size for file in EMBEDDED.iterdir())
    assert size < 8 * 2**20


async def test_tells_support_apart_on_a_corpus_it_has_not_seen(artifact, contrasts, wordpieces, reranker):
    rinse = build_rinse(artifact, wordpieces, reranker, None)
    reports = [await rinse.score(record.question, record.passages) for record in contrasts]
    accuracy = pairwise_accuracy(list(pairs(contrasts)), [report.score for report in reports])
    assert accuracy.groups == GROUPS
    assert accuracy.value > 0.75
    assert accuracy.low > 0.6
    answered = [
        sum(
            report.sufficient
            for report, record in zip(reports, contrasts, strict=True)
            if record.label == label
        )
        for label in (True, False)
    ]
    assert answered[0] > answered[1]


async def test_a_foreign_question_is_scored_too(artifact, wordpieces, reranker):
    rinse = build_rinse(artifact, wordpieces, reranker, None)
    report = await rinse.score(
        "Кто мэр города Арден?", [Passage(id="1", text="Ada Voss is the mayor of Arden.")]
    )
    assert report.score is not None
