"""Search and sort a campaign's units: by words, answer, person, system, disagreement, flag.

Votes are searched in packed rows, texts in a list that is made once and kept until documents are added; the database
answers the rest. So searching 100,000 units takes no longer than a page may.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final, NamedTuple, TypeAlias, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.campaign_stats.campaign import CampaignStats, kept_result
from lapsus.campaign_stats.judge_figures import judges_of
from lapsus.kinds import countable, kind_of
from lapsus.store import Store
from lapsus.store.stats_cache import DAY, UNKNOWN

Numbers: TypeAlias = NDArray[np.int64]
Values: TypeAlias = tuple[Numbers, NDArray[np.float64]]
"""Units, in order, each with a value."""
WARMED = 4
"""How many campaigns are looked at when a server starts."""

SORTS = ("number", "disputed", "doubt", "farthest", "newest", "oldest")
UNSURE = 0.4
"""From so much doubt on, a program counts as unsure: it gave its answer less than 60%."""


class Wanted(msgspec.Struct, frozen=True):
    """What is looked for; empty: anything."""

    text: str = ""
    answer: str = ""
    person: int | None = None
    """With an answer: who gave it."""
    other: int | None = None
    """A second person, who judged the unit too."""
    system: str = ""
    agreement: str = ""
    """differ or same: whether people gave different answers."""
    judged: str = ""
    """none, some, open or complete: how many of its judgments a unit has."""
    decided: str = ""
    """yes or no."""
    flag: str = ""
    """open or any."""
    comment: str = ""
    """yes: somebody wrote something."""
    program: int | None = None
    """A program that answered otherwise than people; `farthest` orders by how much."""
    doubt: str = ""
    """unsure: a program was not sure of its answer."""
    day: str = ""
    until: str = ""
    """Judged on a day, or from one day to another."""
    sort: str = "number"


class _Texts(NamedTuple):
    """What there is to read in a campaign, made ready for searching."""

    numbers: Numbers
    texts: list[str]
    systems: NDArray[np.int32]
    names: list[str]


class UnitSearch:
    """Search and sort a campaign's units."""

    def __init__(self, stats: CampaignStats) -> None:
        self.stats, self.store, self.name = stats, stats.store, stats.name

    def page(self, wanted: Wanted, start: int, limit: int) -> tuple[list[int], int]:
        """Some units, and how many there are in all."""
        if wanted == Wanted(sort="number"):
            total = self.stats.progress.units
            return self.store.browsing.numbers(self.name, start=start, limit=limit), total
        found = self.find(wanted)
        return found[start : start + limit].tolist(), len(found)

    def find(self, wanted: Wanted) -> Numbers:
        """All of them. Nothing while texts are being read for the first time: `stats.pending` is then true."""
        parts = list(self._parts(wanted)) or [self._all()]
        size = self.store.browsing.last(self.name) + 1
        true = np.ones(size, dtype=np.bool_)
        for part in parts:
            numbers, here = np.asarray(part, dtype=np.int64), np.zeros(size, dtype=np.bool_)
            # A document may have come in since the size was asked for.
            here[numbers[numbers < size]] = True
            true &= here
        return self._ordered(np.flatnonzero(true), wanted)

    def systems(self) -> list[str]:
        """The systems that votes are known of."""
        return sorted({row.system for row in self.stats.figures.patterns})

    def _all(self) -> Numbers:
        return np.array(self.store.browsing.numbers(self.name), dtype=np.int64)

    def _parts(self, wanted: Wanted) -> Iterable[Sequence[int] | Numbers]:
        """For each thing that is asked for, the units of which it is true."""
        if wanted.text.strip() or wanted.system:
            yield self._read(wanted)
            yield self._all()
        if wanted.answer or wanted.person is not None or wanted.day:
            yield self._voted(wanted)
        if wanted.other is not None:
            rows = self.stats.packed_votes().rows
            yield rows["unit"][rows["person"] == wanted.other]
        if wanted.agreement in ("differ", "same"):
            units, apart = disagreement(self.stats)
            yield units[apart > 0 if wanted.agreement == "differ" else apart == 0]
        if wanted.judged in ("none", "some", "open", "complete"):
            yield self.store.browsing.numbers(self.name, wanted.judged)  # type: ignore[arg-type]
        if wanted.decided in ("yes", "no"):
            decided = np.array(sorted(self.store.decisions.decided_units(self.name)), dtype=np.int64)
            yield decided if wanted.decided == "yes" else np.setdiff1d(self._all(), decided)
        if wanted.flag in ("open", "any"):
            yield self.store.browsing.flagged(self.name, open_only=wanted.flag == "open")
        if wanted.comment == "yes":
            yield _commented(self.stats)
        if wanted.doubt == "unsure":
            units, least_sure = doubts(self.stats)
            yield units[least_sure >= UNSURE]
        if wanted.program is not None:
            yield self._apart_from(wanted.program)

    def _apart_from(self, program: int) -> Sequence[int]:
        """Where a program says something else than most people; where answers are not counted, is far from them."""
        if not self.stats.kind.is_counted:
            return self._farthest(program)
        return next((one.apart for one in program_figures(self.stats) if one.program == program), [])

    def _farthest(self, program: int | None) -> Sequence[int]:
        """The units that a program sees otherwise than people, the biggest disagreements first."""
        return next((one.apart for one in judges_of(self.stats).judges if one.program == program), ())

    def _read(self, wanted: Wanted) -> Numbers:
        """Units whose text, together with what it answers, has all the words; of a system."""
        empty = _Texts(np.zeros(0, np.int64), [], np.zeros(0, np.int32), [])
        known = self.stats.kept("texts", _texts, empty, version=self.store.browsing.last(self.name))
        words = folded(wanted.text).split()
        there = np.ones(len(known.numbers), dtype=np.bool_)
        if wanted.system:
            code = known.names.index(wanted.system) if wanted.system in known.names else -1
            there &= known.systems == code
        if words:
            first, *more = words
            has = [first in text and all(word in text for word in more) for text in known.texts]
            there &= np.array(has, dtype=np.bool_)
        return known.numbers[there]

    def _voted(self, wanted: Wanted) -> Numbers:
        """Units with a judgment of which all of this is true."""
        packed_votes = self.stats.packed_votes()
        rows = packed_votes.rows
        true = np.ones(len(rows), dtype=np.bool_)
        if wanted.answer:
            said = packed_votes.said(self.stats.question, wanted.answer)
            if said is None:
                return self._marked(wanted)
            true &= said
        if wanted.person is not None:
            true &= rows["person"] == wanted.person
        if (first := _day(wanted.day)) is not None:
            last = _day(wanted.until)
            days = rows["at"] // DAY
            true &= (days >= first) & (days <= (first if last is None else last))
        return np.asarray(rows["unit"][true], dtype=np.int64)

    def _marked(self, wanted: Wanted) -> Numbers:
        """The same for marks on texts, whose labels stand in the judgments alone."""
        known = {label.id for label in self.stats.scheme.labels_of(self.stats.question)}
        if wanted.answer not in known:
            return np.zeros(0, dtype=np.int64)
        fragment = f'"label":{msgspec.json.encode(wanted.answer).decode()}'
        found = np.array(self.store.browsing.answering(self.name, fragment), dtype=np.int64)
        rest = msgspec.structs.replace(wanted, answer="")
        return np.intersect1d(found, self._voted(rest)) if rest.person is not None or rest.day else found

    def _ordered(self, found: Numbers, wanted: Wanted) -> Numbers:
        sort = wanted.sort
        if sort == "farthest":
            order = np.array(self._farthest(wanted.program), dtype=np.int64)
            units = np.argsort(order, kind="stable")
            return _by(found, order[units], units, np.inf)
        if sort == "disputed":
            units, apart = disagreement(self.stats)
            return _by(found, units, -np.nan_to_num(apart, nan=0.0), 1.0)
        if sort == "doubt":
            units, least_sure = doubts(self.stats)
            return _by(found, units, -least_sure, 1.0)
        if sort in ("newest", "oldest"):
            units, last = _last_judged(self.stats)
            return _by(found, units, -last if sort == "newest" else last, np.inf)
        return found


def newest_stats(store: Store) -> list[CampaignStats]:
    """The statistics of the newest campaigns with many judgments. One that asks for texts alone has none."""
    newest = store.campaigns.all()[-WARMED:]
    names = [one.name for one in newest if countable(store.campaigns.scheme(one.name).questions)]
    found = [CampaignStats(store, name, live=True, patience=threading.TIMEOUT_MAX) for name in names]
    return [stats for stats in found if stats.is_large]


def precompute_stats(store: Store) -> None:
    """Have ready what takes long in the newest campaigns: statistics, then the search of units.

    Each waits for what it works out, one thing after the other, so that what somebody asks for meanwhile comes next.
    """
    large = newest_stats(store)
    for stats in large:
        for look in (
            stats.agreement, stats.by_label, stats.shares, stats.disputes, stats.over_time, stats.systems,
            stats.annotators, stats.pairs,
        ):  # fmt: skip
            look()
    for stats in large:
        UnitSearch(stats).find(Wanted(system=UNKNOWN, sort="disputed"))


class ProgramFigures(NamedTuple):
    """A program beside people: units that both judged and where most people said one thing."""

    program: int
    name: str
    units: int
    """How many it judged."""
    compared: int
    same: int
    apart: list[int]
    """Where it said something else than most people."""


def folded(text: str) -> str:
    """A text as it is searched: width, case and the like make no difference."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    return plain.casefold()


def _texts(stats: CampaignStats) -> _Texts:
    numbers, texts, codes = [], [], []
    names: dict[str, int] = {}
    for unit in stats.store.browsing.texts(stats.name):
        numbers.append(unit.unit)
        texts.append(folded(f"{unit.before}\n{unit.text}" if unit.before else unit.text))
        codes.append(names.setdefault(UNKNOWN if unit.system is None else unit.system, len(names)))
    return _Texts(np.array(numbers, dtype=np.int64), texts, np.array(codes, dtype=np.int32), list(names))


NO_VALUES: Final[Values] = (np.zeros(0, np.int64), np.zeros(0))


@kept_result(NO_VALUES)
def disagreement(stats: CampaignStats) -> Values:
    """Of each judged unit, which share of every two people answered differently; NaN with fewer than two."""
    packed_votes = stats.packed_votes()
    if not stats.kind.is_packed:
        return packed_votes.units, _apart_by_votes(stats)
    codes = packed_votes.same_answers(stats.question)
    there = codes >= 0
    row, code = packed_votes.row[there].astype(np.int64), codes[there]
    many = np.bincount(row, minlength=len(packed_votes.units)).astype(np.float64)
    width = int(code.max(initial=0)) + 1
    cells, times = np.unique(row * width + code, return_counts=True)
    alike = np.bincount(cells // width, times * (times - 1.0), minlength=len(packed_votes.units))
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.where(many > 1, 1 - alike / (many * (many - 1)), np.nan)
    return packed_votes.units, apart


def _apart_by_votes(stats: CampaignStats) -> NDArray[np.float64]:
    """The same where rows do not hold the answers: how far every two people's marks are apart."""
    packed_votes = stats.packed_votes()
    many = np.bincount(packed_votes.row, minlength=len(packed_votes.units))
    apart = np.where(many > 1, 0.0, np.nan)
    for dispute in stats.disputes():
        apart[np.searchsorted(packed_votes.units, dispute.unit)] = dispute.disagreement
    return apart


@kept_result(NO_VALUES)
def _last_judged(stats: CampaignStats) -> Values:
    packed_votes = stats.packed_votes()
    order = np.lexsort((packed_votes.rows["at"], packed_votes.row))
    ends = np.searchsorted(packed_votes.row[order], np.arange(len(packed_votes.units)), side="right") - 1
    return packed_votes.units, packed_votes.rows["at"][order][ends].astype(np.float64)


@kept_result(cast(list[ProgramFigures], []))
def program_figures(stats: CampaignStats) -> list[ProgramFigures]:
    """How often each program said what most people said."""
    most = _most_said(stats)
    found = []
    for program, name in stats.store.browsing.programs(stats.name).items():
        answers = stats.store.browsing.program_answers(stats.name, program, stats.question.id)
        both = {unit: answer for unit, answer in answers.items() if unit in most}
        apart = sorted(unit for unit, answer in both.items() if str(answer) != most[unit])
        found.append(ProgramFigures(program, name, len(answers), len(both), len(both) - len(apart), apart))
    return found


@kept_result(cast(list[int], []))
def _commented(stats: CampaignStats) -> list[int]:
    """Units of which somebody wrote something."""
    texts = [question.id for question in stats.scheme.questions if kind_of(question).packed_type is None]
    keys = [f"{msgspec.json.encode(id).decode()}:" for id in texts]
    return sorted({unit for key in keys for unit in stats.store.browsing.answering(stats.name, key)})


@kept_result(NO_VALUES)
def doubts(stats: CampaignStats) -> Values:
    """Of each unit that a program judged, how unsure the least sure of them was; 0 is sure."""
    found: dict[int, float] = {}
    for program in stats.store.browsing.programs(stats.name):
        said = stats.store.browsing.program_shares(stats.name, program, stats.question.id)
        for unit, shares in said.items():
            found[unit] = max(found.get(unit, 0.0), stats.kind.doubt(shares))
    units = sorted(found)
    return np.array(units, dtype=np.int64), np.array([found[unit] for unit in units])


def _most_said(stats: CampaignStats) -> dict[int, str]:
    """The one answer that most people gave, by unit; nothing where two came first, or answers are no single labels."""
    if not stats.kind.is_counted:
        return {}
    packed_votes = stats.packed_votes()
    counts = packed_votes.counts(stats.question)
    top = counts.max(axis=1)
    alone = (counts == top[:, None]).sum(axis=1) == 1
    names = stats.kind.choices
    places = counts.argmax(axis=1)
    return {int(u): names[p] for u, p in zip(packed_votes.units[alone], places[alone], strict=True)}


def _by(found: Numbers, units: Numbers, keys: NDArray[Any], otherwise: float) -> Numbers:
    """Units in the order of their keys; those without one last."""
    if not len(units):
        return found
    place = np.searchsorted(units, found).clip(max=len(units) - 1)
    mine = np.where(units[place] == found, keys[place], otherwise)
    return found[np.argsort(mine, kind="stable")]


def _day(text: str) -> int | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() // 86400)
