"""Semantic errors, step 3: from which share to mark, how many marks to expect, the figures, and the model's file.

    python tools/train/semantic_fit.py WORK MODEL.lapsus

Reads WORK/long.onnx, and WORK/semantic-FOLD.safetensors: of rated texts and of records each is read by a labeller
that has not learned from its data. Cuts are chosen on texts of WebNLG with errors put in by rule, for long data on
people's marks; the numbers expected come from people's ratings of systems' texts (WebNLG 2020).
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import brief
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from semantic import weights_file
from semantic_data import ADDED, REPEATED, Damage, Item, load_pairs
from semantic_export import LOWER
from semantic_graph import labeller_graph
from semantic_ratings import RATINGS, SPREADS, Rated, load_rated, made_from
from semantic_records import FOLDS, load_marked
from semantic_words import record_words

from lapsus.annotators.cases import Origin
from lapsus.annotators.model_files import SHIPPED, read_model
from lapsus.annotators.triples.labeller import GRAPH, LONG_GRAPH, Labeller, Reading, lower_of
from lapsus.annotators.triples.marks import ADDITION, LABELS, OMISSION, REPETITION, Cuts, marks_of, places
from lapsus.annotators.triples.pair import Pairs
from lapsus.annotators.triples.regression import Regression, feature_rows, likeness
from lapsus.annotators.triples.triples import Triples
from lapsus.model import Document, Span

Rows = NDArray[np.float64]
NAME = "semantic-errors-en"
DAMAGED, RESAMPLES = brief.least(2_000, 100), brief.least(1_000, 20)
PENALTY, REACH, SHARE = 0.15, 0.2, 0.5
"""Of the regression: what holds it back, how far likeness goes, and how much the labeller's own word counts."""
CUTS, NEARLY = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9), 0.005


class Read(NamedTuple):
    """Texts that people rated, as labellers read them that had not learned from their data."""

    rated: list[Rated]
    readings: list[Reading]

    @property
    def ratings(self) -> Rows:
        return np.array([one.ratings for one in self.rated])

    @property
    def data(self) -> NDArray[np.intp]:
        """Which texts were made from the same data."""
        names = [made_from(one.document) for one in self.rated]
        numbers = {name: n for n, name in enumerate(sorted(set(names)))}
        return np.array([numbers[name] for name in names])


def read_all(labeller: Labeller, documents: Sequence[Document]) -> list[Reading]:
    """What the labeller says of pairs."""
    return labeller.read([(one.segments[:-1], one.segments[-1:], "en") for one in documents])


def unseen_labellers(work: Path) -> list[Labeller]:
    """For each fold a labeller, on floats, that has not learned from it."""
    found = []
    for fold in range(FOLDS):
        weights = {name: one.astype(np.float32) for name, one in load_file(work / weights_file(fold)).items()}
        model, _ = labeller_graph(weights, None)
        del model.graph.output[2:]
        found.append(Labeller(shipped_graph(), LOWER, model.SerializeToString()))
    return found


def read_unseen(
    labellers: Sequence[Labeller], documents: Sequence[Document], folds: Sequence[int]
) -> list[Reading]:
    """Each document by the labeller that has not learned from its fold."""
    found: dict[int, Reading] = {}
    for fold, labeller in enumerate(labellers):
        mine = [n for n, own in enumerate(folds) if own == fold]
        found |= zip(mine, read_all(labeller, [documents[n] for n in mine]), strict=True)
    return [found[n] for n in range(len(documents))]


def gold(item: Item, reading: Reading) -> tuple[Span, ...]:
    """The marks that a damaged pair should have."""
    found = []
    for n, (triple, marks) in enumerate(zip(reading.pair.triples, item.omitted, strict=True)):
        for element, is_omitted in zip(triple.elements(), marks, strict=True):
            if is_omitted and element.end > element.start:
                found.append(Span(f"t{n + 1}", element.start, element.end, OMISSION))
    for letter, label in ((ADDED, ADDITION), (REPEATED, REPETITION)):
        start = None
        for place, one in enumerate([*item.letters, None]):
            if one == letter and start is None:
                start = place
            elif one != letter and start is not None:
                found.append(Span("text", start, place, label))
                start = None
    return tuple(found)


def place_f1(
    readings: Sequence[Reading], answers: Sequence[tuple[Span, ...]], cuts: Cuts
) -> dict[str, float]:
    """F1 of elements and words, label by label."""
    found = {}
    for label in LABELS:
        both = either = 0
        for reading, spans in zip(readings, answers, strict=True):
            marked = [mark.span for mark in marks_of(reading, cuts) if mark.span.label == label]
            wanted = [span for span in spans if span.label == label]
            for segment, start, end, _ in places(reading, label):
                one, other = (
                    any(s.segment == segment and s.start < end and start < s.end for s in spans)
                    for spans in (marked, wanted)
                )
                both += one and other
                either += one + other
        found[label] = 2 * both / max(either, 1)
    return found


def surest_cuts(readings: Sequence[Reading], answers: Sequence[tuple[Span, ...]]) -> Cuts:
    """For each label the highest share that does about as well as the best: texts of systems have fewer errors."""
    found = dict.fromkeys(LABELS, 0.5)
    scores = {cut: place_f1(readings, answers, Cuts(cut, cut, cut)) for cut in CUTS}
    for label in LABELS:
        best = max(one[label] for one in scores.values())
        found[label] = max(cut for cut, one in scores.items() if one[label] >= best - NEARLY)
    return Cuts(**found)


def kernel_ridge(rows: Rows, targets: Rows) -> Regression:
    """Pairs that are alike get like numbers."""
    mean, spread, bias = rows.mean(axis=0), rows.std(axis=0) + 1e-9, targets.mean(axis=0)
    start = Regression(mean, spread, rows, targets, bias, np.array([REACH]), np.zeros(1))
    known = start.scaled(rows)
    alike = likeness(known, known, REACH)
    weights = np.linalg.solve(alike + PENALTY * np.eye(len(rows)), targets - bias)
    return start._replace(known=known, weights=weights)


def expected_from(read: Read, which: NDArray[np.bool_], counts: Rows, repeated: float) -> Regression:
    """The regression to numbers of marks.

    Omissions follow how far ratings of coverage fall short of the best, additions those of relevance, each with a share
    of correctness, which a wrong value costs both; the labeller's own word on the pair counts as much. They are brought
    to the scale of the marks made on the same texts. Repetitions, which nobody rated, follow the damaged texts.
    """
    short = np.array([one.short for one in read.rated]) / SPREADS
    readings = [reading for reading, is_in in zip(read.readings, which, strict=True) if is_in]
    found = kernel_ridge(feature_rows(readings), short[which])
    found = found._replace(share=np.array([SHARE]), short=np.ones(2))
    predicted = found.expected(readings)[:, :2]
    worth = (counts[which][:, :2] * predicted).sum(axis=0) / (predicted**2).sum(axis=0)
    return found.times(np.array([*worth, 1.0]))._replace(repeated=np.array([repeated]))


def correlations(expected: Rows, ratings: Rows) -> Rows:
    """Pearson of fewer marks with correctness (all), coverage (omissions) and relevance (additions)."""
    fewer = (-expected.sum(axis=1), -expected[:, 0], -expected[:, 1])
    return np.array([np.corrcoef(one, ratings[:, n])[0, 1] for n, one in enumerate(fewer)])


def figures(read: Read, counts: Rows, repeated: float) -> str:
    """The correlations, cross-validated by data: text by text with intervals, and system by system."""
    folds, data, ratings = np.array([one.fold for one in read.rated]), read.data, read.ratings
    expected = np.zeros((len(folds), 3))
    for fold in range(FOLDS):
        regression = expected_from(read, folds != fold, counts, repeated)
        left = np.flatnonzero(folds == fold)
        expected[left] = regression.expected([read.readings[n] for n in left])
    systems = np.array([one.document.system for one in read.rated])
    names = sorted(set(systems))
    by_system = correlations(
        np.array([expected[systems == name].mean(axis=0) for name in names]),
        np.array([ratings[systems == name].mean(axis=0) for name in names]),
    )
    texts_of = [np.flatnonzero(data == n) for n in range(data.max() + 1)]
    rng, drawn = np.random.default_rng(0), []
    for _ in range(RESAMPLES):
        chosen = rng.integers(len(texts_of), size=len(texts_of))
        texts = np.concatenate([texts_of[n] for n in chosen])
        drawn.append(correlations(expected[texts], ratings[texts]))
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    marked = correlations(counts, ratings)
    lines = ["", "rating          text by text         by system   marks alone"]
    for n, value in enumerate(correlations(expected, ratings)):
        lines.append(
            f"{RATINGS[n]:<14}  {value:.3f} [{low[n]:.2f}, {high[n]:.2f}]   {by_system[n]:.3f}       {marked[n]:.3f}"
        )
    return "\n".join(lines) + "\n"


def mark_counts(readings: Sequence[Reading], cuts: Cuts) -> Rows:
    found = [[mark.span.label for mark in marks_of(reading, cuts)] for reading in readings]
    return np.array([[labels.count(label) for label in LABELS] for labels in found], dtype=np.float64)


def shipped_graph() -> bytes:
    """The labeller of data and text that are read together, which stays as it is."""
    return read_model(SHIPPED / f"{NAME}.lapsus")[1].files[GRAPH]


def pack(graph: bytes, cuts: tuple[Cuts, Cuts], regression: Regression, pairs: int, target: Path) -> None:
    """Write the model."""
    judge = Triples()
    judge.name = NAME
    judge.labeller_ = Labeller(shipped_graph(), LOWER, graph)
    judge.others_ = {"NOTICE.txt": target.with_suffix(".NOTICE").read_bytes()}
    small = {
        name: array.astype(np.float16 if name == "known" else np.float32)
        for name, array in regression._asdict().items()
    }
    (judge.cuts_, judge.long_cuts_), judge.regression_ = cuts, Regression(**small)
    digest = hashlib.blake2b(graph, digest_size=12).hexdigest()
    judge.origin_ = Origin(judge.scheme.version, pairs, pairs, 0, digest, ("en",), {})
    judge.save(target)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("model", type=Path, help="its notices lie beside it, MODEL.NOTICE")
    asked: Any = parser.parse_args()
    graph = (asked.work / LONG_GRAPH).read_bytes()
    labeller, unseen = Labeller(shipped_graph(), LOWER, graph), unseen_labellers(asked.work)
    rng, damage = random.Random(1), Damage(load_pairs("test"))
    items = [damage.make(rng) for _ in range(DAMAGED)]
    readings = read_all(labeller, [item.document(str(n)) for n, item in enumerate(items)])
    answers = [gold(item, reading) for item, reading in zip(items, readings, strict=True)]
    half = DAMAGED // 2
    cuts = surest_cuts(readings[:half], answers[:half])
    found = place_f1(readings[half:], answers[half:], cuts)
    sys.stdout.write(f"cuts {cuts}\nF1 on other damaged texts: {found}\n")
    again = np.array([np.nansum(reading.repeated) for reading in readings])
    made = np.array([sum(span.label == REPETITION for span in spans) for spans in answers])
    repeated = float(again @ made / (again @ again))
    rated = load_rated(Pairs(lower_of(LOWER)[0]))
    documents, folds = [one.document for one in rated], [one.fold for one in rated]
    read = Read(rated, read_unseen(unseen, documents, folds))
    counts = mark_counts(read.readings, cuts)
    best = (read.ratings > 95).all(axis=1)
    sys.stdout.write(
        f"of {best.sum()} texts rated above 95 throughout {(counts[best] > 0).any(axis=1).mean():.3f} have a mark,"
        f" of {(~best).sum()} others {(counts[~best] > 0).any(axis=1).mean():.3f}\n"
    )
    sys.stdout.write(figures(read, counts, repeated))
    regression = expected_from(read, np.ones(len(rated), dtype=bool), counts, repeated)
    marked = load_marked()
    words = record_words(
        marked, read_unseen(unseen, [one.document for one in marked], [one.fold for one in marked])
    )
    long_cuts = words.cuts(cuts)
    sys.stdout.write(words.figures(long_cuts))
    regression = regression._replace(added=np.array([words.additions_a_word]))
    pack(graph, (cuts, long_cuts), regression, len(load_pairs()), asked.model)
    return 0


if __name__ == "__main__":
    sys.exit(main())
