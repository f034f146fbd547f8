import json

import pytest
from prediction_rows import row, write_run
from sufficit.tools.errors import InputError


def test_a_run_of_another_release_is_refused(tmp_path):
    folder = write_run(tmp_path / "run", {"full": [row("q")]})
    header = json.loads(folder.header.read_text())
    folder.header.write_text(json.dumps(header | {"version": 1}))
    with pytest.raises(InputError, match="written by another release: its version is 1, not 4"):
        folder.read_predictions()


@pytest.mark.parametrize("text", ["{}", "no JSON", '{"version": 2}'])
def test_a_damaged_header_is_named(tmp_path, text):
    folder = write_run(tmp_path / "run", {"full": [row("q")]})
    folder.header.write_text(text)
    with pytest.raises(InputError, match="is damaged"):
        folder.read_predictions()
