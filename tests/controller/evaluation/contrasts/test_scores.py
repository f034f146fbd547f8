from dataclasses import replace

import pytest
from rinse_data import record
from scores import row
from sufficit.controller.evaluation.contrasts.scores import ScoreHeader, read_scores, record_key
from sufficit.controller.evaluation.journal import Journal
from sufficit.tools.errors import InputError
from sufficit.tools.types import Passage


def write(path, header, *rows):
    with Journal(path, header.model_dump(mode="json")) as journal:
        journal.append(r.model_dump(mode="json") for r in rows)
    return path


def header(label, **more):
    return ScoreHeader(label=label, scorer="s", models={}, **more)


def test_files_of_one_label_are_one_table(tmp_path):
    first = write(tmp_path / "1", header("a", fitted_on=("f",)), row("r1", "g", True, 1.0))
    second = write(tmp_path / "2", header("a", at_once=4), row("r2", "h", True, None, family="e"))
    other = write(tmp_path / "3", header("b"), row("r1", "g", True, 2.0))
    a, b = read_scores([first, other, second])
    assert (a.label, set(a.rows), a.seen, a.at_once) == ("a", {"r1", "r2"}, {("f", "c")}, 4)
    assert (b.label, b.rows["r1"].score) == ("b", 2.0)


def test_the_same_record_twice_under_one_label_is_refused(tmp_path):
    first = write(tmp_path / "1", header("a"), row("r1", "g", True, 1.0))
    second = write(tmp_path / "2", header("a"), row("r1", "g", True, 2.0))
    with pytest.raises(InputError, match="--label"):
        read_scores([first, second])


@pytest.mark.parametrize(
    "text",
    [
        '{"version": 1}\n',
        '{"version": 9, "label": "a", "scorer": "s", "models": {}}\n',
        '{"version": 1, "label": "a", "scorer": "s", "models": {}}\n{"record": "r"}\n',
    ],
)
def test_other_files_are_refused(tmp_path, text):
    (tmp_path / "a").write_text(text)
    with pytest.raises(InputError, match=r"no score file|score again"):
        read_scores([tmp_path / "a"])


def test_the_key_is_of_what_a_record_says_and_not_of_what_audits_know():
    base = record("f", 1, True)
    assert record_key(base) == record_key(replace(base, answers=("Ada",), support=1))
    changed = [
        replace(base, question="Who else?"),
        replace(base, label=False),
        replace(base, group="other"),
        replace(base, passages=base.passages[::-1]),
        replace(base, passages=(Passage("0", "other text"), *base.passages[1:])),
    ]
    assert len({record_key(each) for each in [base, *changed]}) == 6
