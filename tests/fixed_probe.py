"""A probe that knows every uncertainty beforehand: exact gains without a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sufficit.policies.types import Candidate
from sufficit.tools.types import Passage


def named(letters: str) -> list[Passage]:
    """One passage a letter, each of one word."""
    return [Passage(letter, f"text{letter}", source=f"{letter}.md") for letter in letters]


def ids(keys: Sequence[object]) -> str:
    return "".join(key.id for key in keys)


@dataclass
class FixedProbe:
    """`given[""]["a"]` is NU(q|a), `given["a"]["b"]` is NU(q|a, b); `calls` lists (given, passages)."""

    given: Mapping[str, Mapping[str, float | None]]
    lengths: Mapping[str, int] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)

    async def uncertainties(
        self, question: str, passages: Sequence[Passage], given: Sequence[Passage] = ()
    ) -> tuple[Candidate, ...]:
        before = "".join(passage.id for passage in given)
        self.calls.append((before, "".join(passage.id for passage in passages)))
        found = self.given[before]
        return tuple(Candidate(p.key, found[p.id], self.tokens(p)) for p in passages)

    def tokens(self, passage: Passage) -> int:
        return self.lengths.get(passage.id, 10)
