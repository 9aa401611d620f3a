"""`lapsus check` on invented chat logs: what is planted is found, with the right evidence, and nothing does harm."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from lapsus.cli.check import check_command
from lapsus.errors import LapsusError
from lapsus.log_check import check_entries, check_lines, check_page
from lapsus.log_check.finding import risk
from lapsus.model import Document, Entry, Judgment, Segment
from tests.log_check import logs

app = typer.Typer()
app.command("check")(check_command)


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
    assert {"repetition", "contradiction"} <= set(birch["evidence"])
    assert "question" in oak["evidence"]
    assert "contradiction" not in oak["evidence"]
    assert data["standing_out"] == birch["standing_out"] + oak["standing_out"] >= 3
    assert len(data["findings"]) == 1


def test_the_report_speaks_the_readers_language(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = check("en.jsonl")
    assert "likely breakdowns" in text
    assert "repeats what it said before: “Nice! Where did you go hiking?” (turn 1)" in text
    assert "more turns look like breakdowns" not in text
    assert "more turns look like breakdowns; --top shows more" in check("en.jsonl", "--top", "1")
    monkeypatch.setenv("LC_ALL", "ja_JP.UTF-8")
    assert "前に言ったことを繰り返している：「Nice! Where did you go hiking?」（発話 1）" in check("en.jsonl")
    assert "likely breakdowns" in check("en.jsonl", "--words", "en")
    assert "the report is not written in 'fr'" in refused("en.jsonl", "--words", "fr")


def test_any_other_format_and_model_will_do(folder: Path) -> None:
    from lapsus.cli.train import train_command
    from lapsus.formats.jsonl import Jsonl
    from tests.annotators import invented

    Jsonl().write([invented.entry(n, "en") for n in range(6)], folder / "judged.jsonl")
    training = typer.Typer()
    training.command("train")(train_command)
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
    assert {"Likely breakdowns", "対話が破綻していそうな箇所"} & set(page.words)
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
    text = check_page(result, by="<b>m</b>", language=language)
    page = Page(text)
    assert not page.tags & {"script", "img", "b>m"}
    assert text.count("</style>") == text.count("<style>") == 2
    assert not page.handlers
    assert "{{ 7 * 7 }} {% raw %} {quote} {id}" in "".join(page.words)
    lines = "\n".join(check_lines(result, by="m", language=language))
    for shown in (text, lines):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "\x00" not in shown
        assert "x" * 10_000 not in shown
        shown.encode("utf-8")
    json.dumps(result.as_data(language))


def judged(id: str, *shares: tuple[float, float, float]) -> Entry:
    segments = [Segment("u", "user", "Hello?")]
    segments += [Segment(str(n), "system", f"word{id}{n} other{id}{n} third{n}") for n in range(len(shares))]
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


def test_the_order_is_by_risk_and_the_same_on_every_run() -> None:
    entries = [judged("a", (0.1, 0.2, 0.7), (0.0, 0.0, 1.0)), judged("b", (0.1, 0.2, 0.7), (0.9, 0.1, 0.0))]
    result = check_entries(entries)
    assert [(one.document, one.turn.id) for one in result.findings] == [("a", "1"), ("a", "0"), ("b", "0")]
    assert (result.dialogues, result.turns, result.standing_out) == (2, 4, 3)
    assert [(one.document, one.turn.id) for one in check_entries(entries, top=1).findings] == [("a", "1")]


def test_nothing_to_find(folder: Path) -> None:
    result = check_entries([judged("a", (1.0, 0.0, 0.0))])
    assert not result.findings
    assert "No turn looks like a breakdown." in check_page(result, by="m", language="en")
    assert "破綻していそうな発話は見つかりませんでした。" in "\n".join(
        check_lines(result, by="m", language="ja")
    )
    empty = check_entries([])
    assert (empty.dialogues, empty.turns) == (0, 0)
    assert "dialogues: 0" in check_page(empty, by="", language="en")


def test_evidence_raises_the_risk_and_never_the_shares() -> None:
    assert risk(0.5, 0.0, 0.5, 0.0) == pytest.approx(0.5)
    assert risk(0.5, 0.0, 0.5, 2.0) == pytest.approx(0.881, abs=1e-3)
    assert risk(0.4, 0.4, 0.2, 0.0) == pytest.approx(0.4)
    assert 0 < risk(1.0, 0.0, 0.0, 0.0) < 0.01 < risk(1.0, 0.0, 0.0, 3.0) < 0.05
