"""How a query scores passages.

A query is text: it is analysed like the passages, and each of its terms scores by the better of its BM25
scores (k1 1.2, b 0.75) in title and text plus half of the other: a term of the title mostly stands in the
text as well, and is not new evidence there.
"""

from collections import Counter
from typing import Final

import tantivy

from .analysis import analyze
from .records import TEXT, TITLE, schema

_LONGEST_QUERY: Final = 200_000  # characters; what follows is not read
_MOST_TERMS: Final = 128  # distinct terms of a query; the rarest are kept
_TIE_BREAKER: Final = 0.5


def query_terms(query: str, searcher: tantivy.Searcher) -> dict[str, int]:
    """Distinct terms of the query with their counts, at most 128: those that the fewest passages hold."""
    terms = Counter(analyze(query[:_LONGEST_QUERY]))
    if len(terms) <= _MOST_TERMS:
        return terms
    held = {term: searcher.doc_freq(TITLE, term) + searcher.doc_freq(TEXT, term) for term in terms}
    rarest = sorted((term for term in terms if held[term]), key=held.__getitem__)[:_MOST_TERMS]
    return {term: terms[term] for term in rarest}


def score_query(terms: dict[str, int]) -> tantivy.Query:
    """Any of the terms, each counted as often as the query has it."""
    fields = schema()
    clauses = []
    for term, count in terms.items():
        in_fields = [tantivy.Query.term_query(fields, field, term, "freq") for field in (TITLE, TEXT)]
        best = tantivy.Query.disjunction_max_query(in_fields, _TIE_BREAKER)
        scored = best if count == 1 else tantivy.Query.boost_query(best, float(count))
        clauses.append((tantivy.Occur.Should, scored))
    return tantivy.Query.boolean_query(clauses)
