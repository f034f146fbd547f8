"""Questions with what a RAG pipeline made of them: passages, perhaps both answers, perhaps the gold ones."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ....tools.errors import InputError
from ....tools.types import Passage
from ..datasets.examples import make_passage
from ..datasets.formats import paragraph
from ..datasets.questions import answer_text, gold_answers, read_items, readable

Item = Mapping[str, Any]

_IDS = ("id", "_id", "qid", "test_id")


@dataclass(frozen=True, slots=True)
class Case:
    """One question to arbitrate. An answer that is None is still to be written; `answers` are the gold ones.

    `passages` are those that the RAG answer read, in their order; none of them is empty.
    """

    id: str
    question: str
    passages: tuple[Passage, ...]
    direct: str | None = None
    rag: str | None = None
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of one file, and the name of the format it is in."""

    format: str
    cases: tuple[Case, ...]

    @property
    def digest(self) -> str:
        """Hash of all that is arbitrated."""
        text = json.dumps([asdict(case) for case in self.cases])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Found:
    """What is peculiar to a format: where passages and answers stand."""

    passages: Any
    direct: Any = None
    rag: Any = None


@dataclass(frozen=True, slots=True)
class _Format:
    """One format: the fields by which an item is known, and how it is read."""

    name: str
    fields: frozenset[str]
    find: Callable[[Item], _Found]


def _flashrag(item: Item) -> _Found:
    """FlashRAG's saved intermediate data; `pred` is the pipeline's answer, from `retrieval_result`."""
    output = _object(item, "output")
    if "retrieval_result" not in output:
        raise ValueError("no output.retrieval_result; save the pipeline's intermediate data after retrieval")
    return _Found(output["retrieval_result"], rag=output.get("pred"))


def _hotpot(item: Item) -> _Found:
    """HotpotQA and 2WikiMultiHopQA; `context` is [[title, [sentence]]], or lists by `title`, `sentences`.

    A text may stand for the list of its sentences.
    """
    context = item["context"]
    try:
        if isinstance(context, dict):
            context = zip(context["title"], context["sentences"], strict=True)
        found = [{"title": title, "text": paragraph(sentences)} for title, sentences in context]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError("its context is not [[title, [sentence, …]], …]") from error
    return _Found(found)


def _trustmargin(item: Item) -> _Found:
    """TrustMargin's retrieved questions, and the records of its prediction files with both candidates."""
    said = _object(item, "method_debug")
    return _Found(item["passages"], said.get("direct_answer"), said.get("rag_answer"))


def _plain(item: Item) -> _Found:
    """{question, passages, direct, rag}."""
    return _Found(item["passages"])


# The first one that fits is taken: passages under their own name before those that stand elsewhere.
FORMATS = (
    _Format("TrustMargin", frozenset({"test_id", "question", "passages"}), _trustmargin),
    _Format("plain", frozenset({"question", "passages"}), _plain),
    _Format("FlashRAG", frozenset({"question", "golden_answers"}), _flashrag),
    _Format("HotpotQA", frozenset({"question", "context"}), _hotpot),
)


def read_cases(file: Path) -> Cases:
    """The cases of a JSON or JSON Lines file, also `.gz`, in any of the formats.

    In every format both answers may also stand under `direct` and `rag`, and gold answers are read as those
    of question files are, by `gold_answers`. Raises InputError for a file that cannot be read, an item that
    does not fit the format of the first, and an id that comes twice.
    """
    items = _records(read_items(file), file)
    if not items:
        raise InputError(f"{file} holds no question")
    layout = _layout(items[0], file)
    cases: dict[str, Case] = {}
    for number, (item, name) in enumerate(zip(items, _names(items), strict=True), start=1):
        case = _case(layout, item, name, f"{file}, item {number}")
        if case.id in cases:
            raise InputError(f"{file}, item {number}: the id {case.id} comes twice")
        cases[case.id] = case
    return Cases(layout.name, tuple(cases.values()))


def _layout(item: Any, file: Path) -> _Format:
    fields = _fields(item)
    for known in FORMATS:
        if known.fields <= fields:
            return known
    found = ", ".join(sorted(fields)) or "none"
    needed = " or ".join("+".join(sorted(known.fields)) for known in FORMATS)
    raise InputError(f"{file}, item 1: its fields ({found}) are of no format; needed: {needed}")


def _records(items: list[Any], file: Path) -> list[Any]:
    """The items, or those of the data sets of a TrustMargin prediction file, their ids made different."""
    if len(items) != 1 or "datasets" not in _fields(items[0]):
        return items
    try:
        return [
            {**record, "id": f"{name}/{record.get('test_id')}"}
            for name, found in items[0]["datasets"].items()
            for record in found["records"]
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(f"{file} has `datasets` that hold no `records`: {error!r}") from error


def _fields(item: Any) -> frozenset[str]:
    return frozenset(item) if isinstance(item, dict) else frozenset()


def _names(items: list[Any]) -> list[str]:
    """The ids of all items; one that has none is known by its place, marked where that is another's id."""
    given = [_given_id(item) for item in items]
    taken = set(given)
    found: list[str] = []
    for number, name in enumerate(given, start=1):
        place = str(number)
        while place in taken:
            place = f"#{place}"
        found.append(place if name is None else name)
    return found


def _given_id(item: Any) -> str | None:
    fields = item if isinstance(item, dict) else {}
    return next((readable(str(fields[key])) for key in _IDS if fields.get(key) is not None), None)


def _case(layout: _Format, item: Any, name: str, where: str) -> Case:
    if not layout.fields <= _fields(item):
        raise InputError(f"{where}: not in the {layout.name} format of the first item")
    try:
        found = layout.find(item)
        return Case(
            id=name,
            question=_question(item["question"]),
            passages=_passages(found.passages),
            direct=_answer(item.get("direct", found.direct)),
            rag=_answer(item.get("rag", found.rag)),
            answers=gold_answers(item),
        )
    except KeyError as error:
        raise InputError(f"{where}: no field {error}") from error
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: {error}") from error


def _object(item: Item, field: str) -> Item:
    """A field that is an object, empty where the item has none."""
    found = item.get(field) or {}
    if not isinstance(found, dict):
        raise TypeError(f"its {field} is not an object")
    return found


def _question(value: Any) -> str:
    text = _text(value)
    if not text:
        raise ValueError("the question is empty")
    return text


def _passages(value: Any) -> tuple[Passage, ...]:
    if not isinstance(value, list):
        raise TypeError("its passages are not a list")
    return tuple(passage for passage in map(_passage, value) if passage.text)


def _passage(value: Any) -> Passage:
    """A text, or an object with `text` and `title`, or `contents` whose first line is the title."""
    if not isinstance(value, dict):
        return make_passage("", _text(value))
    if "text" in value:
        return make_passage(_text(value.get("title") or ""), _text(value["text"]))
    title, _, text = _text(value["contents"]).partition("\n")
    return make_passage(title.strip('" '), text.strip()) if text.strip() else make_passage("", title)


def _answer(value: Any) -> str | None:
    if value is None:
        return None
    return answer_text(value) if isinstance(value, int | float) else _text(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is not a string")
    return readable(value)
