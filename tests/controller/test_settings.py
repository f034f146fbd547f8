from pathlib import Path

import pytest
from sufficit.controller.settings import Settings, flat, keys, load
from sufficit.tools.errors import SettingsError


def test_defaults_are_valid_and_frozen():
    loaded = load(environment={}, config=None)
    assert loaded.settings == Settings()
    assert loaded.origins == {}
    with pytest.raises(Exception, match="frozen"):
        loaded.settings.igp.top_k = 1


def test_later_layers_win_and_say_so(tmp_path: Path):
    file = tmp_path / "sufficit.toml"
    file.write_text("[igp]\ntop_m = 2\ntop_k = 16\nmax_tokens = 8\n")
    environment = {"SUFFICIT_IGP__TOP_K": "32", "SUFFICIT_IGP__MAX_TOKENS": "9", "SUFFICIT_CACHE_DIR": "/x"}
    loaded = load(["igp.max_tokens=10"], file, environment)
    igp = loaded.settings.igp
    assert (igp.top_m, igp.top_k, igp.max_tokens) == (2, 32, 10)
    assert loaded.origins == {
        "igp.top_m": str(file),
        "igp.top_k": "SUFFICIT_IGP__TOP_K",
        "igp.max_tokens": "--set",
    }


def test_a_file_named_by_the_environment(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text('[generator]\nmodel = "none"\n[rinse]\nencoder = "none"\n')
    with pytest.raises(SettingsError, match=r"generator\.model = None"):
        load(environment={"SUFFICIT_CONFIG": str(file)})


@pytest.mark.parametrize(
    ("assignment", "value"),
    [("igp.threshold=-inf", float("-inf")), ("igp.token_budget=none", None), ("igp.top_m=none", None)],
)
def test_values_as_text(assignment: str, value: object):
    key = assignment.partition("=")[0]
    settings = load([assignment], environment={}).settings
    assert getattr(settings.igp, key.partition(".")[2]) == value


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("igp.topm=3", r"unknown setting igp\.topm \(from --set\); did you mean igp\.top_m\?"),
        ("igp.top_m=0", r"igp\.top_m = 0 \(from --set\): input should be greater than or equal to 1"),
        ("budget.rounds=many", r"budget\.rounds = 'many' \(from --set\): input should be a valid integer"),
        (
            "budget=3",
            r"budget = 3 \(from --set\): a group of settings; set one in it, such as budget\.rounds",
        ),
        ("nosuch.key=1", r"unknown setting nosuch\.key \(from --set\)"),
        ("rinse.threshold=nan", r"rinse\.threshold = nan \(from --set\): must be a number"),
        ("=3", r"write key=value"),
        ("budget.rounds.x=3", r"budget\.rounds"),
        ("nonsense", r"write key=value"),
        ("generator.device=tpu", r"generator\.device = 'tpu'.*'auto', 'cpu' or 'cuda'"),
    ],
)
def test_errors_name_key_value_and_what_is_allowed(assignment: str, message: str):
    with pytest.raises(SettingsError, match=message):
        load([assignment], environment={})


def test_options_are_values_and_win():
    options = {"index.path": Path("2024")}
    loaded = load(["index.path=other"], environment={}, options=options)
    assert loaded.settings.index.path == Path("2024")
    assert loaded.origins["index.path"] == "an argument"


def test_unknown_variable_is_an_error():
    with pytest.raises(SettingsError, match=r"unknown setting igp\.nope \(from SUFFICIT_IGP__NOPE\)"):
        load(environment={"SUFFICIT_IGP__NOPE": "1"})


def test_missing_and_broken_files(tmp_path: Path):
    with pytest.raises(SettingsError, match="no settings file"):
        load(config=tmp_path / "absent.toml", environment={})
    broken = tmp_path / "broken.toml"
    broken.write_text("[igp\n")
    with pytest.raises(SettingsError, match="cannot read the settings file"):
        load(config=broken, environment={})


def test_dumped_settings_load_back():
    settings = load(["igp.threshold=-inf"], environment={}).settings
    assert Settings.model_validate(settings.model_dump(mode="json")) == settings
    assert set(keys()) == set(flat(settings))


def test_a_similarity_gate_needs_a_threshold():
    with pytest.raises(SettingsError, match="needs a threshold"):
        load(["rinse.method=similarity"], environment={})
    assert load(["rinse.method=similarity", "rinse.threshold=0.6"], environment={}).settings.rinse.threshold
