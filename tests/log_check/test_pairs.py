"""`lapsus check` on pairs of data and text: the worst first, with the marks where they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lapsus import check
from lapsus.annotators.triples.triples import Triples
from lapsus.cli.app import app
from lapsus.errors import UsageError
from lapsus.log_check import PairCheck, check_pairs
from lapsus.model import Document, Entry, Judgment, Segment, Span
from tests.annotators.triples.tiny import pair, tiny

__all__ = ["tiny"]

GOOD = pair(
    "Velmora Hall was designed by the architect Ines Tarro.",
    "Velmora_Hall | architect | Ines_Tarro",
    id="good",
)
SWAPPED = pair("Velmora <in>\x1b hall is in kirrin .", "velmora_hall | is_in | penmarsh", id="swapped")
WORST = pair("", "velmora_hall | is_in | penmarsh", "osk_bridge | length | six", id="worst")
TWICE = pair("velmora hall is in penmarsh and in penmarsh .", "velmora_hall | is_in | penmarsh", id="twice")


def checked(judge: Triples, *documents: Document, top: int = 20) -> PairCheck:
    found = check(list(documents), model=judge, top=top)
    assert isinstance(found, PairCheck)
    return found


def test_the_worst_come_first_and_pairs_without_marks_are_only_counted(tiny: Triples) -> None:
    found = checked(tiny, GOOD, SWAPPED, WORST, TWICE)
    assert {finding.document for finding in found.findings} == {"swapped", "worst", "twice"}
    risks = [finding.risk for finding in found.findings]
    assert risks == sorted(risks, reverse=True)
    assert (found.pairs, found.marked, found.by) == (4, 3, "triples")
    assert found.systems[None].labels == {"omission": 7, "addition": 1, "repetition": 1}
    assert [one.document for one in checked(tiny, GOOD, SWAPPED, WORST, TWICE, top=1).findings] == [
        found.findings[0].document
    ]


def test_marks_stand_in_the_text_of_the_terminal(tiny: Triples) -> None:
    text = checked(tiny, SWAPPED, TWICE).to_text()
    assert "velmora_hall | is_in | [-penmarsh-](1)" in text
    assert "{+kirrin+}(1)" in text
    assert "penmarsh=} ." in text
    assert "\x1b" not in text
    assert "[-Omission-]  {+Addition+}  {=Repetition=}" in text
    assert "(marks: Omission 1 (facts: 1) · Addition 1 · Repetition 0; expected in all: " in text
    japanese = checked(tiny, SWAPPED, TWICE).to_text("ja")
    assert "組 swapped（印：欠落 1（事実1件） · " in japanese
    assert "No text disagrees" in checked(tiny, GOOD).to_text()
    assert "1 more pairs have marks" in checked(tiny, SWAPPED, TWICE, top=1).to_text()


def test_elements_are_told_apart_from_facts(tiny: Triples) -> None:
    found = checked(tiny, WORST)
    assert "Omission 6 (facts: 2)" in found.to_text()
    assert "Omission 6 (facts: 2)" in found.to_html()
    assert "欠落 6（事実2件）" in found.to_html("ja")
    assert "counts three omissions" in found.to_html()


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_page_shows_marks_and_runs_nothing(tiny: Triples, language: str) -> None:
    html = checked(tiny, SWAPPED, TWICE).to_html(language)
    assert '<mark class="addition"' in html
    assert '<mark class="omission"' in html
    assert '<mark class="repetition"' in html
    assert "&lt;in&gt;" in html
    assert "\x1b" not in html
    assert f'lang="{language}"' in html


def test_marks_of_others_are_shown_as_they_are() -> None:
    """Marks that overlap, and judgments without scores: those of people, or of a language model."""
    marks = (
        Span("text", 0, 7, "addition"),
        Span("text", 4, 9, "repetition"),
        Span("text", 90, 99, "addition"),
    )
    judgment = Judgment("p", None, "ada", "semantic-errors", "1.1", {"errors": marks})
    document = pair("velmora hall", "a | b | c")
    found = check_pairs([Entry("p", document, (judgment,)), Entry("q", None, ())])
    (finding,) = found.findings
    assert finding.expected == {"addition": 2, "repetition": 1}
    assert [stretch.text for stretch in finding.stretches(document.segments[-1])] == ["velmora", " hall"]
    assert [mark["score"] for mark in found.as_data("en")["findings"][0]["marks"]] == [None] * 3


def test_chats_are_still_looked_over_for_breakdowns(tiny: Triples) -> None:
    chat = Document("c", (Segment("1", "user", "Hi."), Segment("2", "system", "Hi.")), "en")
    with pytest.raises(UsageError, match="judges under 'semantic-errors', not under 'breakdown'"):
        check([chat], model=tiny)
    with pytest.raises(UsageError, match="not adapted"):
        check([GOOD], model=tiny, adapt=[chat])


def test_the_command_prints_and_writes(
    tiny: Triples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny.name = "tiny"
    tiny.save(tmp_path / "m.lapsus")
    data = {
        "data": [["velmora hall", "is in", "penmarsh"]],
        "text": "Velmora Hall is in kirrin.",
        "system": "s",
    }
    (tmp_path / "p.jsonl").write_text(json.dumps(data) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["check", "p.jsonl", "--with", "m.lapsus", "--html", "r.html", "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [(mark["label"], mark["quote"], mark["tie"]) for mark in found["findings"][0]["marks"]] == [
        ("omission", "penmarsh", "t1"),
        ("addition", "kirrin", "t1"),
    ]
    assert "kirrin" in (tmp_path / "r.html").read_text(encoding="utf-8")
    result = CliRunner().invoke(
        app, ["detect", "p.jsonl", "-o", "out.jsonl", "--scheme", "semantic-errors", "--with", "m.lapsus"]
    )
    assert result.exit_code == 0, result.output
    assert "1 documents (addition 1, omission 1)" in result.output
    line = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert "expected" in json.dumps(line)
