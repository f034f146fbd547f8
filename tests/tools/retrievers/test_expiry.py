from dataclasses import replace

from sufficit.tools.retrievers.expiry import EXPIRES, until_later
from sufficit.tools.types import Passage

EARLY = Passage("0", "Fog.", "Rhine", "web:a", metadata={"fetched": 10, EXPIRES: 50})
LATE = replace(EARLY, metadata={"fetched": 5, EXPIRES: 90})


def test_the_same_text_keeps_the_later_expiry_and_the_rest_of_what_came_last():
    assert until_later(EARLY, LATE).metadata == {"fetched": 10, EXPIRES: 90}
    assert until_later(LATE, EARLY) is LATE
    assert until_later(EARLY, None) is EARLY


def test_another_text_or_title_and_what_never_expires_stay_as_they_came():
    for before in (replace(LATE, text="Ice."), replace(LATE, title="Po"), replace(LATE, metadata={})):
        assert until_later(EARLY, before) is EARLY
    own = replace(EARLY, source="a")
    assert until_later(own, replace(LATE, source="a")) is own
