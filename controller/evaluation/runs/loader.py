"""From a configuration to the agent that it describes."""

from ...build import assembled, names
from ...held import HeldTools
from ...loading import load_tools
from .agents import ControllerAgent, LocalEngine
from .configurations import Configuration


class Loader:
    """Makes the agents of one configuration after another; what several name is loaded once."""

    def __init__(self) -> None:
        self._held = HeldTools()

    def __call__(self, configuration: Configuration) -> ControllerAgent:
        """Load and assemble. Raises UsageError where something is missing or does not fit."""
        tools = load_tools(configuration.settings, self._held)
        controller = assembled(configuration.settings, tools)
        models = names(configuration.settings, tools)
        return ControllerAgent(controller, configuration.name, configuration.hashes, models)


def local_engine(workers: int = 1) -> LocalEngine:
    """`workers` questions at once in this process, over models as each configuration names them."""
    return LocalEngine(workers, Loader())
