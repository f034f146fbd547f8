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
