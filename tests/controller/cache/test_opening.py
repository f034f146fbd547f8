"""Which fetch a node gets: seen in what one fetch brings."""

from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace

import pytest
from staged import FixedSufficiency
from sufficit.controller.cache.fetching import Need
from sufficit.controller.cache.node import CacheNode
from sufficit.controller.cache.opening import open_kept_for, open_node
from sufficit.controller.loading import Tools
from sufficit.controller.settings import Settings
from sufficit.policies.rinse.artifact import EMBEDDED, load_artifact
from sufficit.tools.errors import SettingsError
from sufficit.tools.types import Hit
from sufficit.tools.web.extract import PageReader
from sufficit.tools.web.settings import ExtractSettings
from sufficit.tools.web.toolbox import WebTools
from website import Site, article, settings, web

NEED = Need("Where does the Rhine rise?", "a")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as served:
        served.serve("/rhine", article("The Rhine rises in the Alps and flows to the North Sea. " * 4))
        served.serve("/hook", '{"passages": [{"text": "It rises in the Alps."}]}')
        yield served


@pytest.fixture
def on_the_web(site) -> Iterator[WebTools]:
    class Engine:
        async def search(self, query: str, k: int) -> list[Hit]:
            return [Hit(site.url("/rhine"))]

    reader = PageReader(ExtractSettings())
    yield WebTools(Engine(), web(settings(site)).fetcher, reader)
    reader.close()


def opened(tmp_path, site: Site, found: WebTools | None, **webhook: str) -> CacheNode:
    cache = {"folder": tmp_path / "cache", "webhook": webhook}
    chosen = Settings.model_validate({"cache": cache, "web": settings(site)})
    readers = SimpleNamespace(artifact=load_artifact(EMBEDDED), whole_texts=None, wordpieces=None)
    judge = FixedSufficiency(lambda found: 1.0)
    return open_node(chosen, judge, Tools(retriever=None, generator=None, readers=readers, web=found))


async def test_the_webhook_is_asked_in_place_of_the_web(tmp_path, site, on_the_web):
    fetched = await opened(tmp_path, site, on_the_web, url=site.url("/hook")).fill(NEED)
    assert [page.url for page in fetched.pages] == ["webhook"]
    assert site.paths() == ["/hook"]


async def test_the_web_is_asked_where_there_is_no_webhook(tmp_path, site, on_the_web):
    fetched = await opened(tmp_path, site, on_the_web).fill(NEED)
    assert [(page.url, page.passages) for page in fetched.pages] == [(site.url("/rhine"), 1)]


async def test_without_either_a_node_only_looks_up(tmp_path, site):
    node = opened(tmp_path, site, None)
    assert (await node.lookup(NEED)).reason.endswith("no fetch is set up")
    with pytest.raises(SettingsError, match=r"cache\.webhook\.url or web\.search\.engine"):
        await node.fill(NEED)
    assert site.requests == []


def test_a_missing_key_is_said_when_the_node_is_opened(tmp_path, site):
    with pytest.raises(SettingsError, match="NO_SUCH"):
        opened(tmp_path, site, None, url=site.url("/hook"), key_variable="NO_SUCH")


def test_what_passages_were_kept_for_decides_unless_the_settings_leave_that_to_rinse():
    readers = SimpleNamespace(artifact=load_artifact(EMBEDDED), whole_texts=None, wordpieces=None)
    assert open_kept_for(Settings(), readers) is not None
    assert open_kept_for(Settings.model_validate({"cache": {"alike": None}}), readers) is None
