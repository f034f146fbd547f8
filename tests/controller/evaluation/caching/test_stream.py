import json

import pytest
from sufficit.controller.evaluation.caching.stream import Event, read_stream, stream_key, write_stream
from sufficit.tools.errors import InputError

FIRST = {
    "time": 0, "id": "e0", "need": "n0", "question": "Where?", "ttl": 60, "support": ["p"],
    "passages": [{"id": "p", "text": "There."}],
}  # fmt: skip


def lines(*events: dict) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


def test_a_stream_comes_back_as_it_was_written(tmp_path):
    events = [Event.model_validate(FIRST | {"id": f"e{n}", "time": n, "kind": "first"}) for n in range(3)]
    path = tmp_path / "s.jsonl"
    write_stream(path, events)
    assert read_stream(path) == events
    assert stream_key(events) != stream_key(events[:2])
    assert events[0].drawn_with == "n0"
    with pytest.raises(InputError, match="exists"):
        write_stream(path, events)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no event"),
        ("{", "line 1"),
        (lines(FIRST | {"ttl": 0}), "line 1: ttl"),
        (lines(FIRST | {"question": "  "}), "line 1: question"),
        (lines(FIRST | {"extra": 1}), "line 1: extra"),
        (lines(FIRST, FIRST), "two events have the id 'e0'"),
        (lines(FIRST | {"time": 5}, FIRST | {"id": "e1"}), "sort by time"),
        (
            lines(FIRST, FIRST | {"id": "e1", "passages": [{"id": "p", "text": "Here."}]}),
            "gives passage 'p' another text",
        ),
    ],
)
def test_what_is_wrong_with_a_stream_is_named(tmp_path, text, why):
    path = tmp_path / "s.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=why):
        read_stream(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_stream(tmp_path / "none")
