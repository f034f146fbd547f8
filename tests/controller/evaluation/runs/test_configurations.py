"""Configurations are settings files: what each rests on, and what no evaluation can have."""

from pathlib import Path

import pytest
from sufficit.controller.evaluation.runs.configurations import read_configurations
from sufficit.controller.settings import keys
from sufficit.tools.errors import InputError, SettingsError
from sufficit.tools.retrievers.embedded import EmbeddedIndex
from sufficit.tools.retrievers.identity import index_hash
from sufficit.tools.types import Passage

ABLATIONS = Path(__file__).resolve().parents[4] / "examples" / "ablations"


@pytest.fixture
def index(tmp_path):
    EmbeddedIndex.build(tmp_path / "index", [Passage("0", "Vell lies on the Rhine.", source="vell.md")])
    return tmp_path / "index"


@pytest.fixture
def write(tmp_path):
    def file(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return file


def test_every_ablation_takes_something_away_and_nothing_twice(index):
    files = sorted(ABLATIONS.glob("*.toml"))
    found = {c.name: c for c in read_configurations(files, (), index, "d")}
    changes = {name: set(c.changes) - {"index.path"} for name, c in found.items()}
    assert changes.pop("full") == set()
    assert all(changes.values())
    assert set().union(*changes.values()) <= set(keys())
    assert len({c.hashes.settings for c in found.values()}) == len(files)
    assert {c.hashes.index for c in found.values()} == {index_hash(index)}
    assert len({c.hashes.artifact for c in found.values()}) == 1
    assert found["no-rinse"].changes["rinse.threshold"] == "-Infinity"


def test_assignments_go_into_all_and_one_configuration_needs_no_file(index, write):
    files = [write("a.toml", "[igp]\ntop_m = 2\n"), write("b.toml", "")]
    found = read_configurations(files, ["trustmargin.tau=-4"], index, "d")
    assert [(c.name, c.settings.igp.top_m, c.settings.trustmargin.tau) for c in found] == [
        ("a", 2, -4.0),
        ("b", 5, -4.0),
    ]
    (only,) = read_configurations([], [], index, "d")
    assert (only.name, only.settings.index.path) == ("default", index)


def test_several_indexes_have_a_hash_of_their_own(index, write):
    fused = write("fused.toml", f'[index]\nfused_with = ["{index}"]\n')
    one, both = read_configurations([write("a.toml", ""), fused], [], index, "d")
    assert one.hashes.index != both.hashes.index


def test_names_that_cannot_be_folders_are_refused(index, write):
    (index.parent / "sub").mkdir()
    twice = [write("a.toml", ""), write("sub/a.toml", "")]
    with pytest.raises(InputError, match="two --config files are called a"):
        read_configurations(twice, [], index, "d")
    for name in ("a b.toml", "run.json.toml", "report.html.toml"):
        with pytest.raises(InputError, match="a folder gets its name"):
            read_configurations([write(name, "")], [], index, "d")


def test_a_run_that_would_change_its_index_is_refused(index, write):
    web = '[web]\nkeep_days = 3\n[web.search]\nengine = "urls"\nurls = ["https://site.example/"]\n'
    with pytest.raises(SettingsError, match=r"keep_days = 3 writes to the index"):
        read_configurations([write("web.toml", web)], [], index, "d")
