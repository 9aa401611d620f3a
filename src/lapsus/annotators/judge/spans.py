"""Marks on texts, learned from people's marks: a regression for each place, cross-validated by document."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Progress
from lapsus.annotators.judge.agreement import Mask, Matrix, Rows, Seen, is_above, mask_of, span_agreement
from lapsus.annotators.judge.features import Vectors
from lapsus.annotators.judge.learning import FOLDS, PARTS, Point, Report
from lapsus.annotators.judge.regression import Weights, fit, predict
from lapsus.annotators.judge.span_features import Meaning, PairReadings, Place, place_features, places_for
from lapsus.annotators.marks import best_threshold, without_edges
from lapsus.errors import InputError
from lapsus.kinds import Kind
from lapsus.model import Label, Span, Unit
from lapsus.model.votes import SpanVotes
from lapsus.notices import Notice

_PENALTIES: Final = (1e-3, 1e-4)
_MOST: Final = 40_000
"""Places that are learned from at a time: more of them make fitting slower and hardly better."""
_BLOCK: Final = 128
"""Units whose places are looked at together."""
_ALIKE: Final = 0.25
"""How alike two marks must be for one to stand for the other."""


class Side(NamedTuple):
    """The labels that are put on segments of one role, as they were learned."""

    labels: tuple[str, ...]
    meaning: Meaning
    mean: Rows
    spread: Rows
    weights: Weights
    """For each label whether a place is marked; then, whether a mark begins there."""
    cuts: Matrix
    """For each label the share from which a place is marked."""


class Marked(NamedTuple):
    """Marks with how sure the judge is of each, and how many of each label it expects."""

    spans: tuple[Span, ...]
    scores: tuple[float, ...]
    expected: Mapping[str, float]


def learn_spans(
    kind: Kind,
    votes: SpanVotes,
    units: Sequence[Unit],
    vectors: Vectors,
    readings: PairReadings | None,
    seed: int,
    measured: SpanVotes | None,
    progress: Progress,
) -> tuple[tuple[Side, ...], Report]:
    """Learn from the marks on units, and report on how well units of other documents are marked.

    `measured` are the marks by which that is told, where not by all; `readings` go into what is learned from.
    """
    given = _answers(votes, units)
    units = [unit for unit in units if unit.key in given]
    told = given if measured is None else _answers(measured, units) or given
    seen = [_see(labels, units, vectors, readings, progress) for labels in sides(kind)]
    targets = [_targets(side, [given[unit.key] for unit in units]) for side in seen]
    documents = {name: n for n, name in enumerate(dict.fromkeys(unit.document for unit in units))}
    groups = np.array([documents[unit.document] for unit in units], dtype=np.intp)
    generator = np.random.default_rng(seed)
    folds = generator.permutation(len(documents))[groups] % min(FOLDS, len(documents))
    order = generator.permutation(len(documents))[groups]
    marked = {part: [np.zeros((len(s.rows), len(s.labels)), dtype=bool) for s in seen] for part in PARTS}
    for fold in range(int(folds.max()) + 1):
        for part in PARTS:
            train = (folds != fold) & (order < max(2, round(part * len(documents))))
            for place, (side, target) in enumerate(zip(seen, targets, strict=True)):
                learned = _fit(side, target, train if train.any() else folds != fold, groups, seed)
                test = (folds == fold)[side.unit]
                marked[part][place][test] = _shares(learned, side.rows[test]) >= learned.cuts
    said = [told.get(unit.key, ()) for unit in units]
    found = {part: span_agreement(seen, marks, said, groups) for part, marks in marked.items()}
    whole, share = found[1.0], 1 - 1 / (int(folds.max()) + 1)
    curve = tuple(
        Point(round(part * share * len(units)), round(one.judge_beyond.value or 0.0, 4))
        for part, one in found.items()
    )
    report = Report(kind.question.id, len(units), len(documents), whole, curve, is_above(whole))
    every = np.ones(len(units), dtype=bool)
    return tuple(_fit(s, t, every, groups, seed) for s, t in zip(seen, targets, strict=True)), report


def sides(kind: Kind) -> list[list[Label]]:
    """The labels of a question, those on segments of one role together."""
    labels = sorted(kind.labels, key=lambda label: label.on or "")
    return [list(group) for _, group in groupby(labels, key=lambda label: label.on)]


def mark(
    kind: Kind,
    learned: Sequence[Side],
    units: Sequence[Unit],
    vectors: Vectors,
    readings: PairReadings | None,
) -> list[Marked]:
    """The marks on some units."""
    found: list[list[tuple[Span, float]]] = [[] for _ in units]
    expected: list[dict[str, float]] = [{} for _ in units]
    for side, labels in zip(learned, sides(kind), strict=True):
        looked = place_features([(unit, places_for(unit, labels[0])) for unit in units], vectors, readings)
        for n, seen in enumerate(looked):
            rows = _ready(side, seen.numbers, seen.vectors)
            shares = predict(rows, side.weights, exclusive=False)
            for column, label in enumerate(labels):
                found[n] += _spans(seen.places, shares[:, column], float(side.cuts[column]), label.id)
                expected[n][label.id] = round(float(shares[:, len(labels) + column].sum()), 4)
    return [
        _marked(kind, unit, spans, counts, vectors)
        for unit, spans, counts in zip(units, found, expected, strict=True)
    ]


def need_places(kind: Kind, units: Sequence[Unit], scheme: str) -> None:
    """A whole document must have a segment of a role that can be marked: "no marks" would be no answer."""
    roles = sorted({label.on for label in kind.labels if label.on})
    for unit in units:
        if unit.target is None and not any(segment.role in roles for segment in unit.visible):
            raise InputError(
                "nothing-marks-under-put",
                where=Notice("document", document=unit.document),
                scheme=scheme,
                roles=" or ".join(roles),
            )


def side_arrays(sides: Sequence[Side]) -> dict[str, NDArray[Any]]:
    """What was learned, as arrays by name."""
    return {
        f"side{n}-{name}": array
        for n, side in enumerate(sides)
        for name, array in (
            ("axis-mean", side.meaning.mean), ("axes", side.meaning.axes), ("mean", side.mean), ("cuts", side.cuts),
            ("spread", side.spread), ("slopes", side.weights.slopes), ("bias", side.weights.bias),
        )
    }  # fmt: skip


def restored_sides(labels: Sequence[Sequence[str]], arrays: Mapping[str, Matrix]) -> tuple[Side, ...]:
    """The same from arrays."""
    found = []
    for n, names in enumerate(labels):
        part = {
            name.removeprefix(f"side{n}-"): array
            for name, array in arrays.items()
            if name.startswith(f"side{n}-")
        }
        single = {name: array.astype(np.float32) for name, array in part.items()}
        meaning, weights = Meaning(single["axis-mean"], single["axes"]), Weights(part["slopes"], part["bias"])
        found.append(Side(tuple(names), meaning, single["mean"], single["spread"], weights, part["cuts"]))
    return tuple(found)


def _answers(votes: SpanVotes, units: Sequence[Unit]) -> dict[Any, tuple[tuple[Span, ...], ...]]:
    """What people marked in each unit that somebody answered about."""
    row = {unit: place for place, unit in enumerate(votes.units)}
    found = {
        unit.key: tuple(spans for spans in votes.spans[row[unit.key]] if spans is not None)
        for unit in units
        if unit.key in row
    }
    return {key: spans for key, spans in found.items() if spans}


def _see(
    labels: list[Label],
    units: Sequence[Unit],
    vectors: Vectors,
    readings: PairReadings | None,
    progress: Progress,
) -> Seen:
    places: list[list[Place]] = []
    blocks: list[tuple[Rows, Rows]] = []
    meaning: Meaning | None = None
    for start in range(0, len(units), _BLOCK):
        some = units[start : start + _BLOCK]
        looked = place_features([(unit, places_for(unit, labels[0])) for unit in some], vectors, readings)
        found = np.vstack([seen.vectors for seen in looked])
        # The axes of the first units serve for all: to keep every vector would take much memory.
        meaning = Meaning.of(np.unique(found, axis=0)) if meaning is None else meaning
        blocks.append((np.vstack([seen.numbers for seen in looked]), meaning.rows(found)))
        places += [seen.places for seen in looked]
        progress(len(places), len(units))
    rows = np.vstack([np.hstack(block) for block in blocks])
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    spread[spread < 1e-6] = np.inf
    unit = np.repeat(np.arange(len(units)), [len(one) for one in places])
    assert meaning is not None, "there is a unit"  # noqa: S101
    return Seen(labels, places, unit, (rows - mean) / spread, meaning, mean, spread)


def _ready(side: Side, numbers: Rows, vectors: Rows) -> Rows:
    return (np.hstack([numbers, side.meaning.rows(vectors)]) - side.mean) / side.spread


def _targets(side: Seen, given: Sequence[Sequence[Sequence[Span]]]) -> Matrix:
    """For each place the share of people who marked it with each label, and of those whose mark begins there."""
    found = []
    for places, answers in zip(side.places, given, strict=True):
        masks = [mask_of(places, spans, side.labels) for spans in answers]
        whole = np.zeros((len(places), 2 * len(side.labels)))
        for inside, begins in masks:
            whole += np.hstack([inside, begins]) / len(answers)
        found.append(whole)
    return np.vstack(found)


def _fit(side: Seen, target: Matrix, train: Mask, groups: NDArray[np.intp], seed: int) -> Side:
    """Learn from some units; the penalty and the cuts are chosen on a fifth of their documents, kept back."""
    documents = np.unique(groups[train])
    back = np.random.default_rng(seed).permutation(documents)[: max(1, len(documents) // 5)]
    held = (np.isin(groups, back) & train)[side.unit]
    rest = train[side.unit] & ~held
    if not rest.any():
        rest = held
    tried = []
    for penalty in _PENALTIES:
        some = _thinned(rest)
        weights = fit(side.rows[some], target[some], penalty, exclusive=False)
        shares = predict(side.rows[held], weights, exclusive=False)
        kept = np.clip(shares, 1e-4, 1 - 1e-4)
        loss = -(target[held] * np.log(kept) + (1 - target[held]) * np.log(1 - kept)).sum()
        tried.append((float(loss), penalty, shares))
    _, penalty, shares = min(tried, key=lambda one: one[0])
    cuts = np.array([best_threshold(shares[:, n], target[held][:, n]) for n in range(len(side.labels))])
    some = _thinned(train[side.unit])
    weights = fit(side.rows[some], target[some], penalty, exclusive=False)
    names = tuple(label.id for label in side.labels)
    return Side(names, side.meaning, side.mean, side.spread, weights, cuts)


def _thinned(which: Mask) -> NDArray[np.intp]:
    """The rows that are chosen, or every so many of them where they are too many."""
    rows = np.flatnonzero(which)
    return rows[:: -(-len(rows) // _MOST)]


def _shares(side: Side, rows: Rows) -> Matrix:
    found: Matrix = predict(rows, side.weights, exclusive=False)[:, : len(side.labels)]
    return found


def _spans(places: Sequence[Place], shares: Matrix, cut: float, label: str) -> Iterator[tuple[Span, float]]:
    """Marks on places from a cut on: neighbouring words are one mark, elements of triples are marked one by one."""
    last: list[int] = []
    for n, place in enumerate(places):
        if shares[n] < cut:
            continue
        if last and (n != last[-1] + 1 or place.segment != places[n - 1].segment or place.element):
            yield _span(places, last, shares, label)
            last = []
        last.append(n)
    if last:
        yield _span(places, last, shares, label)


def _span(places: Sequence[Place], which: list[int], shares: Matrix, label: str) -> tuple[Span, float]:
    first, last = places[which[0]], places[which[-1]]
    start, end = first.start, last.end
    if not first.element:
        before, after = without_edges(first.text, last.text)
        start, end = start + before, end - after
    return Span(first.segment, start, end, label), round(float(shares[which].mean()), 4)


def _marked(
    kind: Kind, unit: Unit, found: list[tuple[Span, float]], expected: Mapping[str, float], vectors: Vectors
) -> Marked:
    most = kind.question.at_most
    found = sorted(found, key=lambda one: -one[1])[: most if most is not None else len(found)]
    found = sorted(_tied(kind, unit, found, vectors), key=lambda one: one[0])
    return Marked(tuple(span for span, _ in found), tuple(score for _, score in found), expected)


def _tied(
    kind: Kind, unit: Unit, found: list[tuple[Span, float]], vectors: Vectors
) -> list[tuple[Span, float]]:
    """Marks of which one stands for the other, tied: those that mean nearly the same kind of thing, best first."""
    allowed = {frozenset(pair) for pair in kind.question.ties}
    texts = {segment.id: segment.text for segment in unit.visible}
    spans = [span for span, _ in found]
    pairs = [
        (a, b)
        for a, b in combinations(range(len(spans)), 2)
        if frozenset((spans[a].label, spans[b].label)) in allowed and spans[a].segment != spans[b].segment
    ]
    if not pairs:
        return found
    said = vectors.of([texts[span.segment][span.start : span.end].replace("_", " ") for span in spans])
    alike = said @ said.T
    ties: dict[int, str] = {}
    for a, b in sorted(pairs, key=lambda pair: -float(alike[pair])):
        if a not in ties and b not in ties and alike[a, b] >= _ALIKE:
            ties[a] = ties[b] = f"t{len(ties) // 2 + 1}"
    return [
        (Span(span.segment, span.start, span.end, span.label, ties.get(n)), score)
        for n, (span, score) in enumerate(found)
    ]
