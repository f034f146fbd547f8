import json
import os
from pathlib import Path

import pytest
from staged import FixedSearch, FixedSufficiency, controller, passages
from sufficit.controller.trace import (
    TIMES,
    check_trace_place,
    read_trace,
    to_json,
    trace_id,
    without_times,
    write_trace,
)
from sufficit.tools.errors import StorageError, TraceError


async def events_of(question: str = "Where?"):
    loop = controller(FixedSearch(lambda query: passages("One.", "Two.")), FixedSufficiency(lambda _: 1.0))
    return (await loop.answer(question))[1]


async def test_written_traces_read_back_equal(tmp_path: Path):
    events = await events_of("Wo? \ud83d \x00 \u2028")
    file = tmp_path / "deep" / "trace.jsonl"
    write_trace(file, events)
    assert [to_json(event) for event in read_trace(file)] == [to_json(event) for event in events]
    assert [p.name for p in file.parent.iterdir()] == ["trace.jsonl"]


async def test_two_runs_give_the_same_trace_but_for_times():
    one, two = await events_of(), await events_of()
    assert [without_times(to_json(e)) for e in one] == [without_times(to_json(e)) for e in two]
    assert trace_id(one[0]) == trace_id(two[0]) != trace_id((await events_of("Other?"))[0])


def test_times_are_left_out_at_every_depth():
    assert without_times({"a": [{"at": 1, "b": 2}], **dict.fromkeys(TIMES, 1)}) == {"a": [{"b": 2}]}


async def test_infinite_thresholds_stay_valid_json(tmp_path: Path):
    from sufficit.controller.settings import load

    settings = load(["igp.threshold=-inf"], environment={}).settings
    loop = controller(
        FixedSearch(lambda q: passages("One.")), FixedSufficiency(lambda _: 1.0), settings=settings
    )
    events = (await loop.answer("Where?"))[1]
    file = tmp_path / "t"
    write_trace(file, events)

    def refuse(constant: str):
        raise AssertionError(constant)

    for line in file.read_text().splitlines():
        json.loads(line, parse_constant=refuse)
    (pruned,) = [event for event in read_trace(file) if event.kind == "pruned"]
    assert pruned.report.threshold == float("-inf")


@pytest.mark.parametrize("damage", ["", "{}", '{"kind": "nope"}', "not json", '{"kind": "started"}'])
def test_damaged_traces_are_refused_with_the_line(tmp_path: Path, damage: str):
    file = tmp_path / "t"
    file.write_text(damage + "\n")
    with pytest.raises(TraceError, match="line 1 is no `started`"):
        read_trace(file)


async def test_a_trace_without_its_end_or_of_another_version_is_refused(tmp_path: Path):
    events = await events_of()
    file = tmp_path / "t"
    write_trace(file, events[:-1])
    with pytest.raises(TraceError, match="no whole trace"):
        read_trace(file)
    write_trace(file, events)
    lines = file.read_text().splitlines()
    lines[0] = lines[0].replace('"version": 2', '"version": 99')
    file.write_text("\n".join(lines))
    with pytest.raises(TraceError, match="version 99"):
        read_trace(file)
    with pytest.raises(TraceError, match="cannot read"):
        read_trace(tmp_path / "absent")


async def test_an_unwritable_place_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot write the trace"):
        write_trace(tmp_path / "file" / "trace", await events_of())


async def test_only_regular_files_are_replaced_and_links_keep_pointing(tmp_path: Path):
    events = await events_of()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (tmp_path, pipe, Path("/dev/null")):
        with pytest.raises(StorageError, match="no regular file"):
            check_trace_place(place)
        with pytest.raises(StorageError, match="no regular file"):
            write_trace(place, events)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    write_trace(link, events)
    assert link.is_symlink()
    assert len(read_trace(tmp_path / "target")) == len(events)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "pipe", "target"]
