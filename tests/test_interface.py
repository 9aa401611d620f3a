"""What the functions of `lapsus` take: tables with and without their dialogues, guidelines in every form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lapsus
from lapsus.errors import InputError, UsageError
from lapsus.log_check.guideline_check import check_answers
from lapsus.measures.bootstrap import Bootstrap
from lapsus.model import Document, Entry, Judgment, Segment

GUIDELINE = """
scheme: own
version: "1"
title: {en: Own}
summary: {en: A guideline of one's own.}
unit: {role: system, context: before}
questions:
  - id: verdict
    kind: label
    name: {en: Verdict}
    ask: {en: Which?}
    labels:
      - {id: good, name: {en: Good}, definition: {en: good}, aliases: [◎]}
      - {id: bad, name: {en: Bad}, definition: {en: bad}, aliases: [no good]}
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text(GUIDELINE, encoding="utf-8")
    return path


def judged(answers: dict[str, Any] | None = None, scheme: str = "own", version: str = "1") -> list[Entry]:
    """Six dialogues, each with two judged turns; `answers` stands in place of what all say."""
    entries = []
    for number in range(6):
        id = f"d{number}"
        texts = ("hello", "nice weather", "yes", "banana banana")
        turns = (Segment(str(n), ("user", "system")[n % 2], text) for n, text in enumerate(texts))  # type: ignore[arg-type]
        said = tuple(
            Judgment(id, turn, who, scheme, version, answers or {"verdict": label})
            for turn, label in (("1", "good"), ("3", "bad"))
            for who in ("ann", "ben")
        )
        entries.append(Entry(id, Document(id, tuple(turns), "en"), said))
    return entries


def test_a_table_of_judgments_alone_is_told_from_data_that_nobody_judged(own: Path) -> None:
    frame = lapsus.to_frame(judged())
    for call in (lambda: lapsus.train("judge", frame, scheme=str(own)), lambda: list(lapsus.detect(frame))):
        with pytest.raises(InputError, match=r"holds judgments without the dialogues .*list of two tables"):
            call()


def test_tables_of_segments_and_of_judgments_make_whole_entries(own: Path) -> None:
    entries = judged()
    tables = [lapsus.to_frame(entries, of="segments"), lapsus.to_frame(entries)]
    assert list(lapsus.read(tables)) == entries
    model = lapsus.train("judge", tables, scheme=str(own))
    assert [len(entry.judgments) for entry in lapsus.detect(tables, model=model)] == [2] * 6
    with pytest.raises(InputError, match="two tables hold document 'd0'"):
        list(lapsus.read([tables[0], tables[0]]))


def test_a_guideline_is_taken_by_its_file_and_loaded(own: Path) -> None:
    entries = judged()
    run = [Entry(entry.id, None, entry.judgments[::2]) for entry in entries]
    loaded = lapsus.load_scheme(str(own))
    for scheme in (str(own), own, loaded):
        assert "fleiss" in str(lapsus.agree(entries, scheme=scheme, bootstrap=None))
        assert lapsus.gold(entries, scheme=scheme)["verdict"].answers == ("good", "bad") * 6
        assert "exact" in str(lapsus.score(entries, run, scheme=scheme, bootstrap=None))
        assert lapsus.validate(entries, scheme=scheme).judgments == 24
        assert "good" in str(lapsus.estimate(entries, judges=["ann"], scheme=scheme))


def test_one_entry_is_data() -> None:
    one = Entry(
        "d", None, tuple(Judgment("d", "1", who, "breakdown", "1.0", {"breakdown": "X"}) for who in "ab")
    )
    assert "judged units" in str(lapsus.agree(one, bootstrap=None))
    assert list(lapsus.read(one)) == [one]


MARKS = {"◯": "O", "Ｏ": "O", "o": "O", "○": "O", "NB": "O", "△": "T", "☓": "X", "x": "X", "×": "X"}


@pytest.mark.parametrize("form", ["entries", "table", "jsonl", "csv"])
def test_marks_are_understood_in_every_form(form: str, tmp_path: Path) -> None:
    said = tuple(
        Judgment("d", str(n), "ann", "breakdown", "1.0", {"breakdown": mark}, {"breakdown": {mark: 1.0}})
        for n, mark in enumerate(MARKS)
    )
    data: Any = [Entry("d", None, said)]
    if form == "table":
        data = lapsus.to_frame(data)
    elif form != "entries":
        # As a file of somebody else: written with ids, then the marks put in.
        path = tmp_path / f"marks.{form}"
        kept = tuple(
            Judgment("d", j.segment, "ann", "breakdown", "1.0", {"breakdown": f"mark{n}"})
            for n, j in enumerate(said)
        )
        lapsus.convert([Entry("d", None, kept)], path)
        text = path.read_text(encoding="utf-8")
        for n, mark in enumerate(MARKS):
            text = text.replace(f"mark{n}", mark)
        path.write_text(text, encoding="utf-8")
        data = path
    found = [judgment for entry in lapsus.read(data) for judgment in entry.judgments]
    assert [judgment.answers["breakdown"] for judgment in found] == list(MARKS.values())
    if form in ("entries", "table"):
        assert [dict(judgment.distributions["breakdown"]) for judgment in found] == [
            {id: 1.0} for id in MARKS.values()
        ]


def test_spellings_of_a_guideline_of_ones_own(own: Path) -> None:
    entries = judged({"verdict": "◎"})
    assert set(lapsus.gold(entries, scheme=own)["verdict"].answers or ()) == {"good"}
    assert lapsus.validate(entries, scheme=own).broken == ()
    mixed = [
        Entry(e.id, e.document, e.judgments[:2] + w.judgments[2:])
        for e, w in zip(entries, judged(), strict=True)
    ]
    assert lapsus.train("judge", mixed, scheme=own).scheme.id == "own"


def test_an_answer_that_the_guideline_does_not_know_is_one_more_broken_judgment(own: Path) -> None:
    first, *rest = judged()
    bad = [
        Judgment("d0", "1", who, "own", "1", {"verdict": what}) for who, what in (("cid", "nope"), ("dan", 3))
    ]
    entries = [Entry("d0", first.document, (*first.judgments, *bad)), *rest]
    table = lapsus.agree(entries, scheme=own, bootstrap=None)
    assert (table.data["broken"], table.data["fleiss_kappa"]) == (2, 1)
    assert "2 of these have an answer that the guideline does not know" in table.notes[-1]
    assert lapsus.gold(entries, scheme=own)["verdict"].answers == ("good", "bad") * 6
    run = [Entry("d0", None, tuple(bad[:1]))]
    with pytest.raises(
        InputError, match=r"unknown label 'nope'.*known: good, bad; `drop_broken=True` leaves"
    ):
        lapsus.score(judged(), run, scheme=own)
    with pytest.raises(InputError, match="all its 1 judgments break the guideline"):
        lapsus.agree(run, scheme=own, drop_broken=True)


def answers(label: str, level: int) -> dict[str, Any]:
    return {"verdict": label, "how": level, "tags": ["rude"] if label == "bad" else []}


def test_runs_are_compared_under_any_guideline(tmp_path: Path) -> None:
    own = tmp_path / "rich.yaml"
    own.write_text(
        GUIDELINE
        + """
  - {id: how, kind: scale, name: {en: How}, ask: {en: How?}, levels: [
      {value: 1, meaning: {en: a}}, {value: 2, meaning: {en: b}}, {value: 3, meaning: {en: c}}]}
  - {id: tags, kind: labels, name: {en: Tags}, ask: {en: Tags?}, labels: [
      {id: rude, name: {en: Rude}, definition: {en: x}}, {id: long, name: {en: Long}, definition: {en: x}}]}
""",
        encoding="utf-8",
    )

    def run(label: str | None, level: int) -> list[Entry]:
        """People's own answers, or always the same."""
        right = {"1": ("good", 1), "3": ("bad", 3)}
        return [
            Entry(e.id, e.document, tuple(
                Judgment(e.id, turn, "run", "own", "1", answers(label or said[0], said[1] if label is None else level))
                for turn, said in right.items()
            ))
            for e in judged()
        ]  # fmt: skip

    gold = run(None, 0)
    table = lapsus.compare(gold, run("good", 2), gold, scheme=own, bootstrap=Bootstrap(200))
    found = {(row[1], row[2]): row[3].difference for row in table.rows}  # type: ignore[union-attr]
    assert found["verdict", "exact"] == pytest.approx(0.5)
    assert found["tags", "exact"] == pytest.approx(0.5)
    assert found["how", "MAE"] == pytest.approx(-1)
    assert found["how", "pearson"] is None
    assert "lower is better: MAE" in table.notes
    only = lapsus.compare(gold, run("good", 2), gold, scheme=own, questions=["how"], bootstrap=Bootstrap(200))
    assert {row[1] for row in only.rows} == {"how"}


def test_a_model_says_that_a_guideline_changed_without_a_new_version(own: Path, tmp_path: Path) -> None:
    model = lapsus.train("judge", judged(), scheme=own)
    changed = tmp_path / "changed.yaml"
    changed.write_text(GUIDELINE.replace("id: bad", "id: worse"), encoding="utf-8")
    with pytest.raises(
        UsageError, match="knows 'own' with the same version, 1, and other content: 'verdict'"
    ):
        lapsus.detect(judged(), model=model, scheme=changed)


def test_a_threshold_of_nothing_is_for_one_label() -> None:
    said = tuple(Judgment("d", "1", who, "error-types", "1.2", {"types": ("repetition",)}) for who in "ab")
    with pytest.raises(UsageError, match=r"share of more than 0 .*-t 0 is for questions with one label"):
        lapsus.gold([Entry("d", None, said)], threshold=0.0)


def test_documents_that_are_not_there_are_not_counted_as_none() -> None:
    frame = lapsus.to_frame(judged(scheme="breakdown", version="1.0", answers={"breakdown": "X"}))
    table = lapsus.agree(frame, bootstrap=None)
    assert table.data["documents"] == 6


def test_a_log_is_checked_under_the_guideline_of_the_model(own: Path, tmp_path: Path) -> None:
    entries = judged()
    rare = Judgment("d0", "1", "m", "own", "1", {"verdict": "bad"}, {"verdict": {"good": 0.1, "bad": 0.9}})
    surer = Judgment("d1", "1", "m", "own", "1", {"verdict": "bad"}, {"verdict": {"good": 0.05, "bad": 0.95}})
    said = [
        (rare,),
        (surer,),
        *((Judgment(e.id, "1", "m", "own", "1", {"verdict": "good"}),) for e in entries[2:]),
    ]
    found = check_answers(
        (Entry(e.id, e.document, mine) for e, mine in zip(entries, said, strict=True)),
        lapsus.load_scheme(own),
        1,
    )
    assert [(one.unit.document, one.sure) for one in found.findings] == [("d1", pytest.approx(0.95))]
    assert (found.turns, found.standing_out) == (6, 2)
    assert "Verdict – Bad, where Good is usual (95% sure)" in found.to_text()
    assert "1 more answers are unusual" in found.to_text()
    assert "nice weather" in found.to_html("ja")

    lapsus.train("judge", entries, scheme=own, out=tmp_path / "m.lapsus")
    checked = lapsus.check(entries, model=tmp_path / "m.lapsus").as_data("en")
    assert (checked["scheme"], checked["turns"]) == ("own", 12)
    assert sum(one["count"] for one in checked["questions"][0]["answers"]) == 12
    with pytest.raises(UsageError, match="a model under 'own' is not adapted"):
        lapsus.check(entries, model=tmp_path / "m.lapsus", adapt=entries)


def test_the_floor_says_the_usual_answers_of_any_guideline(own: Path, tmp_path: Path) -> None:
    entries = [Entry(e.id, e.document, e.judgments[:3]) for e in judged()]
    lapsus.train("floor", entries, scheme=own, out=tmp_path / "floor.lapsus")
    said = [j for entry in lapsus.detect(entries, model=tmp_path / "floor.lapsus") for j in entry.judgments]
    assert len(said) == 12
    assert {judgment.answers["verdict"] for judgment in said} == {"good"}
    assert said[0].distributions["verdict"] == {"good": 0.5, "bad": 0.5}
    with pytest.raises(UsageError, match=r"'prior' is for 'breakdown' only.*`floor` is a floor for any"):
        lapsus.train("prior", entries, scheme=own)
