import json
import math

import pytest
from prediction_rows import found, row
from sufficit.controller.evaluation.runs.durable import DurableRun
from sufficit.controller.evaluation.runs.finished import Outcome
from sufficit.controller.evaluation.runs.folder import RunFolder
from sufficit.controller.evaluation.runs.rows import read_rows
from sufficit.tools.retrievers.trec import read_run


@pytest.mark.parametrize("threshold", [-math.inf, math.inf, 0.5, None])
def test_a_row_is_the_same_after_an_interruption_whatever_its_threshold(tmp_path, threshold):
    folder, kept = RunFolder(tmp_path), row("q", threshold=threshold)
    with DurableRun(folder, "full", {"version": 1}) as durable:
        durable.append(Outcome(kept, json.dumps({"id": "q", "events": []}) + "\n"))
    with DurableRun(folder, "full", {"version": 1}) as durable:
        assert durable.rows == {"q": kept}
        durable.publish(["q"])
    assert read_rows(folder.predictions("full")) == [kept]


def test_every_id_has_a_word_in_the_ranking(tmp_path):
    folder, ids = RunFolder(tmp_path), ["", "a b", "\u00e9|c"]
    with DurableRun(folder, "full", {"version": 1}) as durable:
        for id_ in ids:
            durable.append(
                Outcome(row(id_, pool=found("doc.md")), json.dumps({"id": id_, "events": []}) + "\n")
            )
        durable.publish(ids)
    assert read_run(folder.ranking("full")) == {name: {"doc.md": 1.0} for name in ("-", "a%20b", "\u00e9|c")}
