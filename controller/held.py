"""Tools that stay loaded from one set of settings to the next."""

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class HeldTools:
    """Holds one tool of a kind, with what it was loaded from."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[str, Any]] = {}

    def take(self, kind: str, source: str, load: Callable[[], T]) -> T:
        """The tool of this kind, if it was loaded from the same `source`; otherwise it is let go, and then
        another is loaded.
        """
        if kind in self._held and self._held[kind][0] != source:
            del self._held[kind]
        if kind not in self._held:
            self._held[kind] = source, load()
        tool: T = self._held[kind][1]
        return tool
