"""Campaigns on the samples: figures as `lapsus agree` has them, gold with decisions, and the report in every form."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import regex
from sqlalchemy import event
from typer.testing import CliRunner

from lapsus.analysis.agreement import agree, coefficients
from lapsus.campaign_stats import CampaignStats, campaign
from lapsus.campaign_stats.adjudication import (
    SHARES,
    campaign_gold,
    group_by_answer,
    keep_gold,
    many_decisions,
    most_frequent,
    same_answers,
)
from lapsus.campaign_stats.report import campaign_report
from lapsus.campaign_stats.results import Results, results_of
from lapsus.campaign_stats.statistics import forecast
from lapsus.campaign_stats.unit_search import UnitSearch, newest_stats, precompute_stats
from lapsus.cli.app import app
from lapsus.errors import UsageError
from lapsus.formats import convert, read
from lapsus.kinds import kind_of
from lapsus.kinds.votes import collect_votes
from lapsus.measures.gold import make_gold
from lapsus.model import Entry, Judgment, Span, UnitKey
from lapsus.samples import sample_path
from lapsus.schemes import check_scheme, load_scheme
from lapsus.store import GoldCounts, Plan, RefusedError, Store, open_store
from lapsus.store.known_answers import is_right
from tests.store.helpers import campaign as chats

SCHEMES = {
    "breakdown": "dialogues-en",
    "error-types": "dialogues-ja",
    "response-quality": "dialogues-en",
    "semantic-errors": "pairs-en",
}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of each guideline; what is decided in it, a test decides in a copy."""
    path = tmp_path_factory.mktemp("samples") / "store.sqlite"
    with open_store(path) as store:
        for scheme, sample in SCHEMES.items():
            store.campaigns.create(Plan(scheme, scheme, per_unit=12))
            store.imports.add_judgments(scheme, read(sample_path(sample), "jsonl"), check=False)
        store.people.add("mori", "adjudicator")
    return path


@pytest.fixture
def store(database: Path, tmp_path: Path) -> Iterator[Store]:
    copy = tmp_path / "store.sqlite"
    copy.write_bytes(database.read_bytes())
    with open_store(copy) as opened:
        yield opened


def test_reliability_in_marking_rests_on_all_words_as_that_of_gold_does(store: Store) -> None:
    found = campaign_gold(store, "semantic-errors", "dawid-skene")
    marked = [made for made in found.values() if "of:words" in made.signature]
    assert marked
    for id, made in found.items():
        stats = CampaignStats(store, "semantic-errors", id)
        table = stats.annotators()
        if made in marked:
            shown = {stats.names[row.person]: row.reliability for row in table.rows}
            assert shown == pytest.approx(dict(made.reliability))
            assert made.signature in table.signatures


@pytest.mark.parametrize("scheme", SCHEMES)
def test_agreement_is_that_of_the_command_on_an_export(store: Store, scheme: str, tmp_path: Path) -> None:
    convert(store.exports.export(scheme), tmp_path / "out.jsonl")
    wanted: Any = agree(tmp_path / "out.jsonl", scheme=scheme).data
    desks = [CampaignStats(store, scheme, question.id) for question in CampaignStats(store, scheme).questions]
    several = any("." in key for key in wanted["signatures"])
    compared = 0
    for stats in desks:
        for row, score in stats.agreement().items():
            key = row.key(several)
            if key in wanted:
                compared += 1
                assert score.value == pytest.approx(wanted[key]), key
                assert score.signature == wanted["signatures"][key], key
                if score.interval is not None:
                    assert list(score.interval) == pytest.approx(wanted["intervals"][key]), key
    assert compared >= 3


def test_gold_is_that_of_the_measures_with_decisions_on_top(store: Store) -> None:
    plain = campaign_gold(store, "breakdown", "dawid-skene")["breakdown"]
    stats = CampaignStats(store, "breakdown")
    votes = stats.votes()
    assert plain.answers == make_gold("dawid_skene", votes).answers
    place = store.units.get("breakdown", 5)
    key = UnitKey(place.document, place.segment)
    other = next(label for label in "OTX" if label != plain.by_unit()[key])
    mori = store.people.all()[-1]
    store.decisions.decide("k", "breakdown", 5, mori.id, "own", {"breakdown": other})
    made = campaign_gold(store, "breakdown", "dawid-skene")
    assert made["breakdown"].by_unit()[key] == other
    assert made["breakdown"].signature == f"adjudicated:1|by:1 adjudicator|{plain.signature}"
    kept = keep_gold(store, "breakdown", made, "dawid-skene")
    assert (kept.decided, kept.method, kept.signatures["breakdown"]) == (
        1,
        "dawid-skene",
        made["breakdown"].signature,
    )
    units = {
        UnitKey(unit.document, unit.segment): unit
        for unit in store.decisions.gold_units("breakdown", kept.id)
    }
    assert kept.questions == {"breakdown": GoldCounts(len(units), len(made["breakdown"].undecided))}
    assert units[key].answers == {"breakdown": other}
    assert units[key].shares["breakdown"][other] == 1.0
    assert sum(unit.decided for unit in units.values()) == 1


def test_an_unknown_method_or_one_for_other_answers_is_refused(store: Store) -> None:
    with pytest.raises(UsageError):
        campaign_gold(store, "breakdown", "lottery")
    with pytest.raises(UsageError):
        campaign_gold(store, "semantic-errors", "mace")


def test_a_preference_is_the_same_in_whichever_order_the_replies_were_shown() -> None:
    scheme = load_scheme("preference")
    (question, *_) = scheme.questions
    one, other, worse = ({question.id: answer} for answer in ("A|AB", "A|BA", "B|AB"))
    assert same_answers(scheme, one) == same_answers(scheme, other) != same_answers(scheme, worse)
    assert is_right(scheme, [one], other)
    assert not is_right(scheme, [one], worse)


def test_the_same_answers_stand_together_and_none_is_lost(store: Store) -> None:
    stats = CampaignStats(store, "error-types")
    for dispute in stats.disputes()[:20]:
        unit = dispute.unit
        judgments = store.judgments.of_unit("error-types", unit)
        groups = group_by_answer(stats.scheme, judgments)
        assert sorted(j.person for group in groups for j in group.judgments) == sorted(
            j.person for j in judgments
        )
        assert [len(group.judgments) for group in groups] == sorted(
            (len(g.judgments) for g in groups), reverse=True
        )
        for group in groups:
            assert len({frozenset(j.answers.get("types", ())) for j in group.judgments}) == 1
        most = most_frequent(stats, unit, judgments)
        if most is not None:
            store.decisions.decide(
                f"m{unit}", "error-types", unit, store.people.all()[-1].id, most.how, most.answers
            )


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_report_says_everything_in_both_languages(store: Store, scheme: str, language: str) -> None:
    report = campaign_report(store, scheme, language)
    assert [part.id for part in report.parts] == [
        "worse", "data", "guideline", "annotators", "agreement", "gold", "disputed", "methods", "card",
    ]  # fmt: skip
    page = report.to_html()
    assert f'<html lang="{language}">' in page
    assert not regex.search(r'(src|href)="(?!#|data:)', page)
    for person in store.progress.of_campaign(scheme).people:
        assert person.name not in regex.sub(r"<[^>]+>", " ", page).split()
    for stats in (
        CampaignStats(store, scheme, question.id) for question in CampaignStats(store, scheme).questions
    ):
        for score in stats.agreement().values():
            assert score.signature in page


@pytest.mark.parametrize(
    ("scheme", "language", "named"),
    [
        ("breakdown", "en", "fleiss (Not a breakdown / Possible breakdown + Breakdown)"),
        ("breakdown", "ja", "fleiss (破綻ではない / 違和感あり + 明らかな破綻)"),
        ("semantic-errors", "en", "nothing marked"),
        ("semantic-errors", "ja", "印なし"),
    ],
)
def test_a_report_calls_labels_by_their_names(store: Store, scheme: str, language: str, named: str) -> None:
    assert named in campaign_report(store, scheme, language).to_html()


def test_the_tables_of_a_report_for_latex_and_for_a_spreadsheet(store: Store) -> None:
    report = campaign_report(store, "breakdown")
    fleiss = next(iter(CampaignStats(store, "breakdown").agreement().values()))
    rows = list(csv.DictReader(io.StringIO(report.to_csv())))
    row = next(
        r for r in rows if r["part"] == "agreement" and r["row"] == "fleiss" and r["column"] == "value"
    )
    assert float(row["value"]) == fleiss.value
    assert fleiss.interval is not None
    assert (float(row["low"]), float(row["high"])) == tuple(fleiss.interval)
    assert row["signature"] == fleiss.signature
    latex = report.to_latex()
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") >= 6
    assert r"\toprule" in latex


def test_names_only_where_asked_for(store: Store) -> None:
    names = [person.name for person in store.progress.of_campaign("breakdown").people]
    text = campaign_report(store, "breakdown", names=True).to_csv()
    assert all(name in text for name in names)
    assert not any(f",{name}," in campaign_report(store, "breakdown").to_csv() for name in names)


def test_a_forecast_goes_by_the_last_days_only() -> None:
    now = datetime(2026, 3, 10, 12, tzinfo=UTC)
    today = int(now.timestamp() // 86400)
    # 30 judgments within three days are 10 a day; 50 are left, so five days more.
    found = forecast({today - 40: 1000, today - 2: 20, today: 10}, 50, now)
    assert found is not None
    assert (found.per_day, found.days, f"{found.done_on:%Y-%m-%d}") == (10.0, 3, "2026-03-15")
    assert forecast({today - 40: 1000}, 50, now) is None
    assert forecast({today: 10}, 0, now) is None


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_the_command_writes_by_the_ending(store: Store, tmp_path: Path) -> None:
    database = str(tmp_path / "store.sqlite")
    for ending, start in (
        ("html", "<!doctype html>"),
        ("tex", "% Annotation report"),
        ("csv", "part,table,row"),
    ):
        out = tmp_path / f"report.{ending}"
        done = run("report", "breakdown", "-o", str(out), "--db", database, "--lang", "en")
        assert done.exit_code == 0, done.output
        assert out.read_text(encoding="utf-8").startswith(start)
    again = run("report", "breakdown", "-o", str(tmp_path / "report.csv"), "--db", database)
    assert isinstance(again.exception, Exception)
    for wrong in (["-o", str(tmp_path / "report.docx")], ["-o", str(tmp_path / "r.html"), "--lang", "fr"]):
        refused = run("report", "breakdown", *wrong, "--db", database)
        assert isinstance(refused.exception, UsageError)
    assert not (tmp_path / "r.html").exists()


def test_gold_of_nothing_says_so(store: Store) -> None:
    store.campaigns.create(Plan("empty", "breakdown"))
    for method in ("dawid-skene", "majority"):
        with pytest.raises(UsageError, match="nobody has judged anything yet") as told:
            campaign_gold(store, "empty", method)
        assert told.value.hint


def test_gold_is_exported_and_kept(store: Store, tmp_path: Path) -> None:
    database, out = str(tmp_path / "store.sqlite"), tmp_path / "gold.jsonl"
    done = run("export", "breakdown", str(out), "--gold", "majority", "--threshold", "0.5", "--db", database)
    assert done.exit_code == 0, done.output
    judgments = [judgment for entry in read(out) for judgment in entry.judgments]
    assert {judgment.annotator for judgment in judgments} == {"gold"}
    (kept,) = store.decisions.golds("breakdown")
    assert "t:0.5" in kept.signatures["breakdown"]
    assert kept.units == len(judgments)
    for wrong in (["--threshold", "0.5"], ["--gold", "majority", "--names"]):
        refused = run("export", "breakdown", str(tmp_path / "x.jsonl"), *wrong, "--db", database)
        assert isinstance(refused.exception, UsageError)


@pytest.mark.parametrize(("people", "is_aligned"), [(2, True), (13, False)])
def test_gamma_is_left_to_few_people(people: int, is_aligned: bool) -> None:
    scheme = load_scheme("semantic-errors")
    question = scheme.questions[0]
    marks = (Span("text", 0, 4, "addition"),)
    said = [
        Judgment("p0", None, f"judge {number}", scheme.id, scheme.version, {question.id: marks})
        for number in range(people)
    ]
    votes, kind = collect_votes(said, question), kind_of(question, scheme)
    found = coefficients(votes, kind, None, lengths={"p0": {"text": 20}})
    scores = {row.name: score for row, score in found.items()}
    assert scores["span_f1"].value == 1
    assert (scores["gamma"].value is not None) == is_aligned
    assert is_aligned or "12 at most" in str(scores["gamma"].note)


TEXTS_ALONE = """
scheme: why
version: "1"
title: {en: Why}
summary: {en: In words}
unit: {role: system, context: before}
questions: [{id: why, kind: text, name: {en: Why}, ask: {en: Why?}}]
"""


def test_campaigns_that_ask_for_texts_alone_do_not_stop_the_warm_up(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheme, problems = check_scheme(TEXTS_ALONE, "why.yaml")
    assert scheme is not None, problems
    store.campaigns.create(Plan("words", "why"), scheme)
    monkeypatch.setattr(campaign, "MANY", 1)
    assert [stats.name for stats in newest_stats(store)] == [*SCHEMES][-3:]
    seen: list[str] = []
    monkeypatch.setattr(UnitSearch, "find", lambda search, wanted: seen.append(search.name))
    precompute_stats(store)
    assert seen == [*SCHEMES][-3:]


def test_a_report_asks_no_more_with_more_documents(tmp_path: Path) -> None:
    """Not once for every document: a campaign of a million units is told of in seconds."""

    def statements(documents: int) -> int:
        with open_store(tmp_path / f"{documents}.sqlite") as store:
            made = chats(store, documents=documents, turns=1)
            asked: list[str] = []
            event.listen(
                store.database.engine, "before_cursor_execute", lambda *given: asked.append(str(given[2]))
            )
            table = campaign_report(store, made).parts[0].tables[0]
            assert dict(row[:2] for row in table.rows)["documents"] == documents
        return len(asked)

    assert statements(60) == statements(3)


def test_without_judgments_no_document_is_read_for_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("lapsus.campaign_stats.judge_figures.load_corpus")
    with open_store(tmp_path / "empty.sqlite") as store:
        assert results_of(CampaignStats(store, chats(store))) == Results()


VOTES = {1: "OOO", 2: "OOX", 3: "OTX", 4: "OOXT", 5: "OOXX", 6: ""}


@pytest.fixture
def voted(tmp_path: Path) -> Iterator[Store]:
    """Six units: all agree; a majority; three answers; most frequent without a majority; a tie; nobody."""
    with open_store(tmp_path / "voted.sqlite") as store:
        chats(store, documents=6, turns=1, order="given", per_unit=9)
        said = [
            Judgment(f"d{unit - 1}", "0", f"judge {place}", "breakdown", "1.0", {"breakdown": label})
            for unit, labels in VOTES.items()
            for place, label in enumerate(labels)
        ]
        documents = dict(store.exports.documents("chat"))
        store.imports.add_judgments(
            "chat",
            [
                Entry(id, document, tuple(j for j in said if j.document == id))
                for id, document in documents.items()
            ],
        )
        store.people.add("mori", "adjudicator")
        yield store


def test_a_majority_is_more_than_half_and_else_an_answer_is_the_most_frequent(voted: Store) -> None:
    stats = CampaignStats(voted, "chat")
    found = many_decisions(stats, list(VOTES))
    assert {unit: (one.how, one.agreed, one.judged) for unit, one in found.found.items()} == {
        1: ("majority", 3, 3),
        2: ("majority", 2, 3),
        4: ("plurality", 2, 4),
    }
    assert (found.decided, found.split) == (0, 3)
    counts = [sorted(found.with_share(least)) for least in SHARES]
    assert counts == [[1, 2, 4], [1, 2], [1, 2], [1], [1]]


def test_many_decisions_are_made_at_once_and_undone_at_once(voted: Store) -> None:
    stats, mori = CampaignStats(voted, "chat"), voted.people.named("mori").id
    voted.decisions.decide("k", "chat", 1, mori, "own", {"breakdown": "X"})
    found = many_decisions(stats, list(VOTES))
    assert (sorted(found.found), found.decided, found.split) == ([2, 4], 1, 3)
    chosen = {unit: (one.how, one.answers) for unit, one in found.with_share(0).items()}
    batch = voted.decisions.decide_many("chat", mori, {1: ("own", {"breakdown": "T"}), **chosen})
    standing = voted.decisions.standing("chat")
    assert {unit: (one.how, one.answers["breakdown"]) for unit, one in standing.items()} == {
        1: ("own", "X"),  # decided before
        2: ("majority", "O"),
        4: ("plurality", "O"),
    }
    voted.decisions.decide("later", "chat", 4, mori, "own", {"breakdown": "T"})
    assert [voted.decisions.withdraw("chat", mori, batch) for _ in range(2)] == [1, 0]
    assert voted.decisions.decided_units("chat") == {1, 4}
    assert [one.how for one in voted.decisions.all("chat", 2)] == ["withdrawn", "majority"]
    assert campaign_gold(voted, "chat")["breakdown"].decided == {UnitKey("d0", "0"), UnitKey("d3", "0")}
    assert many_decisions(stats, [2]).found, "it can be decided on again"
    with pytest.raises(RefusedError):
        voted.decisions.decide("w", "chat", 2, mori, "withdrawn", {})
    with pytest.raises(RefusedError):
        voted.decisions.withdraw("chat", voted.people.named("judge 0").id, batch)


def test_all_or_none_of_many_decisions_are_kept(voted: Store) -> None:
    mori = voted.people.named("mori").id
    with pytest.raises(RefusedError):
        voted.decisions.decide_many(
            "chat", mori, {2: ("own", {"breakdown": "O"}), 3: ("own", {"breakdown": "?"})}
        )
    assert voted.decisions.all("chat") == []


def test_gold_is_counted_question_by_question(store: Store) -> None:
    """A unit that is undecided on one question keeps its gold on the others, and the report says so."""
    name = "response-quality"
    made = campaign_gold(store, name, "majority", 0.9)
    kept = keep_gold(store, name, made, "majority")
    undecided = {id: len(one.undecided) for id, one in made.items()}
    assert len(set(undecided.values())) > 1, "questions differ in how often they are undecided"
    assert kept.questions == {id: GoldCounts(len(one.by_unit()), undecided[id]) for id, one in made.items()}
    assert kept.units >= max(counts.units for counts in kept.questions.values())
    report = campaign_report(store, name)
    table = next(part for part in report.parts if part.id == "gold").tables[0]
    usual = campaign_gold(store, name)
    assert [row[2:4] for row in table.rows] == [
        (len(one.by_unit()), len(one.undecided)) for one in usual.values()
    ]
