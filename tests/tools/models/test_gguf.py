from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader, dequantize
from safetensors import safe_open
from sufficit.tools.errors import InputError
from sufficit.tools.models import store
from sufficit.tools.models.fingerprint import fingerprint, remembered_sha256
from sufficit.tools.models.gguf import CONVERSION, convert
from transformers import AutoTokenizer

NAME = "smollm2-135m-instruct"


@pytest.fixture(scope="module")
def source() -> Path:
    return store.install(NAME)


@pytest.fixture(scope="module")
def converted(source: Path) -> Path:
    return convert(source)


def test_weights_are_the_dequantised_ones(source: Path, converted: Path) -> None:
    tensors = {tensor.name: tensor for tensor in GGUFReader(source).tensors}
    with safe_open(converted / "model.safetensors", "np") as weights:
        for theirs, ours in (
            ("blk.3.ffn_down.weight", "model.layers.3.mlp.down_proj.weight"),
            ("output_norm.weight", "model.norm.weight"),
        ):
            expected = dequantize(tensors[theirs].data, tensors[theirs].tensor_type)
            found = weights.get_tensor(ours)
            assert found.dtype == np.float32
            np.testing.assert_array_equal(found, expected.reshape(found.shape))


def test_numbers_are_split_into_digits(converted: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(converted)
    assert tokenizer.tokenize("In 1987, x86") == [
        *("In", "Ġ", "1", "9", "8", "7", ",", "Ġx", "8", "6"),
    ]
    # Byte level alone takes a numeric sign and the space before it together; the model never saw that.
    assert tokenizer.tokenize("7 ½ km ²") == ["7", "Ġ", "Â½", "Ġkm", "Ġ", "Â²"]


def test_the_fingerprint_is_the_sources(source: Path, converted: Path) -> None:
    assert fingerprint(converted) == f"gguf-{remembered_sha256(source)}-{CONVERSION}"


def test_a_second_conversion_does_nothing(source: Path, converted: Path) -> None:
    before = (converted / "model.safetensors").stat().st_mtime_ns
    assert convert(source) == converted
    assert (converted / "model.safetensors").stat().st_mtime_ns == before


def test_a_damaged_file_leaves_nothing(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICIT_CACHE_DIR", str(tmp_path / "cache"))
    for name, content in (("text.gguf", b"no model at all"), ("cut.gguf", source.read_bytes()[:100_000])):
        damaged = tmp_path / name
        damaged.write_bytes(content)
        with pytest.raises(InputError, match=name):
            convert(damaged)
    assert [path.suffix for path in (tmp_path / "cache" / "converted").iterdir()] == [".lock"] * 2
