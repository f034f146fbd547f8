"""What a body is, by its header and by its first bytes."""

from typing import Final

from ..errors import FetchRefused
from ..types import PageKind

ACCEPT: Final = "text/html,application/xhtml+xml,text/plain;q=0.9,application/pdf;q=0.8,*/*;q=0.1"

_HEADERS: Final[dict[str, PageKind]] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/plain": "text",
    "text/markdown": "text",
}
_UNSAID: Final = ("", "application/octet-stream", "binary/octet-stream", "unknown/unknown")
_HTML: Final = (b"<!doctype html", b"<html", b"<head", b"<body", b"<!--", b"<title", b"<meta", b"<?xml")
# Most binary formats show by their null bytes; these may not within the first thousand.
_BINARY: Final = (
    *(b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"PK\x03\x04", b"\x1f\x8b", b"BZh9", b"\xfd7zXZ", b"7z\xbc\xaf"),
    *(b"Rar!", b"\x28\xb5\x2f\xfd", b"OggS", b"%!PS"),
)
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")  # the marks of UTF-16 and UTF-32, whose text holds null bytes


def media_type(header: str) -> tuple[str, str | None]:
    """Media type and charset of a Content-Type header, in lower case."""
    kind, *parameters = header.lower().split(";")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset":
            return kind.strip(), value.strip().strip("\"'")[:40] or None
    return kind.strip(), None


def page_kind(header: str, content: bytes) -> PageKind:
    """What to read the body as. Raises FetchRefused for what is no text, whatever the header calls it."""
    media, charset = media_type(header)
    if media not in (*_HEADERS, *_UNSAID, "application/pdf"):
        raise FetchRefused(f"the body is of type {media[:60]!r}; HTML, plain text and PDF are read")
    start = content[:1024].lstrip(b"\xef\xbb\xbf\t\n\r\x0c ")
    if start.startswith(b"%PDF-"):
        return "pdf"
    wide = content.startswith(_WIDE) or (charset or "").startswith(("utf-16", "utf-32"))
    if start.startswith(_BINARY) or (b"\x00" in content[:1024] and not wide):
        raise FetchRefused(f"the body is no text, though its header says {media[:60] or 'nothing'!r}")
    if media in _HEADERS:
        return _HEADERS[media]
    return "html" if start[:20].lower().startswith(_HTML) else "text"
