"""From bytes to text: the charset a page is in, whatever it says it is in.

A byte order mark decides. Bytes beyond ASCII that are valid UTF-8 are UTF-8, because text in any other
charset hardly ever is. Then the header and the page's own declaration are believed if they decode the bytes,
and at last the charset is guessed from the bytes.
"""

import codecs
import re
from typing import Final

from charset_normalizer import from_bytes

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What browsers read under these labels: supersets of what the labels say.
_READ_AS: Final = {
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "iso-8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "big5": "big5hkscs",
    "tis-620": "cp874",
}
_DECLARED = re.compile(
    rb"""<(?:meta[^>]{0,200}?charset|\?xml[^>]{0,100}?encoding)\s*=\s*["']?\s*([\w.:-]{1,40})""", re.I
)
_GUESSED_FROM: Final = 50_000  # bytes


def decode(content: bytes, header: str | None) -> tuple[str, str]:
    """The text and the name of the charset it was in. Never fails: what no charset explains is replaced."""
    for mark, charset in _MARKS:
        if content.startswith(mark):
            return content.decode(charset, "replace"), charset.removesuffix("-sig")
    if not content.isascii():
        text = _decoded(content, "utf-8")
        if text is not None:
            return text, "utf-8"
    found = _DECLARED.search(content[:4096])
    declared = found[1].decode("ascii") if found else None
    for label in (header, declared):
        named = _charset(label)
        text = _decoded(content, named) if named else None
        if named and text is not None:
            return text, named
    guess = from_bytes(content[:_GUESSED_FROM]).best()
    guessed = guess.encoding if guess else "utf-8"
    return content.decode(guessed, "replace"), guessed


def _charset(label: str | None) -> str | None:
    """Python's name of a charset of text, None for what is none."""
    if not label:
        return None
    name = _READ_AS.get(label.strip().lower(), label)
    try:
        info = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    # Python calls base64 and the like codecs too; they are none of text.
    return info.name if getattr(info, "_is_text_encoding", True) else None


def _decoded(content: bytes, charset: str) -> str | None:
    """The text, None where the bytes are not of this charset. A character cut off at the end is left out."""
    try:
        return codecs.getincrementaldecoder(charset)("strict").decode(content, final=False)
    except (UnicodeError, LookupError):
        return None
