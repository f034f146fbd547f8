"""The three tools that make the web a source of evidence."""

from dataclasses import dataclass

from ..protocols import Extractor, Fetcher, WebSearch


@dataclass(frozen=True, slots=True)
class WebTools:
    """Where the web's evidence comes from; shared by all runs. Any of them can be one's own."""

    search: WebSearch
    fetcher: Fetcher
    extractor: Extractor
