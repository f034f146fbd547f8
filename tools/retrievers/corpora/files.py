"""Text, Markdown and HTML files as documents: one file, one document."""

import codecs
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from .document import Document, usable
from .html import html_text
from .problems import Problems

_LARGEST_FILE = 64 * 2**20  # bytes
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*)$|^(\S.*)\n(?:=+|-+)[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)


def read_file(path: Path, source: str, problems: Problems) -> Document | None:
    """The document in `path`; None, with a problem noted, if the file is too large or cannot be read."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            problems.add("unreadable", str(path), None, f"larger than {_LARGEST_FILE} bytes; cut it up")
            return None
        data = path.read_bytes()
    except OSError as error:
        problems.add("unreadable", str(path), None, error.strerror or str(error))
        return None
    document = FILE_READERS[path.suffix.lower()](source, usable(_decode(data, path, problems)))
    if document is None:
        problems.add("unreadable", str(path), None, "its elements are nested too deeply")
    return document


def _decode(data: bytes, path: Path, problems: Problems) -> str:
    """Text with \\n for every line end: UTF-16 if its byte order mark says so, else UTF-8."""
    utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if utf16 else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        problems.add("undecodable", str(path), None, f"byte {error.start + 1} is not {error.encoding}")
        text = data.decode(encoding, errors="replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _text(source: str, text: str) -> Document:
    return Document(source, text)


def _markdown(source: str, text: str) -> Document:
    """Front matter is left out; the first heading is the title, and left out of the body if it opens it."""
    front = _FRONT_MATTER.match(text)
    body = front.end() if front else 0
    fences = [found.span() for found in _FENCE.finditer(text, body)]
    for heading in _HEADING.finditer(text, body):
        if any(start <= heading.start() < end for start, end in fences):
            continue
        title = (heading.group(1) or heading.group(2) or "").rstrip(" \t#")
        opens = not text[body : heading.start()].strip() and bool(text[heading.end() :].strip())
        return Document(source, text, title.strip(), body=heading.end() if opens else body)
    return Document(source, text, body=body)


def _html(source: str, text: str) -> Document | None:
    page = html_text(text)
    return None if page is None else Document(source, page[1], page[0])


FILE_READERS: Final[dict[str, Callable[[str, str], Document | None]]] = {
    ".txt": _text,
    ".text": _text,
    ".md": _markdown,
    ".markdown": _markdown,
    ".html": _html,
    ".htm": _html,
}
"""By suffix in lower case: source and decoded text to a document, or None if it cannot be read."""
