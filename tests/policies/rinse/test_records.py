import json
from dataclasses import replace
from pathlib import Path

import pytest
from sufficit.policies.rinse.records import ContrastRecord, Pair, pairs, read_records, write_records
from sufficit.tools.errors import InputError, StorageError
from sufficit.tools.types import Passage


def _record(group: str = "g", label: bool = True) -> ContrastRecord:
    passages = (Passage(id="1", text="Ünï\u2028code.", title="T", source="T"), Passage(id="2", text="Two."))
    return ContrastRecord(group, "family", "substitution", "Who?", passages, label)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    records = [_record(), _record(label=False), _record("h")]
    assert write_records(tmp_path / "new" / "records.jsonl", records) == 3
    assert list(read_records(tmp_path / "new" / "records.jsonl")) == records
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["records.jsonl"]


def test_what_is_known_of_answers_and_support_is_kept(tmp_path: Path) -> None:
    known = replace(_record(), answers=("Ada", "Ada Lovelace"), support=2)
    write_records(tmp_path / "r.jsonl", [known, replace(known, label=False, support=0)])
    assert [record.support for record in read_records(tmp_path / "r.jsonl")] == [2, 0]
    assert next(read_records(tmp_path / "r.jsonl")) == known


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    write_records(path, [_record()])

    def broken():
        yield _record(label=False)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_records(path, broken())
    assert list(read_records(path)) == [_record()]
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl"]


def test_an_unwritable_place_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        write_records(tmp_path / "file" / "records.jsonl", [_record()])


GOOD = {
    "group": "g", "family": "f", "construction": "c", "question": "q?", "label": True,
    "passages": [{"id": "1", "text": "t"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": "Ada"}, "answers must be a list of strings"),
        ({"support": -1}, "it counts passages"),
        ({"label": 1}, "label is 1"),
        ({"label": None}, "label is None"),
        ({"question": "  "}, "question must be"),
        ({"group": 7}, "group must be"),
        ({"passages": []}, "at least one passage"),
        ({"passages": [{"id": "1", "text": "t"}, {"id": "2", "text": ""}]}, "passage 2: text must be"),
        ({"passages": [{"id": "1", "text": "t", "title": 3}]}, "passage 1: title"),
        ({"passages": ["t"]}, "passage 1: not an object"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n\n{json.dumps(GOOD | change)}\n")
    reading = read_records(path)
    assert next(reading).question == "q?"
    with pytest.raises(InputError, match=f"records.jsonl, line 3.*{message}"):
        next(reading)


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe"])
def test_what_is_not_json_is_an_input_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "records.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=r"records\.jsonl"):
        list(read_records(tmp_path / "records.jsonl"))


def test_a_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(read_records(tmp_path / "none.jsonl"))


def test_pairs_are_made_within_groups_only() -> None:
    sides = [("a", True), ("b", True), ("a", False), ("a", False), ("a", True), ("c", False)]
    records = [_record(group, label) for group, label in sides]
    assert list(pairs(records)) == [Pair("a", 0, 2), Pair("a", 0, 3), Pair("a", 4, 2), Pair("a", 4, 3)]
