"""The example handbook keeps what `examples/README.md` promises of it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

HANDBOOK = Path(__file__).resolve().parents[2] / "examples" / "handbook"
DOCUMENTS = {
    path.relative_to(HANDBOOK).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(HANDBOOK.rglob("*.md"))
}
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (HANDBOOK / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
KINDS = {"single": 20, "multi": 18, "unanswerable": 12, "closed_book": 10}
FIELDS = {"id", "kind", "question", "answers", "supporting"}
OPTIONAL = {"anchor", "absent", "answerable", "note"}


def stands_in(phrase: str, text: str) -> bool:
    """Whether the phrase occurs in the text as whole words; case and line breaks do not matter."""
    spaced = r"\s+".join(re.escape(word) for word in phrase.split())
    return re.search(rf"(?<![\w,.]){spaced}(?!\w|[,.]\d)", text, re.IGNORECASE) is not None


def holders(phrase: str) -> list[str]:
    return [name for name, text in DOCUMENTS.items() if phrase.lower() in text.lower()]


def of_kind(*kinds: str) -> list[Any]:
    return [pytest.param(q, id=q["id"]) for q in QUESTIONS if q["kind"] in kinds]


def test_the_handbook_has_80_to_120_documents_and_nothing_else_that_is_indexed() -> None:
    assert 80 <= len(DOCUMENTS) <= 120
    others = {path.name for path in HANDBOOK.rglob("*") if path.is_file() and path.suffix != ".md"}
    assert others == {"questions.jsonl"}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_has_one_title_and_40_to_250_words(name: str) -> None:
    lines = DOCUMENTS[name].splitlines()
    assert re.fullmatch(r"# \S.*", lines[0])
    assert [line for line in lines if line.startswith("# ")] == lines[:1]
    assert 40 <= len(DOCUMENTS[name].split()) <= 250


def test_titles_are_unique() -> None:
    titles = Counter(text.splitlines()[0].lower() for text in DOCUMENTS.values())
    assert [title for title, count in titles.items() if count > 1] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_to_documents_of_the_handbook(name: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", DOCUMENTS[name]):
        path = (HANDBOOK / name).parent / target
        assert path.resolve().relative_to(HANDBOOK).as_posix() in DOCUMENTS, target


def test_questions_have_the_promised_counts_and_fields() -> None:
    assert Counter(q["kind"] for q in QUESTIONS) == KINDS
    assert [q["id"] for q in QUESTIONS] == [f"q{number:02d}" for number in range(1, 61)]
    hops = Counter(len(q["supporting"]) for q in QUESTIONS if q["kind"] == "multi")
    assert hops == {2: 12, 3: 6}
    for q in QUESTIONS:
        assert set(q) >= FIELDS, q["id"]
        assert set(q) <= FIELDS | OPTIONAL, q["id"]
        assert ("anchor" in q) == (q["kind"] != "single"), q["id"]
        assert ("absent" in q) == (q["kind"] == "unanswerable"), q["id"]
        assert q.get("answerable", True) == (q["kind"] != "unanswerable"), q["id"]


def test_no_question_is_asked_twice() -> None:
    asked = Counter(" ".join(re.findall(r"\w+", q["question"].lower())) for q in QUESTIONS)
    assert [question for question, count in asked.items() if count > 1] == []


@pytest.mark.parametrize("q", of_kind("single", "multi"))
def test_every_answer_is_short_and_stands_in_a_supporting_document(q: dict[str, Any]) -> None:
    assert q["answers"]
    assert len(set(q["supporting"])) == len(q["supporting"])
    assert set(q["supporting"]) <= set(DOCUMENTS)
    for answer in q["answers"]:
        assert 1 <= len(answer.split()) <= 5
        assert any(stands_in(answer, DOCUMENTS[name]) for name in q["supporting"]), answer
        assert not stands_in(answer, q["question"]), answer


@pytest.mark.parametrize("q", of_kind("single"))
def test_a_single_question_needs_one_document(q: dict[str, Any]) -> None:
    assert len(q["supporting"]) == 1


@pytest.mark.parametrize("q", of_kind("multi"))
def test_no_document_holds_both_the_anchor_and_an_answer(q: dict[str, Any]) -> None:
    assert q["anchor"].lower() in q["question"].lower()
    assert q["supporting"][0] in holders(q["anchor"])
    for name in holders(q["anchor"]):
        assert [answer for answer in q["answers"] if stands_in(answer, DOCUMENTS[name])] == [], name


@pytest.mark.parametrize("q", of_kind("multi"))
def test_the_last_document_holds_the_answer_and_the_others_do_not(q: dict[str, Any]) -> None:
    *earlier, last = q["supporting"]
    assert stands_in(q["answers"][0], DOCUMENTS[last])
    assert [name for name in earlier if stands_in(q["answers"][0], DOCUMENTS[name])] == []


@pytest.mark.parametrize("q", of_kind("unanswerable"))
def test_an_unanswerable_question_is_near_the_handbook_but_its_fact_is_missing(q: dict[str, Any]) -> None:
    assert q["answers"] == q["supporting"] == []
    near = holders(q["anchor"])
    assert near
    absent = re.compile(q["absent"], re.IGNORECASE)
    assert [name for name in near if absent.search(DOCUMENTS[name])] == []


@pytest.mark.parametrize("q", of_kind("closed_book"))
def test_the_handbook_is_silent_on_closed_book_questions(q: dict[str, Any]) -> None:
    assert q["answers"]
    assert q["supporting"] == []
    assert q["anchor"].lower() in q["question"].lower()
    assert [name for name, text in DOCUMENTS.items() if stands_in(q["anchor"], text)] == []
