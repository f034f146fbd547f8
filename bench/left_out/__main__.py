"""RINSE where nothing has seen the family that it scores: neither readers nor head, scale or direction.

    python bench/left_out PLAN --out DIR [--jobs N]

PLAN is a TOML file like `plan.toml` beside this one, with the folder of its data. For every family: train
the readers without it, fit without it, and score its pairs, alone and with passages added. Then the ablation
of the readers, the comparison with the baselines, and growth, as `DIR/*.md`. All of it goes on where it was
killed, and N commands (one a core) run side by side.
"""

import argparse
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Command = list[str]


@dataclass(frozen=True)
class Campaign:
    """Where everything lies, and what is to be done."""

    plan: Mapping[str, Any]
    out: Path

    @property
    def families(self) -> list[str]:
        """Those that are left out, one at a time."""
        return list(self.plan["families"])

    def files(self, family: str) -> list[str]:
        """The family's files in their own format."""
        data = Path(self.plan["data"]).expanduser()
        return [str(data / name) for name in self.plan["families"][family]["files"]]

    def pairs(self, family: str) -> list[str]:
        """The family's contrasts, one file a construction."""
        made = self.plan["families"][family]["constructions"]
        return [str(self.out / "pairs" / f"{family}-{construction}.jsonl") for construction in made]

    def reader(self, kind: str, family: str) -> Path:
        """The reader of this kind that has not seen the family."""
        return self.out / "readers" / family / kind

    def readers(self, family: str) -> list[str]:
        """Settings under which RINSE stands on the readers that have not seen the family."""
        models = {kind: str(self.reader(kind, family)) for kind in self.plan["readers"]}
        if self.plan["latent_groups"]:
            models["encoder"] = self.plan["encoder"]
        return [part for kind, model in models.items() for part in ("--set", f"rinse.{kind}={model}")]

    def groups(self, use: str) -> list[str]:
        """How many groups of every family, or of every family and construction, are used for this."""
        return ["--groups", str(self.plan["groups"][use])]

    def build(self) -> Iterator[Command]:
        """The contrasts of every family."""
        for family in self.families:
            for construction, path in zip(
                self.plan["families"][family]["constructions"], self.pairs(family), strict=True
            ):
                if not Path(path).exists():
                    kind = ["--construction", construction, "--family", family, "--out", path]
                    yield ["contrasts", "build", *self.files(family), *kind]

    def train(self) -> Iterator[Command]:
        """Every reader without every family."""
        data = [
            part
            for family in self.families
            for file in self.files(family)
            for part in ("--data", f"{family}={file}")
        ]
        for kind, options in self.plan["readers"].items():
            chosen = [part for name, value in options.items() for part in (f"--{name}", str(value))]
            for family in self.families:
                folder = self.reader(kind, family)
                # A reader is whole once its checkpoint is gone.
                if not folder.exists() or folder.with_name(f"{kind}.checkpoint").exists():
                    away = ["--leave-out", family]
                    away += [part for path in self.pairs(family) for part in ("--evaluation", path)]
                    yield ["train-reader", kind, *data, *away, *chosen, "--out", str(folder)]

    def fit(self) -> Iterator[Command]:
        """The scorer without every family."""
        pairs = [part for f in self.families for path in self.pairs(f) for part in ("--pairs", path)]
        for family in self.families:
            folder = self.out / "artifacts" / family
            if not folder.exists():
                where = ["--out", str(folder), "--cache", str(self.out / "features.db")]
                latent = ["--latent-groups", str(self.plan["latent_groups"])]
                away = ["--leave-out", family, *self.groups("fit"), *latent, *self.readers(family)]
                yield ["fit", *pairs, *away, *where]

    def score(self) -> Iterator[Command]:
        """Every family by the scorer that has not seen it, alone and with more passages, and by baselines."""
        for family in self.families:
            rinse = [*self.readers(family), "--set", f"rinse.artifact={self.out / 'artifacts' / family}"]
            own = [*self.pairs(family), "--scorer", "rinse", *rinse]
            yield ["contrasts", "score", *own, *self.groups("rinse"), "--out", self.scores("rinse", family)]
            yield [
                "contrasts",
                "grow",
                *own,
                *self.groups("grown"),
                "--out",
                str(self.out / "grown" / family),
            ]
            for baseline in self.plan["baselines"]:
                other = [*self.pairs(family), "--scorer", baseline, *self.groups("baselines")]
                yield ["contrasts", "score", *other, "--out", self.scores(baseline, family)]

    def scores(self, scorer: str, family: str) -> str:
        """The file of one scorer's scores of one family."""
        return str(self.out / "scores" / f"{scorer}-{family}.jsonl")

    def report(self) -> Iterator[Command]:
        """The ablation, and the comparison."""
        own = [self.scores("rinse", family) for family in self.families]
        others = [self.scores(name, family) for name in self.plan["baselines"] for family in self.families]
        beside = [part for path in others for part in ("--against", path)]
        alone = ["--reference", "content"]
        yield ["contrasts", "ablate", *own, *beside, *alone, "--markdown", str(self.out / "ablation.md")]
        yield ["contrasts", "report", *own, *others, "--markdown", str(self.out / "comparison.md")]
        grown = sorted(map(str, (self.out / "grown").glob("*/*.jsonl")))
        yield ["contrasts", "report", *grown, "--markdown", str(self.out / "growth.md")]


def run(commands: Sequence[Command], out: Path, jobs: int) -> None:
    """Run all, `jobs` at a time, each with its share of the cores; exits where one fails."""
    share = str(max(1, (os.cpu_count() or 1) // jobs))
    environment = os.environ | {"OMP_NUM_THREADS": share}

    def one(command: Command) -> None:
        print("sufficit", *command, flush=True)
        with (out / "log.txt").open("a") as log:
            whole = [sys.executable, "-m", "sufficit.controller", *command]
            done = subprocess.run(whole, env=environment, stdout=log, stderr=log, check=False)
        if done.returncode:
            sys.exit(f"`sufficit {command[0]}` failed, {log.name} says why; run this again to go on")

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, commands))


def main() -> None:
    """Every stage after the one before it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("plan", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    campaign = Campaign(tomllib.loads(given.plan.read_text()), given.out)
    for folder in ("pairs", "readers", "artifacts", "scores", "grown"):
        (given.out / folder).mkdir(parents=True, exist_ok=True)
    for stage in (campaign.build, campaign.train, campaign.fit, campaign.score, campaign.report):
        run(list(stage()), given.out, given.jobs)


if __name__ == "__main__":
    main()
