import pytest
from hypothesis import given
from hypothesis import strategies as st
from sufficit.controller.budget import BudgetSettings, Ledger
from sufficit.tools.errors import BudgetExhausted


def ledger(**limits: float) -> Ledger:
    return Ledger(BudgetSettings(**limits))


def test_spending_over_the_limit_is_refused_and_takes_nothing():
    account = ledger(model_calls=2)
    account.spend("model_calls", 2)
    with pytest.raises(BudgetExhausted, match=r"budget\.model_calls = 2"):
        account.spend("model_calls")
    assert account.left("model_calls") == 0


def test_clock():
    now = [10.0]
    account = Ledger(BudgetSettings(seconds=5), clock=lambda: now[0])
    now[0] = 13.0
    assert account.elapsed == 3.0
    assert account.account().left["seconds"] == 2.0
    now[0] = 20.0
    assert account.account().left["seconds"] == 0.0


def test_a_purse_holds_its_amount_and_gives_back_what_is_left():
    account = ledger(model_calls=10, generated_tokens=100)
    price = {"model_calls": 2, "generated_tokens": 64}
    purse = account.purse(price)
    assert account.left("generated_tokens") == 36
    purse.spend("generated_tokens", 10)
    purse.spend("model_calls", 2)
    with pytest.raises(BudgetExhausted):
        purse.spend("model_calls")
    account.take_back(purse, price)
    assert account.spent() | {"rounds": 0} == {
        "rounds": 0,
        "passages": 0,
        "web_fetches": 0,
        "generated_tokens": 10,
        "model_calls": 2,
    }


@given(st.lists(st.integers(min_value=0, max_value=9)), st.integers(min_value=0, max_value=50))
def test_no_sequence_of_spending_goes_over(amounts: list[int], allowed: int):
    account = ledger(generated_tokens=allowed)
    for amount in amounts:
        try:
            account.spend("generated_tokens", amount)
        except BudgetExhausted:
            assert account.left("generated_tokens") < amount
        assert account.spent()["generated_tokens"] <= allowed
