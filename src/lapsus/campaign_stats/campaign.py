"""A campaign's statistics: counts that the store keeps, and agreement, disputes and time computed from them.

A result is computed once and kept until a count changes. A page that is shown while people save may show an earlier
result where computing takes long; it then says from when, or that the result is still being computed.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime
from functools import cached_property
from typing import NamedTuple, Self, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np

from lapsus.analysis.agreement import AgreementRow, coefficients
from lapsus.analysis.gold_standard import words_of
from lapsus.campaign_stats import statistics
from lapsus.campaign_stats.result_cache import ResultCache
from lapsus.campaign_stats.statistics import AnnotatorTable, Forecast, Period, Share
from lapsus.errors import UsageError
from lapsus.kinds import countable, kind_of
from lapsus.kinds.packed_votes import PackedVotes
from lapsus.kinds.votes import votes_of
from lapsus.measures.agreement import coefficient
from lapsus.measures.agreement.details import disputed
from lapsus.measures.agreement.pairs import PairMatrix
from lapsus.measures.agreement.patterns import Patterns
from lapsus.measures.bootstrap import USUAL
from lapsus.measures.gold.quality import Times
from lapsus.measures.score import Score
from lapsus.model import Judgment, Question, Scheme, UnitKey
from lapsus.model.votes import Votes
from lapsus.registry import did_you_mean
from lapsus.store import Campaign, Progress, Store
from lapsus.store.stats_cache import CampaignCounts

T = TypeVar("T")

WARMED = 4
"""How many campaigns are looked at when a server starts."""
MANY = 1_000
"""Judgments. With fewer, whoever looks first hardly waits."""
PATIENCE = 0.3
"""Seconds that a look at a page waits for figures, all of them together..."""
PATIENCE_WITH_MANY = 0.1
"""...and with many judgments, where waiting hardly helps."""


class SystemStats(NamedTuple):
    """The votes on one system's units."""

    system: str
    units: int
    shares: list[Share]
    score: Score


class DayStats(NamedTuple):
    """How much was judged on a day."""

    day: int
    judgments: int
    total: int


_results: WeakKeyDictionary[Store, ResultCache] = WeakKeyDictionary()


class UnitDispute(NamedTuple):
    """A unit over which annotators differ."""

    unit: int
    """Its number in the campaign."""
    disagreement: float
    answers: Mapping[str, int]
    """How many people gave each answer."""


class NumberedVotes(NamedTuple):
    """Votes, with the number of each of their units in the campaign."""

    votes: Votes
    numbers: Sequence[int]


class CampaignStats:
    """Statistics on one question of a campaign. Made for every request; results are shared between requests.

    With `live`, nothing is waited for longer than `patience`: what takes long may come from earlier counts (`as_of`
    says from when) or be empty (`pending`) while it is computed.
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
        self.scheme: Scheme = store.campaigns.scheme(name)
        self.questions: tuple[Question, ...] = tuple(countable(self.scheme.questions))
        self.question = self._asked(question)
        self.kind = kind_of(self.question, self.scheme)
        self.figures: CampaignCounts = store.stats.figures(name)
        self.shown = self.figures.version
        """The oldest version of the figures that something asked for here was made from."""
        self.as_of: datetime | None = None
        """When that version was computed; None where it is the newest."""
        self.pending = False
        """Whether something asked for here is still being worked out for the first time, and left empty."""
        self.trouble: str | None = None
        """Why something asked for here could not be worked out."""
        self._results = _results.setdefault(store, ResultCache(store.database.clock))
        usual = PATIENCE_WITH_MANY if self.is_large else PATIENCE
        self._until = begun + (usual if patience is None else patience)

    def _asked(self, id: str | None) -> Question:
        if not self.questions:
            raise UsageError("guideline-asks-nothing-can", where=self.name)
        for question in self.questions:
            if id is None or question.id == id:
                return question
        known = [question.id for question in self.questions]
        raise UsageError("no-question-called", hint=did_you_mean(id or "", known), id=id)

    def kept(self, what: str, make: Callable[[Self], T], empty: T, *, version: int | None = None) -> T:
        """A result that holds until a count changes; `empty` while a page has to do without.

        `make` gets a `CampaignStats` that holds nothing from before. With a `version`, the result depends on that
        instead of the votes, and is the same for every question.
        """
        if not self.live:
            return self.exactly(what, make, version=version)
        exact, of_votes = self._exact(), version is None
        found, trouble = self._results.latest(
            self._key(what, version),
            self.figures.version if version is None else version,
            lambda: make(exact),
            wait=max(0.0, self._until - time.monotonic()),
            is_large=self.is_large,
        )
        self.trouble = self.trouble or trouble
        if found is None:
            self.pending = True
            return empty
        if of_votes and found.version < self.shown:
            self.shown, self.as_of = found.version, found.at
        return cast(T, found.value)

    def exactly(self, what: str, make: Callable[[Self], T], *more: object, version: int | None = None) -> T:
        """A result from the current counts, however long it takes."""
        exact, key = self._exact(), (*self._key(what, version), *more)
        current = self.figures.version if version is None else version
        return cast(T, self._results.exact(key, current, lambda: make(exact)).value)

    def _key(self, what: str, version: int | None) -> tuple[str, str, str]:
        return self.name, self.question.id if version is None else "", what

    def _exact(self) -> Self:
        """A copy for work that may go on after this one was left."""
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
        return self.store.campaigns.get(self.name)

    @cached_property
    def progress(self) -> Progress:
        """How many units and judgments are done and wanted."""
        return self.store.progress.of_campaign(self.name)

    @cached_property
    def names(self) -> Mapping[int, str]:
        """The name of each annotator, by number."""
        return {person.person: person.name for person in self.progress.people}

    def days(self) -> list[DayStats]:
        """Judgments by day, and how many there were by then; those whose day is not known come first, as day -1."""
        by_day: Counter[int] = Counter()
        for row in self.figures.days:
            by_day[row.day] += row.judgments
        total, found = 0, []
        for day in sorted(by_day):
            total += by_day[day]
            found.append(DayStats(day, by_day[day], total))
        return found

    def forecast(self) -> Forecast | None:
        """When it will be done."""
        left = self.progress.wanted - self.progress.done
        days = {row.day: row.judgments for row in self.days()}
        return statistics.forecast(days, left, self.store.database.clock())

    def patterns(self, system: str | None = None) -> Patterns:
        """The counted patterns of the question, of one system or of all."""
        rows = [
            (row.counts, row.times)
            for row in self.figures.patterns
            if row.question == self.question.id and system in (None, row.system)
        ]
        return statistics.counted_patterns(self.kind, rows)

    def countable(self) -> Patterns | Votes:
        """What agreement is computed from: patterns where they say it all, else the votes themselves."""
        return self.patterns() if self.kind.is_counted else self.votes()

    def agreement(self) -> dict[AgreementRow, Score]:
        """The usual coefficients, exactly as `lapsus agree` gives them."""
        return self.kept(
            "agreement",
            lambda stats: coefficients(stats.countable(), stats.kind, USUAL, lengths=stats._lengths()),
            {},
        )

    def by_label(self) -> dict[str, Score]:
        """Agreement on each label."""
        return self.kept("labels", lambda stats: statistics.by_label(stats.kind, stats.countable()), {})

    def shares(self) -> list[Share]:
        """How often each answer was given."""
        return self.kept("shares", lambda stats: statistics.shares(stats.kind, stats.countable()), [])

    def systems(self) -> list[SystemStats]:
        """The same for each system; nothing where patterns do not say it."""
        if not self.kind.is_counted:
            return []
        return self.kept("systems", CampaignStats._systems, [])

    def _systems(self) -> list[SystemStats]:
        names = {row.system for row in self.figures.patterns if row.question == self.question.id}
        found = []
        for system in sorted(names):
            patterns = self.patterns(system)
            score = coefficient(self.kind.agreement[0], patterns, USUAL)
            shares = statistics.shares(self.kind, patterns)
            found.append(SystemStats(system, int(patterns.times.sum()), shares, score))
        return found

    def over_time(self) -> list[Period]:
        """Agreement in each stretch of time."""
        return self.kept(
            "time", lambda stats: statistics.over_time(stats.kind, stats.packed_votes(), USUAL), []
        )

    def judged(self) -> Sequence[int]:
        """The numbers of the units that somebody judged."""
        return self.kept("judged", lambda stats: stats.packed_votes().units.tolist(), [])

    def packed_votes(self) -> PackedVotes:
        """Every judgment that counts."""
        return self.exactly("ballots", lambda stats: stats.store.stats.packed_votes(stats.name)[1])

    def votes(self) -> Votes:
        """The votes on the question. Annotators go by their names."""
        return self.numbered_votes().votes

    def numbered_votes(self) -> NumberedVotes:
        """The same, with the numbers of their units."""
        return self.exactly(
            "votes", lambda stats: stats._packed() if stats.kind.is_packed else stats._from_judgments()
        )

    def _packed(self, packed_votes: PackedVotes | None = None) -> NumberedVotes:
        packed_votes = packed_votes or self.packed_votes()
        names = [self.names[id] for id in packed_votes.people.tolist()]
        return NumberedVotes(packed_votes.votes(self.question, annotators=names), packed_votes.units.tolist())

    def _from_judgments(self) -> NumberedVotes:
        """The votes from the judgments themselves, where packed rows do not hold all of an answer."""
        numbers: dict[UnitKey, int] = {}
        judgments = []
        for one in self.store.judgments.counted(self.name):
            numbers[UnitKey(one.document, one.segment)] = one.unit
            judgments.append(
                Judgment(one.document, one.segment, one.annotator, self.scheme.id, one.version, one.answers)
            )
        votes = votes_of(judgments, self.kind)
        return NumberedVotes(votes, [numbers[unit] for unit in votes.units])

    def _lengths(self) -> Mapping[str, Mapping[str, int]] | None:
        """How long the segments of each document are: spans stand on a line."""
        if not self.kind.on_text:
            return None
        return {
            name: {segment.id: len(segment.text) for segment in document.segments}
            for name, document in self.store.exports.documents(self.name)
        }

    def annotators(self) -> AnnotatorTable:
        """What can be told of everybody."""
        return self.kept("annotators", CampaignStats._annotators, AnnotatorTable((), ()))

    def _annotators(self) -> AnnotatorTable:
        packed_votes = self.packed_votes()
        # Of the very same ballots: while people save, others may be newer.
        votes = self._packed(packed_votes).votes if self.kind.is_packed else self.votes()
        ids = {name: id for id, name in self.names.items()}
        people = [ids[name] for name in votes.annotators]
        times = None
        if self.kind.is_packed:
            times = Times(packed_votes.spread("seconds"), packed_votes.spread("at") / 1e6)
        words = None
        if self.kind.on_text:
            words = words_of(self.kind, lambda document: self.store.units.document(self.name, document))
        table = statistics.annotators(self.kind, votes, people, times, words)
        if times is not None:
            return table
        timed = {id: _median(packed_votes, id) for id in people}
        rows = tuple(row._replace(median_seconds=timed[row.person]) for row in table.rows)
        return table._replace(rows=rows)

    def pairs(self) -> PairMatrix | None:
        """Agreement of every two annotators."""
        return self.kept("pairs", CampaignStats._pairs, None)

    def _pairs(self) -> PairMatrix | None:
        if self.kind.pair_measure is None:
            return None
        return statistics.pairs(self.kind, self._packed(statistics.most_active(self.packed_votes())).votes)

    def disputes(self) -> Sequence[UnitDispute]:
        """All units over which annotators differ, the worst first."""
        return self.kept("disputes", CampaignStats._disputes, [])

    def _disputes(self) -> list[UnitDispute]:
        votes, numbers = self.numbered_votes()
        number = dict(zip(votes.units, numbers, strict=True))
        found = disputed(votes, len(votes.units))
        return [UnitDispute(number[one.unit], one.disagreement, one.answers) for one in found]


def newest_stats(store: Store) -> Iterator[CampaignStats]:
    """The statistics of the newest campaigns with many judgments, to have ready what takes long before anybody asks.

    Each of them waits for what it works out, one thing after the other, so that what somebody asks for meanwhile comes
    next. A campaign that asks for texts alone has no statistics.
    """
    for campaign in store.campaigns.all()[-WARMED:]:
        if countable(store.campaigns.scheme(campaign.name).questions):
            stats = CampaignStats(store, campaign.name, live=True, patience=threading.TIMEOUT_MAX)
            if stats.is_large:
                yield stats


def precompute_stats(store: Store) -> None:
    """Work out what the statistics pages of the newest campaigns with many judgments show."""
    for stats in newest_stats(store):
        for look in (
            stats.agreement,
            stats.by_label,
            stats.shares,
            stats.disputes,
            stats.over_time,
            stats.systems,
            stats.annotators,
            stats.pairs,
        ):
            look()


def _median(packed_votes: PackedVotes, person: int) -> float | None:
    seconds = packed_votes.rows["seconds"][packed_votes.rows["person"] == person]
    known = seconds[~np.isnan(seconds)]
    return float(np.median(known)) if len(known) else None
