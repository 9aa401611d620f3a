"""Steps 2 and 3: teach the teachers, and have them teach the student.

    python tools/train/english.py teach WORK SEED         one teacher: a few minutes on a large GPU
    python tools/train/english.py start WORK              what students start from
    python tools/train/english.py distil WORK FOLD SEED   a student without a fold (0 to 4), or of all dialogues (5)
    python tools/train/english.py merge WORK              the students of each fold, made one
    python tools/train/english.py collect WORK            what the folds say of dialogues they have not seen

Teachers and folds do not wait for each other, and may run side by side.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import brief
import numpy as np
import torch
from english_data import (
    CONFIG,
    FOLDS,
    STUDENT,
    UNSEEN,
    Data,
    Example,
    Swapped,
    fold_of,
    known_rows,
    load_data,
    shares,
    swapped_turns,
    topical_pairs,
)
from english_network import DEVICE, Batch, Net, Stage, Tokens, logits, train
from safetensors.torch import load_file, save_file
from torch import Tensor

START = "student-start.safetensors"
WHOLE = FOLDS
"""The number of the fold that leaves nothing out."""


def stage(part: str, name: str, seed: int) -> Stage:
    settings = CONFIG[part][name]
    return Stage(settings["epochs"], settings["rate"], seed, pair=name == "topical")


def tell_apart(net: Net, tokens: Tokens, pairs: Sequence[tuple[Example, float]], plan: Stage) -> None:
    """The first stage: human replies from broken ones."""
    wanted = torch.tensor([label for _, label in pairs], dtype=torch.float32, device=DEVICE)
    train(net, tokens.batch([example for example, _ in pairs]), wanted, plan)


def soft(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    powers = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def tensor(rows: np.ndarray[Any, Any]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float32, device=DEVICE)


class Unjudged(NamedTuple):
    """Turns that nobody judged but the teachers."""

    topical: list[Example]
    swapped: list[Swapped]


def unjudged(data: Data) -> Unjudged:
    """Human talk with good and broken replies, and the talk of both challenges with other turns put in."""
    pairs = topical_pairs(data.topical, CONFIG["topical"]["pairs"])
    times = CONFIG["swapped"]
    swapped = swapped_turns(data.dbdc5, times["dbdc5"]) + swapped_turns(data.dbdc3, times["dbdc3"])
    topical = [example for example, _ in pairs[: CONFIG["topical"]["unlabelled"]]]
    return Unjudged(topical, list(brief.few(swapped, CONFIG["topical"]["unlabelled"])))


def teach(data: Data, work: Path, seed: int) -> None:
    """A teacher, as often as there are folds and once of all dialogues; keeps what each says of everything."""
    tokens = Tokens(work / "teacher")
    torch.manual_seed(seed)
    net = Net(work / "teacher").to(DEVICE)
    pairs = topical_pairs(data.topical, CONFIG["topical"]["pairs"])
    tell_apart(
        net, tokens, pairs[-CONFIG["teachers"]["topical"]["pairs"] :], stage("teachers", "topical", seed)
    )
    others = unjudged(data)
    third, fifth = tokens.batch(data.dbdc3), tokens.batch(data.dbdc5)
    topical, swapped = tokens.batch(others.topical), tokens.batch([one.example for one in others.swapped])
    train(net, third, tensor(shares(data.dbdc3)), stage("teachers", "dbdc3", seed))
    start = {name: value.detach().clone() for name, value in net.state_dict().items()}
    fold, votes = fold_of(data.dbdc5), tensor(shares(data.dbdc5))
    parts = {"dbdc5": fifth, "dbdc3": third, "topical": topical, "swapped": swapped}
    said: dict[str, list[np.ndarray[Any, Any]]] = {name: [] for name in parts}
    for left_out in range(FOLDS + 1):
        net.load_state_dict(start)
        rows = torch.tensor(np.flatnonzero(fold != left_out), device=DEVICE)
        train(net, fifth.at(rows), votes[rows], stage("teachers", "dbdc5", seed))
        for name, batch in parts.items():
            said[name].append(soft(logits(net, batch)).astype(np.float32))
    np.savez(work / f"teacher-{seed}.npz", **{name: np.array(rows) for name, rows in said.items()})


def start(data: Data, work: Path) -> None:
    """What all students start from: human replies told from broken ones."""
    torch.manual_seed(0)
    net = Net(work / "student").to(DEVICE)
    pairs = topical_pairs(data.topical, CONFIG["student"]["topical"]["pairs"])
    tell_apart(net, Tokens(work / "student"), pairs, stage("student", "topical", 0))
    save_file(weights_of(net), work / START)


def distil(data: Data, work: Path, left_out: int, seed: int) -> None:
    """A student: votes and the teachers' shares for DBDC5, the teachers' shares for all else.

    A student without a fold is taught by teachers without that fold, and sees nothing of its dialogues.
    """
    settings = CONFIG["student"]
    paths = _all_of(work / f"teacher-{number}.npz" for number in CONFIG["teachers"]["seeds"])
    teachers = [np.load(path) for path in paths]
    taught = {
        name: np.mean([teacher[name][left_out] for teacher in teachers], axis=0)
        for name in ("dbdc5", "dbdc3", "topical", "swapped")
    }
    tokens, others, fold = Tokens(work / "student"), unjudged(data), fold_of(data.dbdc5)
    net = Net(work / "student").to(DEVICE)
    net.load_state_dict(load_file(work / START, device=DEVICE))
    hidden = {one.dialogue for one, place in zip(data.dbdc5, fold, strict=True) if place == left_out}
    known = known_rows(others.swapped, hidden)
    third, fifth, topical = (tokens.batch(part) for part in (data.dbdc3, data.dbdc5, others.topical))
    swapped = tokens.batch([others.swapped[row].example for row in known])
    rows = torch.tensor(np.flatnonzero(fold != left_out), device=DEVICE)
    mixed = settings["votes"] * shares(data.dbdc5) + (1 - settings["votes"]) * taught["dbdc5"]
    own, wanted = fifth.at(rows), tensor(mixed)[rows]
    times = settings["dbdc5_times"]
    everything = Batch.joined(*[_whole(fifth, rows)] * times, third, topical, swapped)
    targets = [*[wanted] * times, *(tensor(taught[name]) for name in ("dbdc3", "topical"))]
    targets.append(tensor(taught["swapped"][known]))
    train(net, everything, torch.cat(targets), stage("student", "all", seed))
    train(net, own, wanted, stage("student", "dbdc5", seed))
    save_file(weights_of(net), work / f"student-{left_out}-{seed}.safetensors")
    np.save(work / f"student-{left_out}-{seed}.npy", logits(net, fifth))


def _all_of(paths: Iterable[Path]) -> list[Path]:
    """What an earlier step wrote. The mean of some would pass for the mean of all."""
    wanted = list(paths)
    missing = [path.name for path in wanted if not path.exists()]
    if missing:
        raise SystemExit(f"missing: {', '.join(missing)}; run the step before for each")
    return wanted


def weights_of(net: Net) -> dict[str, Tensor]:
    return {name: value.detach().cpu().contiguous() for name, value in net.state_dict().items()}


def _whole(data: Batch, rows: Tensor) -> Batch:
    """Some of the turns, at full length, to be joined with others."""
    return Batch(*(part[rows] for part in data))


def merge(data: Data, work: Path) -> None:
    """Students of the same fold differ only in the order in which they learned: the mean of their weights is better."""
    fifth = Tokens(work / "student").batch(data.dbdc5)
    net = Net(work / "student").to(DEVICE)
    for left_out in range(FOLDS + 1):
        seeds = CONFIG["student"]["seeds"]
        paths = _all_of(work / f"student-{left_out}-{seed}.safetensors" for seed in seeds)
        found = [load_file(path, device=DEVICE) for path in paths]
        mean = {name: torch.stack([weights[name] for weights in found]).float().mean(0) for name in found[0]}
        net.load_state_dict(mean)
        np.save(work / f"student-{left_out}.npy", logits(net, fifth))
        if left_out == WHOLE:
            halves = {name: value.half().cpu().contiguous() for name, value in net.state_dict().items()}
            save_file(halves, work / STUDENT)


def collect(data: Data, work: Path) -> None:
    """For every DBDC5 turn the logits of the student that has not seen its dialogue."""
    fold = fold_of(data.dbdc5)
    said = np.array([np.load(work / f"student-{number}.npy") for number in range(FOLDS)])
    np.savez(
        work / UNSEEN,
        dialogues=[example.dialogue for example in data.dbdc5],
        turns=[example.turn for example in data.dbdc5],
        logits=said[fold, np.arange(len(fold))],
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("step", choices=("teach", "start", "distil", "merge", "collect"))
    parser.add_argument("work", type=Path)
    parser.add_argument(
        "number", type=int, nargs="?", default=0, help="the teacher's seed, or the fold left out"
    )
    parser.add_argument("seed", type=int, nargs="?", default=0, help="of a student")
    asked = parser.parse_args()
    data = load_data(asked.work)
    if asked.step == "teach":
        teach(data, asked.work, asked.number)
    elif asked.step == "distil":
        distil(data, asked.work, asked.number, asked.seed)
    else:
        {"start": start, "merge": merge, "collect": collect}[asked.step](data, asked.work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
