import errno
import os
from dataclasses import replace

import pytest
from rinse_data import contrasts, record
from scores import FixedScorer
from sufficit.controller.evaluation.contrasts.scores import ScoreHeader
from sufficit.controller.evaluation.contrasts.scoring import keyed, read_contrasts, sampled, score_records
from sufficit.controller.evaluation.journal import read_journal
from sufficit.policies.rinse.records import write_records
from sufficit.policies.scorers.types import Scored
from sufficit.tools.errors import InputError, ModelOutputError, StorageError, ToolError
from sufficit.tools.types import Passage

HEADER = ScoreHeader(label="fixed", scorer="fixed", models={})


class Killed(BaseException):
    pass


async def run(records, scorer, path, header=HEADER):
    seen = []
    rows = await score_records(keyed(records), scorer, header, path, lambda *p: seen.append(p))
    return rows, seen


async def test_every_record_gets_a_timed_row(tmp_path):
    scorer = FixedScorer(lambda q, p: Scored(float(len(p)), {"content": 1.0}, "a note"))
    rows, seen = await run(contrasts("f", 3), scorer, tmp_path / "s.jsonl")
    assert len(rows) == 6
    assert seen == [(done, 6) for done in range(7)]
    assert all(row.score == 2.0 and row.seconds > 0 and row.share >= row.seconds for row in rows)
    assert rows[0].terms == {"content": 1.0}
    assert rows[0].note == "a note"


async def test_a_killed_run_goes_on_where_it_was(tmp_path):
    def dies(question, passages):
        if len(scorer.calls) == 4:
            raise Killed
        return 1.0

    scorer = FixedScorer(dies)
    records = contrasts("f", 5)
    with pytest.raises(Killed):
        await run(records, scorer, tmp_path / "s.jsonl")
    assert len(read_journal(tmp_path / "s.jsonl")[1]) == 3
    rest = FixedScorer(lambda q, p: 2.0)
    rows, seen = await run(records, rest, tmp_path / "s.jsonl")
    assert len(rest.calls) == 7
    assert [row.score for row in rows] == [1.0] * 3 + [2.0] * 7
    assert seen[0] == (3, 10)


async def test_a_larger_sample_scores_only_what_is_new(tmp_path):
    first, second = FixedScorer(lambda q, p: 1.0), FixedScorer(lambda q, p: 1.0)
    await run(sampled(contrasts("f", 8), 2, 17), first, tmp_path / "s.jsonl")
    rows, _ = await run(sampled(contrasts("f", 8), 5, 17), second, tmp_path / "s.jsonl")
    assert (len(first.calls), len(second.calls), len(rows)) == (4, 6, 10)


@pytest.mark.parametrize(
    "fault", [float("nan"), float("inf"), InputError("too long\nsecond"), ModelOutputError("nan")]
)
async def test_what_cannot_be_scored_is_recorded_with_its_reason(tmp_path, fault):
    def of(question, passages):
        if "Arden" not in question:
            return 1.0
        if isinstance(fault, Exception):
            raise fault
        return fault

    rows, _ = await run(contrasts("f", 3), FixedScorer(of), tmp_path / "s.jsonl")
    skipped = [row for row in rows if row.score is None]
    assert len(skipped) == 2
    assert all(row.skipped and "\n" not in row.skipped for row in skipped)
    again = FixedScorer(lambda q, p: 1.0)
    await run(contrasts("f", 3), again, tmp_path / "s.jsonl")
    assert again.calls == []


async def test_where_nothing_can_be_scored_that_is_an_error(tmp_path):
    with pytest.raises(ModelOutputError, match="no record could be scored by fixed"):
        await run(contrasts("f", 2), FixedScorer(lambda q, p: float("nan")), tmp_path / "s.jsonl")


async def test_a_tool_that_fails_ends_the_run_and_records_nothing(tmp_path):
    def of(question, passages):
        raise ToolError("connection lost")

    with pytest.raises(ToolError):
        await run(contrasts("f", 2), FixedScorer(of), tmp_path / "s.jsonl")
    assert read_journal(tmp_path / "s.jsonl")[1] == []


async def test_records_at_once_share_the_wall_clock(tmp_path):
    header = HEADER.model_copy(update={"at_once": 4})
    rows, seen = await run(contrasts("f", 3), FixedScorer(lambda q, p: 1.0), tmp_path / "s.jsonl", header)
    assert seen == [(0, 6), (4, 6), (6, 6)]
    assert rows[0].share == rows[3].share
    with pytest.raises(InputError, match="at_once differ"):
        await run(contrasts("f", 3), FixedScorer(lambda q, p: 1.0), tmp_path / "s.jsonl")


async def test_a_full_disk_is_a_storage_error(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        await run(contrasts("f", 2), FixedScorer(lambda q, p: 1.0), tmp_path / "s.jsonl")


def test_groups_of_one_label_are_counted_out(tmp_path):
    lonely = replace(record("f", 5, True), group="lonely")
    write_records(tmp_path / "a.jsonl", [*contrasts("f", 2), lonely])
    records, skipped = read_contrasts([tmp_path / "a.jsonl"])
    assert (len(records), skipped) == (4, 1)
    write_records(tmp_path / "b.jsonl", [lonely])
    with pytest.raises(InputError, match="nothing to score"):
        read_contrasts([tmp_path / "b.jsonl"])


def test_groups_are_told_apart_by_family_and_construction(tmp_path):
    one = contrasts("f", 1)
    other = [replace(each, construction="other") for each in one]
    write_records(tmp_path / "a.jsonl", [one[0], other[1]])
    with pytest.raises(InputError, match="nothing to score"):
        read_contrasts([tmp_path / "a.jsonl"])


def test_an_empty_passage_is_named(tmp_path):
    empty = replace(record("f", 1, True), passages=(Passage("1", "  "),))
    write_records(tmp_path / "a.jsonl", [empty])
    with pytest.raises(InputError, match="line 1, passage 1: text"):
        read_contrasts([tmp_path / "a.jsonl"])


def test_a_record_that_comes_twice_is_scored_once():
    assert len(keyed([*contrasts("f", 2), *contrasts("f", 2)])) == 4
