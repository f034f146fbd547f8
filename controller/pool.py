"""The evidence pool: what was found for one question, in the order it was found."""

from collections.abc import Iterable

from ..tools.types import Passage, PassageKey


class Pool:
    """Passages that say something, each key and each text once, at most `capacity`."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._passages: dict[PassageKey, Passage] = {}
        self._texts: set[str] = set()

    @property
    def passages(self) -> tuple[Passage, ...]:
        """All passages, first found first."""
        return tuple(self._passages.values())

    def add(self, passages: Iterable[Passage]) -> tuple[PassageKey, ...]:
        """Take what is new while there is room; returns the keys taken."""
        taken = []
        for passage in passages:
            text = " ".join(passage.text.split())
            if len(self._passages) >= self._capacity:
                break
            if not text or passage.key in self._passages or text in self._texts:
                continue
            self._passages[passage.key] = passage
            self._texts.add(text)
            taken.append(passage.key)
        return tuple(taken)
