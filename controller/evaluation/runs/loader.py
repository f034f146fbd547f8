"""From a configuration to the agent that it describes."""

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import replace

from ...build import assembled, names
from ...held import HeldTools
from ...loading import Tools, load_tools
from ..remembering import RememberingGenerator
from .agents import Agent, ControllerAgent, LocalEngine, UntimedAgent
from .configurations import Configuration


class Loader:
    """Makes the agents of one configuration after another; what several name is loaded once."""

    def __init__(self) -> None:
        self._held = HeldTools()

    def __call__(self, configuration: Configuration) -> ControllerAgent:
        """Load and assemble. Raises UsageError where something is missing or does not fit."""
        return _agent(configuration, load_tools(configuration.settings, self._held))


class SharingLoader:
    """A Loader whose agents make no call of the generator that one of them has made before.

    Tokens and calls are counted as if each had been made; rows tell no time. A deadline would be harder on
    the configuration that comes first and pays for all: give every one of them NO_DEADLINE.
    """

    def __init__(self) -> None:
        self._held = HeldTools()
        # By generator, and apart from it, so that one can be let go before the next is loaded.
        self._kept: dict[str, dict[Hashable, bytes]] = defaultdict(dict)

    def __call__(self, configuration: Configuration) -> Agent:
        """As a Loader's."""
        tools = load_tools(configuration.settings, self._held)
        kept = self._kept[configuration.settings.generator.model_dump_json(exclude={"answer_tokens"})]
        shared = replace(tools, generator=RememberingGenerator(tools.generator, kept))
        return UntimedAgent(_agent(configuration, shared))


def _agent(configuration: Configuration, tools: Tools) -> ControllerAgent:
    controller = assembled(configuration.settings, tools)
    models = names(configuration.settings, tools)
    return ControllerAgent(controller, configuration.name, configuration.hashes, models)


def local_engine(workers: int = 1, *, share_calls: bool = False) -> LocalEngine:
    """`workers` questions at once in this process, over models as each configuration names them.

    With `share_calls` what one configuration asked of the generator is not asked again for another; see
    SharingLoader on deadlines.
    """
    return LocalEngine(workers, SharingLoader() if share_calls else Loader())
