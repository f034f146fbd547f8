"""From a configuration to the agent that it describes."""

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

    Tokens and calls are counted as if each had been made; nothing is timed.
    """

    def __init__(self) -> None:
        self._held = HeldTools()
        self._shared: RememberingGenerator | None = None

    def __call__(self, configuration: Configuration) -> Agent:
        """As a Loader's."""
        tools = load_tools(configuration.settings, self._held)
        if self._shared is None or self._shared.generator is not tools.generator:
            self._shared = RememberingGenerator(tools.generator)
        return UntimedAgent(_agent(configuration, replace(tools, generator=self._shared)))


def _agent(configuration: Configuration, tools: Tools) -> ControllerAgent:
    controller = assembled(configuration.settings, tools)
    models = names(configuration.settings, tools)
    return ControllerAgent(controller, configuration.name, configuration.hashes, models)


def local_engine(workers: int = 1, *, share_calls: bool = False) -> LocalEngine:
    """`workers` questions at once in this process, over models as each configuration names them.

    With `share_calls` what one configuration asked of the generator is not asked again for another.
    """
    return LocalEngine(workers, SharingLoader() if share_calls else Loader())
