import logging
from pathlib import Path

import pytest
from sufficit.tools.web.build import build_web
from website import Names, Site, article, settings

TEXT = article("The Rhine rises in the Alps, says the page that is fetched here.")


def spoil(file: Path, how: str) -> None:
    """Make the cache unusable, as a disk or another process may."""
    if how == "damaged":
        file.write_bytes(b"no database at all " * 500)
    elif how == "a folder":
        file.unlink()
        file.mkdir()


@pytest.mark.parametrize("how", ["damaged", "a folder"])
async def test_a_cache_that_cannot_be_used_costs_one_line_and_no_page(
    site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture, how: str
):
    site.serve("/a", TEXT, cache_control="max-age=600")
    chosen = settings(site, fetch={"cache_bytes": 10_000_000})
    tools = build_web(chosen, tmp_path, Names())
    for _ in range(2):
        await tools.fetcher.fetch(site.url("/a"))
    assert site.paths() == ["/a"]
    [file] = tmp_path.glob("*.db")
    spoil(file, how)
    for _ in range(2):
        assert (await tools.fetcher.fetch(site.url("/a"))).content == TEXT.encode()
    assert site.paths() == ["/a"] * 3
    told = [record for record in caplog.records if "HTTP cache fails" in record.getMessage()]
    assert len(told) == len(caplog.records) == 1
    assert told[0].levelno == logging.WARNING
    assert told[0].exc_info is None
    assert "web.fetch.cache_bytes" in told[0].getMessage()
