"""A document as the readers of this package give it, and the passages it is cut into."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ...types import Passage
from ..chunking import passage_spans

_UNUSABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a corpus.

    `source` is its id in the index. The body is text[body:]; what stands before it (front matter, the heading
    that became the title) still counts in offsets. `whole_id` is the passage id if the document is not cut.
    """

    source: str
    text: str
    title: str = ""
    url: str | None = None
    body: int = 0
    whole_id: str = "0"
    metadata: Mapping[str, str | int | float] = field(default_factory=dict)

    def passages(self) -> Iterator[Passage]:
        """Its passages, with `start` and `end` in the metadata: text[start:end] is the passage.

        A document that stays whole gives one passage with id `whole_id`; a cut one gives ids 0, 1, 2, …
        """
        spans = passage_spans(self.text, self.body)
        for number, (start, end) in enumerate(spans):
            yield Passage(
                id=self.whole_id if len(spans) == 1 else str(number),
                text=self.text[start:end],
                title=self.title,
                source=self.source,
                url=self.url,
                metadata={**self.metadata, "start": start, "end": end},
            )


def usable(text: str) -> str:
    """`text` with null characters and lone surrogates, which no model or UTF-8 file takes, as U+FFFD.

    The length stays the same, so offsets hold.
    """
    return _UNUSABLE.sub("\ufffd", text)
