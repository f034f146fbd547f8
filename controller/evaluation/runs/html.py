"""The report as one HTML page that needs nothing beside it."""

import base64
from collections.abc import Mapping, Sequence
from html import escape

from ..grids import Grid

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "h1{font-size:1.6rem}h2{font-size:1.05rem;margin:2rem 0 .5rem}"
    "table{border-collapse:collapse;display:block;overflow-x:auto}"
    "th,td{padding:.25rem .7rem;border-bottom:1px solid #ddd;text-align:right;vertical-align:top}"
    "th:first-child,td:first-child{text-align:left}th{background:#f4f4f4}"
    "img{max-width:100%}p{color:#555}"
)


def page(title: str, notes: Sequence[str], grids: Sequence[Grid], images: Mapping[str, bytes]) -> str:
    """Title, notes, tables, then PNG images by what they show, embedded. All text is escaped."""
    parts = [
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        f"<style>{_STYLE}</style></head><body>\n<h1>{escape(title)}</h1>",
        *(f"<p>{escape(note)}</p>" for note in notes),
        *map(_table, grids),
        *(_image(name, image) for name, image in images.items()),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def _table(grid: Grid) -> str:
    head = _line("th", grid.header)
    body = "\n".join(_line("td", row) for row in grid.rows)
    return f"<h2>{escape(grid.title)}</h2>\n<table><thead>{head}</thead>\n<tbody>{body}</tbody></table>"


def _line(tag: str, cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _image(name: str, image: bytes) -> str:
    data = base64.b64encode(image).decode()
    shown = escape(name[:1].upper() + name[1:])
    return f'<h2>{shown}</h2>\n<img alt="{shown}" src="data:image/png;base64,{data}">'
