"""A stream of questions replayed against the cache node and similarity caches."""
