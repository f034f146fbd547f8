"""A passage as a document of Lucene in Anserini's layout, and the texts of other people's documents.

Fields, as Anserini names them: `id`; `contents`, analysed for search; `raw`, the stored JSON. Beside them
`key` and `source`, digests to delete by, and, of a passage kept from the web, `expires`, when its time is
over, in seconds since 1970. Pyserini opens such an index as one of its own.
"""

import json
from functools import cache
from typing import Any, Final

from ..types import Passage
from .expiry import EXPIRES, expiry
from .java import java_class
from .spelling import encodable, normalise, spaced
from .stored import key_digest, source_digest

ID: Final = "id"
CONTENTS: Final = "contents"
RAW: Final = "raw"
KEY: Final = "key"
SOURCE: Final = "source"
_EARLIEST: Final = -(2**63)

# Where the collections that Anserini reads keep text, id and title; the first that is there counts.
_TEXTS: Final = ("text", "contents", "passage", "segment", "body", "abstract")
_IDS: Final = ("_id", "id", "docid", "pid")


def to_document(passage: Passage) -> Any:
    """The document of a passage; its score is left out."""
    # Anserini knows one id: the source alone where it is the whole document.
    whole = passage.source in ("", passage.id)
    id_ = encodable(passage.id if whole else f"{passage.source}#{passage.id}")
    contents = f"{passage.title}\n{passage.text}" if passage.title else passage.text
    raw = json.dumps(
        {
            "id": id_,
            "contents": contents,
            "title": passage.title,
            "url": passage.url,
            "passage_id": passage.id,
            "source": passage.source,
            "metadata": dict(passage.metadata),
        },
        separators=(",", ":"),
    )
    string, stored = java_class("org.apache.lucene.document.StringField"), _store("YES")
    document = java_class("org.apache.lucene.document.Document")()
    document.add(string(ID, id_, stored))
    # Anserini breaks ties by this column.
    bytes_ = java_class("org.apache.lucene.util.BytesRef")(bytearray(id_, "utf-8"))
    document.add(java_class("org.apache.lucene.document.BinaryDocValuesField")(ID, bytes_))
    document.add(string(KEY, key_digest(passage.key), _store("NO")))
    document.add(string(SOURCE, source_digest(passage.source), _store("NO")))
    until = expiry(passage)
    if until is not None:
        document.add(java_class("org.apache.lucene.document.LongPoint")(EXPIRES, until))
    text = java_class("org.apache.lucene.document.TextField")
    document.add(text(CONTENTS, searchable(contents), _store("NO")))
    document.add(java_class("org.apache.lucene.document.StoredField")(RAW, raw))
    return document


def expired_by(now: float) -> Any:
    """The query for documents whose time is over at `now`, in seconds since 1970."""
    return java_class("org.apache.lucene.document.LongPoint").newRangeQuery(EXPIRES, _EARLIEST, int(now))


def searchable(text: str) -> str:
    """Text as the analyzer gets it, of passages and queries alike."""
    return spaced(normalise(text))


def own_passage(document: Any, score: float) -> Passage:
    """The passage of a document made by `to_document`."""
    raw = json.loads(document.get(RAW))
    title, contents = raw["title"], raw["contents"]
    text = contents[len(title) + 1 :] if title else contents
    return Passage(raw["passage_id"], text, title, raw["source"], raw["url"], score, raw["metadata"])


def foreign_passage(document: Any, score: float) -> Passage | None:
    """The passage of a document that Anserini indexed; None if it stores no text.

    The stored raw document is parsed where it is JSON; a collection of another format must have stored the
    contents, or its raw document is the text.
    """
    fields = _parsed(document.get(RAW))
    id_ = document.get(ID) or _first(fields, _IDS)
    text = _first(fields, _TEXTS) or document.get(CONTENTS) or ""
    if not fields and not text:
        text = document.get(RAW) or ""
    if not text.strip():
        return None
    title = _first(fields, ("title",))
    if title and text.startswith(f"{title}\n"):
        text = text[len(title) + 1 :]
    # Such an index says nothing of the document a passage was cut from: each is its own.
    return Passage(id_, text, title, id_, _first(fields, ("url",)) or None, score)


def _parsed(raw: str | None) -> dict[str, Any]:
    if not raw or not raw.lstrip().startswith("{"):
        return {}
    try:
        fields = json.loads(raw)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _first(fields: dict[str, Any], names: tuple[str, ...]) -> str:
    """The first of the fields that holds something, as text."""
    return next((str(value) for name in names if (value := fields.get(name)) not in (None, "")), "")


@cache
def _store(choice: str) -> Any:
    return getattr(java_class("org.apache.lucene.document.Field$Store"), choice)
