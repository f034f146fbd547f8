"""A passage as every index stores it, so that it comes back as it went in, whatever characters it has."""

import json
from hashlib import blake2b

from ..types import Passage, PassageKey


def to_payload(passage: Passage) -> str:
    """The passage as ASCII text; its score is left out."""
    whole = (passage.id, passage.text, passage.title, passage.source, passage.url, dict(passage.metadata))
    return json.dumps(whole, separators=(",", ":"))


def from_payload(payload: str | bytes, score: float) -> Passage:
    """The passage of a payload, with the score of the search that found it."""
    id_, text, title, source, url, metadata = json.loads(payload)
    return Passage(id_, text, title, source, url, score, metadata)


def key_digest(key: PassageKey) -> str:
    """A term to find a passage by. Lengths part source and id, so no two keys give one term."""
    return _digest(f"{len(key.source)}:{key.source}{key.id}")


def source_digest(source: str) -> str:
    """A term to find all passages of a source by."""
    return _digest(source)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
