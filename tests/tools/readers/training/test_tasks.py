"""Every kind of reader learns a small rule in a few steps, and is read back as it was trained."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sufficit.tools.models import store
from sufficit.tools.models.catalog import ENCODER
from sufficit.tools.readers import adapted
from sufficit.tools.readers.joint import FusedJointReader
from sufficit.tools.readers.span import ExtractiveSpanReader
from sufficit.tools.readers.training.joint import JointItem, JointTask
from sufficit.tools.readers.training.loop import TrainSettings, train
from sufficit.tools.readers.training.relevance import RelevanceItem, RelevanceTask
from sufficit.tools.readers.training.span import SpanItem, SpanTask, answer_places
from sufficit.tools.readers.windows import Windower
from sufficit.tools.rerankers.projected import ProjectedReranker
from tiny_encoder import save_encoder
from transformers import AutoTokenizer

PEOPLE = ("ada", "ben", "cleo", "dov", "eva", "finn")
QUESTION = "who is the mayor ?"
GOOD = [f"the mayor of arden is {person}" for person in PEOPLE]
BAD = [f"{person} painted the old bridge" for person in PEOPLE]
SETTINGS = TrainSettings(steps=60, batch=6, rate=0.02)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return str(save_encoder(tmp_path_factory.mktemp("tiny-encoder")))


def trained(task, kind, tiny, folder, settings=SETTINGS):
    train(task, settings, folder / "checkpoint", "data", lambda *_: None)
    adapted.save(folder / kind, task.adapters(), task.head(), adapted.Trained(kind, tiny, {}))
    return str(folder / kind)


async def test_span(tiny, tmp_path):
    items = [SpanItem((QUESTION, text), ((text.rindex(" ") + 1, len(text)),)) for text in GOOD]
    items += [SpanItem((QUESTION, text), ()) for text in BAD]
    torch.manual_seed(0)
    folder = trained(SpanTask(tiny, items, "cpu", torch.float32), "span", tiny, tmp_path)
    margins = await ExtractiveSpanReader.load(folder).margins(QUESTION, [*GOOD, *BAD])
    assert margins[: len(GOOD)].min() > 0 > margins[len(GOOD) :].max()


async def test_reranker(tiny, tmp_path):
    """A part of the question comes to stand near the passages that it needs; the other tells nothing."""
    parts = ("who is the", "the mayor ?")
    items = [RelevanceItem(f"{QUESTION} {k}", parts, good, tuple(BAD[:3])) for k, good in enumerate(GOOD)]
    folder = trained(RelevanceTask(tiny, items, "cpu", torch.float32), "reranker", tiny, tmp_path)
    reranker = ProjectedReranker.load(folder)
    gaps = []
    for each in (reranker, reranker.encoder):
        scores = (await each.score(parts, [*GOOD, *BAD])).max(axis=0)
        gaps.append(scores[: len(GOOD)].min() - scores[len(GOOD) :].max())
    assert gaps[0] > max(gaps[1], 0)


def test_a_text_is_read_alike_whatever_was_read_with_it():
    """So that a run that is taken up again goes on exactly."""
    store.install(ENCODER)
    parts = ((QUESTION,), (QUESTION, "The mill in Arden was built in 1820 by Orla Quist. " * 8))
    items = [RelevanceItem(QUESTION, each, GOOD[0], (BAD[0],)) for each in parts]
    alone, beside = [RelevanceTask(ENCODER, items, "cpu", torch.float32) for _ in range(2)]
    alone.loss([0])
    beside.loss([1])
    assert torch.equal(alone._known[QUESTION], beside._known[QUESTION])


def test_what_a_question_needs_as_well_is_no_wrong_answer(tiny):
    both = [RelevanceItem(QUESTION, (QUESTION,), good, (BAD[0],)) for good in GOOD[:2]]
    apart = [replace(item, question=f"{QUESTION} {k}") for k, item in enumerate(both)]
    losses = [RelevanceTask(tiny, items, "cpu", torch.float32).loss([0, 1]).item() for items in (both, apart)]
    alone = RelevanceTask(tiny, both, "cpu", torch.float32)
    assert losses[0] == pytest.approx((alone.loss([0]).item() + alone.loss([1]).item()) / 2, abs=1e-5)
    assert losses[1] > losses[0]


async def test_joint_learns_that_both_passages_are_needed(tiny, tmp_path):
    """Each passage stands in insufficient sets as often as in sufficient ones: no passage tells alone."""
    mill, river = "the mill in arden is old", "the river in belmar is long"
    units = [(QUESTION, text) for text in (mill, river, "eva painted the glass bridge", "the town of dov")]
    pairs = (((0, 1), (0, 2)), ((0, 1), (1, 2)), ((2, 3), (2, 1)), ((2, 3), (0, 3)))
    items = [JointItem(tuple(units), (True,) * 4, pairs)] * 2
    torch.manual_seed(0)
    slower = TrainSettings(steps=100, batch=2, rate=0.003)
    folder = trained(JointTask(tiny, items, "cpu", torch.float32), "joint", tiny, tmp_path, slower)
    reader = FusedJointReader.load(folder)
    for sufficient, insufficient in pairs:
        high, low = [
            await reader.sufficiency(QUESTION, [units[k][1] for k in chosen])
            for chosen in (sufficient, insufficient)
        ]
        assert high > low


@pytest.mark.parametrize("make", [SpanTask, RelevanceTask, JointTask])
def test_bfloat16_has_nearly_the_same_loss(tiny, make):
    item = {
        SpanTask: SpanItem((QUESTION, GOOD[0]), ()),
        RelevanceTask: RelevanceItem(QUESTION, (QUESTION,), GOOD[0], (BAD[0],)),
        JointTask: JointItem(((QUESTION, GOOD[0]), (QUESTION, BAD[0])), (True, False), (((0,), (1,)),)),
    }[make]
    losses = []
    for dtype in (torch.float32, torch.bfloat16):
        torch.manual_seed(0)
        losses.append(make(tiny, [item], "cpu", dtype).loss([0]).item())
    assert losses[0] == pytest.approx(losses[1], rel=0.1)
    assert np.isfinite(losses).all()


def test_items_of_a_batch_do_not_touch_each_other(tiny):
    items = [
        JointItem(((QUESTION, good), (QUESTION, bad * 3)), (True, False), (((0,), (1,)), ((0, 1), (1,))))
        for good, bad in zip(GOOD, BAD, strict=True)
    ]
    torch.manual_seed(0)
    task = JointTask(tiny, items, "cpu", torch.float32)
    with torch.no_grad():
        alone = [float(task.loss([k])) for k in range(3)]
        assert float(task.loss([0, 1, 2])) == pytest.approx(sum(alone) / 3, abs=1e-4)


def test_answers_become_tokens(tiny):
    text = "the mayor of arden is ada"
    windower = Windower(AutoTokenizer.from_pretrained(tiny), 32)
    (window,) = windower.windows([(QUESTION, text)])
    start, end = answer_places(window, [(text.index("of"), text.index(" is"))])
    assert AutoTokenizer.from_pretrained(tiny).decode(window.ids[start : end + 1]) == "of arden"
    assert answer_places(window, []) == (0, 0)
    # A span that the window does not hold whole is none.
    assert answer_places(window, [(text.index("ada"), len(text) + 5)]) == (0, 0)
