import pytest
from sufficit.policies.names import names


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where was Ada Lovelace born?", ("Ada", "Lovelace")),
        ("Ada, or who, wrote it?", ()),
        ("Quick question: Who won in 1994? Please be brief.", ("1994",)),
        ("Who supported WW-II movements?", ("WW-II",)),
        ("who sang it", ()),
        ("Is Ada older than Ada's mother?", ("Ada", "Ada's")),
    ],
)
def test_names_have_a_capital_or_a_digit_and_begin_no_sentence(question, expected):
    assert names(question) == expected
