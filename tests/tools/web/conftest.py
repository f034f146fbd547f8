from collections.abc import AsyncIterator, Iterator

import pytest
from sufficit.tools.web.extract import PageReader
from sufficit.tools.web.settings import ExtractSettings
from website import Site


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as served:
        yield served


@pytest.fixture(scope="session")
def reader() -> Iterator[PageReader]:
    """One reading process for all tests that do not kill it."""
    pages = PageReader(ExtractSettings())
    yield pages
    pages.close()
