import asyncio
from dataclasses import replace

import pytest
from rinse_data import PROMPT, training_data
from sufficit.policies.rinse.artifact import Backbone
from sufficit.policies.rinse.content import wordpieces_fingerprint
from sufficit.policies.rinse.fit import fit_artifact
from sufficit.policies.rinse.scorer import Rinse, build_rinse
from sufficit.policies.rinse.training import FitSettings
from sufficit.policies.types import Reading, WindowCoverage
from sufficit.tools.errors import ArtifactError, InputError, ModelOutputError
from sufficit.tools.types import Passage

BACKBONES = {name: Backbone(name, f"{name}-hash") for name in ("wordpieces", "reranker", "encoder")}
PASSAGES = [Passage(id=str(i), text="x") for i in range(3)]
WINDOW = WindowCoverage("who is", 0.5, 0.1)


class _Says:
    def __init__(self, name, raw, coverage=(), waits=None):
        self.name, self.raw, self.coverage, self.waits = name, raw, coverage, waits

    async def read(self, question, passages):
        if self.waits:
            await self.waits.wait()
        return Reading(self.raw, self.coverage)


@pytest.fixture(scope="module")
def artifact():
    return fit_artifact(training_data(width=576), FitSettings((PROMPT,)), BACKBONES, {})


async def test_the_score_is_the_sum_of_standardised_parts(artifact):
    rinse = Rinse(artifact, [_Says("content", 0.7, (WINDOW,)), _Says("latent", 0.2)])
    report = await rinse.score("q", PASSAGES)
    by_hand = 0.0
    for name, raw in (("content", 0.7), ("latent", 0.2)):
        standard = artifact.standards[name]
        by_hand += (raw - standard.curve.at(3) - standard.mu) / standard.sigma
    assert report.score == pytest.approx(by_hand)
    assert [part.reader for part in report.readers] == ["content", "latent"]
    assert report.coverage == (WINDOW,)
    assert report.passages == 3
    assert report.threshold == artifact.thresholds["content+latent"].value
    assert report.sufficient == (by_hand >= report.threshold)


async def test_no_evidence_has_no_score_and_never_suffices(artifact):
    report = await Rinse(artifact, [_Says("content", 0.7)], threshold=-1e9).score("q", [])
    assert report.score is None
    assert not report.sufficient


@pytest.mark.parametrize("text", ["", " \n"])
async def test_an_empty_passage_is_refused(artifact, text):
    passages = [*PASSAGES, Passage(id="blank", text=text)]
    with pytest.raises(InputError, match="'blank' is empty"):
        await Rinse(artifact, [_Says("content", 0.7)]).score("q", passages)


@pytest.mark.parametrize("raw", [float("nan"), float("inf")])
async def test_nan_is_an_error_that_names_the_reader(artifact, raw):
    with pytest.raises(ModelOutputError, match="latent reader"):
        await Rinse(artifact, [_Says("content", 0.7), _Says("latent", raw)]).score("q", PASSAGES)


async def test_readers_run_side_by_side(artifact):
    """The first reader waits for the second: one after the other would never end."""
    ready = asyncio.Event()

    class _Wakes(_Says):
        async def read(self, question, passages):
            ready.set()
            return Reading(self.raw)

    rinse = Rinse(artifact, [_Says("content", 0.1, waits=ready), _Wakes("latent", 0.1)])
    report = await asyncio.wait_for(rinse.score("q", PASSAGES), 5)
    assert report.score is not None


def test_fewer_readers_take_their_own_threshold(artifact):
    assert artifact.thresholds["content"].value != artifact.thresholds["content+latent"].value
    alone = Rinse(artifact, [_Says("content", 0.1)])
    report = asyncio.run(alone.score("q", PASSAGES))
    assert report.threshold == artifact.thresholds["content"].value


def test_a_reader_that_the_artifact_lacks_is_refused(artifact):
    with pytest.raises(ArtifactError, match="span"):
        Rinse(artifact, [_Says("span", 0.1)])
    with pytest.raises(ArtifactError):
        Rinse(artifact, [])


async def test_real_backbones_from_question_to_report(artifact, wordpieces, reranker, encoder):
    fitted = replace(
        artifact,
        backbones={
            "wordpieces": Backbone("w", wordpieces_fingerprint(wordpieces)),
            "reranker": Backbone("r", reranker.fingerprint),
            "encoder": Backbone("e", encoder.fingerprint),
        },
    )
    rinse = build_rinse(fitted, wordpieces, reranker, encoder)
    passages = [Passage(id="1", text="Ada Voss is the mayor of Arden."), Passage(id="2", text="A river.")]
    report = await rinse.score("Who is the mayor of Arden?", passages)
    assert [part.reader for part in report.readers] == ["content", "latent"]
    assert len(report.coverage) == 2
    alone = await build_rinse(fitted, wordpieces, reranker, None).score(
        "Who is the mayor of Arden?", passages
    )
    assert [part.reader for part in alone.readers] == ["content"]
    assert alone.readers[0] == report.readers[0]


class _Model:
    fingerprint = "unlike"


@pytest.mark.parametrize("part", ["reranker", "encoder", "span", "joint"])
def test_wrong_backbones_are_refused(artifact, wordpieces, reranker, part):
    with pytest.raises(ArtifactError, match="another wordpieces"):
        build_rinse(artifact, wordpieces, reranker, None)
    known = {
        "wordpieces": Backbone("w", wordpieces_fingerprint(wordpieces)),
        "reranker": Backbone("r", reranker.fingerprint),
    }
    models = {"reranker": reranker, "encoder": None} | {part: _Model()}
    with pytest.raises(ArtifactError, match=f"another {part}"):
        build_rinse(replace(artifact, backbones=known), wordpieces, **models)
