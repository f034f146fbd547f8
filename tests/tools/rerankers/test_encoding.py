import json
from types import SimpleNamespace

from sufficit.tools.rerankers.encoding import batches, longest_input


def test_batches_are_sorted_and_complete() -> None:
    encodings = {"input_ids": [[0] * n for n in (2, 5, 1, 4, 3)]}
    assert list(batches(encodings, 2)) == [[1, 3], [4, 0], [2]]


def test_the_shortest_limit_holds(tmp_path) -> None:
    tokenizer = SimpleNamespace(model_max_length=int(1e30))
    config = SimpleNamespace(max_position_embeddings=512)
    assert longest_input(tmp_path, tokenizer, config) == 512
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 256}))
    assert longest_input(tmp_path, tokenizer, config) == 256
