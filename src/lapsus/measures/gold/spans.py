"""Gold of marks: what enough people marked, and what is likely to be right by how well each marks.

Every stretch of text that somebody marked, cut where any mark of its label begins or ends, is marked or not by each
annotator: yes or no for each label, which is what Dawid and Skene's model takes. So are ties: two stretches are tied
or not. A mark's posterior is that of the stretch it came from, so that whoever adjudicates can begin with doubt.

Words that nobody marked are answers too: without them whoever marks at random would seem to be right. Each stretch
counts as often as it has words.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapsus.errors import UsageError
from lapsus.measures.agreement.answer_codes import require_names
from lapsus.measures.gold.dawid_skene import counted_dawid_skene
from lapsus.measures.gold.result import NOBODY, Gold, raters
from lapsus.measures.score import signature
from lapsus.model import Span, UnitKey
from lapsus.model.votes import MISSING, LabelVotes, SpanVotes

POSTERIORS = "posteriors"
"""In the details: for each unit its marks and the stretches that fell short, each with how likely it is right."""
_YES = ("unmarked", "marked")
_Place: TypeAlias = tuple[str, str, int, int]
"""Segment, label, begin and end of a stretch."""
_Stretch: TypeAlias = tuple[int, _Place, NDArray[np.int8]]
"""Row of the unit, place, and who marked it."""
Words: TypeAlias = Callable[[UnitKey, str], Sequence[tuple[str, int, int]]]
"""The words of a unit on which a label may stand: segment, begin and end of each."""


class _Counts(NamedTuple):
    """Words on which a label may stand."""

    marked: list[int]
    """How many each stretch has, one at least."""
    unmarked: list[int]
    """How many of each unit nobody marked."""


class Mark(NamedTuple):
    """A stretch that somebody marked, and how likely it should be."""

    segment: str
    start: int
    end: int
    label: str
    posterior: float


def span_dawid_skene(
    votes: SpanVotes,
    *,
    at_least: float = 0.5,
    smoothing: float = 0.01,
    iterations: int = 100,
    words: Words | None = None,
) -> Gold:
    """For each unit the stretches that are likelier right than `at_least`, joined to spans, and ties by the same model.

    A span's posterior is the least of its stretches'. One model serves each label, and one all ties: a rare label's
    annotators are not taken for better than they are because they rarely say anything. Without `words` only the
    stretches that somebody marked are known, and posteriors are too high.
    """
    if not 0 < at_least < 1:
        raise UsageError("posterior-mark-stands-above")
    require_names(votes, "dawid_skene of spans", "spans")
    answered = votes.answered
    by_label: dict[str, list[_Stretch]] = {}
    for row, given in enumerate(votes.spans):
        for place, said in _stretches(given, answered[row]):
            by_label.setdefault(place[1], []).append((row, place, said))
    counts = {} if words is None else _counted_words(votes, by_label, words)
    line = signature(
        method="dawid-skene-spans",
        at_least=float(at_least),
        smoothing=float(smoothing),
        iterations=iterations,
        of="words" if counts else "stretches",
        raters=raters(answered.sum(axis=1)),
    )
    likely, rates = _posteriors(votes, answered, by_label, counts, smoothing, iterations)
    answers, marks = [], []
    for row in range(len(votes.units)):
        mine = likely.get(row, {})
        marks.append([Mark(p[0], p[2], p[3], p[1], value) for p, value in sorted(mine.items())])
        answers.append(_joined(mine, at_least) if answered[row].any() else None)
    tied = _tied(votes, answered, answers, smoothing, iterations, at_least)
    return Gold(
        votes.units,
        "dawid-skene-spans",
        line,
        tuple(tied),
        reliability=rates,
        details={POSTERIORS: dict(zip(votes.units, marks, strict=True))},
        note=None if answered.any() else NOBODY,
    )


def _posteriors(
    votes: SpanVotes,
    answered: NDArray[np.bool_],
    by_label: Mapping[str, Sequence[_Stretch]],
    counts: Mapping[str, _Counts],
    smoothing: float,
    iterations: int,
) -> tuple[dict[int, dict[_Place, float]], dict[str, float]]:
    """How likely each stretch should be marked, by unit; and each annotator's mean reliability over labels."""
    likely: dict[int, dict[_Place, float]] = {}
    trusted: dict[str, list[float]] = {}
    for label, stretches in by_label.items():
        codes, times = [said for _, _, said in stretches], [1] * len(stretches)
        if label in counts:
            times = counts[label].marked
            # Words that nobody marked differ only in who answered: all that were answered alike are one row.
            groups, group = np.unique(answered, axis=0, return_inverse=True)
            many = np.bincount(group.ravel(), counts[label].unmarked).astype(np.intp)
            codes += list(np.where(groups[many > 0], 0, MISSING).astype(np.int8))
            times = [*times, *many[many > 0].tolist()]
        gold = _model(votes, codes, smoothing, iterations, times)
        likelihoods = gold.distributions[: len(stretches), 1].tolist()  # type: ignore[index]
        for (row, place, _), value in zip(stretches, likelihoods, strict=True):
            likely.setdefault(row, {})[place] = value
        for name, value in gold.reliability.items():
            trusted.setdefault(name, []).append(value)
    return likely, {name: float(np.mean(values)) for name, values in trusted.items()}


def _counted_words(
    votes: SpanVotes, by_label: Mapping[str, Sequence[_Stretch]], words: Words
) -> dict[str, _Counts]:
    """By label; empty where no unit has words. Each unit's are asked for once, for all labels."""
    met: dict[tuple[int, str], list[tuple[int, _Place]]] = defaultdict(list)
    for label, stretches in by_label.items():
        for number, (row, place, _) in enumerate(stretches):
            met[row, label].append((number, place))
    marked = {label: [0] * len(stretches) for label, stretches in by_label.items()}
    unmarked = {label: [0] * len(votes.units) for label in by_label}
    has_words = False
    for row, unit in enumerate(votes.units):
        for label in by_label:
            here = met.get((row, label), ())
            for segment, start, end in words(unit, label):
                has_words = True
                on = (n for n, (at, _, begin, stop) in here if at == segment and begin < end and start < stop)
                first = next(on, None)
                if first is None:
                    unmarked[label][row] += 1
                else:
                    marked[label][first] += 1
    if not has_words:
        return {}
    return {label: _Counts([max(n, 1) for n in marked[label]], unmarked[label]) for label in by_label}


def _model(
    votes: SpanVotes,
    said: list[NDArray[np.int8]],
    smoothing: float,
    iterations: int,
    times: Sequence[int] | None = None,
) -> Gold:
    """`times` is how often each row of answers counts."""
    codes = np.array(said, dtype=np.int8).reshape(len(said), len(votes.annotators))
    units = tuple(UnitKey(str(number), None) for number in range(len(codes)))
    counted = None if times is None else np.array(times, dtype=np.intp)
    return counted_dawid_skene(
        LabelVotes(units, votes.annotators, _YES, codes), counted, smoothing, iterations
    )


def _stretches(
    given: tuple[tuple[Span, ...] | None, ...], answered: NDArray[np.bool_]
) -> Iterator[tuple[_Place, NDArray[np.int8]]]:
    """The stretches that somebody marked, and who marked each: 1, 0, or -1 for no answer."""
    edges: dict[tuple[str, str], set[int]] = {}
    for spans in given:
        for span in spans or ():
            edges.setdefault((span.segment, span.label), set()).update((span.start, span.end))
    for (segment, label), cuts in sorted(edges.items()):
        ordered = sorted(cuts)
        for start, end in pairwise(ordered):
            said = np.where(answered, 0, MISSING).astype(np.int8)
            for column, spans in enumerate(given):
                own = (span for span in spans or () if (span.segment, span.label) == (segment, label))
                if any(span.start <= start and end <= span.end for span in own):
                    said[column] = 1
            if (said == 1).any():
                yield (segment, label, start, end), said


def _joined(likely: dict[_Place, float], at_least: float) -> tuple[Span, ...]:
    """The stretches that stand, neighbours of one label as one span."""
    found: list[Span] = []
    for (segment, label, start, end), value in sorted(likely.items()):
        if value <= at_least:
            continue
        last = found[-1] if found else None
        if last is not None and (last.segment, last.label, last.end) == (segment, label, start):
            found[-1] = Span(segment, last.start, end, label)
        else:
            found.append(Span(segment, start, end, label))
    return tuple(sorted(found))


def _tied(
    votes: SpanVotes,
    answered: NDArray[np.bool_],
    answers: list[tuple[Span, ...] | None],
    smoothing: float,
    iterations: int,
    at_least: float,
) -> list[Any]:
    """The spans with ties that are likelier right than not, by one model over all pairs that somebody tied."""
    pairs: list[tuple[int, int, int]] = []
    said: list[NDArray[np.int8]] = []
    for row, spans in enumerate(answers):
        for one, other in combinations(range(len(spans or ())), 2):
            codes = np.where(answered[row], 0, MISSING).astype(np.int8)
            for column, given in enumerate(votes.spans[row]):
                codes[column] = _ties(given, spans[one], spans[other], codes[column])  # type: ignore[index]
            if (codes == 1).any():
                pairs.append((row, one, other))
                said.append(codes)
    if not said:
        return list(answers)
    likely = _model(votes, said, smoothing, iterations).distributions
    groups = {row: list(range(len(spans or ()))) for row, spans in enumerate(answers)}
    for (row, one, other), value in zip(pairs, likely[:, 1].tolist(), strict=True):  # type: ignore[index]
        if value > at_least:
            group = groups[row]
            groups[row] = [group[one] if number == group[other] else number for number in group]
    return [None if spans is None else _named(spans, groups[row]) for row, spans in enumerate(answers)]


def _ties(given: tuple[Span, ...] | None, one: Span, other: Span, otherwise: int) -> int:
    """1 where somebody tied what they marked on both; 0 where they marked both; -1 where they did not mark both."""
    if given is None:
        return MISSING
    on_one, on_other = ([span for span in given if _meet(span, mark)] for mark in (one, other))
    if not on_one or not on_other:
        return MISSING
    ties = {span.tie for span in on_one if span.tie is not None}
    return int(any(span.tie in ties for span in on_other)) if ties else min(otherwise, 0)


def _meet(one: Span, other: Span) -> bool:
    same = (one.segment, one.label) == (other.segment, other.label)
    return same and one.start < other.end and other.start < one.end


def _named(spans: tuple[Span, ...], group: list[int]) -> tuple[Span, ...]:
    """Spans with the ties of their groups, numbered in the order of the spans."""
    names: dict[int, str] = {}
    return tuple(
        Span(span.segment, span.start, span.end, span.label, names.setdefault(number, str(len(names) + 1)))
        if group.count(number) > 1
        else span
        for span, number in zip(spans, group, strict=True)
    )


def merged_spans(votes: SpanVotes, at_least: int = 0) -> Gold:
    """For each unit and label, the characters that at least so many annotators marked, joined to spans.

    0 stands for more than half of those who answered the unit. Neighbouring characters that enough annotators
    marked make one span, whoever marked them. Two of these spans are tied where as many annotators tied marks
    that overlap them. A unit that fewer annotators answered than are needed has no gold.
    """
    if at_least < 0:
        raise UsageError("annotators-cannot-mark-anything", hint="give-1-more-0", at_least=at_least)
    given = [[spans for spans in row if spans is not None] for row in votes.spans]
    answers = [_merged(spans, at_least or len(spans) // 2 + 1) for spans in given]
    answered = votes.answered.sum(axis=1)
    return Gold(
        votes.units,
        "spans",
        signature(method="spans", at_least=at_least or "most", raters=raters(answered)),
        tuple(answers),
        note=None if answered.any() else NOBODY,
    )


def _merged(answers: list[tuple[Span, ...]], needed: int) -> tuple[Span, ...] | None:
    if len(answers) < needed:
        return None
    changes: defaultdict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for spans in answers:
        for place, start, end in _covered(spans):
            changes[place][start] += 1
            changes[place][end] -= 1
    merged = sorted(
        Span(segment, start, end, label)
        for (segment, label), steps in changes.items()
        for start, end in _marked_stretches(steps, needed)
    )
    return _with_ties(merged, answers, needed)


def _covered(spans: Iterable[Span]) -> Iterator[tuple[tuple[str, str], int, int]]:
    """What one annotator marked, by segment and label, in stretches that do not overlap."""
    reached: dict[tuple[str, str], int] = {}
    for span in sorted(spans, key=lambda span: span.start):
        place = span.segment, span.label
        start = max(span.start, reached.get(place, 0))
        if start < span.end:
            yield place, start, span.end
            reached[place] = span.end


def _marked_stretches(steps: Counter[int], needed: int) -> Iterator[tuple[int, int]]:
    """Where the running sum of the steps is high enough."""
    height, start = 0, None
    for position in sorted(steps):
        height += steps[position]
        if height >= needed and start is None:
            start = position
        elif height < needed and start is not None:
            yield start, position
            start = None


def _with_ties(merged: list[Span], answers: list[tuple[Span, ...]], needed: int) -> tuple[Span, ...]:
    """The spans with the ties that enough annotators made. Ties are numbered in the order of their spans."""
    ties = Counter(pair for spans in answers for pair in _ties_of(merged, spans))
    group = list(range(len(merged)))
    for (one, other), times in sorted(ties.items()):
        if times >= needed:
            group = [group[one] if number == group[other] else number for number in group]
    return _named(tuple(merged), group)


def _ties_of(merged: list[Span], spans: tuple[Span, ...]) -> set[tuple[int, int]]:
    """Which of the merged spans one annotator tied, by what was marked on them."""
    touched: defaultdict[str, set[int]] = defaultdict(set)
    for span in spans:
        if span.tie is not None:
            touched[span.tie] |= {place for place, other in enumerate(merged) if _meet(span, other)}
    return {pair for places in touched.values() for pair in combinations(sorted(places), 2)}
