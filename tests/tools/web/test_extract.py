"""Reading pages in a process of its own; also pages that are made to break their reader."""

import asyncio
import contextlib
import os
import signal
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sufficit.tools.errors import ExtractFailed
from sufficit.tools.types import Page
from sufficit.tools.web import reading as reading_module
from sufficit.tools.web.extract import PageReader, passages
from sufficit.tools.web.reading import Reading, Unreadable
from sufficit.tools.web.settings import ExtractSettings
from website import article

URL = "https://site.example/page"
LONG = [f"Paragraph {n} tells that the Rhine rises in the Alps and flows to the sea. " * 6 for n in range(12)]


def html(content: str | bytes, **changes: object) -> Page:
    return Page(URL, "html", content.encode() if isinstance(content, str) else content, **changes)


async def test_an_article_becomes_passages_with_offsets(reader: PageReader):
    head = (
        '<link rel="canonical" href="https://site.example/canonical#x">'
        '<meta property="article:published_time" content="2024-05-06">'
        '<meta property="og:title" content="The Rhine">'
    )
    page = article(*LONG, title="The Rhine", head=head)
    page = page.replace("<html>", '<html lang="de-AT">').replace("<body>", "<body><nav>menu menu</nav>")
    found = await reader.extract(html(page, charset="utf-8"))
    assert len(found) > 3
    assert all(80 <= len(p.text.split()) <= 120 for p in found)
    first = found[0]
    assert first.title == "The Rhine"
    assert first.metadata["language"] == "de-at"
    assert first.metadata["date"] == "2024-05-06"
    assert {p.source for p in found} == {p.url for p in found} == {"https://site.example/canonical"}
    starts = [p.metadata["start"] for p in found]
    assert starts == sorted(starts)
    assert all(p.metadata["end"] - p.metadata["start"] == len(p.text) for p in found)
    assert "truncated" not in first.metadata
    assert "menu" not in " ".join(p.text for p in found)


@pytest.mark.parametrize(
    "canonical", ["https://bank.example/", "http://site.example/page", "//x.example", "::", ""]
)
async def test_a_page_cannot_pass_for_another_site(reader: PageReader, canonical: str):
    head = f'<link rel="canonical" href="{canonical}"><meta property="og:url" content="{canonical}">'
    found = await reader.extract(html(article(*LONG, head=head)))
    assert {p.url for p in found} == {p.source for p in found} == {URL}


async def test_plain_text_and_empty_pages(reader: PageReader):
    found = await reader.extract(Page(URL, "text", "Größe und\n\nGewicht".encode()))
    assert [p.text for p in found] == ["Größe und\n\nGewicht"]
    for nothing in (b"", b"<html></html>", b"   ", b"<script>var x</script>", b"\x01\x02"):
        assert await reader.extract(html(nothing)) == []


async def test_what_is_cut_is_flagged(reader: PageReader):
    for page in (html(article(*LONG), truncated=True), html(article(*LONG, *["word " * 100_000] * 2))):
        found = await reader.extract(page)
        assert found
        assert all(p.metadata["truncated"] == 1 for p in found)


@pytest.mark.parametrize("encoding", ["gbk", "shift_jis", "windows-1251"])
async def test_other_charsets(reader: PageReader, encoding: str):
    sentence = {"gbk": "莱茵河发源于阿尔卑斯山。", "shift_jis": "ライン川はアルプスに発する。"}.get(
        encoding, "Рейн течёт с Альп. "
    )
    found = await reader.extract(html(article(sentence * 30).encode(encoding), charset=encoding))
    assert sentence.strip() in found[0].text


def pdf(text: str) -> bytes:
    """The smallest file that shows one line."""
    shown = f"BT /F 12 Tf 10 50 Td ({text}) Tj ET"
    objects = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        f"<</Length {len(shown)}>>stream\n{shown}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )
    file, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(file))
        file += f"{number} 0 obj{content}endobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer<</Root 1 0 R/Size 6>>\nstartxref\n{len(file)}\n%%EOF\n"
    return (file + f"xref\n0 6\n0000000000 65535 f \n{table}" + end).encode()


PDF = pdf("The Rhine rises high.")


async def test_pdf_is_read_where_pypdf_is(reader: PageReader, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("pypdf")
    found = await reader.extract(Page(URL, "pdf", PDF))
    assert [p.text for p in found] == ["The Rhine rises high."]
    with pytest.raises(ExtractFailed, match="damaged"):
        await reader.extract(Page(URL, "pdf", b"%PDF-1.4 nothing"))
    monkeypatch.setitem(__import__("sys").modules, "pypdf", None)
    with pytest.raises(Unreadable, match=r"pip install 'sufficit\[pdf\]'"):
        reading_module.read("pdf", PDF, None, URL, 1000)


# --- pages that are made to break their reader --------------------------------------------------------------

HOSTILE = {
    "deep": "<div>" * 100_000 + "text",
    "deep inline": "<b><i>" * 50_000 + "text",
    "deep tables": "<table><tr><td>" * 30_000 + "text",
    "links": '<a href="x">link</a> ' * 24_000,
    "cells": "<table>" + "<tr><td>x</td></tr>" * 25_000,
    "breaks": "text<br>" * 60_000,
    "attribute": '<p title="' + "x" * 450_000 + '">text</p>',
    "attributes": "<p " + " ".join(f"a{n}=1" for n in range(50_000)) + ">text</p>",
    "span": '<table><tr><td colspan="2000000000" rowspan="2000000000">x</td></tr></table>' * 50,
    "entities": "&amp;" * 90_000,
    "unclosed": "<p" * 200_000,
    "comments": "<!--" * 100_000,
    "doctype": '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + "<p>&b;</p>" * 1000,
    "ld+json": '<script type="application/ld+json">' + "[" * 200_000 + "</script><p>text</p>",
    "dates": "<p>2024-01-01 1/2/2024 May 3, 2024</p>" * 12_000,
    "nulls": "<p>te\x00xt</p>" * 30_000,
}


@pytest.fixture(scope="module")
def guarded():
    """A reader with a short deadline, so that these tests are short too."""
    pages = PageReader(ExtractSettings(seconds=1.5))
    yield pages
    # It still reads, whatever was done to it; how fast is not the question.
    pages._settings = ExtractSettings(seconds=60)
    assert asyncio.run(pages.extract(html(article(*LONG))))
    pages.close()


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_pages_end_in_bounded_time(guarded: PageReader, name: str):
    began = time.monotonic()
    with contextlib.suppress(ExtractFailed):
        found = await guarded.extract(html(HOSTILE[name]))
        assert all(len(p.title) <= 300 for p in found)
    assert time.monotonic() - began < 10


async def test_a_late_reader_is_killed_and_replaced():
    pages = PageReader(ExtractSettings(seconds=30))
    await pages.extract(html(article(*LONG)))
    victim = pages._processes[0]._process
    os.kill(victim.pid, signal.SIGSTOP)
    pages._settings = ExtractSettings(seconds=0.3)
    with pytest.raises(ExtractFailed, match=r"within 0\.3 s"):
        await pages.extract(html(article(*LONG)))
    assert victim.poll() is not None
    pages._settings = ExtractSettings(seconds=30)
    assert await pages.extract(html(article(*LONG)))
    # One that died on its own is replaced too, and so is one that read its share.
    os.kill(pages._processes[0]._process.pid, signal.SIGKILL)
    pages._processes[0]._process.wait()
    assert await pages.extract(html(article(*LONG)))
    pages._settings = ExtractSettings(seconds=30, pages_per_process=1)
    before = pages._processes[0]._process.pid
    assert await pages.extract(html(article(*LONG)))
    assert [p._process.pid for p in pages._processes] != [before]
    last = pages._processes[0]._process
    pages.close()
    assert last.poll() is not None


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
async def test_a_reader_is_bound_in_memory_and_holds_no_secrets(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SEARCH_KEY", "secret")
    pages = PageReader(ExtractSettings(seconds=60))
    assert await pages.extract(html(article(*LONG)))
    about = Path(f"/proc/{pages._processes[0]._process.pid}")
    limits, environment = (about / "limits").read_text(), (about / "environ").read_bytes()
    pages.close()
    assert b"secret" not in environment
    assert next(line.split()[3] for line in limits.splitlines() if "address space" in line) == "2000000000"


async def test_pages_are_read_side_by_side_by_several_processes():
    pages = PageReader(ExtractSettings(processes=2))
    try:
        found = await asyncio.gather(*(pages.extract(html(article(*LONG))) for _ in range(6)))
        assert all(found)
        assert len(pages._processes) == 2
    finally:
        pages.close()


async def test_readers_do_not_outlive_their_owner():
    pages = PageReader(ExtractSettings())
    await pages.extract(html(article(*LONG)))
    process = pages._processes[0]._process
    del pages
    assert process.wait(10) is not None
    assert not Path(f"/proc/{process.pid}").exists()


texts = st.text(max_size=200)


@given(text=texts, title=texts, canonical=texts, date=st.text(max_size=10))
def test_whatever_a_reading_holds_it_becomes_passages_of_the_page(
    text: str, title: str, canonical: str, date: str
):
    reading = Reading(
        text=text, title=title, date=date, language="", canonical=canonical, charset="", truncated=False
    )
    for passage in passages(html(b""), reading):
        assert passage.text.strip()
        assert passage.source.startswith("https://site.example")
        assert "\n" not in passage.title
