"""Transformers without its progress bars and warnings, which would stand in the middle of our own output."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import transformers.utils.logging

_logging: Any = transformers.utils.logging  # its functions carry no types


@contextmanager
def quiet() -> Iterator[None]:
    """Transformers silent inside the block, and as it was before afterwards."""
    bars, verbosity = _logging.is_progress_bar_enabled(), _logging.get_verbosity()
    _logging.disable_progress_bar()
    _logging.set_verbosity_error()
    try:
        yield
    finally:
        if bars:
            _logging.enable_progress_bar()
        _logging.set_verbosity(verbosity)
