import json

import numpy as np
import pytest
from rinse_data import contrasts
from sufficit.controller.evaluation.readers.lessons import Lesson, lessons
from sufficit.controller.evaluation.readers.sources import trains
from sufficit.controller.settings import RinseSettings
from sufficit.policies.rinse.cache import FeatureCache
from sufficit.policies.rinse.measure import Backbones, Measurer
from sufficit.tools.errors import ArtifactError


def test_a_lesson_holds_the_share_of_its_families_questions():
    lesson = Lesson(frozenset({"one"}), 0.5, 17)
    held = [record for record in contrasts("one", 10) if lesson.holds(record)]
    assert 0 < len(held) < 20
    assert all(trains(record.question, 0.5, 17) for record in held)
    assert not any(lesson.holds(record) for record in contrasts("two", 10))


async def test_records_that_a_reader_has_learned_from_have_no_score_of_it(tmp_path):
    class Reader:
        fingerprint = "f"

        def pieces(self, text):
            return text.split()

        async def score(self, queries, texts):
            return np.zeros((len(queries), len(texts)))

        async def margins(self, question, texts):
            return np.ones(len(texts), np.float32)

        async def sufficiency(self, question, texts):
            return 2.0

    reader = Reader()
    lesson = Lesson(frozenset({"one"}), 0.5, 17)
    backbones = Backbones(
        reader, reader, None, dict.fromkeys(("wordpieces", "reranker", "span", "joint"), "n"),
        span=reader, joint=reader, learned={"joint": lesson},
    )  # fmt: skip
    with FeatureCache(tmp_path / "features.db") as cache:
        measurer = Measurer(backbones, cache)
        for record in [*contrasts("one", 6), *contrasts("two", 2)]:
            joint = {} if lesson.holds(record) else {"joint": 2.0}
            assert await measurer.raws(record) == {"span": 1.0} | joint


def test_lessons_are_read_from_the_reader_that_the_settings_name(tmp_path):
    told = {"families": ["one", "two"], "share": 0.75, "training": {"seed": 3}}
    header = {
        "kind": "joint",
        "encoder": "e",
        "encoder_fingerprint": "f",
        "weights_sha256": "w",
        "max_tokens": 192,
        "provenance": told,
    }
    (tmp_path / "reader.json").write_text(json.dumps(header))
    lesson = Lesson(frozenset({"one", "two"}), 0.75, 3)
    plain = RinseSettings(reranker="some/encoder", joint=str(tmp_path))
    assert lessons(plain) == {"joint": lesson}
    assert lessons(RinseSettings(reranker=str(tmp_path))) == {"reranker": lesson}
    assert lessons(RinseSettings(reranker="some/encoder", span="some/model")) == {}
    assert lessons(RinseSettings())["reranker"].families  # the packaged one tells too
    (tmp_path / "reader.json").write_text("{")
    with pytest.raises(ArtifactError, match="damaged"):
        lessons(RinseSettings(joint=str(tmp_path)))
