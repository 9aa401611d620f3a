"""Each family of shipped models by one command: all its steps, one after the other, with the seeds that are shipped.

    python tools/train/everything.py english WORK      breakdown-en, lapsus_large; of WORK/wheels: `prepare.py`
    python tools/train/everything.py japanese WORK     breakdown-ja, from nothing
    python tools/train/everything.py semantic WORK     semantic-errors-en
    python tools/train/everything.py guidelines WORK   error-types and response-quality-en

LAPSUS_DATA names the folder with the corpora. The models end in WORK; steps that are done by themselves, side by side
or on other machines are the scripts that `--show` prints. `--steps N` sees on a processor, in minutes, that
all of it runs: on a few examples, N steps a network, from random numbers where WORK/wheels is not there.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import brief

from lapsus.annotators.model_files import SHIPPED, read_model

HERE: Final = Path(__file__).parent
FAMILIES: Final = ("english", "japanese", "semantic", "guidelines")
SEMANTIC_FOLDS: Final = 3


def main() -> int:
    """Run a family's steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("work", type=Path)
    parser.add_argument("--show", action="store_true", help="print the steps, and run none")
    parser.add_argument("--steps", type=int, help="of each network, on few examples")
    asked = parser.parse_args()
    if asked.steps:
        os.environ[brief.VARIABLE] = str(asked.steps)
    if not asked.show:
        _lay_out(asked.work)
    for script, *arguments in steps(asked.family, asked.work, bool(asked.steps)):
        sys.stdout.write(" ".join([f"{script}.py", *arguments]) + "\n")
        sys.stdout.flush()
        if not asked.show:
            subprocess.run([sys.executable, str(HERE / f"{script}.py"), *arguments], check=True)
    return 0


def _lay_out(work: Path) -> None:
    """What steps take from the models that are shipped: notices, and the pieces that Japanese is read in."""
    work.mkdir(parents=True, exist_ok=True)
    for notice in SHIPPED.glob("*.NOTICE"):
        (work / notice.name).write_bytes(notice.read_bytes())
    (work / "home.NOTICE").write_bytes((SHIPPED / "breakdown-en.NOTICE").read_bytes())
    pieces = read_model(SHIPPED / "breakdown-ja.lapsus")[1].files["tokenizer.json"]
    (work / "tokenizer.json").write_bytes(pieces)


def steps(family: str, work: Path, is_brief: bool = False) -> Iterator[tuple[str, ...]]:
    """The scripts of a family in their order, each with its arguments."""
    if family == "english":
        yield from _english(work, brief.settings(HERE / "english.yaml", is_brief))
    else:
        yield from {"japanese": _japanese, "semantic": _semantic, "guidelines": _guidelines}[family](work)


def _english(work: Path, config: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    here, home, weights = str(work), str(work / "home.lapsus"), str(work / "general")
    yield "prepare", here, "--wheels", str(work / "wheels")
    for seed in config["teachers"]["seeds"]:
        yield "english", "teach", here, str(seed)
    yield "english", "start", here
    for fold in range(config["folds"]["count"] + 1):  # the last one leaves nothing out
        for seed in config["student"]["seeds"]:
            yield "english", "distil", here, str(fold), str(seed)
    yield "english", "merge", here
    yield "english", "collect", here
    yield "export", here
    yield "calibrate", here, home
    yield "english_chat", here, weights
    yield "readers", "en", weights, home, str(work / "breakdown-en.lapsus")
    large, said = str(work / "large"), str(work / "said")
    yield "large_training", str(work / "teacher"), large, said
    yield "large", large, str(work / "lapsus_large"), said


def _japanese(work: Path) -> Iterator[tuple[str, ...]]:
    encoder, talk, weights = (str(work / name) for name in ("encoder", "talk", "weights"))
    yield "japanese_encoder", str(work / "tokenizer.json"), encoder, "--size", "small"
    yield "japanese_talk", encoder, talk
    yield "japanese_chat", talk, weights
    before, made = SHIPPED / "breakdown-ja.lapsus", work / "breakdown-ja.lapsus"
    yield "readers", "ja", weights, str(before), str(made)


def _semantic(work: Path) -> Iterator[tuple[str, ...]]:
    for fold in range(SEMANTIC_FOLDS):
        yield "semantic", str(work), "--without", str(fold)
    yield "semantic", str(work)
    yield "semantic_export", str(work)
    yield "semantic_fit", str(work), str(work / "semantic-errors-en.lapsus")


def _guidelines(work: Path) -> Iterator[tuple[str, ...]]:
    yield "guidelines", "--out", str(work)


if __name__ == "__main__":
    sys.exit(main())
