import pytest
from rinse_data import contrasts
from scripted import ScriptedGenerator
from staged import FixedSufficiency
from sufficit.controller.evaluation.contrasts.gating import (
    Gate,
    GateHeader,
    balanced_sample,
    gate_result,
    run_gate,
)
from sufficit.controller.evaluation.contrasts.scoring import keyed
from sufficit.controller.evaluation.journal import read_journal
from sufficit.tools.errors import InputError, ModelOutputError

HEADER = GateHeader(generator="g", artifact="a", rinse="r")


def reply(prompt):
    """Answers all but one kind of record."""
    return "Unanswerable." if "number 3" in prompt.text else "Ada Voss"


async def run(path, of, answer=reply, records=None):
    gate = Gate(ScriptedGenerator(answer=answer), FixedSufficiency(of))
    return await run_gate(keyed(records or contrasts("f", 8)), gate, HEADER, path, lambda *_: None)


async def test_rates_with_and_without_the_gate(tmp_path):
    def of(passages):
        return 1.0 if "number 0" not in passages[1].text else -1.0

    rows = await run(tmp_path / "g.jsonl", of, records=contrasts("f", 8))
    found = gate_result(rows)
    assert (found.sufficient.records, found.insufficient.records) == (8, 8)
    refused = sum(not row.answers for row in rows if row.label)
    assert found.sufficient.answered == 1 - refused / 8
    assert found.sufficient.answered_gated <= min(found.sufficient.answered, found.sufficient.passed)
    assert found.gate_p50 > 0
    assert found.generator_p50 > 0


async def test_a_gate_that_stops_all_saves_all(tmp_path):
    found = gate_result(await run(tmp_path / "g.jsonl", lambda passages: -1.0))
    assert found.saved == pytest.approx(1.0)
    assert found.saved_net < found.saved
    assert found.insufficient.answered_gated == 0.0
    assert found.insufficient.answered == 1.0


@pytest.mark.parametrize(
    ("text", "answers"),
    [("Ada", True), ("UNANSWERABLE", False), ("It is unanswerable!", False), ("", False), (" . ", False)],
)
async def test_what_counts_as_an_answer(tmp_path, text, answers):
    rows = await run(tmp_path / "g.jsonl", lambda passages: 1.0, lambda prompt: text)
    assert {row.answers for row in rows} == {answers}


async def test_the_generator_is_told_how_to_decline():
    generator = ScriptedGenerator()
    (record, *_) = contrasts("f", 1)
    await Gate(generator, FixedSufficiency(lambda passages: 1.0)).outcome("k", record)
    text = generator.calls[0][1][0].text
    assert "unanswerable" in text
    assert record.question in text
    assert record.passages[0].text in text


async def test_a_run_goes_on_and_faults_are_counted(tmp_path):
    def of(passages):
        if "Ada" in passages[0].text:
            raise ModelOutputError("NaN\nmore")
        return float("nan") if "Ben" in passages[0].text else 1.0

    rows = await run(tmp_path / "g.jsonl", of)
    assert gate_result(rows).skipped == {"NaN": 2, "the gate gave no finite score": 2}
    again = ScriptedGenerator()
    await run_gate(
        keyed(contrasts("f", 8)),
        Gate(again, FixedSufficiency(of)),
        HEADER,
        tmp_path / "g.jsonl",
        lambda *_: None,
    )
    assert again.calls == []
    assert len(read_journal(tmp_path / "g.jsonl")[1]) == 16


async def test_no_record_left_of_one_label_is_an_error(tmp_path):
    with pytest.raises(ModelOutputError, match="no record of one label"):
        gate_result(await run(tmp_path / "g.jsonl", lambda passages: float("nan")))


def test_samples_are_balanced_over_labels_and_sets():
    records = [*contrasts("one", 20), *contrasts("two", 3)]
    found = balanced_sample(records, 5, 17)
    assert sum(record.label for record in found) == 5
    assert sum(record.family == "two" for record in found) == 4
    assert sum(record.family == "two" for record in balanced_sample(records, 20, 17)) == 6
    assert found == balanced_sample(records, 5, 17)
    assert found != balanced_sample(records, 5, 18)
    with pytest.raises(InputError, match="fewer than 24"):
        balanced_sample(records, 24, 17)
