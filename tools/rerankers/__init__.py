"""Models that score how well texts answer queries, behind the `Reranker` protocol."""
