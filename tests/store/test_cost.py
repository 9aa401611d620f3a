"""A save costs the same whatever was saved before, and many saves share one commit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, text

from lapsus.model import Entry, Judgment
from lapsus.store import Store, open_store, pipeline
from tests.store.helpers import campaign, dialogue, people, request, reserve, save


def shown(store: Store, person: int) -> list[int]:
    """Units that a person has been given and has seen: what never changes about them is known by then."""
    units = reserve(store, person)
    for unit in units:
        store.units.visible("chat", unit)
    return units


@contextmanager
def statements(store: Store) -> Iterator[list[tuple[str, Any, int]]]:
    """The statements that go to the database, with their values and how many rows each changed."""
    seen: list[tuple[str, Any, int]] = []

    def note(conn: Any, cursor: Any, statement: str, values: Any, context: Any, many: bool) -> None:
        changed = cursor.rowcount if statement.startswith(("INSERT", "UPDATE")) else 0
        seen.append((statement, values[0] if many else values, changed))

    send, sent = pipeline.send, []

    def noted(driver: Any, compiled: Any, values: Any) -> Any:
        cursor = send(driver, compiled, values)
        sent.append((compiled, values if isinstance(values, dict) else values[0], cursor))
        return cursor

    event.listen(store.database.engine, "after_cursor_execute", note)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "send", noted)
        yield seen
    event.remove(store.database.engine, "after_cursor_execute", note)
    for compiled, values, cursor in sent:
        changed = cursor.rowcount if compiled.text.startswith(("INSERT", "UPDATE")) else 0
        seen.append((compiled.text, compiled.bound(values), changed))


def crowd(people: int, revisions: int) -> Entry:
    """Many judgments of one document."""
    given = [
        Judgment("d0", segment, f"person {number}", "breakdown", "1.0", {"breakdown": "O"}, revision=revision)
        for number in range(people)
        for segment in ("0", "2")
        for revision in range(1, revisions + 1)
    ]
    return Entry("d0", dialogue("d0", 3), tuple(given))


def test_a_save_does_the_same_at_the_start_and_after_many(store: Store) -> None:
    campaign(store, documents=1, turns=3, per_unit=200)
    (me,) = people(store, "avery")
    one, known, two = shown(store, me)
    save(store, known, me, "T")  # What never changes of a campaign is looked up once, and kept in mind.
    with statements(store) as early:
        save(store, one, me, "O")
    store.imports.add_judgments("chat", [crowd(people=100, revisions=10)])
    for _ in range(50):
        save(store, one, me, "X")
    with statements(store) as late:
        save(store, two, me, "O")
    assert [(words, changed) for words, _, changed in late] == [
        (words, changed) for words, _, changed in early
    ]
    assert len(early) <= 11
    # One row each: the judgment, the place, the unit, the member, the total, the note for figures.
    assert sum(changed for _, _, changed in early) == 6


def together(store: Store, person: int, units: list[int]) -> list[Any]:
    """Saves that the writer finds waiting all at once."""
    return store.saves._write_together([store.saves._ready(request(unit, person)) for unit in units])


def test_saves_together_take_no_more_statements_than_one(store: Store) -> None:
    campaign(store, documents=1, turns=12)
    (me,) = people(store, "avery")
    known, first, *units = shown(store, me)
    save(store, known, me)  # What never changes of a campaign is looked up once, and kept in mind.
    with statements(store) as alone:
        save(store, first, me)
    with statements(store) as all_at_once:
        assert [saved.revision for saved in together(store, me, units)] == [1] * 10
    assert len(all_at_once) == len(alone)
    assert store.progress.of_campaign("chat").complete == 12


@pytest.mark.parametrize("many", [1, 7])
def test_no_statement_of_a_save_reads_through_a_table(store: Store, many: int) -> None:
    """By the database's own plan: every table is entered by an index."""
    campaign(store, documents=1, turns=many, per_unit=200)
    (me,) = people(store, "avery")
    units = shown(store, me)
    with statements(store) as seen:
        together(store, me, units)
    is_sqlite = store.database.engine.dialect.name == "sqlite"
    explain, bad = ("EXPLAIN QUERY PLAN", "SCAN ") if is_sqlite else ("EXPLAIN", "Seq Scan")
    with store.database.writing() as conn:
        if not is_sqlite:
            conn.execute(text("SET LOCAL enable_seqscan = off"))
        for words, values, _ in seen:
            if not words.startswith("BEGIN"):
                plan = str(conn.exec_driver_sql(f"{explain} {words}", values).all())
                assert bad not in plan.replace("SCAN CONSTANT ROW", ""), words


def test_where_a_person_stands_is_found_among_that_persons_units(tmp_path: Path) -> None:
    """SQLite goes by no index that has everybody's units of the campaign: it would read them all."""
    with open_store(tmp_path / "one.sqlite") as store:
        campaign(store, documents=3, turns=4, batch=3)
        (me,) = people(store, "avery")
        units = reserve(store, me)
        save(store, units[0], me)
        with statements(store) as seen:
            assert store.progress.own("chat", me, units[5]).unjudged == units[1:]
        with store.database.reading() as conn:
            for words, values, _ in seen:
                if words.startswith("SELECT"):
                    rows = conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {words}", values).all()
                    steps = [str(row[-1]) for row in rows if "assignment" in str(row[-1])]
                    assert all("person=?" in step for step in steps), (words, steps)


def test_an_export_reads_the_judgments_of_its_documents_and_no_others(tmp_path: Path) -> None:
    """Else every hundred documents would cost as much as all: SQLite goes by the numbers of their units."""
    with open_store(tmp_path / "one.sqlite") as store:
        campaign(store, documents=3, turns=4)
        with statements(store) as seen:
            assert len(list(store.exports.export("chat"))) == 3
        (asked,) = [one for one in seen if "FROM judgment" in one[0]]
        with store.database.reading() as conn:
            rows = conn.exec_driver_sql(f"EXPLAIN QUERY PLAN {asked[0]}", asked[1]).all()
        first = str(rows[0][-1])
        assert "judgment" in first, rows
        assert "unit>? AND unit<?" in first, rows
