"""Rows of evaluation runs as tests need them, and whole run folders."""

from pathlib import Path

from sufficit.controller.evaluation.runs.folder import ConfigHeader, DataHeader, RunFolder, RunHeader
from sufficit.controller.evaluation.runs.rows import FoundPassage, Hashes, PredictionRow, row_line

HASHES = Hashes(settings="s", artifact="a", index="i", data="d")


def row(id_: str, **changes: object) -> PredictionRow:
    """A row that answers "right", as its gold answer is, unless told otherwise."""
    values: dict[str, object] = {
        "config": "full",
        "id": id_,
        "question": f"What is {id_}?",
        "answers": ("right",),
        "answerable": None,
        "support": None,
        "hashes": HASHES,
        "action": "answer",
    }
    values |= changes
    if values["action"] == "answer":
        values = {"answer": "right", "source": "rag"} | values
    return PredictionRow(**values)


def found(*sources: str) -> tuple[FoundPassage, ...]:
    """A passage of each document."""
    return tuple(FoundPassage(source=source, id=f"{source}#0", title=source.upper()) for source in sources)


def write_run(path: Path, rows: dict[str, list[PredictionRow]], file: str = "questions.jsonl") -> RunFolder:
    """The folder of a run that has ended, without its traces."""
    folder = RunFolder(path)
    size = len(next(iter(rows.values())))
    data = DataHeader(file=file, format="JSON Lines", hash="d", questions=size)
    configurations = {name: ConfigHeader(hashes=HASHES, models={}, settings={}) for name in rows}
    for name, of in rows.items():
        folder.predictions(name).parent.mkdir(parents=True)
        lines = [row_line(one.model_copy(update={"config": name})) for one in of]
        folder.predictions(name).write_text("".join(lines), "utf-8")
    header = RunHeader(data=data, configurations=configurations)
    folder.header.write_text(header.model_dump_json(), "utf-8")
    return folder
