import pytest
from sufficit.controller.layers import flatten, parse_assignment, put
from sufficit.tools.errors import SettingsError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("0.5", 0.5),
        ("true", True),
        ("-inf", float("-inf")),
        ("none", None),
        ("NULL", None),
        ('"3"', "3"),
        ("Qwen/Qwen2.5", "Qwen/Qwen2.5"),
        ("[1, 2]", [1, 2]),
        ("a = b", "a = b"),
        ("", ""),
    ],
)
def test_a_value_is_toml_or_else_text(text: str, value: object):
    assert parse_assignment(f"some.key = {text}") == ("some.key", value)


def test_an_assignment_needs_its_sign():
    with pytest.raises(SettingsError, match="key=value"):
        parse_assignment("some.key")


def test_put_and_flatten_are_inverse():
    tree: dict[str, object] = {}
    put(tree, "a.b.c", 1)
    put(tree, "a.d", 2)
    assert dict(flatten(tree)) == {"a.b.c": 1, "a.d": 2}
    with pytest.raises(SettingsError, match="is a value"):
        put(tree, "a.d.e", 3)
