"""Saving answers: permission first, then the rules, then the queue of the writer; acknowledged only when on disk."""

import math
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from lapsus.errors import InputError, LapsusError
from lapsus.model import Answer, Document, Scheme, freeze
from lapsus.notices import Notice
from lapsus.schemes import BrokenRule, broken_rules, spelt_answers
from lapsus.schemes.answer_rules import Procedure, Required
from lapsus.store.base import Database, StorePart, is_conflict, trouble
from lapsus.store.plan import KnownUnits
from lapsus.store.records import RefusedError, Saved, SaveRequest, StoreError
from lapsus.store.rows import campaign_row, plan_of
from lapsus.store.save_batch import Ready, SaveBatch
from lapsus.store.validation import LARGEST, check_words, storable, to_json
from lapsus.store.writer import Writer

LARGEST_ANSWERS = 100_000
"""Characters of the answers about one unit, as JSON. A page full of marks has a tenth."""
KNOWN = 8192
"""For how many units the rules of saving are cached."""
_NEVER_RIGHT = ("unknown-question", "wrong-kind")
"""Rules that a draft has to keep too: no further answer could mend them."""


class _UnitRules(NamedTuple):
    """What answers about a unit are checked against. None of it ever changes."""

    campaign: int
    segment: str | None
    document: Document
    scheme: Scheme
    stops: bool
    """Whether wrong answers to known units can stop somebody."""
    required: Required


class Saves(StorePart):
    """Keeping what people say."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._writer: Writer[Ready | SaveRequest, Saved] = Writer(self._write_together)
        self._own: Connection | None = None
        self._blocks = lru_cache(maxsize=1024)(self._find_blocks)
        self._required: dict[int, Required] = {}
        self._rules: OrderedDict[tuple[str, int], _UnitRules] = OrderedDict()
        self._rules_guard = threading.Lock()

    def save(self, request: SaveRequest) -> Saved:
        """Keep answers, and return when they are on disk. The same key again gives the same answer again."""
        return self.save_soon(request).result()

    def save_soon(self, request: SaveRequest) -> Future[Saved]:
        """Put answers in line; the future is done when they are on disk, or refused.

        It never waits for the database: the rules are checked here only where all that this takes is cached.
        """
        if self._known_rules(request.campaign, request.unit) is None:
            return self._writer.submit(request)
        try:
            return self._writer.submit(self._ready(request))
        except (RefusedError, InputError) as error:
            refused: Future[Saved] = Future()
            refused.set_exception(error)
            return refused

    def cache_rules(self, campaign: str, units: Iterable[int]) -> None:
        """Cache the rules of units that somebody looks at and may answer soon."""
        for unit in units:
            self._rules_of(campaign, unit)

    def _known_rules(self, campaign: str, unit: int) -> _UnitRules | None:
        with self._rules_guard:
            return self._rules.get((campaign, unit))

    def _rules_of(self, campaign: str, unit: int) -> _UnitRules:
        known = self._known_rules(campaign, unit)
        if known is None:
            id = self._campaign_id(campaign)
            row, stops = self._unit(id, unit), any(b.then == "stop" for b in self._blocks(id))
            document, scheme = self._document(row.digest), self._scheme_of(id)
            known = _UnitRules(id, row.segment, document, scheme, stops, self._required_of(id))
            with self._rules_guard:
                self._rules[campaign, unit] = known
                if len(self._rules) > KNOWN:
                    self._rules.popitem(last=False)
        return known

    def _find_blocks(self, campaign: int) -> tuple[KnownUnits, ...]:
        with self.reading() as conn:
            return tuple(plan_of(campaign_row(conn, campaign)).known.values())

    def _required_of(self, campaign: int) -> Required:
        """What the plan asks for; it never changes."""
        if campaign not in self._required:
            with self.reading() as conn:
                plan = plan_of(campaign_row(conn, campaign))
            self._required[campaign] = Required(plan.walk == "required", plan.steps == "required")
        return self._required[campaign]

    def _ready(self, request: SaveRequest) -> Ready:
        rules = self._rules_of(request.campaign, request.unit)
        if not 0 < request.person <= LARGEST:
            raise RefusedError("not-yours", Notice("there-is-no-person", id=request.person))
        if request.seconds is not None and not (math.isfinite(request.seconds) and request.seconds >= 0):
            raise RefusedError("shape", f"{request.seconds} is no number of seconds")
        given = {key: answer for key, answer in request.answers.items() if answer is not None}
        answers = freeze(spelt_answers(rules.scheme, freeze(given), rules.document))
        written = to_json(answers)
        if len(written) > LARGEST_ANSWERS:
            raise RefusedError("too-large", f"the answers have more than {LARGEST_ANSWERS:,} characters")
        return Ready(
            key=check_words(request.key, "words-key", longest=100),
            campaign=rules.campaign,
            unit=request.unit,
            person=request.person,
            answers=written,
            version=rules.scheme.version,
            submitted=request.submitted,
            given_at=request.given_at,
            seconds=request.seconds,
            client=storable(request.client)[:200],
            base_revision=request.base_revision,
            credential=request.credential,
            suggested=request.suggested,
            broken=_broken(rules, answers, request),
            in_order=rules.scheme.unit.context == "before",
            stops=rules.stops,
            procedure=_kept(request.procedure, rules.scheme),
            withdrawn=request.withdrawn,
        )

    def _write_together(self, requests: list[Ready | SaveRequest]) -> list[Saved | Exception]:
        """Write valid saves in one transaction; refuse each of the others by itself."""
        saves = [self._ready_or_refused(request) for request in requests]
        answers = iter(self._write([save for save in saves if isinstance(save, Ready)]))
        return [next(answers) if isinstance(save, Ready) else save for save in saves]

    def _ready_or_refused(self, request: Ready | SaveRequest) -> Ready | Exception:
        try:
            return request if isinstance(request, Ready) else self._ready(request)
        except LapsusError as error:
            return error

    def _write(self, saves: list[Ready]) -> list[Saved | Exception]:
        """One transaction for all; where another process got in the way, one for each."""
        if not saves:
            return []
        try:
            with self._own_transaction() as conn:
                return SaveBatch(conn, self.clock()).run(saves)
        except StoreError as error:
            return [error for _ in saves]
        except PoolTimeoutError as error:
            return [trouble(error) for _ in saves]
        except DBAPIError as error:
            if not is_conflict(error):
                return [trouble(error) for _ in saves]
        return [self._write_alone(save) for save in saves]

    @contextmanager
    def _own_transaction(self) -> Iterator[Connection]:
        """A transaction on a connection that the writer keeps: to fetch one each time would cost as much again."""
        with self.database.line:
            self.database.file.check()
            if self._own is None:
                self._own = self.database.writing_engine.connect()
            try:
                with self._own.begin():
                    yield self._own
                self.database.file.check_written()
            except BaseException:
                self._let_go()
                raise

    def _let_go(self) -> None:
        own, self._own = self._own, None
        if own is not None:
            own.close()

    def _write_alone(self, save: Ready) -> Saved | Exception:
        try:
            # Its key keeps it from being stored twice.
            return self.write(lambda conn: SaveBatch(conn, self.clock()).run([save])[0], twice=True)
        except StoreError as error:
            return error

    def close(self) -> None:
        """Finish the saves that are in line and let go of the database."""
        self._writer.close()
        self._let_go()
        self.database.engine.dispose()


def _kept(procedure: Procedure, scheme: Scheme) -> dict[str, Any]:
    """The way to an answer as far as the guideline knows it: no word of a stranger's is kept."""
    labels = {label.id for question in scheme.questions for label in scheme.labels_of(question)}
    steps = {step.id for step in scheme.steps}
    known = Procedure(
        procedure.guideline if procedure.guideline in scheme.languages else None,
        tuple(id for id in dict.fromkeys(procedure.walk) if id in labels),
        tuple(id for id in dict.fromkeys(procedure.steps) if id in steps),
    )
    return known.record()


def _broken(rules: _UnitRules, answers: dict[str, Answer], request: SaveRequest) -> tuple[BrokenRule, ...]:
    """The rules that answers break. They are told only to those who may see the unit: they may quote its text."""
    broken: list[BrokenRule] = broken_rules(rules.scheme, answers, rules.document, rules.segment)
    if request.submitted:
        return (*broken, *rules.required.broken(rules.scheme, answers, request.procedure))
    return tuple(rule for rule in broken if rule.rule in _NEVER_RIGHT)
