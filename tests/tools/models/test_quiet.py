import pytest
from sufficit.tools.models.quiet import quiet
from transformers.utils import logging


@pytest.fixture(autouse=True)
def as_before():
    bars, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    yield
    (logging.enable_progress_bar if bars else logging.disable_progress_bar)()
    logging.set_verbosity(verbosity)


def state():
    return logging.is_progress_bar_enabled(), logging.get_verbosity()


@pytest.mark.parametrize("bars", [True, False])
def test_silent_inside_and_as_before_afterwards(bars):
    (logging.enable_progress_bar if bars else logging.disable_progress_bar)()
    logging.set_verbosity_info()
    with quiet():
        assert state() == (False, logging.ERROR)
        with quiet():
            pass
        assert state() == (False, logging.ERROR)
    assert state() == (bars, logging.INFO)


def test_an_error_inside_leaves_nothing_silent():
    logging.enable_progress_bar()
    logging.set_verbosity_warning()
    with pytest.raises(ZeroDivisionError), quiet():
        raise ZeroDivisionError
    assert state() == (True, logging.WARNING)
