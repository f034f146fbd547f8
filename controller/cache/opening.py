"""From settings to a cache node over loaded tools."""

from ...policies.kept_for import KeptFor
from ...policies.types import Sufficiency
from ..loading import Readers, Tools
from ..settings import Settings
from .fetching import Fetch, WebFetch
from .node import CacheNode
from .webhook import Webhook


def open_node(settings: Settings, sufficiency: Sufficiency, tools: Tools) -> CacheNode:
    """The node that the settings describe: a miss asks the webhook if there is one, else the web if it is on.

    Raises SettingsError if the webhook's key is not in the environment.
    """
    fetch: Fetch | None = None
    if settings.cache.webhook.url:
        fetch = Webhook.of(settings.cache.webhook)
    elif tools.web is not None:
        fetch = WebFetch(tools.web, settings.web)
    thresholds, kept_for = tools.readers.artifact.thresholds, open_kept_for(settings, tools.readers)
    return CacheNode(settings.cache, sufficiency, fetch, thresholds, kept_for=kept_for)


def open_kept_for(settings: Settings, readers: Readers) -> KeptFor | None:
    """What decides by what passages were kept for, as `cache.alike` says; None leaves that to RINSE."""
    if settings.cache.alike is None:
        return None
    counts = readers.artifact.content.counts
    return KeptFor(readers.whole_texts, readers.wordpieces, counts, settings.cache.alike)
