"""What replaces what when passages are written, whichever engine stores them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol

from ..types import Passage, PassageKey

_REPORT_EVERY: Final = 200  # passages


class Sink(Protocol):
    """Takes the steps of one transaction."""

    def insert(self, passage: Passage) -> None:
        """Add a passage whose key is not there."""
        ...

    def delete_keys(self, keys: Iterable[PassageKey]) -> None:
        """Delete the passages with these keys, as far as there are any."""
        ...

    def delete_sources(self, sources: Iterable[str]) -> None:
        """Delete all passages of these sources."""
        ...

    def delete_expired(self, now: float) -> None:
        """Delete the passages whose time is over at `now`, in seconds since 1970."""
        ...


def put(sink: Sink, passages: Sequence[Passage]) -> None:
    """Add passages; each replaces the one with its key."""
    for passage in passages:
        sink.delete_keys([passage.key])
        sink.insert(passage)


def put_documents(
    sink: Sink, passages: Iterable[Passage], progress: Callable[[int], None]
) -> tuple[int, int]:
    """Add whole documents; each replaces all passages of its source.

    Passages of one source that follow each other are one document. A source that returns later in the
    same call replaces its earlier passages if its first key was there before; else it adds to them.
    `progress` is told the number of passages so far. Returns how many passages came in, and how many
    of them had the key of an earlier one.
    """
    keys: set[int] = set()  # hashes: a large corpus must fit in memory
    sources: set[int] = set()
    count = replaced = 0
    source = None
    for count, passage in enumerate(passages, 1):
        key, of_source = hash(passage.key), hash(passage.source)
        begins, source = passage.source != source, passage.source
        replaced += key in keys
        if not source:  # it belongs to no document, so it can only replace its like
            sink.delete_keys([passage.key])
        elif begins and (key in keys or of_source not in sources):
            sink.delete_sources([source])
        elif key in keys:
            sink.delete_keys([passage.key])
        sources.add(of_source)
        keys.add(key)
        sink.insert(passage)
        if count % _REPORT_EVERY == 0:
            progress(count)
    progress(count)
    return count, replaced
