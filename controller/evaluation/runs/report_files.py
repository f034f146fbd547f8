"""Writes report.json, report.md and report.html of a run folder, each whole or not at all."""

from pathlib import Path

import pydantic_core

from ....tools.errors import SettingsError
from ..grids import markdown
from .figures import figures
from .folder import RunFolder
from .html import page
from .report import RunReport, read_report
from .tables import MEASURES, READING, VERDICT, explanation_grid, report_grids
from .writing import write_whole


def write_report(folder: Path) -> RunReport:
    """Write the report over what the run folder holds, and return it; an earlier report is replaced.

    The plots lie beside report.md, and within report.html; there are none without matplotlib. Raises
    InputError where the folder holds no configuration that has ended, StorageError where the disk refuses.
    """
    files = RunFolder(folder)
    report = read_report(files)
    title, notes = _title(report), _notes(report)
    grids = [*report_grids(report), *(explanation_grid(found) for found in report.failures)]
    try:
        images = figures(report.summaries)
    except SettingsError as error:
        images = {}
        notes.append(f"Without plots: {error}")
    links = [f"![{name}]({_image(files, name).name})" for name in images]
    for name, image in images.items():
        write_whole(_image(files, name), [image])
    text = markdown(title, grids) + "".join(f"\n{line}\n" for line in (*links, *notes))
    write_whole(files.report("md"), [text.encode("utf-8", "replace")])
    shown = page(title, notes, grids, images)
    write_whole(files.report("html"), [shown.encode("utf-8", "replace")])
    write_whole(files.report("json"), [report_json(report)])
    return report


def report_json(report: RunReport) -> bytes:
    """What report.json holds: infinities as strings."""
    return pydantic_core.to_json(report, indent=2, inf_nan_mode="strings") + b"\n"


def _image(files: RunFolder, name: str) -> Path:
    return files.path / f"report-{name.replace(' ', '-').lower()}.png"


def _title(report: RunReport) -> str:
    data = report.run.data
    return f"{len(report.summaries)} configurations on {data.questions} questions of {data.file}"


def _notes(report: RunReport) -> list[str]:
    """What everything rests on."""
    data = report.run.data
    sampled = "" if data.sampled_from is None else f", drawn from {data.sampled_from}"
    left = f"; {data.left_out} more rows could not be scored, and are in no figure" if data.left_out else ""
    notes = [f"Questions: {data.file} ({data.format}), {data.questions}{sampled}{left}; hash {data.hash}."]
    for name, config in report.run.configurations.items():
        hashes = config.hashes
        changed = ", ".join(f"{key} = {value}" for key, value in config.settings.items()) or "the defaults"
        rests = f"settings {hashes.settings}, artifact {hashes.artifact}, index {hashes.index}"
        notes.append(f"{name}: {rests}; {changed}.")
    untimed = [summary.configuration for summary in report.summaries if not summary.latency]
    if untimed:
        notes.append(f"Not timed, since calls were shared or none came back: {', '.join(untimed)}.")
    notes += [*MEASURES, *((*READING, VERDICT) if report.comparisons else ())]
    if report.pending:
        notes.append(f"Not ended, and in no figure: {', '.join(report.pending)}.")
    return notes
