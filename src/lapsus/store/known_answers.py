"""Known answers: their units, the right answers, and whether an answer is right."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from lapsus.errors import InputError
from lapsus.kinds import countable
from lapsus.model import Answer, Document, Scheme, units
from lapsus.model.decoders import decoder
from lapsus.notices import Notice
from lapsus.schemes import broken_rules, spelt_answers
from lapsus.store import tables as t
from lapsus.store.plan import Block, KnownUnit, Plan
from lapsus.store.rows import insert_rows, set_levels
from lapsus.store.validation import chunks, to_json

_UNFINISHED = ("missing-answer", "too-few")
"""Rules that a right answer need not keep: it may leave questions out."""
CHUNK = 500


class KnownAnswers:
    """Adds a plan's known answers to a campaign as their documents come in."""

    def __init__(
        self, plan: Plan, scheme: Scheme, given: Mapping[Block, Sequence[KnownUnit]] | None = None
    ) -> None:
        self.scheme = scheme
        self._compared = {question.id for question in countable(scheme.questions)}
        self.parts: dict[str, Block] = {}
        """Documents that everybody gets, and why."""
        self.units: dict[tuple[str, str | None], tuple[Block, KnownUnit]] = {}
        self._rows: list[dict[str, Any]] = []
        self._met: set[tuple[str, str | None]] = set()
        for name, block in plan.known.items():
            for unit in (given or {}).get(name) or block.units:
                self._note(name, unit)

    def _note(self, block: Block, unit: KnownUnit) -> None:
        key = (unit.document, unit.segment)
        before = self.units.setdefault(key, (block, unit))
        if before != (block, unit):
            raise InputError("known-twice-under", where=_where(unit), before=before[0], block=block)
        if (part := self.parts.get(unit.document, block)) != block:
            what = Notice("one-document-cannot-under", part=part, block=block)
            raise InputError(what, where=_where(unit), hint="choose-unit-another-document")
        if block != "gold":
            self.parts[unit.document] = block

    def found(self, document: Document, segment: str | None, number: int) -> None:
        """A unit that has come in: if its answer is known, it is noted."""
        if (known := self.units.get((document.id, segment))) is None:
            return
        block, unit = known
        known_right = [spelt_answers(self.scheme, right, document) for right in unit.right]
        for right in known_right:
            for rule in broken_rules(self.scheme, right, document, segment):
                if rule.rule not in _UNFINISHED:
                    what, hint = (
                        f"a known answer breaks a rule: {rule.message()}",
                        "answer it anew, or remove it",
                    )
                    raise InputError(what, where=_where(unit), hint=hint)
        # Nobody finds the same words: what is written freely is not compared.
        compared = [
            {name: said for name, said in one.items() if name in self._compared} for one in known_right
        ]
        if not all(compared):
            raise InputError("known-answer-nothing-could", where=_where(unit))
        self._met.add((document.id, segment))
        self._rows.append(
            {
                "unit": number,
                "block": block,
                "answers": to_json(compared),
                "feedback": to_json(unit.feedback),
            }
        )

    def write(self, conn: Connection, campaign: int) -> None:
        """Keep what was noted; the units must be there."""
        insert_rows(conn, t.expected, [{"campaign": campaign, **row} for row in self._rows])
        self._rows = []

    def check_all_found(self, conn: Connection, campaign: int) -> None:
        """Complain of a unit that the plan knows and the documents do not have."""
        place, unit, known = t.campaign_document, t.unit, t.expected
        query = (
            select(place.c.name, unit.c.segment)
            .join(unit, (unit.c.campaign == place.c.campaign) & (unit.c.document == place.c.position))
            .join(known, (known.c.campaign == unit.c.campaign) & (known.c.unit == unit.c.number))
            .where(place.c.campaign == campaign)
        )
        self._complain({(row.name, row.segment or None) for row in conn.execute(query)})

    def check_against(self, documents: Iterable[Document]) -> None:
        """Complain of whatever is wrong with the known answers about these documents, before a campaign is made."""
        for document in documents:
            for unit in units(document, self.scheme.unit):
                self.found(document, unit.key.segment, 0)
        self._complain(self._met)

    def _complain(self, there: Collection[tuple[str, str | None]]) -> None:
        for key, (block, unit) in self.units.items():
            if key not in there:
                hint = Notice("name-document-data-segment")
                raise InputError("names-unit-not", where=_where(unit), hint=hint, block=block)


def open_known(conn: Connection, campaign: int, known: KnownAnswers, after: int) -> None:
    """In a campaign whose units others' votes choose: open the known units of documents that came in last."""
    place, unit = t.campaign_document, t.unit
    rows = conn.execute(
        select(place.c.position, place.c.name, unit.c.number, unit.c.segment, t.document.c.content)
        .join(unit, (unit.c.campaign == place.c.campaign) & (unit.c.document == place.c.position))
        .join(t.document, t.document.c.digest == place.c.digest)
        .where(place.c.campaign == campaign, place.c.position > after)
        .where(place.c.name.in_({document for document, _ in known.units}))
    ).all()
    opened: dict[int, tuple[int, Block]] = {}
    for row in rows:
        segment = row.segment or None
        known.found(decoder(Document).decode(row.content), segment, row.number)
        if (row.name, segment) in known.units and (part := known.parts.get(row.name)) is not None:
            opened[row.number] = row.position, part
    known.write(conn, campaign)
    for numbers in chunks(sorted(opened), CHUNK):
        mine = (unit.c.campaign == campaign) & unit.c.number.in_(numbers)
        conn.execute(update(unit).where(mine).values(active=True, wanted=t.FULL))
    for part in {part for _, part in opened.values()}:
        positions = {position for position, its in opened.values() if its == part}
        mine = (place.c.campaign == campaign) & place.c.position.in_(positions)
        conn.execute(update(place).where(mine).values(part=part))
        set_levels(conn, campaign, positions)


def is_right(right: Sequence[Mapping[str, Answer]], answers: Mapping[str, Answer]) -> bool:
    """Whether answers are as good as one of the right ones."""
    given = {question: _plain(answer) for question, answer in answers.items()}
    return any(
        all(given.get(question) == _plain(wanted) for question, wanted in one.items()) for one in right
    )


def _plain(answer: Answer) -> Any:
    """An answer without what makes no difference: the order of labels and spans, ties, space around text."""
    if isinstance(answer, tuple):
        return frozenset(
            item if isinstance(item, str) else (item.segment, item.start, item.end, item.label)
            for item in answer
        )
    return answer.strip() if isinstance(answer, str) else answer


def _where(unit: KnownUnit) -> str:
    name = Notice("document", document=unit.document)
    return name if unit.segment is None else f"{name}, segment {unit.segment!r}"
