"""The readable text of an HTML file of one's own.

Local documents are taken whole: scripts, styles and navigation go, everything else stays. Finding the article
in a page of the open web is another matter, and not done here.
"""

import re

from selectolax.lexbor import LexborHTMLParser

_DROPPED = ["script", "style", "template", "noscript", "nav", "svg", "iframe", "head"]
_LINES = (
    "address,article,aside,br,caption,dd,details,div,dt,figcaption,footer,form,header,hr,li,main,summary,tr"
)
_PARAGRAPHS = "blockquote,dl,figure,h1,h2,h3,h4,h5,h6,ol,p,pre,section,table,ul"
_CELLS = "td,th"
# Marks for breaks, put into the tree and found again in its text; control characters stand in no HTML text.
_LINE, _PARAGRAPH = "\x01", "\x02"
_BREAK = re.compile(rf"[\s{_LINE}{_PARAGRAPH}]*[{_LINE}{_PARAGRAPH}][\s{_LINE}{_PARAGRAPH}]*")

# An HTML parser looks up the whole stack at many tags: time grows with the square of the nesting.
_DEEPEST = 20_000
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_NEVER_OPEN = re.compile(
    "area|base|br|col|dd|dt|embed|hr|img|input|li|link|meta|option|p|source|td|th|tr|track|wbr"
)


def html_text(html: str) -> tuple[str, str] | None:
    """Title and text of a page; either may be "". Blocks are lines, paragraphs are parted by an empty line.

    None if elements are nested too deeply to be read in bounded time.
    """
    if _depth(html) > _DEEPEST:
        return None
    tree = LexborHTMLParser(html)
    title_node = tree.css_first("title") or tree.css_first("h1")
    title = " ".join(title_node.text().split()) if title_node is not None else ""
    tree.strip_tags(_DROPPED)
    body = tree.css_first("main") or tree.body
    if body is None:
        return title, ""
    for selector, mark in ((_LINES, _LINE), (_PARAGRAPHS, _PARAGRAPH), (_CELLS, " ")):
        for node in body.css(selector):
            node.insert_before(mark)
            node.insert_after(mark)
    return title, _BREAK.sub(_newlines, _collapse(body.text())).strip()


def _collapse(text: str) -> str:
    """White space as a browser shows it: one space for each run."""
    return re.sub(r"[^\S\x01\x02]+", " ", text)


def _newlines(found: re.Match[str]) -> str:
    return "\n\n" if _PARAGRAPH in found.group() else "\n"


def _depth(html: str) -> int:
    """Upper bound of how deeply elements are nested."""
    deepest = depth = 0
    for closing, tag in _TAG.findall(html):
        if not _NEVER_OPEN.fullmatch(tag.lower()):
            depth = max(0, depth - 1) if closing else depth + 1
            deepest = max(deepest, depth)
    return deepest
