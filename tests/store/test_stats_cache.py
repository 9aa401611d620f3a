"""Kept figures are exactly what a full recount gives, whatever was saved in which order, and saves hardly notice."""

from __future__ import annotations

import random
import threading
from collections import Counter
from contextlib import suppress
from typing import Any

import msgspec
import numpy as np
import pytest
import regex
from sqlalchemy import select, text

from lapsus.errors import InvalidError
from lapsus.kinds.votes import collect_votes
from lapsus.measures.agreement import coefficient
from lapsus.measures.agreement.patterns import histogram, patterns
from lapsus.model import Document, Entry, Judgment, Segment
from lapsus.model.votes import LabelVotes
from lapsus.store import Plan, RefusedError, Store, open_store, restore
from lapsus.store import tables as t
from lapsus.store.rows import ANSWERS as DECODER
from tests.store.helpers import Clock, campaign, dialogue, judge_all, people, request, reserve, save
from tests.store.test_cost import statements
from tests.web.helpers import ANSWERS, pair

DAY_ZERO = 20513  # 1 March 2026
SYSTEMS = ("Robin", "Wren", None)


def chats(documents: int) -> list[Document]:
    """Chats with three systems, one of them unnamed."""
    made = []
    for number in range(documents):
        plain = dialogue(f"d{number}")
        system = SYSTEMS[number % len(SYSTEMS)]
        made.append(Document(plain.id, plain.segments, "en", {} if system is None else {"system": system}))
    return made


def recounted(store: Store, name: str) -> tuple[dict[Any, int], dict[Any, tuple[int, int]]]:
    """Patterns and days counted plainly from what an export gives."""
    scheme = store.campaigns.scheme(name)
    units: dict[Any, Counter[Any]] = {}
    days: dict[tuple[str, int], tuple[int, int]] = {}
    for entry in store.exports.export(name, names="names"):
        assert entry.document is not None
        for judgment in entry.judgments:
            for question in scheme.questions:
                if question.kind in ("label", "scale") and question.id in judgment.answers:
                    place = (question.id, entry.document.system or "?", judgment.unit)
                    units.setdefault(place, Counter())[judgment.answers[question.id]] += 1
            day = -1 if judgment.at is None else int(judgment.at.timestamp() // 86400)
            key = (judgment.annotator, day)
            known = days.get(key, (0, 0))
            days[key] = known[0] + 1, known[1] + round((judgment.seconds or 0) * 1000)
    found: Counter[Any] = Counter()
    for (id, system, _), votes in units.items():
        question = next(q for q in scheme.questions if q.id == id)
        steps = [level.value for level in question.levels] or [label.id for label in question.labels]
        found[id, system, tuple(votes[step] for step in steps)] += 1
    return dict(found), days


def check(store: Store, name: str) -> None:
    figures = store.stats.figures(name)
    wanted_patterns, wanted_days = recounted(store, name)
    assert {(p.question, p.system, p.counts): p.times for p in figures.patterns} == wanted_patterns
    names = {person.person: person.name for person in store.progress.of_campaign(name).people}
    kept = {(names[d.person], d.day): (d.judgments, d.milliseconds) for d in figures.days}
    assert kept == wanted_days
    version, packed_votes = store.stats.packed_votes(name)
    assert version == figures.version
    assert len(packed_votes.rows) == sum(count for count, _ in wanted_days.values())
    counters_hold(store, name)


def counters_hold(store: Store, name: str) -> None:
    """What the pages count is what the places say."""
    with store.database.engine.connect() as conn:
        places = list(conn.execute(select(t.assignment)))
        wanted = {row.number: row.wanted for row in conn.execute(select(t.unit))}
    done = Counter(row.unit for row in places if row.state == "done")
    progress = store.progress.of_campaign(name)
    assert progress.done == sum(min(count, wanted[unit]) for unit, count in done.items())
    assert progress.complete == sum(count >= wanted[unit] for unit, count in done.items())
    for person in store.members.all(name):
        mine = [row for row in places if row.person == person.person]
        assert person.submitted == sum(row.submitted > 0 for row in mine)
        assert person.held == sum(row.state == "reserved" for row in mine)
    for each in progress.people:
        mine = [row for row in places if row.person == each.person]
        assert each.drafts == sum(row.revision > row.submitted for row in mine)


def test_figures_after_random_histories_equal_a_recount(store: Store, clock: Clock) -> None:
    store.campaigns.create(Plan("chat", "breakdown", per_unit=3, minutes=30))
    store.campaigns.add_documents("chat", chats(6))
    crowd = people(store, "avery", "blake", "casey", "drew")
    check(store, "chat")
    random_ = random.Random(7)
    held: dict[int, list[int]] = {person: [] for person in crowd}
    for step in range(150):
        person = random_.choice(crowd)
        if not held[person] or random_.random() < 0.1:
            held[person] = sorted({*held[person], *reserve(store, person)})
        for unit in random_.sample(held[person], min(2, len(held[person]))):
            with suppress(RefusedError):  # it went back to the pool
                save(
                    store, unit, person, random_.choice("OTX"),
                    submitted=random_.random() < 0.8, withdrawn=random_.random() < 0.3,
                    seconds=random_.choice([None, 1.25, 3.0]),
                )  # fmt: skip
        if random_.random() < 0.1:
            clock.forward(minutes=random_.choice([5, 45, 1500]))
        if step % 30 == 0:
            check(store, "chat")
    assert store.progress.of_campaign("chat").done > 20
    check(store, "chat")


def test_imports_revisions_and_late_answers_are_counted_as_an_export_counts_them(
    store: Store, clock: Clock
) -> None:
    campaign(store, documents=2, per_unit=1)
    avery, blake = people(store, "avery", "blake")
    units = reserve(store, avery)
    clock.forward(hours=2)
    judge_all(store, blake)
    assert save(store, units[0], avery, "X").extra
    check(store, "chat")
    later = Judgment("d0", "0", "casey", "breakdown", "1.0", {"breakdown": "T"}, seconds=0.5)
    store.imports.add_judgments("chat", [Entry("d0", dialogue("d0"), (later,))])
    check(store, "chat")
    again = Judgment("d0", "0", "casey", "breakdown", "1.0", {"breakdown": "X"}, revision=2)
    store.imports.add_judgments("chat", [Entry("d0", dialogue("d0"), (again,))])
    check(store, "chat")
    assert any(day.day == -1 for day in store.stats.figures("chat").days)
    assert any(day.day == DAY_ZERO for day in store.stats.figures("chat").days)


def test_scales_and_sets_are_kept_too(store: Store) -> None:
    store.campaigns.create(Plan("quality", "response-quality", per_unit=2))
    store.campaigns.add_documents("quality", [dialogue("d0", 2)])
    scheme, answers = store.campaigns.scheme("quality"), dict(ANSWERS["response-quality"])
    acts = next(q for q in scheme.questions if q.kind == "labels")
    given = tuple(label.id for label in scheme.labels_of(acts))[-2:]
    for number, person in enumerate(people(store, "avery", "blake")):
        for unit in reserve(store, person, "quality"):
            more = {"soundness": 2 + number, "dialogue-act": "N", acts.id: given[: number + 1]}
            save(store, unit, person, campaign="quality", answers={**answers, **more})
    check(store, "quality")
    _, packed_votes = store.stats.packed_votes("quality")
    judgments = [
        judgment for entry in store.exports.export("quality", names="names") for judgment in entry.judgments
    ]
    for question in scheme.questions:
        if question.kind in ("scale", "labels"):
            labels = [label.id for label in scheme.labels_of(question)]
            wanted, found = collect_votes(judgments, question, labels), packed_votes.votes(question)
            for field in ("values", "chosen", "answered"):
                if hasattr(wanted, field) and wanted.units:
                    np.testing.assert_array_equal(getattr(found, field), getattr(wanted, field))


def test_spans_are_not_kept_as_numbers_but_have_their_old_place(store: Store) -> None:
    store.campaigns.create(Plan("pairs", "semantic-errors", per_unit=3))
    store.campaigns.add_documents("pairs", [pair("p0")])
    said = [ANSWERS["semantic-errors"], {"errors": ()}, ANSWERS["semantic-errors"]]
    for person, answers in zip(people(store, "a", "b", "c"), said, strict=True):
        (unit,) = reserve(store, person, "pairs")
        save(store, unit, person, campaign="pairs", answers=DECODER.decode(msgspec.json.encode(answers)))
    _, packed_votes = store.stats.packed_votes("pairs")
    assert packed_votes.rows.dtype["answer errors"] == np.int64
    with pytest.raises(InvalidError, match="not kept as numbers"):
        packed_votes.votes(store.campaigns.scheme("pairs").questions[0])


def test_a_histogram_gives_the_very_same_scores_and_intervals() -> None:
    random_ = np.random.default_rng(3)
    codes = random_.choice([-1, 0, 1, 2], size=(300, 6), p=[0.2, 0.4, 0.25, 0.15]).astype(np.int8)
    keys = tuple((str(n), None) for n in range(300))
    votes = LabelVotes(keys, tuple("abcdef"), ("O", "T", "X"), codes)  # type: ignore[arg-type]
    counts = votes.counts()
    shuffled = random_.permutation(len(counts))
    kept = histogram(counts[shuffled], np.ones(300), "O,T,X", patterns(votes, "fleiss").answers)
    for measure in ("fleiss", "alpha", "ac1", "percent", "alpha(ordinal)"):
        assert coefficient(measure, kept) == coefficient(measure, votes)  # type: ignore[arg-type]


def test_looking_again_changes_nothing_and_a_save_changes_the_version(store: Store) -> None:
    campaign(store, documents=1, per_unit=2)
    avery, _ = people(store, "avery", "blake")
    one, two, _ = reserve(store, avery)
    save(store, one, avery)
    first = store.stats.figures("chat")
    assert store.stats.figures("chat") == first
    assert store.stats.packed_votes("chat")[1] is store.stats.packed_votes("chat")[1]
    save(store, two, avery, submitted=False)
    assert store.stats.figures("chat") == first
    save(store, two, avery)
    assert store.stats.figures("chat").version > first.version


def test_many_who_look_while_others_save_end_with_the_right_figures(store: Store) -> None:
    campaign(store, documents=4, turns=4, per_unit=3)
    crowd = people(store, "avery", "blake", "casey")
    troubles: list[Exception] = []

    def look() -> None:
        try:
            for _ in range(10):
                store.stats.figures("chat")
        except Exception as error:
            troubles.append(error)

    threads = [threading.Thread(target=look) for _ in range(3)]
    threads += [threading.Thread(target=judge_all, args=(store, person)) for person in crowd]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not troubles
    assert store.progress.of_campaign("chat").done == 48
    check(store, "chat")
    with store.database.reading() as conn:
        assert conn.execute(t.figure_change.select()).all() == []


def test_a_server_keeps_them_without_anybody_looking(store: Store) -> None:
    campaign(store, documents=1)
    (avery,) = people(store, "avery")
    judge_all(store, avery)
    store.stats.refresh()
    with store.database.reading() as conn:
        assert conn.execute(t.figure_change.select()).all() == []
        assert conn.execute(t.figure_pattern.select()).one().times == 3


def test_figures_come_along_with_a_backup(store: Store, other_url: str, tmp_path: Any) -> None:
    campaign(store, documents=2, per_unit=2)
    avery, blake = people(store, "avery", "blake")
    judge_all(store, avery)
    before = store.stats.figures("chat")
    save(store, reserve(store, blake)[0], blake, "X")
    store.backups.backup(tmp_path / "all.zip")
    restore(tmp_path / "all.zip", other_url)
    with open_store(other_url) as restored:
        check(restored, "chat")
        assert restored.stats.figures("chat").patterns != before.patterns


def test_training_and_check_units_are_no_votes(store: Store) -> None:
    campaign(store, documents=1)
    (avery,) = people(store, "avery")
    judge_all(store, avery)
    with store.database.writing() as conn:
        conn.execute(t.unit.update().where(t.unit.c.number == 2).values(wanted=t.FULL))
        conn.execute(t.figure_change.insert(), [{"campaign": 1, "documents": "[1]"}])
    assert sorted(store.stats.packed_votes("chat")[1].units.tolist()) == [1, 3]


@pytest.mark.parametrize("said", ["unknown label", "wrong kind"])
def test_what_the_scheme_does_not_know_is_left_out(store: Store, said: str) -> None:
    answer: Any = "Q" if said == "unknown label" else 7
    odd = Judgment("d0", "0", "casey", "breakdown", "0.1", {"breakdown": answer})
    store.campaigns.create(Plan("chat", "breakdown"))
    document = Document("d0", (Segment("0", "system", "Hello"),), "en")
    store.imports.add_judgments("chat", [Entry("d0", document, (odd,))], check=False)
    assert store.stats.figures("chat").patterns == ()


def test_saves_of_one_batch_leave_one_note(store: Store) -> None:
    campaign(store, documents=1, turns=6)
    (me,) = people(store, "avery")
    units = reserve(store, me)
    store.saves._write_together([store.saves._ready(request(unit, me)) for unit in units])
    with store.database.reading() as conn:
        assert conn.execute(t.figure_change.select()).one().documents == "[1]"


def test_a_look_costs_what_has_changed_and_reads_through_no_table(store: Store) -> None:
    """By the database's own plan: with a million judgments, a look after one save reads those of one document."""
    campaign(store, documents=3, per_unit=4)
    for person in people(store, "avery", "blake", "casey"):
        judge_all(store, person)
    store.stats.figures("chat")
    with store.database.writing() as conn:
        conn.execute(t.figure_change.insert(), [{"campaign": 1, "documents": "[2]"}])
    with statements(store) as seen:
        store.stats._look(1)
    is_sqlite = store.database.engine.dialect.name == "sqlite"
    explain, bad = ("EXPLAIN QUERY PLAN", "SCAN ") if is_sqlite else ("EXPLAIN", "Seq Scan")
    asked = [(words, values) for words, values, _ in seen if words.startswith("SELECT")]
    with store.database.writing() as conn:
        if not is_sqlite:
            conn.execute(text("SET LOCAL enable_seqscan = off"))
        for words, values in asked:
            plan = str(conn.exec_driver_sql(f"{explain} {words}", values).all())
            # The notes themselves are read whole: there are as many as there were saves since the last look.
            if "FROM figure_change" not in words:
                assert bad not in plan, words
            if "FROM judgment" in words and is_sqlite:
                assert regex.search(r"assignment USING INDEX \w+ \(campaign=\? AND unit=\?", plan), plan
    assert any("FROM judgment" in words for words, _ in asked)
