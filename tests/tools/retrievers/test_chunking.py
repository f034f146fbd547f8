from hypothesis import given
from hypothesis import strategies as st
from sufficit.tools.retrievers.chunking import WHOLE_WORDS, passage_spans

SENTENCE = "The keeper of the north light counts nine ships before noon. "  # 11 words


def cut(text: str, start: int = 0) -> list[str]:
    return [text[a:b] for a, b in passage_spans(text, start)]


def test_a_short_document_is_one_passage_without_outer_space():
    assert cut("\n  One two. Three.  \n") == ["One two. Three."]
    assert len(cut("word. " * WHOLE_WORDS)) == 1


def test_long_text_is_cut_at_sentence_ends_into_even_passages():
    passages = cut(SENTENCE * 100)
    assert len(passages) == 11
    assert all(passage.endswith(".") for passage in passages)
    assert all(85 <= len(passage.split()) <= 115 for passage in passages)


def test_abbreviations_and_initials_end_no_sentence():
    text = "She wrote to Dr. A. B. Smith about the old mill and its wheel again today. " * 30
    assert all(passage.endswith("today.") for passage in cut(text))


def test_text_without_sentence_ends_is_cut_between_words():
    passages = cut("alpha beta " * 500)
    assert len(passages) == 10
    assert all(len(passage.split()) == 100 for passage in passages)


def test_a_run_without_spaces_does_not_become_one_passage():
    assert max(map(len, cut("x" * 100_000))) <= 40 * WHOLE_WORDS


def test_scripts_without_spaces_are_cut_at_their_full_stops():
    passages = cut("灯台守は正午までに九隻の船を数える。" * 60)
    assert len(passages) > 3
    assert all(passage.endswith("。") for passage in passages)


def test_headings_and_list_items_begin_passages_rather_than_end_them():
    text = "\n".join(
        f"# Part {n}\n\nSome words about it without any stop at all " + "more " * 30 for n in range(12)
    )
    assert all(passage.startswith("# Part") for passage in cut(text))


def test_nothing_but_space_gives_nothing():
    assert cut(" \n\t ") == cut("") == []


def test_only_what_follows_start_is_cut():
    assert passage_spans("front matter body", 13) == [(13, 17)]


@given(st.text(alphabet=st.sampled_from("ab .!?\n\"'#-。水ก1"), max_size=4000), st.integers(0, 50))
def test_spans_hold_everything_but_white_space(text: str, start: int):
    spans = passage_spans(text, start)
    position = min(start, len(text))
    for a, b in spans:
        assert position <= a < b <= len(text)
        assert not text[position:a].strip()
        assert text[a:b] == text[a:b].strip()
        position = b
    assert not text[position:].strip()
