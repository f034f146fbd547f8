from sufficit.controller.held import HeldTools
from sufficit.controller.loading import load_tools
from sufficit.controller.settings import load
from sufficit.tools.models import store
from sufficit.tools.retrievers.embedded import EmbeddedIndex
from sufficit.tools.types import Passage


def test_a_tool_is_loaded_once_for_one_source_and_let_go_for_another():
    held, loaded = HeldTools(), []

    def load_as(name):
        assert not loaded or name != loaded[-1]
        loaded.append(name)
        return name

    assert [held.take("model", name, lambda name=name: load_as(name)) for name in "aabba"] == list("aabba")
    assert loaded == ["a", "b", "a"]


def test_settings_that_differ_in_policies_share_their_tools(tmp_path, generator):
    store.install("all-minilm-l6-v2")
    EmbeddedIndex.build(tmp_path / "index", [Passage("0", "Vell lies on the Rhine.", source="vell.md")])

    def settings(*changes):
        return load([f"index.path={tmp_path / 'index'}", *changes], environment={}).settings

    held = HeldTools()
    held.take("generator", settings().generator.model_dump_json(exclude={"answer_tokens"}), lambda: generator)
    first = load_tools(settings(), held)
    second = load_tools(settings("rinse.threshold=-inf", "igp.top_k=4", "generator.answer_tokens=8"), held)
    assert second.generator is first.generator is generator
    assert (second.readers, second.retriever) == (first.readers, first.retriever)
    third = load_tools(settings("rinse.artifact=embedded", "generator.threads=1", "rinse.span=none"), held)
    assert third.generator is not generator
    assert third.retriever is first.retriever
