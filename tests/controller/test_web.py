"""The loop's web over a loopback site: budgets, failed pages, what is kept, and what is shown of it all."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from scripted import ScriptedGenerator
from staged import FixedSearch, FixedSufficiency, controller, passages
from sufficit.controller import loading
from sufficit.controller.budget import BudgetSettings, Ledger
from sufficit.controller.replay import replay
from sufficit.controller.settings import Settings, load
from sufficit.controller.trace import to_json, without_times
from sufficit.controller.web import DAY, Keeper, WebEvidence
from sufficit.tools.errors import IndexLocked, SettingsError, ToolError
from sufficit.tools.retrievers.embedded import EmbeddedIndex
from sufficit.tools.retrievers.expiry import Unexpired
from sufficit.tools.types import Hit, Passage
from sufficit.tools.web.extract import PageReader
from sufficit.tools.web.settings import ExtractSettings
from sufficit.tools.web.toolbox import WebTools
from website import Request, Site, article, settings, start, web

RHINE = "The Rhine rises in the Alps and flows to the North Sea. " * 4
FILLER = "Bread is made of flour, water, salt and time, and of little else. " * 40


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as served:
        served.serve("/rhine", article(RHINE, title="The Rhine"))
        served.serve("/bread", article(*[FILLER] * 3, title="Bread"))
        yield served


@pytest.fixture(scope="module")
def reader() -> Iterator[PageReader]:
    pages = PageReader(ExtractSettings())
    yield pages
    pages.close()


class Found:
    """A search that finds what the test says, and notes how much it was asked for."""

    def __init__(self, *urls: str) -> None:
        self.urls = urls
        self.asked: list[tuple[str, int]] = []

    async def search(self, query: str, k: int) -> list[Hit]:
        self.asked.append((query, k))
        return [Hit(url) for url in self.urls][:k]


def evidence(
    site: Site, reader: PageReader, search: Found, fetches: int = 4, keeper: Keeper | None = None, **changes
):
    chosen = settings(site, **changes)
    tools = WebTools(search, web(chosen).fetcher, reader)
    ledger = Ledger(BudgetSettings(web_fetches=fetches))
    return WebEvidence(tools, chosen, ledger, keeper), ledger


async def test_a_visit_brings_the_best_passages_of_its_pages(site: Site, reader: PageReader):
    gatherer, ledger = evidence(
        site, reader, Found(site.url("/bread"), site.url("/rhine")), passages_per_visit=3
    )
    visit = await gatherer.gather("Where does the Rhine rise?")
    assert len(visit.passages) == 3
    best = visit.passages[0]
    assert (best.title, best.url, best.source) == ("The Rhine", site.url("/rhine"), site.url("/rhine"))
    assert "Alps" in best.text
    scores = [p.score for p in visit.passages]
    assert scores == sorted(scores, reverse=True)
    assert [(p.url, p.fault) for p in visit.pages] == [(site.url("/bread"), ""), (site.url("/rhine"), "")]
    assert visit.pages[0].passages > 3
    assert ledger.spent()["web_fetches"] == 2


async def test_every_page_is_paid_for_and_none_is_fetched_twice(site: Site, reader: PageReader):
    site.serve("/empty", "<html></html>")
    site.serve("/image", b"\x89PNG", content_type="image/png")
    paths = ("/gone", "/empty", "/image", "/rhine", "/bread")
    search = Found(*(site.url(path) for path in paths), "http://10.0.0.1/")
    gatherer, ledger = evidence(site, reader, search, fetches=5)
    first, second, third, fourth = [await gatherer.gather(f"rhine {n}") for n in range(4)]
    assert first.passages == ()
    assert [page.fault for page in first.pages] == [
        f"FetchFailed: {site.url('/gone')} answers 404",
        "the page has no readable text",
    ]
    assert [page.url for page in second.pages] == [site.url("/image"), site.url("/rhine")]
    assert second.pages[0].fault.startswith("FetchRefused: the body is of type 'image/png'")
    assert second.passages
    # One fetch was left for the third visit, none for the fourth.
    assert [page.url for page in third.pages] == [site.url("/bread")]
    assert fourth.pages == ()
    assert ledger.left("web_fetches") == 0
    assert len(site.paths()) == len(set(site.paths())) == 5
    assert [k for _, k in search.asked] == [2, 4, 6, 7]


async def test_a_page_that_breaks_the_fetcher_is_one_failed_page(site: Site, reader: PageReader):
    gatherer, _ = evidence(site, reader, Found(site.url("/bread"), site.url("/rhine")))
    fetch = gatherer.tools.fetcher.fetch

    class Brittle:
        async def fetch(self, url: str):
            if url.endswith("/bread"):
                raise RuntimeError("no bread")
            return await fetch(url)

    gatherer.tools = WebTools(gatherer.tools.search, Brittle(), reader)
    visit = await gatherer.gather("rhine")
    assert [page.fault for page in visit.pages] == ["RuntimeError: no bread", ""]
    assert visit.passages


async def test_a_failing_search_raises_and_costs_no_fetch(site: Site, reader: PageReader):
    class Broken:
        async def search(self, query: str, k: int) -> list[Hit]:
            raise ToolError("engine gone")

    gatherer, ledger = evidence(site, reader, Broken())
    with pytest.raises(ToolError, match="engine gone"):
        await gatherer.gather("q")
    assert ledger.spent()["web_fetches"] == 0


async def test_pages_are_fetched_side_by_side_but_not_all_at_once(site: Site, reader: PageReader):
    now = most = 0

    async def slow(request: Request, writer: asyncio.StreamWriter) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.1)
        now -= 1
        start(writer, **{"content-type": "text/html"})
        writer.write(article(RHINE).encode())

    for n in range(9):
        site.routes[f"/{n}"] = slow
    found = Found(*(site.url(f"/{n}") for n in range(9)))
    gatherer, _ = evidence(site, reader, found, 9, pages_per_visit=9, fetch={"at_once": 3})
    assert len((await gatherer.gather("q")).pages) == 9
    assert most == 3


# --- in the loop --------------------------------------------------------------------------------------------


def knowing(pool) -> float:
    return 1.0 if any("Alps" in p.text for p in pool) else -1.0


def answering(prompt) -> str:
    return "the Alps" if "rises in the Alps" in prompt.text else "Berlin"


async def run(site: Site, reader: PageReader, *paths: str):
    tools = WebTools(Found(*(site.url(path) for path in paths)), web(settings(site)).fetcher, reader)
    return await controller(
        FixedSearch(lambda query: passages("Bread needs salt.")),
        FixedSufficiency(knowing),
        ScriptedGenerator(answer=answering),
        load(["igp.threshold=-inf"], environment={}).settings,
        lambda ledger: WebEvidence(tools, settings(site), ledger),
    ).answer("Where does the Rhine rise?")


async def test_the_web_answers_what_the_index_does_not(site: Site, reader: PageReader):
    answer, events = await run(site, reader, "/gone", "/rhine")
    assert (answer.answer, answer.grounded) == ("the Alps", True)
    assert [citation.url for citation in answer.citations] == [site.url("/rhine")]
    visit = next(e for e in events if e.kind == "retrieved" and e.origin == "web")
    assert [(page.url, page.passages > 0) for page in visit.pages] == [
        (site.url("/gone"), False),
        (site.url("/rhine"), True),
    ]
    assert visit.cost == {"web_fetches": 2}
    assert answer.budget.left["web_fetches"] == 2
    assert (await replay(events)).same
    _, second = await run(site, reader, "/gone", "/rhine")
    assert [without_times(to_json(e)) for e in second] == [without_times(to_json(e)) for e in events]


async def test_pages_that_fail_are_steps_without_evidence(site: Site, reader: PageReader):
    answer, events = await run(site, reader, "/gone", "/away")
    assert answer.action == "abstain"
    visit = next(e for e in events if e.kind == "retrieved" and e.origin == "web")
    assert visit.passages == ()
    assert [page.fault.endswith("answers 404") for page in visit.pages] == [True, True]
    assert not any(e.kind == "fault" for e in events)
    assert (await replay(events)).same


def test_the_web_needs_its_extra_only_where_it_is_on(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sufficit.tools.web.build", None)
    with pytest.raises(SettingsError, match=r"pip install 'sufficit\[web\]'"):
        loading._load_web(settings())


def test_the_settings_turn_it_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert not Settings().web.on
    monkeypatch.setenv("SUFFICIT_CACHE_DIR", str(tmp_path))
    chosen = load(
        [
            "web.search.engine=searxng",
            "web.search.url=http://127.0.0.1:8888",
            'web.reach.networks=["10.0.0.0/8"]',
        ],
        environment={},
    ).settings
    assert isinstance(loading._load_web(chosen.web), WebTools)
    assert Settings.model_validate(chosen.model_dump(mode="json")) == chosen


# --- kept in the index --------------------------------------------------------------------------------------


async def test_what_was_fetched_is_found_by_the_next_asker_until_it_expires(
    site: Site, reader: PageReader, tmp_path: Path
):
    now = 1_000_000.0
    EmbeddedIndex.build(tmp_path, [Passage("0", "Bread needs salt.", source="bread.md")])
    index = EmbeddedIndex.open(tmp_path)
    keeper = Keeper(index, 2 * DAY, lambda: now)
    gatherer, _ = evidence(site, reader, Found(site.url("/rhine")), keeper=keeper)
    await gatherer.gather("rhine")
    retriever = Unexpired(EmbeddedIndex.open(tmp_path), lambda: now)
    found = await retriever.search("Where does the Rhine rise?", 3)
    assert [p.source for p in found] == [f"web:{site.url('/rhine')}"]
    assert found[0].metadata["fetched"] == 1_000_000
    assert found[0].metadata["expires"] == 1_000_000 + 2 * 86_400
    now += 2 * DAY
    assert await retriever.search("Where does the Rhine rise?", 3) == []
    assert [p.source for p in await retriever.search("salt", 3)] == ["bread.md"]
    # Fetched again, it takes the place of what was kept of it.
    before = await index.count()
    again, _ = evidence(site, reader, Found(site.url("/rhine")), keeper=keeper)
    await again.gather("rhine")
    assert await index.count() == before
    assert len(await retriever.search("rhine", 3)) == 1


async def test_expired_passages_do_not_take_the_places_of_others():
    old = [Passage(str(n), "x", source="web:old", metadata={"expires": 5}) for n in range(3)]
    fresh = [Passage(str(n), "x", source="web:new", metadata={"expires": 50}) for n in range(3)]
    lasting = [Passage("9", "x", source="own")]
    retriever = Unexpired(FixedSearch(lambda query: [*old, *fresh, *lasting]), lambda: 10.0)
    assert await retriever.search("q", 3) == fresh
    assert await retriever.search("q", 4) == [*fresh, *lasting]


async def test_an_index_that_is_locked_costs_the_run_nothing(site: Site, reader: PageReader):
    class Locked:
        def replace(self, passages: object) -> None:
            raise IndexLocked("someone writes")

    gatherer, _ = evidence(site, reader, Found(site.url("/rhine")), keeper=Keeper(Locked(), DAY))
    visit = await gatherer.gather("rhine")
    assert visit.passages
    assert visit.pages[0].fault == "not kept in the index: IndexLocked: someone writes"


async def test_keeping_a_page_leaves_a_document_of_the_same_address_alone(
    site: Site, reader: PageReader, tmp_path: Path
):
    own = Passage("0", "Our own note on gaskets.", source=site.url("/rhine"))
    EmbeddedIndex.build(tmp_path, [own])
    keeper = Keeper(EmbeddedIndex.open(tmp_path), DAY)
    gatherer, _ = evidence(site, reader, Found(site.url("/rhine")), keeper=keeper)
    await gatherer.gather("rhine")
    index = EmbeddedIndex.open(tmp_path)
    assert [p.source for p in await index.search("gaskets", 3)] == [site.url("/rhine")]
    assert await index.count() > 1


async def test_many_expired_passages_hide_no_fresh_one():
    old = [Passage(str(n), f"pump {n}", source="web:p", metadata={"expires": 1}) for n in range(40)]
    retriever = Unexpired(FixedSearch(lambda query: [*old, Passage("own", "pump")]), lambda: 10.0)
    assert [p.id for p in await retriever.search("pump", 8)] == ["own"]


async def test_a_page_is_fetched_once_whatever_the_fragment(site: Site, reader: PageReader):
    found = Found(site.url("/rhine#a"), site.url("/rhine#b"), site.url("/rhine"))
    gatherer, ledger = evidence(site, reader, found)
    visit = await gatherer.gather("rhine")
    assert len(visit.pages) == 1
    assert ledger.spent()["web_fetches"] == 1
