import pytest
from rinse_data import contrasts
from scores import FixedScorer
from sufficit.controller.evaluation.contrasts.comparison import compare
from sufficit.controller.evaluation.contrasts.growth import score_grown
from sufficit.controller.evaluation.contrasts.scores import ScoreHeader, read_scores, record_key
from sufficit.tools.errors import InputError

HEADER = ScoreHeader(label="s", scorer="s", models={})
RECORDS = contrasts("f", 10)


async def grow(folder, of, records=RECORDS, seed=17):
    heard = []
    grown = await score_grown(
        records, FixedScorer(of), HEADER, folder, lambda *p: heard.append(p), seed=seed, counts=(0, 5)
    )
    assert grown.fewest == {("f", "made_up"): 5}
    return grown.paths, heard


async def test_one_file_a_count_over_the_same_records(tmp_path):
    paths, heard = await grow(tmp_path, lambda q, p: float(len(p)))
    tables = read_scores(paths)
    assert [table.label for table in tables] == ["s +0", "s +5"]
    assert all(set(table.rows) == set(map(record_key, RECORDS)) for table in tables)
    assert {row.score for row in tables[0].rows.values()} == {2.0}
    assert {row.score for row in tables[1].rows.values()} == {7.0}
    assert heard[-1] == ("s +5", 20, 20)


async def test_the_fall_is_measured_pair_by_pair(tmp_path):
    def confused(question, passages):
        asked = question.removeprefix("Who is the ").removesuffix("?")
        return float(len(passages) <= 2 and any(asked in passage.text for passage in passages))

    paths, _ = await grow(tmp_path, confused)
    *_, average = compare(read_scores(paths)).differences
    assert average.scorer == "s +5"
    assert average.value < 0


async def test_a_run_goes_on_only_over_the_same_additions(tmp_path):
    await grow(tmp_path, lambda q, p: 1.0)
    with pytest.raises(InputError, match="additions differ"):
        await grow(tmp_path, lambda q, p: 1.0, seed=18)
    with pytest.raises(InputError, match="additions differ"):
        await grow(tmp_path, lambda q, p: 1.0, records=contrasts("f", 11))
