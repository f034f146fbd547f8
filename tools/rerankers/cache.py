"""A bounded cache that forgets what was used longest ago."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """At most `capacity` entries. Not locked: each reranker touches its own from its one worker thread."""

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"capacity is {capacity}; it must be at least 1")
        self._capacity = capacity
        self._entries: OrderedDict[K, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """The value of `key`, which becomes the most recently used, or None."""
        value = self._entries.get(key)
        if value is not None:
            self._entries.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> None:
        """Keep `value`, dropping the least recently used entry when full."""
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)

    def through(self, keys: Iterable[K], compute: Callable[[list[K]], Sequence[V]]) -> dict[K, V]:
        """The value of every key; what is missing comes, in order, from one call of `compute`, and is kept.

        More keys than the cache holds are no harm: all values are returned, the last are kept.
        """
        known = {key: self.get(key) for key in keys}
        missing = [key for key, value in known.items() if value is None]
        fresh = dict(zip(missing, compute(missing), strict=True)) if missing else {}
        for key, value in fresh.items():
            self.put(key, value)
        return {key: fresh[key] if value is None else value for key, value in known.items()}
