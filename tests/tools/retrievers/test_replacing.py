from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st
from sufficit.tools.retrievers.replacing import put, put_documents
from sufficit.tools.types import Passage


@dataclass
class Shelf:
    """Holds passages in the order in which they came, and does not mind two of one key."""

    held: list[Passage] = field(default_factory=list)

    def insert(self, passage):
        self.held.append(passage)

    def delete_keys(self, keys):
        gone = set(keys)
        self.held = [passage for passage in self.held if passage.key not in gone]

    def delete_sources(self, sources):
        gone = set(sources)
        self.held = [passage for passage in self.held if passage.source not in gone]

    def delete_expired(self, now):
        raise AssertionError("writing passages deletes nothing else")

    @property
    def texts(self):
        return " ".join(passage.text for passage in self.held)


def made(words):
    """A passage a word: `a1x` has the source a, the id 1 and the text x; `-` stands for no source."""
    return [
        Passage(id_, f"{source}{id_}{text}", source=source.strip("-"))
        for source, id_, text in (word.ljust(3) for word in words.split())
    ]


def written(words, before=""):
    shelf = Shelf(made(before))
    return put_documents(shelf, made(words), lambda _: None), shelf.texts.replace("  ", " ").split()


def test_a_passage_replaces_the_one_of_its_key_alone():
    shelf = Shelf(made("a0x a1x b0x"))
    put(shelf, made("a0y a0z c0x"))
    assert shelf.texts == "a1x b0x a0z c0x"


def test_a_document_replaces_all_that_was_there_of_it():
    assert written("a0y", before="a0x a1x b0x") == ((1, 0), ["b0x", "a0y"])


def test_a_document_whose_passages_are_apart_adds_up():
    assert written("a0x b0x a1x b1x") == ((4, 0), ["a0x", "b0x", "a1x", "b1x"])


def test_a_document_that_comes_again_replaces_its_earlier_self_whole():
    assert written("a0x a1x b0x a0y") == ((4, 1), ["b0x", "a0y"])


def test_a_key_that_comes_again_within_its_document_replaces_that_passage():
    assert written("a0x a1x a0y") == ((3, 1), ["a1x", "a0y"])
    assert written("a0x a1x b0x a2x a1y") == ((5, 1), ["a0x", "b0x", "a2x", "a1y"])


def test_passages_of_no_document_replace_their_like_alone():
    assert written("-0x -1x -0y", before="-0w -2w a0w") == ((3, 1), ["-2w", "a0w", "-1x", "-0y"])


def test_nothing_to_write_deletes_nothing():
    assert written("", before="a0x") == ((0, 0), ["a0x"])


def test_progress_is_told_every_two_hundred_passages_and_at_the_end():
    told = []
    put_documents(Shelf(), [Passage(str(n), "x", source="a") for n in range(401)], told.append)
    assert told == [200, 400, 401]


@given(st.lists(st.sampled_from(["a0", "a1", "b0", "b1", "-0", "-1"]), max_size=12))
def test_no_key_is_held_twice_and_the_last_of_each_source_stays(words):
    passages = [Passage(id_, str(n), source=of.strip("-")) for n, (of, id_) in enumerate(words)]
    shelf = Shelf()
    count, replaced = put_documents(shelf, passages, lambda _: None)
    keys = [passage.key for passage in shelf.held]
    assert len(keys) == len(set(keys)) <= count - replaced
    assert count - replaced == len({passage.key for passage in passages})
    last = {passage.source: passage for passage in passages}
    assert all(passage in shelf.held for passage in last.values())
