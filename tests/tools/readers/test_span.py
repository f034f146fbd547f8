import numpy as np
import pytest
import torch
from sufficit.tools.errors import ModelOutputError
from sufficit.tools.readers.span import MAX_SPAN_TOKENS, ExtractiveSpanReader, span_margins
from sufficit.tools.readers.windows import Window
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

LONG = " ".join(["the river is long . the old mill in arden"] * 12)
QUESTION = "who is the mayor ?"


@pytest.fixture
def reader(tiny):
    torch.manual_seed(3)
    model = AutoModelForQuestionAnswering.from_pretrained(tiny)
    torch.nn.init.normal_(model.qa_outputs.weight, std=0.5)
    tokenizer = AutoTokenizer.from_pretrained(tiny)
    return ExtractiveSpanReader(model, tokenizer, fingerprint="f", max_tokens=48, batch_size=3)


def window(first: int, size: int) -> Window:
    return Window(
        [0] * (first + size + 1), [0] * (first + size + 1), first, [(k, k + 1) for k in range(size)], 0
    )


def test_only_legal_spans_count():
    starts, ends = torch.zeros(1, 8), torch.zeros(1, 8)
    starts[0, 1] = 50.0  # in the question
    ends[0, 7] = 50.0  # the last special token
    starts[0, 6], ends[0, 4] = 9.0, 9.0  # in the passage, but the end stands before the start
    starts[0, 5], ends[0, 6] = 2.0, 3.0
    starts[0, 0], ends[0, 0] = 1.0, 0.5
    # Of what is left, 6 to 6 is best: 9 + 3; the first token has 1.5.
    assert span_margins(starts, ends, [window(4, 3)]).tolist() == [9.0 + 3.0 - 1.5]


def test_spans_have_at_most_thirty_tokens():
    size = MAX_SPAN_TOKENS + 5
    starts, ends = torch.zeros(1, size + 3), torch.zeros(1, size + 3)
    starts[0, 2], ends[0, 2 + MAX_SPAN_TOKENS] = 5.0, 5.0
    assert span_margins(starts, ends, [window(2, size)]).item() == 5.0
    ends[0, 1 + MAX_SPAN_TOKENS] = 4.0
    assert span_margins(starts, ends, [window(2, size)]).item() == 9.0


def test_a_window_without_passage_has_margin_zero():
    assert span_margins(torch.ones(1, 4), torch.ones(1, 4), [window(3, 0)]).item() == 0.0


async def test_margins_are_those_of_a_plain_pass(reader):
    text = "ada is the mayor of arden"
    (margin,) = await reader.margins(QUESTION, [text])
    encoded = reader._windower._tokenizer(QUESTION, text, return_tensors="pt")
    with torch.no_grad():
        output = reader._model(**encoded)
    inside = [k for k, part in enumerate(encoded.sequence_ids(0)) if part == 1]
    best = max(
        float(output.start_logits[0, s] + output.end_logits[0, e]) for s in inside for e in inside if e >= s
    )
    null = float(output.start_logits[0, 0] + output.end_logits[0, 0])
    assert margin == pytest.approx(best - null, abs=1e-4)


async def test_a_long_text_counts_by_its_best_window_and_batches_change_nothing(reader):
    texts = ["ada", LONG, "the old mill in arden", " "]
    together = await reader.margins(QUESTION, texts)
    assert together.dtype == np.float32
    reader._cache = type(reader._cache)(10)
    alone = [float((await reader.margins(QUESTION, [text]))[0]) for text in texts]
    assert together == pytest.approx(alone, abs=1e-4)
    parts = reader._windower.windows([(QUESTION, LONG)])
    assert len(parts) > 2
    texts = [LONG[part.offsets[0][0] : part.offsets[-1][1]] for part in parts]
    assert together[1] == pytest.approx((await reader.margins(QUESTION, texts)).max(), abs=1e-4)


async def test_a_text_is_read_once(reader, monkeypatch):
    await reader.margins(QUESTION, ["ada", "ben"])
    read = []
    monkeypatch.setattr(reader, "_read", lambda units: read.extend(units) or [0.0] * len(units))
    await reader.margins(QUESTION, ["ben", "cleo"])
    assert read == [(QUESTION, "cleo")]
    assert (await reader.margins(QUESTION, [])).shape == (0,)


async def test_nan_is_an_error(reader):
    torch.nn.init.constant_(reader._model.qa_outputs.bias, float("nan"))
    with pytest.raises(ModelOutputError, match="span reader"):
        await reader.margins(QUESTION, ["ada"])
