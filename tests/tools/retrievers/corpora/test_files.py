from pathlib import Path

import pytest
from sufficit.tools.retrievers.corpora.files import read_file
from sufficit.tools.retrievers.corpora.problems import Problems


@pytest.mark.parametrize(
    ("text", "title", "body"),
    [
        ("# One\n\nText\n\n## Two\n", "One", "Text\n\n## Two"),
        ("Intro\n\n## Later\n\nText", "Later", "Intro\n\n## Later\n\nText"),
        ("Set\n===\nText", "Set", "Text"),
        ("```\n# comment\n```\n# Real\nText", "Real", "```\n# comment\n```\n# Real\nText"),
        ("---\nnever closed\n# H\n", "H", "---\nnever closed\n# H"),
        ("# Only a heading", "Only a heading", "# Only a heading"),
        ("no heading", "", "no heading"),
    ],
)
def test_markdown_titles(tmp_path: Path, text: str, title: str, body: str):
    path = tmp_path / "a.md"
    path.write_text(text)
    document = read_file(path, "a.md", Problems())
    assert document is not None
    [passage] = document.passages()
    assert (passage.title, passage.text) == (title, body)
