"""Every method of the breakdown challenge on three corpora: trains them all, scores them all, prints one table.

`lapsus challenge tables --data` does the same for the paper's runs on any corpus; this one has the default beside them.

Run it with LAPSUS_DATA set to the folder that holds dbdc2-ja.zip, dbdc3-en.zip and dbdc5-en.zip:

    python benchmarks/breakdown.py [--methods crf,svm] [--corpora dbdc2-ja] [--threshold 0.5] [--runs FOLDER]

The table goes to standard output, progress to standard error. What methods said is kept in FOLDER, METHOD-CORPUS.zip
each, and taken from there another time.

The models of `encoder` that are shipped have learned from all of these corpora. Its rows are scored on what readers
said that had not seen the dialogue: runs that tools/train leaves in FOLDER. Where there is none, there is no row.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lapsus.annotators import METHODS, Annotator, find_annotator, make_annotator, training_data
from lapsus.annotators.features.word_forms import way_to_find_words
from lapsus.errors import LapsusError
from lapsus.formats import FORMATS, read
from lapsus.measures.bootstrap import USUAL
from lapsus.measures.comparison import compare_runs
from lapsus.measures.score import Score
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES, LOWER_IS_BETTER, BreakdownScores, half_floor
from lapsus.measures.scores.runs import AlignedRun, align_run
from lapsus.model import Document, Entry, Judgment, UnitKey
from lapsus.model.votes import LabelVotes

COLUMNS = {"accuracy": "Acc", "f1_b": "F(B)", "f1_pb_b": "F(PB+B)", "jsd": "JSD", "mse": "MSE"}
FOLDS, SEED = 5, 0
ALL = "all"
UNFITTED = "encoder"
"""The method that is not fitted here."""


@dataclass(frozen=True)
class Corpus:
    """What is learned from and what is scored. Without a part to score, the corpus is cross-validated."""

    file: str
    learn: str
    score: str | None = None
    by_system: bool = False


CORPORA = {
    "dbdc2-ja": Corpus("dbdc2-ja.zip", "*/dev/*", "*/ref/*", by_system=True),
    "dbdc3-en": Corpus("dbdc3-en.zip", "*/revised/dev/*", "*/revised/eval/*"),
    "dbdc5-en": Corpus("dbdc5-en.zip", "*/dev/*"),
}


class Data(NamedTuple):
    """Documents and what people said of their turns."""

    documents: list[Document]
    votes: LabelVotes

    def some(self, wanted: set[str]) -> Data:
        """Only some of the documents."""
        kept = [place for place, unit in enumerate(self.votes.units) if unit.document in wanted]
        votes = replace(
            self.votes,
            units=tuple(self.votes.units[place] for place in kept),
            codes=self.votes.codes[kept],
        )
        return Data([document for document in self.documents if document.id in wanted], votes)

    def turns(self) -> set[UnitKey]:
        return {UnitKey(document.id, turn.id) for document in self.documents for turn in document.segments}


class Run(NamedTuple):
    """What a method said, and what it took; nothing where that was not measured here."""

    aligned: AlignedRun
    fit_seconds: float | None = None
    judge_rate: float | None = None


def load(corpus: Corpus, only: str) -> Data:
    path = Path(os.environ["LAPSUS_DATA"], corpus.file)
    return Data(*training_data(read(path, "dbdc", only=only)))


def splits(corpus: Corpus) -> Iterator[tuple[Data, Data]]:
    """Pairs of data to learn from and data to judge."""
    learn = load(corpus, corpus.learn)
    if corpus.score is not None:
        yield learn, load(corpus, corpus.score)
        return
    names = [document.id for document in learn.documents]
    drawn = np.random.default_rng(SEED).permutation(len(names)) % FOLDS
    for fold in range(FOLDS):
        inside = {name for name, place in zip(names, drawn, strict=True) if place == fold}
        yield learn.some(set(names) - inside), learn.some(inside)


def judge_of(method: str, learn: Data) -> Annotator:
    """A method that has learned; a model's file or a language model as it is."""
    if method not in METHODS.names():
        return find_annotator(method)
    return make_annotator(method).fit(learn.documents, learn.votes)


def run(method: str, parts: Sequence[tuple[Data, Data]], gold: Data, keep: Path | None) -> Run:
    """Fit and judge, part by part; every turn is judged by a model that has not seen its dialogue."""
    judgments: list[Judgment] = []
    fit_seconds = judge_seconds = 0.0
    for learn, score in parts:
        start = time.perf_counter()
        annotator = judge_of(method, learn)
        middle = time.perf_counter()
        judgments += annotator.judge(score.documents)
        fit_seconds += middle - start
        judge_seconds += time.perf_counter() - middle
    aligned = align_run(gold.votes, judgments, known_units=gold.turns())
    taken = fit_seconds / len(parts), len(judgments) / judge_seconds
    if keep is not None:
        keep_run(keep, judgments, taken)
    return Run(aligned, *taken)


def kept_run(path: Path, gold: Data) -> Run:
    """What was said earlier or elsewhere."""
    judgments = [judgment for entry in read(path, "dbdc-run") for judgment in entry.judgments]
    taken = path.with_suffix(".json")
    seconds = json.loads(taken.read_text(encoding="utf-8")) if taken.is_file() else [None, None]
    return Run(align_run(gold.votes, judgments, known_units=gold.turns()), *seconds)


def keep_run(path: Path, judgments: Sequence[Judgment], taken: Sequence[float]) -> None:
    """Keep what was said for another time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    by_document = groupby(judgments, key=lambda judgment: judgment.document)
    entries = [Entry(document, None, tuple(said)) for document, said in by_document]
    FORMATS.get("dbdc-run")().write(entries, path)
    path.with_suffix(".json").write_text(json.dumps(list(taken)), encoding="utf-8")


def part(aligned: AlignedRun, documents: set[str]) -> AlignedRun:
    """Only the turns of some documents."""
    wanted = np.array([unit.document in documents for unit in aligned.units])
    return replace(
        aligned,
        units=tuple(unit for unit in aligned.units if unit.document in documents),
        gold=aligned.gold[wanted],
        labels=aligned.labels[wanted],
        distributions=aligned.distributions[wanted],
        groups=np.unique(aligned.groups[wanted], return_inverse=True)[1].astype(np.intp),
    )


def groups(corpus: Corpus, gold: Data) -> dict[str, set[str]]:
    """All documents, and those of each system where the corpus is shown by system."""
    found = {ALL: {document.id for document in gold.documents}}
    if corpus.by_system:
        for document in gold.documents:
            found.setdefault(document.system or "?", set()).add(document.id)
    return found


def best_of(scores: Mapping[str, BreakdownScores], measure: str) -> str:
    choose = min if measure in LOWER_IS_BETTER else max
    return choose(scores, key=lambda name: float(scores[name][measure]))


def marks(runs: Mapping[str, AlignedRun], best: Mapping[str, str], t: float) -> dict[tuple[str, str], str]:
    """For each method and measure the stars of its distance from the best."""
    tallies = {name: aligned.tally(t) for name, aligned in runs.items()}
    found: dict[tuple[str, str], str] = {}
    for baseline in dict.fromkeys(best.values()) if len(runs) > 1 else ():
        for comparison in compare_runs(tallies, baseline=baseline):
            for measure in (name for name in COLUMNS if best[name] == baseline):
                written = str(BREAKDOWN_MEASURES[measure])
                found[comparison.second, measure] = comparison.difference(written).mark
    return found


def number(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def cell(score: Score, is_best: bool, mark: str) -> str:
    if score.value is None:
        return "n/a"
    shown = f"**{number(score.value)}**" if is_best else f"{number(score.value)}{mark}"
    return (
        f"{shown} [{number(score.interval.low)}, {number(score.interval.high)}]" if score.interval else shown
    )


def rows(name: str, corpus: Corpus, runs: Mapping[str, Run], gold: Data, t: float) -> Iterator[list[str]]:
    """The lines of one corpus: a block a system, a line a method, what people reach at the end of each."""
    for group, documents in groups(corpus, gold).items():
        parts = {method: part(found.aligned, documents) for method, found in runs.items()}
        scores = {method: aligned.scores(t=t, bootstrap=USUAL) for method, aligned in parts.items()}
        best = {measure: best_of(scores, measure) for measure in COLUMNS}
        stars = marks(parts, best, t)
        for method, found in scores.items():
            cells = [
                cell(found[measure], best[measure] == method, stars.get((method, measure), ""))
                for measure in COLUMNS
            ]
            taken = runs[method].fit_seconds, runs[method].judge_rate
            speed = ["" if figure is None else f"{figure:,.0f}" for figure in taken]
            yield [name, group, f"`{method}`", *cells, *(speed if group == ALL else ["", ""])]
        first = next(iter(parts.values()))
        halves = half_floor(first.gold, first.groups, t=t)
        yield [name, group, "half the crowd", *(cell(halves[m], False, "") for m in COLUMNS), "", ""]


def table(lines: Sequence[Sequence[str]], signatures: Sequence[str]) -> str:
    head = ["corpus", "system", "method", *COLUMNS.values(), "fit, s", "turns/s"]
    shown = [head, ["---"] * 3 + ["---:"] * (len(head) - 3), *lines]
    notes = [
        "In bold the best of each column; stars say how surely another is worse than it: * p < .05, ** p < .01,"
        " *** p < .001 (paired randomization over dialogues, two-sided, Holm). In brackets 95% bootstrap"
        " intervals over dialogues. Half the crowd is scored against the other half.",
        *(f"`{line}`" for line in signatures),
        f"{datetime.now(UTC):%Y-%m-%d}, defaults of every method;"
        f" dbdc2-ja dev → ref, dbdc3-en revised dev → eval, dbdc5-en {FOLDS}-fold by dialogue, seed {SEED}."
        f" Japanese words by {way_to_find_words('ja')}. `{UNFITTED}`: by readers that had not seen the dialogue,"
        " but have learned from other corpora too (tools/train).",
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in shown) + "\n\n" + "\n\n".join(notes)


def measure(name: str, methods: Sequence[str], t: float, folder: Path | None) -> tuple[list[list[str]], str]:
    corpus = CORPORA[name]
    parts = list(splits(corpus))
    gold = parts[0][1] if corpus.score is not None else load(corpus, corpus.learn)
    runs: dict[str, Run] = {}
    for method in methods:
        sys.stderr.write(f"{name}: {method} …")
        sys.stderr.flush()
        path = folder / f"{method}-{name}.zip" if folder is not None and method in METHODS.names() else None
        if path is not None and path.is_file():
            runs[method] = kept_run(path, gold)
            sys.stderr.write(f" from {path}\n")
        elif method != UNFITTED:
            runs[method] = run(method, parts, gold, path)
            sys.stderr.write(f" fitted in {runs[method].fit_seconds:.0f} s\n")
        else:
            sys.stderr.write(" no run by readers that had not seen the dialogues\n")
    if not runs:
        raise SystemExit(f"{name}: there is nothing to score")
    first = next(iter(runs.values())).aligned
    return list(rows(name, corpus, runs, gold, t)), f"{name}: {first.tally(t).signature(USUAL)}"


def chosen(text: str | None, known: Sequence[str]) -> list[str]:
    wanted = text.split(",") if text else list(known)
    if strange := [name for name in wanted if name not in known]:
        raise SystemExit(f"{strange[0]!r} is none of: {', '.join(known)}")
    return wanted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--methods", help="only these, with commas between")
    parser.add_argument("--corpora", help=f"only these: {', '.join(CORPORA)}")
    parser.add_argument("--threshold", type=float, default=0.0, help="share that a gold label needs")
    parser.add_argument(
        "--runs", type=Path, help="folder of runs, METHOD-CORPUS.zip: taken from it, else kept in it"
    )
    asked = parser.parse_args()
    if not os.environ.get("LAPSUS_DATA"):
        sys.stderr.write("set LAPSUS_DATA to the folder with the corpora\n")
        return 2
    methods, corpora = chosen(asked.methods, METHODS.names()), chosen(asked.corpora, list(CORPORA))
    try:
        found = [measure(name, methods, asked.threshold, asked.runs) for name in corpora]
    except LapsusError as error:
        raise SystemExit(str(error)) from error
    sys.stdout.write(
        table([line for lines, _ in found for line in lines], [line for _, line in found]) + "\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
