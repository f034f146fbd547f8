"""The native formats of question-answering data sets, each read one row at a time.

A row that does not have the format's fields raises ValueError, KeyError, TypeError or IndexError; the caller
counts and names it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ....tools.types import Passage
from ..stable import stable_id
from .examples import Example, Fact, make_passage

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Format:
    """One format: the fields by which a row is known, and how a row becomes examples."""

    name: str
    fields: frozenset[str]
    read: Callable[[Row], Iterator[Example]]


def _hotpot(row: Row) -> Iterator[Example]:
    """HotpotQA and 2WikiMultiHopQA: `context` [title, sentences], `supporting_facts` [title, sentence].

    The hub's copies hold a column each instead.
    """
    made = (make_passage(_text(title), paragraph(said)) for title, said in _pairs(row["context"]))
    passages = list({passage.id: _filled(passage) for passage in made}.values())
    places = {passage.title: place for place, passage in enumerate(passages)}
    titles = [_text(title) for title, _ in _pairs(row["supporting_facts"])]
    if any(
        places[passage.title] != place for place, passage in enumerate(passages) if passage.title in titles
    ):
        raise ValueError("two passages have the title of the annotated support")
    support = frozenset(places[title] for title in titles)
    evidences = row.get("evidences") or ()
    triples = zip(*evidences.values(), strict=True) if isinstance(evidences, dict) else evidences
    said = [(_text(subject), _text(value)) for subject, _, value in triples]
    facts = tuple(Fact(places[subject], subject, value) for subject, value in said if subject in places)
    answers = (_text(row["answer"]),)
    name = str(row["_id"] if "_id" in row else row["id"])
    yield Example(name, _text(row["question"]), answers, tuple(passages), support, facts)


def _pairs(value: Any) -> Any:
    """Rows of two, also where they are given as two columns, `title` first."""
    if not isinstance(value, dict):
        return value
    (other,) = (column for name, column in value.items() if name != "title")
    return list(zip(value["title"], other, strict=True))


def paragraph(value: Any) -> str:
    """The text of a list of sentences, or of all of them in one. Raises TypeError for anything else."""
    sentences = [value] if isinstance(value, str) else value
    return " ".join(map(_text, sentences)).strip()


def _musique(row: Row) -> Iterator[Example]:
    """MuSiQue: `paragraphs` with `is_supporting`, `question_decomposition`, perhaps `answerable`."""
    paragraphs = row["paragraphs"]
    passages = tuple(
        _filled(make_passage(_text(paragraph["title"]), _text(paragraph["paragraph_text"])))
        for paragraph in paragraphs
    )
    places = {paragraph["idx"]: place for place, paragraph in enumerate(paragraphs)}
    support = frozenset(places[paragraph["idx"]] for paragraph in paragraphs if paragraph["is_supporting"])
    steps = [(places.get(step["paragraph_support_idx"]), step) for step in row["question_decomposition"]]
    facts = tuple(
        Fact(place, passages[place].title, _text(step["answer"]))
        for place, step in steps
        if place is not None
    )
    answers = (_text(row["answer"]), *map(_text, row.get("answer_aliases") or ()))
    answerable = bool(row.get("answerable", True))
    yield Example(str(row["id"]), _text(row["question"]), answers, passages, support, facts, answerable)


def _squad(row: Row) -> Iterator[Example]:
    """SQuAD: one paragraph, its `context` and its `qas`; the reader adds the article's `title`."""
    passage = _filled(make_passage(_text(row["title"]).replace("_", " "), _text(row["context"])))
    for entry in row["qas"]:
        answers = tuple(dict.fromkeys(_text(answer["text"]) for answer in entry["answers"]))
        answerable = not entry.get("is_impossible", False)
        if answerable and not answers:
            raise ValueError(f"question {entry['id']} is answerable and has no answer")
        question = _text(entry["question"])
        yield Example(str(entry["id"]), question, answers, (passage,), frozenset({0}), (), answerable)


def _nq_oracle(row: Row) -> Iterator[Example]:
    """Natural Questions with its gold passage, the one of `ctxs` marked `isgold`; others are not kept."""
    gold = next((context for context in row["ctxs"] if context.get("isgold")), None)
    if gold is None:
        raise ValueError("no passage is marked isgold")
    answers = tuple(map(_text, row["answers"]))
    if not answers:
        raise ValueError("no answers")
    passage = _filled(make_passage(_text(gold["title"]), _text(gold["text"])))
    question = _text(row["question"])
    name = str(row.get("id") or stable_id(question))
    yield Example(name, question, answers, (passage,), frozenset({0}))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is not a string")
    return value.strip()


def _filled(passage: Passage) -> Passage:
    if not passage.text:
        raise ValueError(f"passage {passage.title!r} is empty")
    return passage


# Formats with more fields stand before those whose fields they also have.
FORMATS = (
    Format("2WikiMultiHopQA", frozenset({"context", "supporting_facts", "evidences"}), _hotpot),
    Format("HotpotQA", frozenset({"context", "supporting_facts"}), _hotpot),
    Format("MuSiQue", frozenset({"paragraphs", "question_decomposition"}), _musique),
    Format("SQuAD 2.0", frozenset({"context", "qas"}), _squad),
    Format("NQ-oracle", frozenset({"question", "answers", "ctxs"}), _nq_oracle),
)
