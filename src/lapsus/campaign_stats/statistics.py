"""How a campaign goes: agreement, labels, systems, time, annotators, pairs and disputes.

What can be said from patterns is said from patterns, so that it costs the same with a thousand judgments and with a
million.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.kinds import Kind
from lapsus.kinds.packed_votes import PackedVotes
from lapsus.measures.agreement import coefficient
from lapsus.measures.agreement.answer_codes import Coded
from lapsus.measures.agreement.details import by_label as label_by_label
from lapsus.measures.agreement.details import pairwise, with_the_rest
from lapsus.measures.agreement.pairs import PairMatrix
from lapsus.measures.agreement.patterns import Patterns, histogram
from lapsus.measures.bootstrap import USUAL
from lapsus.measures.gold import make_gold
from lapsus.measures.gold.quality import Times, annotator_quality, answer_codes
from lapsus.measures.gold.spans import Words
from lapsus.measures.score import Score
from lapsus.model import ANONYMOUS
from lapsus.model.votes import Votes

DAY = 86_400_000_000
"""Microseconds."""
PERIODS = 14
"""Into how many stretches of time a campaign is divided at most."""
PACE_DAYS = 7
"""How far back one looks to tell how fast it goes."""
LONG_RUN = 10
"""Runs shorter than this are nobody's fault."""
MOST_PAIRS = 40
"""How many annotators a matrix of pairs shows at most: those with the most units."""


class AnnotatorStats(NamedTuple):
    """One row of the table of annotators. None where there is nothing to tell from."""

    person: int
    units: int
    median_seconds: float | None
    agreement: float | None
    """The share of the others who gave the same answer."""
    kappa: float | None
    """The same beyond chance."""
    reliability: float | None
    """How likely an answer is right, by Dawid and Skene's model."""
    longest_run: int
    entropy: float | None
    is_straight: bool
    """Whether the same answer was given more often in a row than chance would."""


class AnnotatorTable(NamedTuple):
    """Everybody, and how the figures were made."""

    rows: tuple[AnnotatorStats, ...]
    signatures: tuple[str, ...]


class Period(NamedTuple):
    """Agreement on the units whose last judgment came within some days."""

    begin: datetime
    end: datetime
    score: Score


class Share(NamedTuple):
    """How often an answer was given."""

    answer: str
    votes: int
    share: float


class Forecast(msgspec.Struct, frozen=True):
    """When it will be done, if people go on as in the last days."""

    per_day: float
    days: int
    """How many days were looked at."""
    done_on: datetime


def counted_patterns(kind: Kind, counted: Iterable[tuple[Sequence[int], int]]) -> Patterns:
    """Patterns as they are kept for a question, as agreement takes them: (counts, how many units)."""
    rows = list(counted)
    counts = np.array([one for one, _ in rows], dtype=np.int64).reshape(len(rows), len(kind.choices))
    return _patterns(kind, counts, np.array([many for _, many in rows], dtype=np.int64))


def _patterns(kind: Kind, counts: NDArray[np.int64], times: NDArray[np.int64]) -> Patterns:
    if kind.numbers is None:
        return histogram(counts, times, ",".join(kind.choices))
    numbers = np.array(kind.numbers)
    order = np.argsort(numbers, kind="stable")
    names = tuple(f"{number:g}" for number in numbers[order])
    coded = Coded(np.zeros((0, 0), dtype=np.int16), names, numbers[order], measured=True)
    return histogram(counts[:, order], times, str(len(names)), coded)


def by_label(kind: Kind, votes: Votes | Patterns) -> dict[str, Score]:
    """Agreement on each label by itself; nothing for numbers and spans."""
    if not kind.by_label:
        return {}
    if not isinstance(votes, Patterns):
        return label_by_label(votes, bootstrap=USUAL)  # type: ignore[arg-type]
    labels = kind.choices
    everything = range(len(labels))
    return {
        label: coefficient(
            "fleiss",
            votes.merged([[place], [o for o in everything if o != place]], (label, f"not {label}")),
            USUAL,
        )
        for place, label in enumerate(labels)
        if len(labels) > 1
    }


def shares(kind: Kind, votes: Votes | Patterns) -> list[Share]:
    """How often each answer was given; of several labels, how many of those who answered chose it."""
    answers = kind.choices or kind.label_ids
    if isinstance(votes, Patterns):
        totals = votes.times @ votes.counts
        whole = totals.sum()
        answers = votes.answers.names if votes.answers is not None else answers
    else:
        totals, whole = kind.totals(votes)
    return [
        Share(answer, int(total), float(total / max(whole, 1)))
        for answer, total in zip(answers, totals, strict=True)
    ]


def over_time(kind: Kind, packed_votes: PackedVotes) -> list[Period]:
    """Agreement on the units that were finished in each stretch of time; nothing where times are not known."""
    known = packed_votes.rows["at"] >= 0
    if not kind.is_counted or not known.any():
        return []
    last = np.full(len(packed_votes.units), -1, dtype=np.int64)
    np.maximum.at(last, packed_votes.row[known], packed_votes.rows["at"][known])
    counts, days = packed_votes.counts(kind.question), last // DAY
    first, final = int(days[last >= 0].min()), int(days.max())
    width = math.ceil((final - first + 1) / PERIODS)
    found = []
    for begin in range(first, final + 1, width):
        rows = counts[(days >= begin) & (days < begin + width)]
        if len(rows):
            patterns = _patterns(kind, rows, np.ones(len(rows), dtype=np.int64))
            score = coefficient(kind.agreement[0], patterns, USUAL)
            found.append(Period(_date(begin), _date(min(begin + width - 1, final)), score))
    return found


def annotators(
    kind: Kind, votes: Votes, people: Sequence[int], times: Times | None = None, words: Words | None = None
) -> AnnotatorTable:
    """What can be told of each annotator on a question. Those who are unnamed cannot be told apart.

    Reliability in marking rests on `words`, those that nobody marked too.
    """
    if not people or any(name.startswith(ANONYMOUS) for name in votes.annotators):
        return AnnotatorTable((), ())
    quality = annotator_quality(votes, times)
    rest = with_the_rest(votes) if kind.pair_measure is not None else {}  # type: ignore[arg-type]
    gold = make_gold("dawid_skene", votes, words=words) if "dawid_skene" in kind.gold_methods else None
    rows, codes = [], answer_codes(votes)
    for place, (person, row) in enumerate(zip(people, quality.rows, strict=True)):
        beyond = rest.get(row.annotator)
        rows.append(
            AnnotatorStats(
                person,
                row.units,
                row.median_seconds,
                row.agreement,
                beyond.value if beyond is not None else None,
                gold.reliability.get(row.annotator) if gold is not None else None,
                row.longest_run,
                row.entropy,
                _is_straight(codes[:, place], row.longest_run),
            )
        )
    signatures = (quality.signature, *([gold.signature] if gold is not None else []))
    return AnnotatorTable(tuple(rows), signatures)


def _is_straight(answers: NDArray[np.signedinteger[Any]], run: int) -> bool:
    """Whether the longest run is over twice as long as chance makes it for somebody who answers like that.

    Where a share p of n answers is the same, runs of about log(n (1 - p)) / log(1 / p) are to be expected.
    """
    given = answers[answers >= 0]
    if run < LONG_RUN:
        return False
    most = np.bincount(given).max() / len(given)
    if most == 1:
        return True
    return bool(run > 2 * math.log(max(len(given) * (1 - most), math.e)) / math.log(1 / most))


def pairs(kind: Kind, votes: Votes) -> PairMatrix | None:
    """Cohen's kappa of every two annotators (alpha for several labels), of those with the most units."""
    measure = kind.pair_measure
    if measure is None or any(name.startswith(ANONYMOUS) for name in votes.annotators):
        return None
    return pairwise(votes, measure)  # type: ignore[arg-type]


def most_active(packed_votes: PackedVotes) -> PackedVotes:
    """Only the judgments of those who gave the most."""
    if len(packed_votes.people) <= MOST_PAIRS:
        return packed_votes
    many = np.bincount(packed_votes.column)
    chosen = np.argsort(-many, kind="stable")[:MOST_PAIRS]
    return packed_votes.of(np.isin(packed_votes.column, chosen))


def forecast(days: Mapping[int, int], left: int, now: datetime) -> Forecast | None:
    """When it will be done at the pace of the last days; None where nobody judged lately or nothing is left."""
    today = int(now.timestamp() // 86400)
    lately = {day: many for day, many in days.items() if today - PACE_DAYS < day <= today}
    if not lately or left <= 0:
        return None
    looked_at = today - min(lately) + 1
    pace = sum(lately.values()) / looked_at
    wait = min(left / pace, 36_500)
    return Forecast(pace, looked_at, now + timedelta(days=wait))


def _date(day: int) -> datetime:
    return datetime.fromtimestamp(day * 86400, UTC)
