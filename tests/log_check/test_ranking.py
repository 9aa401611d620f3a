"""`lapsus check` on invented chat logs: what is planted is found, with the right evidence, and nothing does harm."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer
from arro3.io import read_parquet
from typer.testing import CliRunner

from lapsus.cli.check import check_command
from lapsus.cli.options import described
from lapsus.errors import LapsusError
from lapsus.log_check import check_entries
from lapsus.log_check.checking import own_cut
from lapsus.log_check.finding import CUT, score
from lapsus.model import Document, Entry, Judgment, Segment
from tests.log_check import logs

app = typer.Typer()
app.command("check")(described(check_command, ("check", "shared")))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C")
    for language in ("en", "ja"):
        (tmp_path / f"{language}.jsonl").write_text(logs.chat_jsonl(language), encoding="utf-8")
        (tmp_path / f"{language}.csv").write_text(logs.chat_csv(language), encoding="utf-8")
    return tmp_path


def check(*arguments: str) -> str:
    done = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def found(*arguments: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(check(*arguments, "--json"))
    return data


def refused(*arguments: str) -> str:
    with pytest.raises(LapsusError) as caught:
        check(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_what_is_planted_comes_first_with_its_evidence(folder: Path, language: str, ending: str) -> None:
    planted = logs.planted(language)
    worst = found(f"{language}.{ending}", "--top", str(len(planted)))["findings"]
    assert {(one["document"], one["segment"]) for one in worst} == set(planted)
    for one in worst:
        strongest = one["evidence"][0]
        assert strongest["kind"] == planted[one["document"], one["segment"]]
        # The evidence quotes an earlier turn, says which, and that turn is shown.
        assert strongest["quote"] in strongest["says"]
        shown = {turn["segment"]: turn["text"] for turn in one["context"]}
        assert [shown[place] for place in strongest["segments"]] == [strongest["quote"]]


def test_systems_are_summed_up(folder: Path) -> None:
    data = found("en.jsonl", "--top", "1")
    assert data["by"] == "breakdown-en"
    birch, oak = data["systems"]
    assert (birch["system"], birch["dialogues"], birch["turns"]) == ("birch", 2, 10)
    assert "repetition" in birch["evidence"]
    assert "question" in oak["evidence"]
    assert "contradiction" not in oak["evidence"]
    assert data["likely"] == birch["likely"] + oak["likely"] >= 2
    assert len(data["findings"]) == 1


def test_the_report_speaks_the_readers_language(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = check("en.jsonl", "--top", "5")
    assert "likely faulty" in text
    assert "repeats what it said before: “Nice! Where did you go hiking?” (turn 1)" in text
    assert "more turns are likely faulty; --top shows more" in check("en.jsonl", "--top", "1")
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    assert "前に言ったことを繰り返している：「Nice! Where did you go hiking?」（発話 1）" in check("en.jsonl")
    assert "likely faulty" in check("en.jsonl", "--words", "en")
    assert "the report is not written in 'fr'" in refused("en.jsonl", "--words", "fr")


def test_any_other_format_and_model_will_do(folder: Path) -> None:
    from lapsus.cli.train import train_command
    from lapsus.formats.jsonl import Jsonl
    from tests.annotators import invented

    Jsonl().write([invented.entry(n, "en") for n in range(6)], folder / "judged.jsonl")
    training = typer.Typer()
    training.command("train")(described(train_command, ("train", "shared")))
    CliRunner().invoke(training, ["rules", "judged.jsonl", "-o", "own.lapsus"], catch_exceptions=False)
    data = found("judged.jsonl", "--with", "own.lapsus")
    assert data["by"] == "own"
    assert data["systems"][0]["system"] == "Invented"
    # Nobody's earlier judgments are looked at: the program judges for itself.
    assert data["turns"] == 30
    assert "has learned en" in refused("ja.jsonl", "--with", "own.lapsus")
    assert "no such file" in refused("nowhere.jsonl")


class Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.handlers: set[str] = set()
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.handlers |= {name for name, _ in attrs if name.startswith("on") or name in ("src", "href")}

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_page_stands_alone(folder: Path, language: str) -> None:
    check(f"{language}.jsonl", "--html", "report.html", "--words", language)
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert f'<html lang="{language}">' in text
    assert not page.tags & {"script", "link", "img", "iframe", "object", "form"}
    assert not page.handlers
    assert "http" not in text.replace('http-equiv="Content', "")
    assert "prefers-color-scheme: dark" in text
    assert {"What is wrong in these replies", "問題のありそうな返答"} & set(page.words)
    assert "is there already" in refused(f"{language}.jsonl", "--html", "report.html")
    check(f"{language}.jsonl", "--html", "report.html", "--overwrite")


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }} {% raw %} {quote} {id}",
    "\x1b[31mred\x1b[0m \x00 \u202eright to left",
    "half \ud83d of a sign",
    "",
    "x" * 100_000,
    "</bdi></dd></style><style>*{display:none}",
]


def hostile_entries() -> list[Entry]:
    entries = []
    for number, text in enumerate(HOSTILE):
        segments = tuple(Segment(f"{text[:30]}{n}", ("user", "system")[n % 2], text) for n in range(6))  # type: ignore[arg-type]
        id = f"{number}{text[:50]}"
        document = Document(id, segments, None, {"system": text})
        judgments = tuple(
            Judgment(
                id,
                segment.id,
                "m",
                "breakdown",
                "1.0",
                {"breakdown": "X"},
                {"breakdown": {"O": 0.1, "T": 0.2, "X": 0.7}},
            )
            for segment in segments
            if segment.role == "system"
        )
        entries.append(Entry(id, document, judgments))
    return entries


@pytest.mark.parametrize("language", ["en", "ja"])
def test_hostile_text_is_only_text(language: str) -> None:
    result = check_entries(hostile_entries(), top=100)
    assert len(result.findings) == 3 * len(HOSTILE)
    text = replace(result, by="<b>m</b>").to_html(language)
    page = Page(text)
    assert not page.tags & {"script", "img", "b>m"}
    assert text.count("</style>") == text.count("<style>") == 2
    assert not page.handlers
    assert "{{ 7 * 7 }} {% raw %} {quote} {id}" in "".join(page.words)
    lines = "\n".join(replace(result, by="m").lines(language))
    for shown in (text, lines):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "\x00" not in shown
        assert "x" * 10_000 not in shown
        shown.encode("utf-8")
    json.dumps(result.as_data(language))


def judged(id: str, *shares: tuple[float, float, float]) -> Entry:
    # Nobody asks: what fits what was said is not looked at.
    segments = [Segment(str(n), "system", f"word{id}{n} other{id}{n} third{n}") for n in range(len(shares))]
    judgments = tuple(
        Judgment(
            id,
            str(n),
            "m",
            "breakdown",
            "1.0",
            {"breakdown": "O"},
            {"breakdown": dict(zip("OTX", row, strict=True))},
        )
        for n, row in enumerate(shares)
    )
    return Entry(id, Document(id, tuple(segments), "en"), judgments)


def test_the_order_is_by_score_and_the_same_on_every_run() -> None:
    entries = [judged("a", (0.1, 0.2, 0.7), (0.0, 0.0, 1.0)), judged("b", (0.1, 0.2, 0.7), (0.9, 0.1, 0.0))]
    result = check_entries(entries)
    ranked = [(one.document, one.turn.id) for one in result.findings]
    assert ranked == [("a", "1"), ("a", "0"), ("b", "0"), ("b", "1")]
    assert (result.dialogues, result.turns, result.likely) == (2, 4, 3)
    assert [(one.document, one.worst, one.likely) for one in result.worst_dialogues] == [
        ("a", "1", 2),
        ("b", "0", 1),
    ]
    assert [(one.document, one.turn.id) for one in check_entries(entries, top=1).findings] == [("a", "1")]


def test_the_cut_moves_what_is_likely_and_nothing_else() -> None:
    entries = [judged("a", (0.1, 0.2, 0.7), (0.3, 0.2, 0.5)), judged("b", (0.2, 0.2, 0.6), (0.9, 0.1, 0.0))]
    strict, loose = check_entries(entries, cut=3.0), check_entries(entries, cut=-2.0)
    assert strict.findings == loose.findings
    assert (strict.likely, loose.likely) == (0, 4)
    # Twenty turns that people find good move it up a little, many move it far; bad ones with low scores move it down.
    few = own_cut([(0.5, 0.0)] * 20)
    assert CUT < few < own_cut([(0.5, 0.0)] * 500)
    assert own_cut([(-0.5, 1.0)] * 20) < CUT
    assert own_cut([]) == CUT


def test_top_shows_as_many_as_it_says_and_out_has_them_all(folder: Path) -> None:
    assert len(found("en.jsonl", "--top", "9")["findings"]) == 9
    check("en.jsonl", "--out", "all.csv")
    check("en.jsonl", "--out", "all.jsonl")
    check("en.jsonl", "--out", "all.parquet")
    rows = [json.loads(line) for line in (folder / "all.jsonl").read_text(encoding="utf-8").splitlines()]
    with (folder / "all.csv").open(encoding="utf-8", newline="") as stream:
        cells = list(csv.DictReader(stream))
    with (folder / "all.parquet").open("rb") as stream:
        columns = read_parquet(stream).read_all().column_names
    assert [row["rank"] for row in rows] == list(range(1, found("en.jsonl")["turns"] + 1))
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
    assert [row["text"] for row in cells] == [row["text"] for row in rows]
    assert list(rows[0]) == list(cells[0]) == columns
    assert "not written as '.xlsx'" in refused("en.jsonl", "--out", "all.xlsx")
    assert "is there already" in refused("en.jsonl", "--out", "all.csv")


def test_too_many_faulty_turns_end_with_1(folder: Path) -> None:
    share = found("en.jsonl")["share"]
    assert 0.05 < share < 0.5
    for limit, code in (("5%", 1), ("0.05", 1), ("50%", 0)):
        assert CliRunner().invoke(app, ["en.jsonl", "--fail-above", limit]).exit_code == code
    assert "is no share" in refused("en.jsonl", "--fail-above", "three")


def test_shares_have_intervals_that_know_of_dialogues() -> None:
    bad, good = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
    mixed = check_entries([judged(str(n), *([bad, good] * 5)) for n in range(10)]).whole.share
    lumped = check_entries([judged(str(n), *([bad if n % 2 else good] * 10)) for n in range(10)]).whole.share
    assert mixed.value == lumped.value == 0.5
    assert (mixed.error or 0) < (lumped.error or 0)
    never = check_entries([judged(str(n), good) for n in range(20)]).whole.share
    assert never.value == 0
    assert 0 < (never.high or 0) < 0.25


def test_systems_are_compared_with_the_best() -> None:
    def of(system: str, rows: list[tuple[float, float, float]]) -> list[Entry]:
        found = [judged(f"{system}{n}", *rows) for n in range(40)]
        return [
            Entry(one.id, msgspec.structs.replace(one.document, metadata={"system": system}), one.judgments)
            for one in found
            if one.document
        ]

    bad, good = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
    result = check_entries([*of("worse", [bad, good]), *of("best", [good, good])])
    (apart,) = result.differences().items()
    assert apart[0] == "worse"
    assert apart[1].value == 0.5
    assert 0 < (apart[1].low or 0) < 0.5 < (apart[1].high or 0)
    assert "Most of all in replies of worse: 50.0%." in result.to_text()
    assert check_entries(of("one", [good])).differences() == {}


def test_the_result_prints_itself_and_is_a_frame() -> None:
    result = check_entries([judged("a", (0.1, 0.2, 0.7), (0.9, 0.1, 0.0))])
    assert str(result) == result.to_text()
    frame = result.to_frame()
    assert frame.to_pydict()["rank"] == [1, 2]
    assert frame.to_pydict()["likely"] == [True, False]
    shown = result._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "<script" not in shown
    assert len(check_entries([]).to_frame()) == 0


def test_nothing_to_find() -> None:
    result = check_entries([judged("a", (1.0, 0.0, 0.0))])
    assert not result.likely
    assert "No turn is likely faulty." in replace(result, by="m").to_html("en")
    assert "問題のありそうな発話は見つかりませんでした。" in "\n".join(replace(result, by="m").lines("ja"))
    empty = check_entries([])
    assert (empty.dialogues, empty.turns) == (0, 0)
    assert "dialogues: 0" in replace(empty, by="").to_html("en")


def test_evidence_raises_the_score_and_never_the_shares() -> None:
    assert score(0.0, 0.5, 0.0) == pytest.approx(0)
    assert score(0.0, 0.5, 2.0) == pytest.approx(2)
    assert score(0.4, 0.2, 0.0) == pytest.approx(math.log(0.4 / 0.6))
    # However sure a model is that all is well, a plain sign counts.
    assert score(0.0, 0.0, 0.0) == score(0.1, 0.0, 0.0) < score(0.0, 0.0, 3.0)


def test_it_is_said_where_a_sign_alone_makes_a_turn_likely() -> None:
    leak = Segment("0", "system", "Dear {customer_name}, of course you can.")
    (judgment,) = judged("a", (0.95, 0.05, 0.0)).judgments
    by_sign = check_entries([Entry("a", Document("a", (leak,), "en"), (judgment,))])
    by_model = check_entries([judged("b", (0.0, 0.0, 1.0))])
    assert (by_sign.likely, by_model.likely) == (1, 1)
    for result, is_said in ((by_sign, True), (by_model, False)):
        shown = replace(result, by="m")
        for text in ("\n".join(shown.lines("en")), shown.to_html("en")):
            assert ("because of a sign named below" in text) == is_said
