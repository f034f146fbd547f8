from dataclasses import replace

from sufficit.controller.evaluation.datasets.questions import Question
from sufficit.controller.evaluation.pruning.bench import load_bench
from sufficit.controller.evaluation.pruning.pruners import igp
from sufficit.controller.settings import Settings
from sufficit.tools.retrievers.embedded import EmbeddedIndex
from sufficit.tools.types import Passage

ASKED = Question("q", "Who built the mill?", ("Ada Frome",), {"mill.md": 1})


def test_a_header_tells_apart_all_that_decides(tmp_path):
    EmbeddedIndex.build(tmp_path / "index", [Passage("mill.md", "Ada Frome built the mill.")])
    settings = Settings.model_validate({"index": {"path": str(tmp_path / "index")}})

    def header(asked, threshold=0.0):
        return load_bench(settings, [asked], 2, lambda _: [(igp(threshold), 1)]).header

    first = header(ASKED)
    assert header(replace(ASKED)) == first
    others = [
        header(replace(ASKED, answers=("Jonas Brack",))),
        header(replace(ASKED, relevant={})),
        header(replace(ASKED, text="Who ran the mill?")),
        header(ASKED, threshold=0.1),
    ]
    assert all(other != first for other in others)
