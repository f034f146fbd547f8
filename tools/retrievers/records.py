"""A passage as a record of the index, and back.

Fields: `title` and `text` are analysed for search; `key` and `source` are digests to delete by; `expires` is
when the time of a passage kept from the web is over, in seconds since 1970, else missing; `payload`
holds the passage itself, so that it comes back as it went in, whatever characters it has.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import tantivy

from ..types import Passage, PassageKey
from .analysis import analyzer
from .expiry import EXPIRES, expiry
from .spelling import normalise
from .stored import from_payload, key_digest, source_digest, to_payload

KEY: Final = "key"
SOURCE: Final = "source"
TITLE: Final = "title"
TEXT: Final = "text"
_EARLIEST: Final = -(2**63)
_PAYLOAD: Final = "payload"
_TOKENIZER: Final = "sufficit"


@cache
def schema() -> tantivy.Schema:
    """The schema of the embedded index. No positions: queries are words, not phrases."""
    return (
        tantivy.SchemaBuilder()
        .add_text_field(KEY, tokenizer_name="raw", index_option="basic")
        .add_text_field(SOURCE, tokenizer_name="raw", index_option="basic")
        .add_integer_field(EXPIRES, indexed=True)
        .add_text_field(TITLE, tokenizer_name=_TOKENIZER, index_option="freq")
        .add_text_field(TEXT, tokenizer_name=_TOKENIZER, index_option="freq")
        .add_bytes_field(_PAYLOAD, stored=True)
        .build()
    )


def prepare(index: tantivy.Index) -> tantivy.Index:
    """Give an opened index the analyzer; let its reader move on only when it is told to."""
    index.register_tokenizer(_TOKENIZER, analyzer())
    index.config_reader("manual", 0)
    return index


def expired_by(now: float) -> tantivy.Query:
    """The records whose time is over at `now`, in seconds since 1970."""
    return tantivy.Query.range_query(schema(), EXPIRES, tantivy.FieldType.Integer, _EARLIEST, int(now))


def held_by(keys: Iterable[PassageKey]) -> tantivy.Query:
    """The records with any of these keys."""
    terms = (tantivy.Query.term_query(schema(), KEY, key_digest(key), "basic") for key in keys)
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in terms])


def to_record(passage: Passage) -> tantivy.Document:
    """The record of a passage; its score is left out."""
    record = tantivy.Document()
    record.add_text(KEY, key_digest(passage.key))
    record.add_text(SOURCE, source_digest(passage.source))
    until = expiry(passage)
    if until is not None:
        record.add_integer(EXPIRES, until)
    record.add_text(TITLE, normalise(passage.title))
    record.add_text(TEXT, normalise(passage.text))
    record.add_bytes(_PAYLOAD, to_payload(passage).encode("ascii"))
    return record


def to_passage(record: tantivy.Document, score: float) -> Passage:
    """The passage of a record, with the score of the search that found it."""
    payload: Any = record.get_first(_PAYLOAD)
    return from_payload(payload, score)
