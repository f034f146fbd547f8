import pytest
from sufficit.tools.rerankers.cache import LruCache


def test_the_least_recently_used_is_dropped() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1
    cache.put("c", 3)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)
    assert len(cache) == 2


def test_falsy_values_are_kept() -> None:
    cache: LruCache[str, float] = LruCache(1)
    cache.put("zero", 0.0)
    assert cache.get("zero") == 0.0


def test_a_cache_holds_something() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        LruCache(0)


def test_only_what_is_missing_is_computed_and_more_than_it_holds_comes_back() -> None:
    cache: LruCache[str, int] = LruCache(2)
    asked: list[list[str]] = []

    def lengths(keys: list[str]) -> list[int]:
        asked.append(keys)
        return [len(key) for key in keys]

    assert cache.through(["a", "bb", "a"], lengths) == {"a": 1, "bb": 2}
    assert cache.through(["bb", "", "dddd"], lengths) == {"bb": 2, "": 0, "dddd": 4}
    assert cache.through(["", "dddd"], lengths) == {"": 0, "dddd": 4}
    assert asked == [["a", "bb"], ["", "dddd"]]
    assert cache.get("a") is None
    with pytest.raises(ValueError, match="shorter"):
        cache.through(["e", "f"], lambda _: [1])
