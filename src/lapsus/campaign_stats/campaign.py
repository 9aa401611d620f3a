"""A campaign's statistics: counts that the store keeps, and agreement, disputes and time computed from them.

A result is computed once and kept until a count changes. A page that is shown while people save may show an earlier
result where computing takes long; it then says from when, or that the result is still being computed.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from datetime import date, datetime, timedelta
from functools import cached_property, wraps
from typing import Final, NamedTuple, Self, TypeVar, cast
from weakref import WeakKeyDictionary

import msgspec
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

MANY = 1_000
"""Judgments. With fewer, whoever looks first hardly waits."""
EPOCH: Final = date(1970, 1, 1)
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


class DayStats(msgspec.Struct, frozen=True):
    """How much was judged on a day."""

    day: date | None
    """None where it is not known."""
    judgments: int
    total: int
    """Until then."""


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


S = TypeVar("S", bound="CampaignStats")


def kept_result(empty: T) -> Callable[[Callable[[S], T]], Callable[[S], T]]:
    """Makes of a function a result that is kept under its name; `empty` while a page has to do without."""

    def decorate(make: Callable[[S], T]) -> Callable[[S], T]:
        return wraps(make)(lambda stats: stats.kept(make.__name__, make, empty))

    return decorate


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
        """Judgments by day, and how many there were by then; those whose day is not known come first."""
        total, found = 0, []
        for day, judgments in sorted(self._by_day().items()):
            total += judgments
            found.append(DayStats(None if day < 0 else EPOCH + timedelta(day), judgments, total))
        return found

    def _by_day(self) -> Counter[int]:
        by_day: Counter[int] = Counter()
        for row in self.figures.days:
            by_day[row.day] += row.judgments
        return by_day

    def forecast(self) -> Forecast | None:
        """When it will be done."""
        left = self.progress.wanted - self.progress.done
        return statistics.forecast(self._by_day(), left, self.store.database.clock())

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

    @kept_result(cast(dict[AgreementRow, Score], {}))
    def agreement(self) -> dict[AgreementRow, Score]:
        """The usual coefficients, exactly as `lapsus agree` gives them."""
        return coefficients(self.countable(), self.kind, USUAL, lengths=self._lengths())

    @kept_result(cast(dict[str, Score], {}))
    def by_label(self) -> dict[str, Score]:
        """Agreement on each label."""
        return statistics.by_label(self.kind, self.countable())

    @kept_result(cast(list[Share], []))
    def shares(self) -> list[Share]:
        """How often each answer was given."""
        return statistics.shares(self.kind, self.countable())

    @kept_result(cast(list[SystemStats], []))
    def systems(self) -> list[SystemStats]:
        """The same for each system; nothing where patterns do not say it."""
        rows = self.figures.patterns if self.kind.is_counted else ()
        found = []
        for system in sorted({row.system for row in rows if row.question == self.question.id}):
            patterns = self.patterns(system)
            score = coefficient(self.kind.agreement[0], patterns, USUAL)
            shares = statistics.shares(self.kind, patterns)
            found.append(SystemStats(system, int(patterns.times.sum()), shares, score))
        return found

    @kept_result(cast(list[Period], []))
    def over_time(self) -> list[Period]:
        """Agreement in each stretch of time."""
        return statistics.over_time(self.kind, self.packed_votes())

    @kept_result(cast(list[int], []))
    def judged(self) -> list[int]:
        """The numbers of the units that somebody judged."""
        found: list[int] = self.packed_votes().units.tolist()
        return found

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

    @kept_result(AnnotatorTable((), ()))
    def annotators(self) -> AnnotatorTable:
        """What can be told of everybody."""
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

    @kept_result(cast(PairMatrix | None, None))
    def pairs(self) -> PairMatrix | None:
        """Agreement of every two annotators."""
        if self.kind.pair_measure is None:
            return None
        return statistics.pairs(self.kind, self._packed(statistics.most_active(self.packed_votes())).votes)

    @kept_result(cast(list[UnitDispute], []))
    def disputes(self) -> list[UnitDispute]:
        """All units over which annotators differ, the worst first."""
        votes, numbers = self.numbered_votes()
        number = dict(zip(votes.units, numbers, strict=True))
        found = disputed(votes, len(votes.units))
        return [UnitDispute(number[one.unit], one.disagreement, one.answers) for one in found]


def _median(packed_votes: PackedVotes, person: int) -> float | None:
    seconds = packed_votes.rows["seconds"][packed_votes.rows["person"] == person]
    known = seconds[~np.isnan(seconds)]
    return float(np.median(known)) if len(known) else None
