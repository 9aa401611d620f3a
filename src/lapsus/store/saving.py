"""Saving answers: rules first, then in line for the writer, and acknowledged only when on disk."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, NamedTuple

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from lapsus.errors import InputError, LapsusError
from lapsus.model import Answer, Document, Scheme, freeze
from lapsus.schemes import BrokenRule, broken_rules
from lapsus.store.assignment import Assignment
from lapsus.store.base import is_conflict, trouble
from lapsus.store.batch import Batch, Ready
from lapsus.store.checks import LARGEST, check_words, storable, to_json
from lapsus.store.records import RefusedError, Saved, SaveRequest, StoreError
from lapsus.store.writer import Writer

KNOWN = 8192
"""For how many units it is kept in mind what a save has to know of them."""
_NEVER_RIGHT = ("unknown-question", "wrong-kind")
"""Rules that a draft has to keep too: no further answer could mend them."""


class _Matter(NamedTuple):
    """What an answer is about. None of it ever changes."""

    campaign: int
    segment: str | None
    document: Document
    scheme: Scheme


class Saving(Assignment):
    """Keeping what people say."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._writer: Writer[Ready | SaveRequest, Saved] = Writer(self._write_together)
        self._own: Connection | None = None
        self._matters: OrderedDict[tuple[str, int], _Matter] = OrderedDict()

    def save(self, request: SaveRequest) -> Saved:
        """Keep answers, and return when they are on disk. The same key again gives the same answer again."""
        return self.save_soon(request).result()

    def save_soon(self, request: SaveRequest) -> Future[Saved]:
        """Put answers in line; the future is done when they are on disk, or refused.

        It never waits for the database: the rules are checked here only where all that takes is in mind.
        """
        if (request.campaign, request.unit) not in self._matters:
            return self._writer.submit(request)
        try:
            return self._writer.submit(self._ready(request))
        except (RefusedError, InputError) as error:
            refused: Future[Saved] = Future()
            refused.set_exception(error)
            return refused

    def keep_in_mind(self, campaign: str, units: Iterable[int]) -> None:
        """Somebody looks at these units and may well answer soon."""
        for unit in units:
            self._matter(campaign, unit)

    def _matter(self, campaign: str, unit: int) -> _Matter:
        known = self._matters.get((campaign, unit))
        if known is None:
            id = self._campaign_id(campaign)
            row = self._unit(id, unit)
            known = _Matter(id, row.segment, self._document(row.digest), self._scheme_of(id))
            self._matters[campaign, unit] = known
            if len(self._matters) > KNOWN:
                self._matters.popitem(last=False)
        return known

    def _ready(self, request: SaveRequest) -> Ready:
        matter = self._matter(request.campaign, request.unit)
        if not 0 < request.person <= LARGEST:
            raise RefusedError("not-yours", f"there is no person {request.person}")
        if request.seconds is not None and not (math.isfinite(request.seconds) and request.seconds >= 0):
            raise RefusedError("shape", f"{request.seconds} is no number of seconds")
        answers = freeze({key: answer for key, answer in request.answers.items() if answer is not None})
        _check(matter, answers, request.submitted)
        return Ready(
            key=check_words(request.key, "a key", longest=100),
            campaign=matter.campaign,
            unit=request.unit,
            person=request.person,
            answers=to_json(answers),
            version=matter.scheme.version,
            submitted=request.submitted,
            given_at=request.given_at,
            seconds=request.seconds,
            client=storable(request.client)[:200],
            base_revision=request.base_revision,
            credential=request.credential,
            suggested=request.suggested,
        )

    def _write_together(self, requests: list[Ready | SaveRequest]) -> list[Saved | Exception]:
        """What keeps the rules is written together; the others are refused, each by itself."""
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
                return Batch(conn, self.clock()).run(saves)
        except DBAPIError as error:
            if not is_conflict(error):
                return [trouble(error) for _ in saves]
        return [self._write_alone(save) for save in saves]

    @contextmanager
    def _own_transaction(self) -> Iterator[Connection]:
        """A transaction on a connection that the writer keeps: to fetch one each time would cost as much again."""
        with self._line:
            if self._own is None:
                self._own = self._writing.connect()
            try:
                with self._own.begin():
                    yield self._own
            except BaseException:
                self._let_go()
                raise

    def _let_go(self) -> None:
        own, self._own = self._own, None
        if own is not None:
            own.close()

    def _write_alone(self, save: Ready) -> Saved | Exception:
        try:
            return self.write(lambda conn: Batch(conn, self.clock()).run([save])[0])
        except StoreError as error:
            return error

    def close(self) -> None:
        """Finish the saves that are in line and let go of the database."""
        self._writer.close()
        self._let_go()
        self.engine.dispose()


def _check(matter: _Matter, answers: dict[str, Answer], submitted: bool) -> None:
    broken: list[BrokenRule] = broken_rules(matter.scheme, answers, matter.document, matter.segment)
    if not submitted:
        broken = [rule for rule in broken if rule.rule in _NEVER_RIGHT]
    if broken:
        raise RefusedError("rules", broken[0].message(), broken=tuple(broken))
