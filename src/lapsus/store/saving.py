"""Saving answers: rules first, then in line for the writer, and acknowledged only when on disk."""

from __future__ import annotations

import math
from concurrent.futures import Future
from typing import Any

from sqlalchemy.exc import DBAPIError

from lapsus.model import Answer, freeze
from lapsus.schemes import BrokenRule, broken_rules
from lapsus.store.assignment import Assignment
from lapsus.store.base import UnitRow, is_conflict, trouble
from lapsus.store.batch import Batch, Ready
from lapsus.store.checks import LARGEST, check_words, storable, to_json
from lapsus.store.records import RefusedError, Saved, SaveRequest, StoreError
from lapsus.store.writer import Writer

_NEVER_RIGHT = ("unknown-question", "wrong-kind")
"""Rules that a draft has to keep too: no further answer could mend them."""


class Saving(Assignment):
    """Keeping what people say."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._writer: Writer[Ready, Saved] = Writer(self._write_together)

    def save(self, request: SaveRequest) -> Saved:
        """Keep answers, and return when they are on disk. The same key again gives the same answer again."""
        return self.save_soon(request).result()

    def save_soon(self, request: SaveRequest) -> Future[Saved]:
        """Put answers in line; the future is done when they are on disk. Broken rules are told at once."""
        return self._writer.submit(self._ready(request))

    def _ready(self, request: SaveRequest) -> Ready:
        campaign = self._campaign_id(request.campaign)
        unit = self._unit(campaign, request.unit)
        if not 0 < request.person <= LARGEST:
            raise RefusedError("not-yours", f"there is no person {request.person}")
        if request.seconds is not None and not (math.isfinite(request.seconds) and request.seconds >= 0):
            raise RefusedError("shape", f"{request.seconds} is no number of seconds")
        answers = freeze({key: answer for key, answer in request.answers.items() if answer is not None})
        self._check(campaign, unit, answers, request.submitted)
        return Ready(
            key=check_words(request.key, "a key", longest=100),
            campaign=campaign,
            unit=request.unit,
            person=request.person,
            answers=to_json(answers),
            version=self._scheme_of(campaign).version,
            submitted=request.submitted,
            given_at=request.given_at,
            seconds=request.seconds,
            client=storable(request.client)[:200],
            base_revision=request.base_revision,
        )

    def _check(self, campaign: int, unit: UnitRow, answers: dict[str, Answer], submitted: bool) -> None:
        document = self._document(unit.digest)
        broken: list[BrokenRule] = broken_rules(self._scheme_of(campaign), answers, document, unit.segment)
        if not submitted:
            broken = [rule for rule in broken if rule.rule in _NEVER_RIGHT]
        if broken:
            raise RefusedError("rules", broken[0].message(), broken=tuple(broken))

    def _write_together(self, saves: list[Ready]) -> list[Saved | Exception]:
        """One transaction for all; where another process got in the way, one for each."""
        try:
            with self.transaction() as conn:
                return Batch(conn, self.clock()).run(saves)
        except DBAPIError as error:
            if not is_conflict(error):
                return [trouble(error) for _ in saves]
        return [self._write_alone(save) for save in saves]

    def _write_alone(self, save: Ready) -> Saved | Exception:
        try:
            return self.write(lambda conn: Batch(conn, self.clock()).run([save])[0])
        except StoreError as error:
            return error

    def close(self) -> None:
        """Finish the saves that are in line and let go of the database."""
        self._writer.close()
        self.engine.dispose()
