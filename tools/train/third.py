"""Beside the way to the model: a reader of DBDC3 that has not seen its test data, for the table of results.

    python tools/train/third.py split WORK            which dialogues are test data
    python tools/train/third.py train WORK            students of the development data: minutes on a large GPU
    python tools/train/third.py run WORK FOLDER       calibrate them, judge the test data, keep the run

The readers that are shipped have learned from all of DBDC3. These start from the same weights, learn to tell human
replies from broken ones, then DBDC5, then the development data of DBDC3: as often as there are folds, for the
calibration, and once from all of it. `split` and `run` need LAPSUS_DATA, `train` needs nothing but WORK.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from english_data import CONFIG, FOLDS, Data, Example, fold_of, load_data, shares, topical_pairs
from numpy.typing import NDArray

TEST, SAID = "third.json", "third.npz"
SEED = 0
DEV, EVAL = CONFIG["corpora"]["dbdc3"][:2]
"""The revised annotation."""


def split(work: Path) -> None:
    """Note the dialogues of the test data."""
    from calibrate import judged

    names = sorted({example.unit.document for example in judged(*EVAL)})
    (work / TEST).write_text(json.dumps(names), encoding="utf-8")


def revised(data: Data) -> list[Example]:
    """Every turn of DBDC3 once. The revised annotation comes first, and the original one is of the same turns."""
    found: dict[tuple[str, str], Example] = {}
    for example in data.dbdc3:
        found.setdefault((example.dialogue, example.turn), example)
    return list(found.values())


def train_students(data: Data, work: Path) -> None:
    """What students say of dialogues that they have not seen."""
    import torch
    from english_network import DEVICE, Net, Stage, Tokens, logits, train

    def tensor(rows: NDArray[np.float64]) -> torch.Tensor:
        return torch.tensor(rows, dtype=torch.float32, device=DEVICE)

    test, third = set(json.loads((work / TEST).read_text(encoding="utf-8"))), revised(data)
    hidden = np.array([example.dialogue in test for example in third])
    fold = np.where(hidden, -1, fold_of(third))
    tokens, settings = Tokens(work / "student"), CONFIG["teachers"]
    torch.manual_seed(SEED)
    net = Net(work / "student").to(DEVICE)
    pairs = topical_pairs(data.topical, settings["topical"]["pairs"])
    human = torch.tensor([label for _, label in pairs], dtype=torch.float32, device=DEVICE)
    plan = {
        name: Stage(settings[name]["epochs"], settings[name]["rate"], SEED) for name in ("topical", "dbdc3")
    }
    train(net, tokens.batch([example for example, _ in pairs]), human, plan["topical"]._replace(pair=True))
    train(net, tokens.batch(data.dbdc5), tensor(shares(data.dbdc5)), plan["dbdc3"])
    start = {name: value.detach().clone() for name, value in net.state_dict().items()}
    batch, votes, said = tokens.batch(third), tensor(shares(third)), np.zeros((len(third), 3))
    for left_out in range(FOLDS + 1):
        net.load_state_dict(start)
        learned = np.flatnonzero((fold != left_out) & ~hidden)
        rows = torch.tensor(learned, device=DEVICE)
        train(net, batch.at(rows), votes[rows], plan["dbdc3"])
        asked = hidden if left_out == FOLDS else fold == left_out
        said[asked] = logits(net, batch)[asked]
    names = [example.dialogue for example in third], [example.turn for example in third]
    np.savez(work / SAID, dialogues=names[0], turns=names[1], logits=said)


def judge_test(work: Path, folder: Path) -> None:
    """Calibrate on the development data, judge the test data, and keep what is said."""
    from calibrate import decision, judged, rows_with, tune, with_logits, words_from, words_unseen
    from first_fit import first_weights
    from runs import write_run

    from lapsus.annotators.cases import shares as shares_of_votes
    from lapsus.annotators.encoder.calibration import fit_weights, shares_of

    kept = np.load(work / SAID)
    said = dict(zip(zip(kept["dialogues"], kept["turns"], strict=True), kept["logits"], strict=True))
    dev, test = judged(*DEV), judged(*EVAL)
    examples = dev + test
    data = with_logits(examples, np.array([said[example.unit.key] for example in examples]))
    learn, ask = np.arange(len(dev)), np.arange(len(dev), len(examples))
    rows = rows_with(data, learn, words_unseen(data, learn, seed=0))
    weights = fit_weights(rows, shares_of_votes(dev), first_weights(rows.shape[1]))
    rule = decision(tune(data.counts[learn], shares_of(rows, weights)))
    given = shares_of(rows_with(data, ask, words_from(data, learn, ask)), weights)
    write_run(folder, "dbdc3-en", [example.unit.key for example in test], rule(given), given)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("step", choices=("split", "train", "run"))
    parser.add_argument("work", type=Path)
    parser.add_argument("folder", type=Path, nargs="?", help="where the run is kept")
    asked = parser.parse_args()
    if asked.step == "split":
        split(asked.work)
    elif asked.step == "train":
        train_students(load_data(asked.work), asked.work)
    elif asked.folder is None:
        parser.error("run needs a folder")
    else:
        judge_test(asked.work, asked.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
