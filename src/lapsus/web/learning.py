"""The worker of learning judges: a thread that fits a judge to people's judgments and judges open units."""

import hashlib
import logging
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from lapsus.annotators.base import BATCH, Annotator
from lapsus.annotators.bulk import Run
from lapsus.annotators.judge.agreement import Figure
from lapsus.annotators.judge.judge import Judge
from lapsus.annotators.judge.learning import Report
from lapsus.annotators.library import load_model
from lapsus.annotators.training import documents_and_votes
from lapsus.errors import InputError, LapsusError
from lapsus.kinds import kinds_of
from lapsus.model import Answer, Entry, Judgment
from lapsus.notices import Notice
from lapsus.store import Plan, Store, StoreError
from lapsus.store.learning import Followed, LearnedQuestion, LearningRound, OpenUnit, Suggestion, Work
from lapsus.store.people import new_secret
from lapsus.web.observation import survived

_Votes: TypeAlias = Mapping[str, tuple[Judgment, ...]]
_log = logging.getLogger("lapsus.web")
EVERY = 5.0
"""Seconds between two looks for work."""
MOST: Final = 20_000
"""Units that it makes suggestions for at a time."""
_AT_ONCE: Final = 1_000
"""Units of the rest that are looked up together."""
_HELD: Final = 20.0
"""Seconds after which the lease is renewed."""


class _EndedError(Exception):
    """The server ends, or another has taken over."""


class Learner:
    """A worker thread. Of all servers on a database, one does each piece of work."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._name = new_secret()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lapsus-learner", daemon=True)

    def start(self) -> None:
        """Begin to look for work."""
        self._thread.start()

    def end(self, patience: float = 10.0) -> None:
        """End as soon as may be. What was begun is left to others."""
        self._end.set()
        self._thread.join(patience)

    def _run(self) -> None:
        while not self._end.wait(EVERY):
            with survived("a campaign's judge could not go on"):
                while not self._end.is_set() and self.work_once():
                    pass

    def work_once(self) -> bool:
        """Do a piece of work, if there is one."""
        work = self.store.learning.claim(self._name)
        if work is None:
            return False
        watch = _Watch(self.store, work, self._end)
        units = self.store.learning.count_judged(work.campaign)
        try:
            (_learn if work.what == "learn" else _judge_rest)(self.store, work, watch)
        except _EndedError:
            self.store.learning.let_go(work)
        except StoreError:
            self.store.learning.let_go(work)
            raise
        except LapsusError as error:
            self.store.learning.failed(work, error, units)
        except Exception as error:
            # Whoever looks at the page is told; what exactly it was is in the log.
            told = InputError("something-went-wrong-program", hint="see-servers-log", error=error)
            self.store.learning.failed(work, told, units)
            raise
        return True


class _Watch:
    """Renews the lease now and then; raises where the work must stop."""

    def __init__(self, store: Store, work: Work, end: threading.Event) -> None:
        self.store, self.work, self.end = store, work, end
        self._told = time.monotonic()

    def __call__(self, done: int = 0, total: int = 0) -> None:
        if self.end.is_set():
            raise _EndedError
        if time.monotonic() - self._told > _HELD:
            self._told = time.monotonic()
            if not self.store.learning.hold(self.work):
                raise _EndedError


def _learn(store: Store, work: Work, watch: _Watch) -> None:
    scheme, plan = store.campaigns.scheme(work.campaign), store.campaigns.get(work.campaign).plan
    units = store.learning.count_judged(work.campaign)
    with closing(store.exports.export(work.campaign, names="names")) as found:
        votes = _votes(store, plan)
        entries = [Entry(one.id, one.document, (*one.judgments, *votes.get(one.id, ()))) for one in found]
    judge = Judge()
    judge.scheme, judge.name = scheme, plan.suggests or judge.name
    if any(_was_aided(judgment) for entry in entries for judgment in entry.judgments):
        judge.measured_by = documents_and_votes(_unaided(entries), scheme)[1]
    judge.fit(*documents_and_votes(entries, scheme), watch)
    seen, unseen = _followed(store, work.campaign, entries)
    questions = tuple(map(_learned, judge.reports_))
    latest = LearningRound(store.database.clock(), units, questions, seen, unseen)
    del entries
    store.learning.learned(work, latest, _file(judge), list(_suggestions(store, plan, judge, watch)))


def _judge_rest(store: Store, work: Work, watch: _Watch) -> None:
    """Answers about units that nobody has judged, kept as a program's. What it did before it ended is kept too."""
    plan = store.campaigns.get(work.campaign).plan
    judge, after, judgments = _loaded(store, work.campaign), 0, 0
    program = store.programs.add(f"judge-{work.campaign}")
    votes = _votes(store, plan)
    while some := store.learning.open_units(work.campaign, _AT_ONCE, after=after, program=program.id):
        after = some[-1].number
        judged = _judged(store, votes, judge, some, watch)
        entries = (Entry(entry.id, entry.document, tuple(said.values())) for entry, said in judged)
        judgments += sum(store.programs.add_judgments(work.campaign, program, entries, once=True))
    store.learning.judged_rest(work, judgments)


def _suggestions(store: Store, plan: Plan, judge: Annotator, watch: _Watch) -> Iterator[Suggestion]:
    kinds = kinds_of(judge.scheme)
    without = plan.learn.without if plan.learn else 1.0
    units = store.learning.units_to_suggest(plan.name, MOST)
    for _, said in _judged(store, _votes(store, plan), judge, units, watch):
        for unit, judgment in said.items():
            doubts = [kinds[id].doubt(shares) for id, shares in judgment.distributions.items()]
            # Of marks it is least sure where as likely as not there is one.
            marks: Mapping[str, float] = judgment.metadata.get("expected", {})
            doubts += [1 - abs(1 - 2 * min(number, 1.0)) for number in marks.values()]
            shown = _draw(plan, unit.number) >= without and bool(judgment.answers)
            yield Suggestion(unit, judgment.answers, shown, sum(doubts) / max(len(doubts), 1))


def _judged(
    store: Store, votes: _Votes, judge: Annotator, units: Iterable[OpenUnit], watch: _Watch
) -> Iterator[tuple[Entry, dict[OpenUnit, Judgment]]]:
    """The documents of units, with what the judge says of these units."""
    wanted: dict[str, dict[str | None, OpenUnit]] = {}

    def documents() -> Iterator[Entry]:
        for _, group in groupby(units, key=lambda unit: unit.document):
            some = list(group)
            document = store.learning.document(some[0])
            wanted[document.id] = {unit.segment: unit for unit in some}
            watch()
            yield Entry(document.id, document, votes.get(document.id, ()))

    for entry in Run(units=BATCH).entries((judge, item) for item in documents()):
        mine = wanted.pop(entry.id)
        yield entry, {mine[one.segment]: one for one in entry.judgments if one.segment in mine}


def _votes(store: Store, plan: Plan) -> _Votes:
    """The votes of the campaign that this one is chained to, by document: its judge makes use of them."""
    if plan.chain is None:
        return {}
    with closing(store.exports.export(plan.chain.campaign, names="names")) as source:
        return {entry.id: entry.judgments for entry in source}


def _unaided(entries: Iterable[Entry]) -> Iterator[Entry]:
    for entry in entries:
        yield Entry(entry.id, entry.document, tuple(one for one in entry.judgments if not _was_aided(one)))


def _was_aided(judgment: Judgment) -> bool:
    return "suggested" in judgment.metadata


def _followed(store: Store, campaign: str, entries: Iterable[Entry]) -> tuple[Followed, Followed]:
    """How often people said what the judge would have said before they judged: with it in view, and without."""
    kinds, told = kinds_of(store.campaigns.scheme(campaign)), store.learning.answers(campaign)
    counts = {True: [0, 0], False: [0, 0]}
    for judgment in (one for entry in entries for one in entry.judgments):
        answers: Mapping[str, Answer] = told.get((judgment.document, judgment.segment), {})
        for id, answer in answers.items():
            if (said := judgment.answers.get(id)) is not None:
                count = counts[_was_aided(judgment)]
                count[0] += kinds[id].same(said) == kinds[id].same(answer)
                count[1] += 1
    return Followed(*counts[True]), Followed(*counts[False])


def _learned(report: Report) -> LearnedQuestion:
    found = report.agreement
    judge: Figure = found.judge_beyond
    return LearnedQuestion(
        report.question, report.units, judge.value, judge.low, judge.high, found.people_beyond.value,
        report.answered,
    )  # fmt: skip


def _draw(plan: Plan, unit: int) -> float:
    """A number from 0 to 1, always the same for a unit: what is kept back stays so, whoever learns."""
    digest = hashlib.blake2b(f"{plan.seed}/{plan.name}/{unit}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def _file(judge: Judge) -> bytes:
    with tempfile.TemporaryDirectory(prefix="lapsus-judge-") as folder:
        path = Path(folder) / "judge.lapsus"
        judge.save(path)
        return path.read_bytes()


def _loaded(store: Store, campaign: str) -> Annotator:
    model = store.learning.model(campaign)
    if model is None:
        raise InputError("judge-not-learned-anything-yet", where=Notice("campaign", campaign=campaign))
    with tempfile.TemporaryDirectory(prefix="lapsus-judge-") as folder:
        path = Path(folder) / "judge.lapsus"
        path.write_bytes(model)
        judge = load_model(path)
    # It judges units here that nobody had judged, so that it learned from none of them: nothing is too good.
    if judge.origin_ is not None:
        judge.origin_ = msgspec.structs.replace(judge.origin_, texts=b"")
    return judge
