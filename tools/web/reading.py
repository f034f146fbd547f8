"""What a page says: the article of an HTML page, the text of a PDF. Runs in a process that may be killed."""

import io
import re
from typing import Final, TypedDict

import trafilatura

from ..types import PageKind
from .charsets import decode

_PDF_PAGES: Final = 200
_PDF_CHARACTERS: Final = 1_000_000
_LANGUAGE = re.compile(
    r"""<html\b[^>]{0,500}?\blang\s*=\s*["']?([a-zA-Z]{2,3}(?:-[a-zA-Z0-9]{1,8})*)""", re.I
)


class Reading(TypedDict):
    """A page as text. All but `text` may be ""; `date` is YYYY-MM-DD; `truncated` if not all was read."""

    text: str
    title: str
    date: str
    language: str
    canonical: str
    charset: str
    truncated: bool


class Unreadable(Exception):
    """The page cannot be read, for a reason worth telling."""


def read(kind: PageKind, content: bytes, charset: str | None, url: str, limit: int) -> Reading:
    """Read a page; of HTML and plain text at most `limit` bytes. Raises Unreadable."""
    if kind == "pdf":
        return _read_pdf(content)
    text, used = decode(content[:limit], charset)
    reading = _read_html(text, url) if kind == "html" else _reading(text)
    return {**reading, "charset": used, "truncated": len(content) > limit}


def _reading(text: str, title: str = "", date: str = "", language: str = "", canonical: str = "") -> Reading:
    return {
        "text": text,
        "title": title,
        "date": date,
        "language": language,
        "canonical": canonical,
        "charset": "",
        "truncated": False,
    }


def _read_html(html: str, url: str) -> Reading:
    document = trafilatura.bare_extraction(html, url=url, with_metadata=True, include_comments=False)
    if document is None:
        return _reading("")
    found = document if isinstance(document, dict) else document.as_dict()
    language = _LANGUAGE.search(html[:10_000])
    return _reading(
        found.get("text") or "",
        title=found.get("title") or "",
        date=found.get("date") or "",
        canonical=found.get("url") or "",
        language=language[1].lower() if language else "",
    )


def _read_pdf(content: bytes) -> Reading:
    try:
        from pypdf import PdfReader  # noqa: PLC0415  only where it is installed
        from pypdf.errors import PyPdfError  # noqa: PLC0415
    except ImportError:
        raise Unreadable("PDF is read where pypdf is installed: pip install 'sufficit[pdf]'") from None
    try:
        reader = PdfReader(io.BytesIO(content))
        pages: list[str] = []
        for page in reader.pages[:_PDF_PAGES]:
            pages.append(page.extract_text())
            if sum(map(len, pages)) > _PDF_CHARACTERS:
                break
        title = str(reader.metadata.title or "") if reader.metadata else ""
        whole = len(pages) == len(reader.pages)
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unreadable(f"the PDF is damaged: {error}") from error
    return {**_reading("\n\n".join(pages), title=title), "truncated": not whole}
