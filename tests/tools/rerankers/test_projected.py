from pathlib import Path

import numpy as np
import pytest
import torch
from sufficit.tools.errors import ArtifactError, InputError, ModelMissing
from sufficit.tools.readers import adapted
from sufficit.tools.rerankers.biencoder import BiEncoderReranker
from sufficit.tools.rerankers.opening import open_reranker, whole_texts
from sufficit.tools.rerankers.projected import ProjectedReranker, Projection
from tiny_encoder import save_encoder

QUERIES = ["who is the mayor ?", "the river"]
TEXTS = ["the mayor of arden is ada", "the river in belmar is long", "", "old bridge " * 60]


def saved(folder: Path, matrix: torch.Tensor) -> str:
    """A trained reranker over a tiny encoder."""
    encoder = save_encoder(folder / "encoder")
    head = {"project.weight": matrix}
    adapted.save(folder / "reranker", {}, head, adapted.Trained("reranker", str(encoder), {}))
    return str(folder / "reranker")


@pytest.fixture
def matrix() -> torch.Tensor:
    torch.manual_seed(3)
    return torch.randn(16, 16)


async def test_untrained_it_is_the_encoder(tmp_path: Path) -> None:
    reranker = ProjectedReranker.load(saved(tmp_path, Projection(16).project.weight), threads=1)
    plain = await reranker.encoder.score(QUERIES, TEXTS)
    assert np.allclose(await reranker.score(QUERIES, TEXTS), plain, atol=1e-6)


async def test_scores_are_cosines_of_mapped_vectors(tmp_path: Path, matrix: torch.Tensor) -> None:
    reranker = ProjectedReranker.load(saved(tmp_path, matrix), threads=1)
    scores = await reranker.score(QUERIES, TEXTS)
    assert scores.dtype == np.float32
    half = matrix.half().float().numpy()
    queries, texts = [[rows @ half.T for rows in reranker.encoder.embed(some)] for some in (QUERIES, TEXTS)]
    assert len(texts[3]) > 1  # the last is longer than the encoder reads
    for i, asked in enumerate(queries):
        for j, windows in enumerate(texts):
            lengths = np.linalg.norm(asked, axis=1)[:, None] * np.linalg.norm(windows, axis=1)
            assert scores[i, j] == pytest.approx((asked @ windows.T / lengths).max(), abs=1e-5)


async def test_a_text_is_encoded_once_for_it_and_for_what_compares_whole_texts(
    tmp_path: Path, matrix: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    reranker = ProjectedReranker.load(saved(tmp_path, matrix), threads=1)
    seen: list[str] = []
    encode = reranker.encoder._encode
    monkeypatch.setattr(reranker.encoder, "_encode", lambda texts: seen.extend(texts) or encode(texts))
    await reranker.score(QUERIES, TEXTS)
    await whole_texts(reranker).score(QUERIES, TEXTS)
    assert sorted(seen) == sorted([*QUERIES, *TEXTS])


async def test_nothing_to_score(tmp_path: Path, matrix: torch.Tensor) -> None:
    reranker = ProjectedReranker.load(saved(tmp_path, matrix), threads=1)
    assert (await reranker.score([], TEXTS)).shape == (0, 4)
    assert (await reranker.score(QUERIES, [])).shape == (2, 0)


def test_it_is_opened_by_its_folder_and_its_fingerprint_covers_the_map(tmp_path: Path) -> None:
    one = open_reranker(saved(tmp_path / "one", torch.eye(16)), threads=1)
    two = open_reranker(saved(tmp_path / "two", 2 * torch.eye(16)), threads=1)
    assert isinstance(one, ProjectedReranker)
    assert isinstance(two, ProjectedReranker)
    assert one.encoder.fingerprint == two.encoder.fingerprint
    assert len({one.fingerprint, two.fingerprint, one.encoder.fingerprint}) == 3


def test_what_compares_whole_texts_is_the_encoder_or_the_reranker_itself(tmp_path: Path) -> None:
    trained = open_reranker(saved(tmp_path, torch.eye(16)), threads=1)
    assert isinstance(whole_texts(trained), BiEncoderReranker)
    plain = open_reranker("all-minilm-l6-v2", threads=1)
    assert whole_texts(plain) is plain


def test_a_map_of_another_width_and_another_kind_of_reader_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="head does not fit"):
        open_reranker(saved(tmp_path / "narrow", torch.eye(8)))
    folder = saved(tmp_path / "span", torch.eye(16))
    file = Path(folder) / "reader.json"
    file.write_text(file.read_text().replace('"kind": "reranker"', '"kind": "span"'))
    with pytest.raises(ArtifactError, match="holds a span reader, not a reranker"):
        open_reranker(folder)


def test_a_folder_that_is_no_reader_is_no_trained_reranker(tmp_path: Path) -> None:
    with pytest.raises((ArtifactError, InputError, ModelMissing)):
        ProjectedReranker.load(str(tmp_path / "nothing"))
