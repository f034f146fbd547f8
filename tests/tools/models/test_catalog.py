from dataclasses import replace

import pytest
from sufficit.tools.models.catalog import CATALOG, EMBEDDED, CatalogEntry, Wheel

ENTRIES = list(CATALOG.values())
ONE, TWO = (Wheel("p", "1.0", digit * 64, size, "p/data") for digit, size in (("a", 30), ("b", 12)))


def test_a_model_is_as_large_as_its_wheels_and_known_by_the_last_one():
    entry = CatalogEntry("n", "s", "MIT", (ONE, TWO))
    assert (entry.size, entry.version_key) == (42, "b" * 12)
    assert replace(entry, wheels=(ONE,)).version_key == "a" * 12


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_wheel_is_pinned(entry):
    for wheel in entry.wheels:
        assert len(bytes.fromhex(wheel.sha256)) == 32
        assert wheel.sha256 == wheel.sha256.lower()
        assert wheel.size > 1_000_000
        assert wheel.version.count(".") == 2
    assert len({wheel.sha256 for wheel in entry.wheels}) == len(entry.wheels)
    assert CATALOG[entry.name] is entry
    assert entry.license


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_file_is_joined_from_files_and_a_folder_lies_in_one_wheel(entry):
    if entry.target:
        assert entry.target.endswith(".gguf")
        assert not any(wheel.member.endswith("/") for wheel in entry.wheels)
    else:
        assert len(entry.wheels) == 1
        assert entry.wheels[0].member.endswith("/")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_parts_are_in_order(entry):
    members = [wheel.member.rpartition("/")[2] for wheel in entry.wheels]
    if len(members) > 1:
        assert members == [f"{entry.target}.part{number:02d}" for number in range(len(members))]


def test_the_embedded_profile_needs_a_generator_and_an_encoder():
    assert EMBEDDED == ("smollm2-135m-instruct", "all-minilm-l6-v2")
