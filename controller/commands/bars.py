"""Progress bars over records: how many of how many, how fast, how long still."""

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from ..console import err

_SPEED_SECONDS = 600.0
"""How far back the rate looks: a record may take longer than rich's half a minute."""


class RecordBars(Progress):
    """Bars on stderr, one a name; what an earlier run did counts as done, not as fast."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate())
        super().__init__(*columns, TimeRemainingColumn(), console=err, speed_estimate_period=_SPEED_SECONDS)
        self._bars: dict[str, TaskID] = {}

    def show(self, what: str, done: int, total: int) -> None:
        """Set the bar of `what`."""
        if what in self._bars:
            self.update(self._bars[what], completed=done)
        else:
            self._bars[what] = self.add_task(what, total=total, completed=done)

    def bar(self, what: str) -> TaskID:
        """The bar of `what`, once it was shown."""
        return self._bars[what]


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.2f}/s" if task.speed else "")
