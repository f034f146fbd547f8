import pytest
from evaluations import configuration
from sufficit.controller.evaluation.runs.claim import claimed, enter
from sufficit.controller.evaluation.runs.folder import DataHeader, RunFolder
from sufficit.tools.errors import InputError

DATA = DataHeader(file="q.jsonl", format="plain JSON", hash="d" * 64, questions=3)
MODELS = {"generator": "scripted"}


@pytest.fixture
def folder(tmp_path):
    return RunFolder(tmp_path / "deep" / "out")


def entered(folder, *configurations, data=DATA):
    with claimed(folder, data, configurations):
        return [enter(folder, one, MODELS) for one in configurations]


def test_a_new_folder_is_made_with_a_header_before_any_model_is_loaded(folder):
    with claimed(folder, DATA, [configuration()]):
        header = folder.read_header()
        assert (header.data, header.configurations) == (DATA, {})


def test_entering_writes_down_what_a_configuration_runs_on(folder):
    (entry,) = entered(folder, configuration("low", "igp.threshold=0.01"))
    assert folder.read_header().configurations == {"low": entry}
    assert (entry.models, entry.settings) == (MODELS, {"igp.threshold": 0.01})


def test_what_was_entered_stays_as_others_come(folder):
    entered(folder, configuration("b"))
    before = folder.header.read_bytes()
    entered(folder, configuration("b"))
    assert folder.header.read_bytes() == before
    entered(folder, configuration("a"))
    assert list(folder.read_header().configurations) == ["b", "a"]


def test_one_run_at_a_time_and_the_folder_is_free_after_an_error(folder):
    with claimed(folder, DATA, []), pytest.raises(InputError, match="another process is running"):
        entered(folder)
    with pytest.raises(ZeroDivisionError), claimed(folder, DATA, []):
        raise ZeroDivisionError
    # What was raised keeps the lock alive: only a release lets it go.
    with pytest.raises(InputError, match="holds another run") as refused:
        entered(folder, data=DATA.model_copy(update={"questions": 4}))
    entered(folder)
    assert refused.tb


def test_the_same_questions_may_lie_elsewhere(folder):
    entered(folder)
    entered(folder, data=DATA.model_copy(update={"file": "/elsewhere/q.jsonl"}))
    assert folder.read_header().data == DATA


def test_a_folder_that_holds_nothing_but_a_lock_is_free(folder):
    folder.path.mkdir(parents=True)
    (folder.path / ".lock").touch()
    entered(folder)
    assert folder.header.exists()


def test_what_a_kill_left_half_written_is_no_run_and_goes(folder):
    folder.path.mkdir(parents=True)
    header = folder.path / ".run.json.7.partial"
    header.write_text("{")
    entered(folder, configuration("full"))
    traces = folder.path / "full" / ".traces.jsonl.7.partial"
    traces.parent.mkdir()
    traces.write_text("{")
    entered(folder, configuration("full"))
    assert not header.exists()
    assert not traces.exists()


def test_a_damaged_header_is_kept_and_the_folder_let_go(folder):
    folder.path.mkdir(parents=True)
    folder.header.write_text("{")
    for _ in range(2):
        with pytest.raises(InputError, match="is damaged"):
            entered(folder)
    assert folder.header.read_text() == "{"


def test_other_models_are_named_and_not_written(folder):
    entered(folder, configuration())
    before = folder.header.read_bytes()
    with pytest.raises(InputError, match=r'full: models\.generator was "scripted", is null'):
        enter(folder, configuration(), {})
    assert folder.header.read_bytes() == before


@pytest.mark.parametrize(("data", "more"), [("d", False), ("e", True)])
def test_four_differences_are_shown_and_whether_there_are_more(folder, data, more):
    entered(folder, configuration())
    changes = [f"budget.{name}=7" for name in ("rounds", "passages", "web_fetches")]
    with pytest.raises(InputError) as raised:
        entered(folder, configuration("full", *changes, data=data * 64))
    _, _, differing = str(raised.value).partition("full: ")
    differing, _, _ = differing.partition(".\nChoose another --out")
    shown = differing.split("; ")
    assert len([one for one in shown if " was " in one]) == 4
    assert (shown[-1] == "…") == more
