from pathlib import Path

from native_files import musique, nq, squad, two_hop, two_wiki, write_json, write_lines
from sufficit.controller.evaluation.contrasts.groups import Dropped, Group
from sufficit.controller.evaluation.contrasts.overlap import words
from sufficit.controller.evaluation.contrasts.substitution import substitution
from sufficit.controller.evaluation.datasets.sources import read_source


def _two_wiki(tmp_path: Path):
    return read_source(write_json(tmp_path / "a.json", [two_wiki(number) for number in range(6)])).examples


def test_both_kinds_of_distractor(tmp_path: Path) -> None:
    examples = _two_wiki(tmp_path)
    groups = [made for made in substitution(examples, 17) if isinstance(made, Group)]
    assert len(groups) == 6
    for group in groups:
        example = next(example for example in examples if example.id == group.id)
        (sufficient,), insufficient = group.sufficient, group.insufficient
        assert sorted(p.id for p in sufficient.passages) == sorted(p.id for p in example.passages)
        assert len(insufficient) == 2
        removed = []
        for side in insufficient:
            assert len(side.passages) == 5
            assert side.question == example.question
            missing = {p.id for p in sufficient.passages} - {p.id for p in side.passages}
            added = {p.id for p in side.passages} - {p.id for p in sufficient.passages}
            assert len(missing) == len(added) == 1
            removed.append(missing)
        assert removed[0] == removed[1]
        assert removed[0] <= {example.passages[place].id for place in example.support}


def test_sides_carry_answers_and_what_is_left_of_the_support(tmp_path: Path) -> None:
    for group in substitution(_two_wiki(tmp_path), 17):
        assert isinstance(group, Group)
        assert group.sufficient[0].support == 2
        assert [side.support for side in group.insufficient] == [1, 1]
        assert {side.answers for side in group.sufficient + group.insufficient} == {
            group.sufficient[0].answers
        }
        assert group.sufficient[0].answers[0].endswith("River")


def test_the_second_distractor_shares_a_title_word(tmp_path: Path) -> None:
    for group in substitution(_two_wiki(tmp_path), 17):
        assert isinstance(group, Group)
        related = group.insufficient[1].passages
        removed = next(p for p in group.sufficient[0].passages if p not in related)
        added = next(p for p in related if p not in group.sufficient[0].passages)
        assert {word for word in words(removed.title) if len(word) > 3} & set(words(added.title))


def test_sides_of_a_group_have_the_same_order(tmp_path: Path) -> None:
    places = set()
    for group in substitution(_two_wiki(tmp_path), 17):
        assert isinstance(group, Group)
        sufficient = group.sufficient[0].passages
        for side in group.insufficient:
            differing = [place for place in range(5) if side.passages[place] != sufficient[place]]
            assert len(differing) == 1
            places.update(differing)
    assert len(places) > 1


def test_the_seed_decides(tmp_path: Path) -> None:
    examples = _two_wiki(tmp_path)
    first = list(substitution(examples, 17))
    assert first == list(substitution(examples, 17))
    assert first != list(substitution(examples, 18))


def test_no_distractor_fills_the_gap(tmp_path: Path) -> None:
    """Every passage of the other examples but one names the first example's answer; that one is drawn."""
    rows = [two_hop(0), *(two_hop(number) for number in range(1, 6))]
    for row in rows[1:]:
        row["context"] = [[title, [*text, "The Alder River is not far."]] for title, text in row["context"]]
    rows[1]["context"][4] = ["Ada Brook Town", ["A town that is silent."]]
    rows[2]["context"][4] = ["Northmere Brook", ["A brook that is silent."]]
    examples = read_source(write_json(tmp_path / "a.json", rows)).examples
    group = next(made for made in substitution(examples, 17) if made.id == "hop0")
    assert isinstance(group, Group)
    for side in group.insufficient:
        (added,) = (p for p in side.passages if p not in group.sufficient[0].passages)
        assert added.title in ("Ada Brook Town", "Northmere Brook")


def test_native_variants_are_the_group(tmp_path: Path) -> None:
    rows = [musique(0), musique(0, answerable=False), musique(1, answerable=False)]
    made = list(substitution(read_source(write_lines(tmp_path / "a.jsonl", rows)).examples, 17))
    assert isinstance(made[0], Group)
    assert (made[0].id, len(made[0].sufficient), len(made[0].insufficient)) == ("hop0", 1, 1)
    assert "A town without water." in {p.text for p in made[0].insufficient[0].passages}
    assert made[1] == Dropped("hop1", "unanswerable in the source, without an answerable variant")


def test_one_passage_gives_way_to_the_nearest(tmp_path: Path) -> None:
    rows = [nq(number) for number in range(4)]
    made = list(substitution(read_source(write_lines(tmp_path / "a.jsonl", rows)).examples, 17))
    assert len(made) == 4
    for group, partner in zip(made, (1, 0, 3, 2), strict=True):
        assert isinstance(group, Group)
        assert group.insufficient[0].passages[0].text == rows[partner]["ctxs"][1]["text"]
        assert group.insufficient[0].question == group.sufficient[0].question


def test_reasons_for_no_group(tmp_path: Path) -> None:
    short, lone, held = two_hop(0), two_hop(1), two_hop(2)
    short["context"] = short["context"][:3]
    lone["supporting_facts"] = lone["supporting_facts"][:1]
    held["context"][4][1] = ["The Cedar River again."]
    examples = read_source(write_json(tmp_path / "a.json", [short, lone, held, two_hop(3)])).examples
    reasons = [made.reason if isinstance(made, Dropped) else "" for made in substitution(examples, 17)]
    assert reasons[:2] == ["fewer than two needed passages, or than four in all"] * 2
    assert reasons[2] == "the answer stands in a passage that is not support"
    squads = read_source(write_json(tmp_path / "s.json", squad())).examples
    assert Dropped("a3", "unanswerable in the source, without an answerable variant") in list(
        substitution(squads, 17)
    )
