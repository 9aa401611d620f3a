"""One campaign as its manager looks at it: figures from the store, measures from the figures.

What is asked for is worked out once and kept until a figure changes. A page that people look at while others save
may take what was found last where finding it anew takes long; it then says of when that is, or that it is still being
worked out.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from datetime import datetime
from functools import cached_property
from typing import NamedTuple, Self, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np

from lapsus.analysis import insight
from lapsus.analysis.agreeing import Row
from lapsus.analysis.insight import AnnotatorTable, Forecast, Period, Share
from lapsus.errors import UsageError
from lapsus.insight.results import Results
from lapsus.measures.agreement import coefficient
from lapsus.measures.agreement.analysis import Dispute
from lapsus.measures.agreement.pairs import PairMatrix
from lapsus.measures.agreement.patterns import Patterns
from lapsus.measures.gold.quality import Times
from lapsus.measures.resample import USUAL
from lapsus.measures.score import Score
from lapsus.model import Judgment, Question, Scheme, UnitKey
from lapsus.model.packed import Ballots, is_counted
from lapsus.model.votes import SpanVotes, Votes, collect_votes
from lapsus.registry import did_you_mean
from lapsus.store import Campaign, Progress, Store
from lapsus.store.figures import Figures

T = TypeVar("T")

WARMED = 4
"""How many campaigns are looked at when a server starts."""
MANY = 1_000
"""Judgments. With fewer, whoever looks first hardly waits."""
PATIENCE = 0.3
"""Seconds that a look at a page waits for figures, all of them together..."""
PATIENCE_WITH_MANY = 0.1
"""...and with many judgments, where waiting hardly helps."""


class SystemFigures(NamedTuple):
    """The votes on one system's units."""

    system: str
    units: int
    shares: list[Share]
    score: Score


class DayFigures(NamedTuple):
    """How much was judged on a day."""

    day: int
    judgments: int
    total: int


_results: WeakKeyDictionary[Store, Results] = WeakKeyDictionary()


class Desk:
    """A campaign as of now. Made anew for every look; what it works out is shared between looks.

    With `live`, nothing is waited for longer than `patience`: what takes long may be of a little earlier (`as_of` says
    of when) or empty (`pending`), and is being worked out.
    """

    def __init__(
        self,
        store: Store,
        name: str,
        question: str | None = None,
        *,
        live: bool = False,
        patience: float | None = None,
    ) -> None:
        self.store, self.name, self.live = store, name, live
        begun = time.monotonic()
        self.scheme: Scheme = store.scheme(name)
        self.questions: tuple[Question, ...] = tuple(q for q in self.scheme.questions if q.kind != "text")
        self.question = self._asked(question)
        self.figures: Figures = store.figures(name)
        self.shown = self.figures.version
        """The oldest version of the figures that something asked for here was made from."""
        self.as_of: datetime | None = None
        """Of when that is; None: of now."""
        self.pending = False
        """Whether something asked for here is still being worked out for the first time, and left empty."""
        self.trouble: str | None = None
        """Why something asked for here could not be worked out."""
        self._results = _results.setdefault(store, Results(store.clock))
        usual = PATIENCE_WITH_MANY if self.is_large else PATIENCE
        self._until = begun + (usual if patience is None else patience)

    def _asked(self, id: str | None) -> Question:
        if not self.questions:
            raise UsageError("its guideline asks nothing that can be counted", where=self.name)
        for question in self.questions:
            if id is None or question.id == id:
                return question
        known = [question.id for question in self.questions]
        raise UsageError(f"no question is called {id!r}", hint=did_you_mean(id or "", known))

    def kept(self, what: str, make: Callable[[Self], T], empty: T) -> T:
        """A result that holds as long as no figure changes; `empty` while a page has to do without.

        `make` gets a desk on which nothing is of earlier.
        """
        if not self.live:
            return self.exactly(what, make)
        exact, wait = self._exact(), max(0.0, self._until - time.monotonic())
        found, trouble = self._results.latest(
            (self.name, self.question.id, what),
            self.figures.version,
            lambda: make(exact),
            wait=wait,
            is_large=self.is_large,
        )
        self.trouble = self.trouble or trouble
        if found is None:
            self.pending = True
            return empty
        if found.version < self.shown:
            self.shown, self.as_of = found.version, found.at
        return cast(T, found.value)

    def exactly(self, what: str, make: Callable[[Self], T], *more: object) -> T:
        """A result of now, however long it takes."""
        exact = self._exact()
        key = (self.name, self.question.id, what, *more)
        return cast(T, self._results.exact(key, self.figures.version, lambda: make(exact)).value)

    def _exact(self) -> Self:
        """A desk of its own for what is worked out, perhaps after this one was left."""
        exact = copy(self)
        exact.live = False
        for name in ("progress", "names"):
            exact.__dict__.pop(name, None)
        return exact

    @cached_property
    def is_large(self) -> bool:
        """Whether working something out may take long."""
        return sum(row.judgments for row in self.figures.days) >= MANY

    @cached_property
    def campaign(self) -> Campaign:
        """The campaign."""
        return self.store.campaign(self.name)

    @cached_property
    def progress(self) -> Progress:
        """How far it is."""
        return self.store.progress(self.name)

    @cached_property
    def names(self) -> Mapping[int, str]:
        """What people are called."""
        return {person.person: person.name for person in self.progress.people}

    def days(self) -> list[DayFigures]:
        """Judgments by day, and how many there were by then; those whose day is not known come first, as day -1."""
        by_day: Counter[int] = Counter()
        for row in self.figures.days:
            by_day[row.day] += row.judgments
        total, found = 0, []
        for day in sorted(by_day):
            total += by_day[day]
            found.append(DayFigures(day, by_day[day], total))
        return found

    def forecast(self) -> Forecast | None:
        """When it will be done."""
        left = self.progress.wanted - self.progress.done
        days = {row.day: row.judgments for row in self.days()}
        return insight.forecast(days, left, self.store.clock())

    def patterns(self, system: str | None = None) -> Patterns:
        """The counted patterns of the question, of one system or of all."""
        rows = [
            (row.counts, row.times)
            for row in self.figures.patterns
            if row.question == self.question.id and system in (None, row.system)
        ]
        return insight.counted_patterns(self.scheme, self.question, rows)

    def countable(self) -> Patterns | Votes:
        """What agreement is worked out from: patterns where they say it all, else the votes themselves."""
        return self.patterns() if is_counted(self.question) else self.votes()

    def agreement(self) -> dict[Row, Score]:
        """The usual coefficients, as `lapsus agree` gives them."""
        return self.kept(
            "agreement",
            lambda desk: insight.agreement(
                desk.scheme, desk.question, desk.countable(), USUAL, desk._lengths()
            ),
            {},
        )

    def by_label(self) -> dict[str, Score]:
        """Agreement on each label."""
        return self.kept(
            "labels", lambda desk: insight.by_label(desk.scheme, desk.question, desk.countable()), {}
        )

    def shares(self) -> list[Share]:
        """How often each answer was given."""
        return self.kept(
            "shares", lambda desk: insight.shares(desk.scheme, desk.question, desk.countable()), []
        )

    def systems(self) -> list[SystemFigures]:
        """The same for each system; nothing where patterns do not say it."""
        if not is_counted(self.question):
            return []
        return self.kept("systems", Desk._systems, [])

    def _systems(self) -> list[SystemFigures]:
        names = {row.system for row in self.figures.patterns if row.question == self.question.id}
        found = []
        for system in sorted(names):
            patterns = self.patterns(system)
            score = coefficient(insight.main_measure(self.question), patterns, USUAL)
            shares = insight.shares(self.scheme, self.question, patterns)
            found.append(SystemFigures(system, int(patterns.times.sum()), shares, score))
        return found

    def over_time(self) -> list[Period]:
        """Agreement in each stretch of time."""
        return self.kept(
            "time", lambda desk: insight.over_time(desk.scheme, desk.question, desk.ballots(), USUAL), []
        )

    def judged(self) -> Sequence[int]:
        """The numbers of the units that somebody judged."""
        return self.kept("judged", lambda desk: desk.ballots().units.tolist(), [])

    def ballots(self) -> Ballots:
        """Every judgment that counts."""
        return self.exactly("ballots", lambda desk: desk.store.ballots(desk.name)[1])

    def votes(self) -> Votes:
        """The votes on the question. Units go by their numbers, annotators by their names."""
        return self.exactly("votes", Desk._votes)

    def _votes(self, ballots: Ballots | None = None) -> Votes:
        if self.question.kind == "spans":
            return self._span_votes()
        ballots = ballots or self.ballots()
        return ballots.votes(self.question, annotators=[self.names[id] for id in ballots.people.tolist()])

    def _span_votes(self) -> Votes:
        numbers = {
            UnitKey(row.document, row.segment): row.number for row in self.store.unit_places(self.name)
        }
        judgments = [
            Judgment(str(numbers[j.unit]), None, j.annotator, j.scheme, j.version, j.answers)
            for entry in self.store.export(self.name, names="names")
            for j in entry.judgments
            if j.unit in numbers
        ]
        return collect_votes(judgments, self.question, [x.id for x in self.scheme.labels_of(self.question)])

    def _lengths(self) -> Mapping[str, Mapping[str, int]] | None:
        """How long the segments of each unit's document are: spans stand on a line."""
        if self.question.kind != "spans":
            return None
        sizes = {
            name: {segment.id: len(segment.text) for segment in document.segments}
            for name, document in self.store.documents(self.name)
        }
        return {str(row.number): sizes[row.document] for row in self.store.unit_places(self.name)}

    def annotators(self) -> AnnotatorTable:
        """What can be told of everybody."""
        return self.kept("annotators", Desk._annotators, AnnotatorTable((), ()))

    def _annotators(self) -> AnnotatorTable:
        ballots = self.ballots()
        # Of the very same ballots: while people save, others may be newer.
        votes = self.votes() if self.question.kind == "spans" else self._votes(ballots)
        ids = {name: id for id, name in self.names.items()}
        people = [ids[name] for name in votes.annotators]
        times = None
        if not isinstance(votes, SpanVotes):
            times = Times(ballots.spread("seconds"), ballots.spread("at") / 1e6)
        table = insight.annotators(self.question, votes, people, times)
        if times is not None:
            return table
        timed = {id: _median(ballots, id) for id in people}
        rows = tuple(row._replace(median_seconds=timed[row.person]) for row in table.rows)
        return table._replace(rows=rows)

    def pairs(self) -> PairMatrix | None:
        """Agreement of every two annotators."""
        return self.kept("pairs", Desk._pairs, None)

    def _pairs(self) -> PairMatrix | None:
        ballots = insight.most_active(self.ballots())
        return None if self.question.kind == "spans" else insight.pairs(self._votes(ballots))

    def disputes(self) -> Sequence[Dispute]:
        """All units over which annotators differ, the worst first; each known by its number."""
        return self.kept("disputes", lambda desk: insight.disputes(desk.votes(), 1 << 30), [])


def warm(store: Store) -> None:
    """Work out what takes long before anybody asks for it, of the newest campaigns with many judgments.

    One thing after the other, so that what somebody asks for meanwhile comes next.
    """
    for campaign in store.campaigns()[-WARMED:]:
        desk = Desk(store, campaign.name, live=True, patience=threading.TIMEOUT_MAX)
        if desk.is_large:
            for look in (
                desk.agreement,
                desk.by_label,
                desk.shares,
                desk.disputes,
                desk.over_time,
                desk.systems,
                desk.annotators,
                desk.pairs,
            ):
                look()


def _median(ballots: Ballots, person: int) -> float | None:
    seconds = ballots.rows["seconds"][ballots.rows["person"] == person]
    known = seconds[~np.isnan(seconds)]
    return float(np.median(known)) if len(known) else None
