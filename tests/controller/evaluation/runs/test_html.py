from html.parser import HTMLParser

from sufficit.controller.evaluation.grids import Grid
from sufficit.controller.evaluation.runs.html import page

HOSTILE = '<script>alert("x")</script>&'


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


def test_all_text_is_escaped_and_nothing_is_loaded():
    grid = Grid(HOSTILE, (HOSTILE, "n"), ((HOSTILE, "1"),))
    text = page(HOSTILE, [HOSTILE], [grid], {'a "plot"': b"png"})
    parsed = Elements(text)
    assert "script" not in parsed.tags
    # In title, heading, note, and the table's title, head and body.
    assert parsed.text.count(HOSTILE) == 6
    assert 'src="data:image/png;base64,cG5n"' in text
    assert "http" not in text
    assert 'alt="A &quot;plot&quot;"' in text
