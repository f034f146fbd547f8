"""All passages of a folder of question-answering data as one corpus, and its NQ questions with their labels.

    python bench/pruning/pool.py DATA OUT

DATA holds 2wiki/, musique/, squad/, nq/ and popqa/, each in its own format. OUT gets corpus.jsonl,
nq.qrels.tsv, and nq_tune.jsonl and nq_test.jsonl, 100 and 300 questions that are drawn apart, for
`sufficit index build`, `tune-threshold` and `eval igp`. A passage that stands in several places is one
document.
"""

import gzip
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SEED, TUNE, TEST = 5, 100, 300
Row = dict[str, Any]


def lines(path: Path) -> Iterator[Row]:
    """The rows of a JSON Lines file, also gzipped."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as stream:
        yield from map(json.loads, stream)


class Pool:
    """Documents by title and text, each under the first id it was given."""

    def __init__(self) -> None:
        self.documents: dict[tuple[str, str], str] = {}

    def add(self, title: str, text: str, name: str = "") -> str:
        """The passage's id."""
        return self.documents.setdefault((title, text.strip()), name or f"p{len(self.documents)}")

    def add_others(self, data: Path) -> None:
        """Everything but NQ and PopQA."""
        for row in lines(data / "2wiki/corpus.jsonl"):
            self.add(row["title"], row["text"], row["_id"])
        for name in ("dev_sample", "train_sample", "dev_small"):
            for row in json.loads((data / f"2wiki/{name}.json").read_text()):
                for title, sentences in row["context"]:
                    self.add(title, " ".join(sentences))
        for name in ("dev_200", "train_100"):
            for row in lines(data / f"musique/musique_ans_{name}.jsonl"):
                for part in row["paragraphs"]:
                    self.add(part["title"], part["paragraph_text"])
        for article in json.loads((data / "squad/dev-v2.0-half.json").read_text())["data"]:
            for part in article["paragraphs"]:
                self.add(article["title"], part["context"])


def main() -> None:
    """Pool, draw and write."""
    data, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    pool = Pool()
    pool.add_others(data)
    asked = [
        (row, [pool.add(part["title"], part["text"]) for part in row["ctxs"]])
        for row in lines(data / "nq/nq-open-oracle.jsonl.gz")
    ]
    for row in json.loads((data / "popqa/popqa_1000.json").read_text()):
        for part in row["paragraphs"]:
            pool.add(part["title"], part["text"])
    with (out / "corpus.jsonl").open("w") as stream:
        for (title, text), name in pool.documents.items():
            stream.write(json.dumps({"_id": name, "title": title, "text": text}) + "\n")
    order = list(range(len(asked)))
    random.Random(SEED).shuffle(order)
    labels = ["query-id\tcorpus-id\tscore"]
    for name, places in (("tune", order[:TUNE]), ("test", order[TUNE : TUNE + TEST])):
        with (out / f"nq_{name}.jsonl").open("w") as stream:
            for place in places:
                row, needed = asked[place]
                metadata = {"answers": row["answers"]}
                stream.write(json.dumps({"_id": f"nq{place}", "text": row["question"], "metadata": metadata}))
                stream.write("\n")
                labels += [f"nq{place}\t{document}\t1" for document in needed]
    (out / "nq.qrels.tsv").write_text("\n".join(labels) + "\n")


if __name__ == "__main__":
    main()
