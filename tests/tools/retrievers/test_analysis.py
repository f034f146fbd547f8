import pytest
from sufficit.tools.retrievers.analysis import analyze


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The Directors directed", ["director", "direct"]),
        ("what is the", []),
        ("O'Brien's café in Łódź", ["o", "brien", "cafe", "lodz"]),
        ("AI技術", ["ai", "技", "術"]),
        ("サッカー", ["サ", "ッ", "カ", "ー"]),
        ("서울은", ["서", "울", "은"]),
        ("I ❤️ 🍕 🇫🇷🇩🇪", ["i", "❤", "🍕", "🇫🇷", "🇩🇪"][1:]),
        ('\x00 \ud800 +-&&||!(){}[]^"~*?:\\/', []),
    ],
)
def test_terms(text: str, terms: list[str]):
    assert analyze(text) == terms


@pytest.mark.parametrize(("one", "other"), [("القاهرةُ", "القاهرة"), ("cafe\u0301", "café"), ("ﬁlm", "film")])
def test_spellings_that_are_one_word(one: str, other: str):
    assert analyze(one) == analyze(other) != []


def test_long_runs_are_no_terms():
    assert analyze("a" * 5000) == []
