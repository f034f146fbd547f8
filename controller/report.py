"""The readable report of a run, printed stage by stage as it happens."""

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.status import Status
from rich.table import Table
from rich.text import Text

from ..policies.types import PruneReport, Verdict
from ..tools.types import Passage, PassageKey
from .answer import Answer, Citation
from .trace import (
    Arbitrated,
    Decided,
    Event,
    Fault,
    Finished,
    Opened,
    Pruned,
    Retrieved,
    Scored,
    Started,
    Stopped,
    Wrote,
)

NEXT = {
    "started": "retrieving, and answering from memory meanwhile",
    "retrieved": "scoring sufficiency (RINSE)",
    "scored": "deciding",
    "decided": "reading the evidence",
    "opened": "measuring information gain (IGP)",
    "pruned": "writing the answer from the evidence",
    "wrote": "comparing both answers (TrustMargin)",
}


class Report:
    """A listener that prints each event; `show` is the console, `status` a spinner to keep current."""

    def __init__(self, console: Console, status: Status | None = None) -> None:
        self._console = console
        self._status = status
        self._titles: dict[PassageKey, str] = {}

    def __call__(self, event: Event) -> None:
        """Print what there is to say of an event, and what comes next."""
        if isinstance(event, Retrieved):
            self._titles.update({passage.key: _title(passage) for passage in event.passages})
        for renderable in self._render(event):
            self._console.print(renderable)
        if self._status is not None:
            self._status.update(NEXT.get(event.kind, "finishing"))

    def _render(self, event: Event) -> list[RenderableType]:
        rows: list[RenderableType] = []
        match event:
            case Started():
                rows = [Text.assemble(("Question  ", "bold"), plain(event.question))]
            case Retrieved():
                stage = "retrieve" if event.origin == "index" else "web"
                found, new = len(event.passages), len(event.new)
                rows = [_line(stage, f"{plain(event.query)!r}: {found} found, {new} new")]
                rows += [
                    _line("", f"{plain(p.url)}: {plain(p.fault)}", "red") for p in event.pages if p.fault
                ]
            case Scored():
                readers = ", ".join(f"{r.reader} {r.standardised:+.2f}" for r in event.report.readers)
                rows = [_line("RINSE", f"{_number(event.report.score)} ({readers or 'no evidence'})")]
            case Decided():
                rows = [_line("decide", f"{event.decision.action}. {event.decision.reason}")]
            case Opened():
                rows = [_line("closed-book", f"{plain(event.direct.text)!r}, NU(q) {event.baseline:.3f}")]
            case Pruned():
                admitted, probed = len(event.report.admitted), len(event.report.gains)
                rows = [
                    _line("IGP", f"{admitted} of {probed} admitted{_control(event.report)}"),
                    self._gains(event.report),
                ]
            case Wrote():
                rows = [_line("with evidence", f"{plain(event.rag.text)!r}")]
            case Arbitrated():
                rows = [_line("TrustMargin", _margins(event.verdict))]
            case Fault():
                rows = [_line("fault", f"{event.stage}: {event.error}: {plain(event.message)}", "red")]
            case Stopped():
                rows = [
                    _line("stopped", f"in {event.stage}: budget.{event.limit} = {event.allowed:g}", "red")
                ]
            case Finished():
                rows = [_ending(event.answer)]
        return rows

    def _gains(self, report: PruneReport) -> Table:
        table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 2), show_header=True)
        table.add_column("gain", justify="right")
        table.add_column("passage")
        table.add_column("")
        for gain in report.gains:
            why = f"[dim]{escape(gain.reason)}[/]"
            mark = f"[green]admitted[/] {why}" if gain.admitted else why
            table.add_row(
                "" if gain.gain is None else f"{gain.gain:+.3f}",
                escape(self._titles.get(gain.key, gain.key.id)),
                mark,
            )
        return table


def plain(text: str) -> str:
    """Text that cannot steer a terminal: one line, unprintable characters replaced."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split()))


def _title(passage: Passage) -> str:
    name = passage.source or passage.id
    return plain(f"{passage.title} ({name})" if passage.title and passage.title != name else name)


def _line(stage: str, text: str, style: str = "cyan") -> Text:
    return Text.assemble((f"{stage:>13}  ", style), text)


def _number(value: float | None) -> str:
    return "no score" if value is None else f"{value:+.2f}"


def _margins(verdict: Verdict) -> str:
    if verdict.margin is None:
        return f"{verdict.source}. {verdict.reason}"
    tie = " (a tie within the backend's noise)" if verdict.tie else ""
    prior, binding, margin = map(_number, (verdict.prior, verdict.binding, verdict.margin))
    return f"{verdict.source}. M_prior {prior}, M_bind {binding}, M {margin}, tau {verdict.tau:g}{tie}"


def _control(report: PruneReport) -> str:
    """What a gate or the guard did, "" if neither had anything to do."""
    kept = len(report.guard.kept) if report.guard else 0
    gate = f"; {report.control}" if report.control else ""
    return gate + (f"; {kept} kept by the sufficiency guard" if kept else "")


def _ending(answer: Answer) -> Panel:
    rows: list[RenderableType] = [
        Text("Abstained", style="bold yellow")
        if answer.answer is None
        else Text(plain(answer.answer), style="bold green"),
        Text(plain(answer.reason)),
    ]
    if answer.answer is not None and not answer.grounded:
        rows.append(Text("This answer rests on no evidence.", style="yellow"))
    rows += [Text(f"[{number}] {_cited(citation)}") for number, citation in enumerate(answer.citations, 1)]
    counted = ("rounds", "model_calls", "generated_tokens")
    cost = ", ".join(f"{answer.budget.spent[limit]:g} {limit.replace('_', ' ')}" for limit in counted)
    rows.append(Text(f"{answer.timings['total']:.1f} s, {cost}; trace {answer.trace_id}", style="dim"))
    title = answer.source if answer.answer else "no answer"
    return Panel(Group(*rows), title=title, title_align="left", expand=False)


def _cited(citation: Citation) -> str:
    document = citation.source or citation.id
    named = f"{citation.title} ({document})" if citation.title and citation.title != document else document
    return plain(f"{named}: {citation.text}")
