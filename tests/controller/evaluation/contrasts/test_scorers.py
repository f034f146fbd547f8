import math
from dataclasses import fields

import pytest
from released import crag_evaluator, llama, nli_classifier, uar_heads
from sufficit.controller.evaluation.contrasts.scorers import SCORERS, ScorerOptions, build_scorer
from sufficit.controller.settings import load
from sufficit.tools.errors import InputError, SettingsError
from sufficit.tools.types import Passage

SETTINGS = load(
    ["generator.device=cpu", "generator.threads=1", "prompts.context_tokens=128"], None, {}
).settings
PASSAGES = [Passage("1", "ada voss is the mayor of arden ."), Passage("2", "the river is long .")]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("released")
    return {
        "llama": str(llama(root / "llama", added=("[Relevant]", "[Irrelevant]"))),
        "crag": str(crag_evaluator(root / "crag")),
        "nli": str(nli_classifier(root / "nli")),
        "heads": uar_heads(root / "heads"),
    }


ON_LLAMA = {
    "yes-no", "upr", "sufficient-context", "ragas", "self-rag", "uar", "p-true", "attribution",
    "semantic-entropy", "flare",
}  # fmt: skip


def options(name, folders):
    return ScorerOptions(
        model=folders["llama"] if name in ON_LLAMA else folders["crag"] if name == "crag" else None,
        entailment=folders["nli"] if name in {"attribution", "semantic-entropy"} else None,
        heads=folders["heads"] if name == "uar" else None,
    )


@pytest.mark.parametrize("name", sorted(ON_LLAMA | {"crag", "cosine", "idf-overlap"}))
async def test_every_scorer_runs_on_weights_of_its_shape(name, folders):
    built = build_scorer(name, SETTINGS, options(name, folders))
    assert built.scorer.name == name
    scored = await built.scorer.score("who is the mayor ?", PASSAGES)
    assert math.isfinite(scored.value)
    assert all(built.models.values())
    header = built.header("mine", at_once=2)
    assert (header.label, header.scorer, header.at_once) == ("mine", name, 2)


def test_every_scorer_is_tried_above_but_rinse():
    assert set(SCORERS) == ON_LLAMA | {"crag", "cosine", "idf-overlap", "rinse"}


async def test_rinse_names_the_families_that_it_was_fitted_on():
    settings = load(["rinse.encoder=none", "generator.threads=1"], None, {}).settings
    built = build_scorer("rinse", settings, ScorerOptions())
    assert built.fitted_on
    assert built.header().fitted_on == built.fitted_on
    scored = await built.scorer.score("Who is the mayor of Arden?", PASSAGES)
    assert scored.value == pytest.approx(sum(scored.terms.values()))


@pytest.mark.parametrize("name", ["rinse", "idf-overlap"])
async def test_much_evidence_and_a_question_of_one_token(name):
    changed = ["rinse.encoder=none", "rinse.joint=joint-minilm", "generator.threads=1"]
    built = build_scorer(name, load(changed, None, {}).settings, ScorerOptions())
    many = [Passage(str(number), f"Town {number} has mayor {number}.") for number in range(499)]
    long = Passage("long", "Ada Voss is the mayor of Arden. " * 1600)
    assert len(long.text) > 50_000
    scored = await built.scorer.score("Who?", [*many, long])
    assert math.isfinite(scored.value)


def test_another_wording_is_read_from_a_file_and_named_by_its_hash(folders, tmp_path):
    file = tmp_path / "template.txt"
    file.write_text("{question} {passages} ?")
    built = build_scorer("yes-no", SETTINGS, ScorerOptions(model=folders["llama"], template=file))
    assert built.models["template"]
    file.write_text("{question}")
    with pytest.raises(SettingsError, match=r"lacks \{passages\}"):
        build_scorer("yes-no", SETTINGS, ScorerOptions(model=folders["llama"], template=file))
    with pytest.raises(InputError, match="cannot be read"):
        build_scorer("yes-no", SETTINGS, ScorerOptions(model=folders["llama"], template=tmp_path / "none"))


@pytest.mark.parametrize("option", [field.name for field in fields(ScorerOptions)])
def test_an_option_without_use_is_refused(option):
    with pytest.raises(SettingsError, match=f"takes no --{option}"):
        build_scorer("idf-overlap", SETTINGS, ScorerOptions(**{option: "x"}))


@pytest.mark.parametrize("name", ["crag", "self-rag", "uar"])
def test_released_weights_must_be_named(name):
    with pytest.raises(SettingsError, match="--model"):
        build_scorer(name, SETTINGS, ScorerOptions())


def test_unknown_names_list_what_there_is():
    with pytest.raises(SettingsError, match="rinse, idf-overlap"):
        build_scorer("none", SETTINGS, ScorerOptions())
