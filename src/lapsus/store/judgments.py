"""Reading judgments back."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, exists, select

from lapsus.store import tables as t
from lapsus.store.base import StorePart
from lapsus.store.records import StoredJudgment
from lapsus.store.rows import ANSWERS, ITS_DOCUMENT, ITS_UNIT, SAME_PLACE, record
from lapsus.store.validation import chunks, clamped, number

_SAID, _MINE = t.judgment, t.assignment

CHUNK = 500
"""Of how many units the judgments are asked for at a time."""


class Judgments(StorePart):
    """What was said, read back. Nothing here goes through all of history."""

    def get(self, campaign: str, unit: int, person: int) -> StoredJudgment | None:
        """The newest revision of what a person said about a unit; a draft, if that is the newest."""
        mine = (_MINE.c.unit == number(unit)) & (_MINE.c.person == number(person))
        found = self._judgments(campaign, self._newest(_MINE.c.revision, mine))
        return found[0] if found else None

    def of_person(
        self, campaign: str, person: int, *, limit: int = 100, before: int | None = None
    ) -> list[StoredJudgment]:
        """The newest revisions of a person's judgments, by number from the end: `before` turns the page."""
        mine = _MINE.c.person == number(person)
        if before is not None:
            mine &= _MINE.c.unit < clamped(before)
        query = self._newest(_MINE.c.revision, mine).order_by(_MINE.c.unit.desc()).limit(clamped(limit))
        return self._judgments(campaign, query)

    def after_unjudged(self, campaign: str, person: int, units: Sequence[int]) -> frozenset[int]:
        """Which of these units of a person come after one of the same document that is not judged yet."""
        earlier = _MINE.alias()
        mine = (_MINE.c.campaign == self._campaign_id(campaign)) & (_MINE.c.person == number(person))
        before = exists().where(
            earlier.c.campaign == _MINE.c.campaign,
            earlier.c.person == _MINE.c.person,
            earlier.c.document == _MINE.c.document,
            earlier.c.unit < _MINE.c.unit,
            earlier.c.submitted == 0,
        )
        these = _MINE.c.unit.in_([number(unit) for unit in units])
        return frozenset(self.scalars(select(_MINE.c.unit).where(mine, these, before)))

    def of_unit(self, campaign: str, unit: int) -> list[StoredJudgment]:
        """What everybody, programs too, submitted about a unit: each one's newest."""
        query = self._newest(_MINE.c.submitted, _MINE.c.unit == number(unit))
        return self._judgments(campaign, query.order_by(_MINE.c.person))

    def of_units(self, campaign: str, units: Sequence[int]) -> dict[int, list[StoredJudgment]]:
        """What everybody, programs too, submitted about some units: each one's newest."""
        found: dict[int, list[StoredJudgment]] = {unit: [] for unit in units}
        for some in chunks(units, CHUNK):
            query = self._newest(_MINE.c.submitted, _MINE.c.unit.in_(some))
            # In the order of the judgments' own key: by any other SQLite would go through all that there are.
            for judgment in self._judgments(campaign, query.order_by(_SAID.c.unit, _SAID.c.person)):
                found[judgment.unit].append(judgment)
        return found

    def counted(self, campaign: str) -> Iterator[StoredJudgment]:
        """Every judgment that counts, by unit and person: people's newest with a place in the plan.

        Without practice and checks, as in `Export.export`, and all as of one moment.
        """
        place, unit, its = t.campaign_document, t.unit, _MINE.c.campaign == self._campaign_id(campaign)
        query = (
            _revisions()
            .add_columns(place.c.name.label("document"), unit.c.segment)
            .join(unit, ITS_UNIT)
            .join(place, ITS_DOCUMENT)
            .where(its, _SAID.c.revision == _MINE.c.submitted, _MINE.c.state == "done", ~t.person.c.program)
            .where(unit.c.wanted < t.FULL)
            .order_by(_SAID.c.unit, _SAID.c.person)
        )
        with self.reading() as conn:
            for row in conn.execute(query).yield_per(CHUNK):
                yield _stored(row, row.document, row.segment or None)

    def history(self, campaign: str, unit: int, person: int | None = None) -> list[StoredJudgment]:
        """Every revision of the judgments of a unit, drafts too, of everybody or of one."""
        query = _revisions().where(_MINE.c.unit == number(unit)).order_by(_MINE.c.person, _SAID.c.revision)
        return self._judgments(
            campaign, query if person is None else query.where(_MINE.c.person == number(person))
        )

    def _newest(self, revision: Any, which: ColumnElement[bool]) -> Select[Any]:
        return _revisions().where(_SAID.c.revision == revision, which)

    def _judgments(self, campaign: str, query: Select[Any]) -> list[StoredJudgment]:
        id = self._campaign_id(campaign)
        rows = self.rows(query.where(_MINE.c.campaign == id))
        places = {row.unit: self._unit(id, row.unit) for row in rows}
        return [_stored(row, places[row.unit].name, places[row.unit].segment) for row in rows]


def _stored(row: Row[Any], document: str, segment: str | None) -> StoredJudgment:
    answers = ANSWERS.decode(row.answers)
    return record(StoredJudgment, row, document=document, segment=segment, answers=answers)


def _revisions() -> Select[Any]:
    return (
        select(_SAID, t.person.c.name.label("annotator"), t.person.c.program.label("by_program"))
        .join(_MINE, SAME_PLACE)
        .join(t.person, t.person.c.id == _SAID.c.person)
    )
