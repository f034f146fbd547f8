"""From settings to a cache node over loaded tools."""

from ...policies.types import Sufficiency
from ..loading import Tools
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
    return CacheNode(settings.cache, sufficiency, fetch, tools.readers.artifact.thresholds)
