"""Turns for a log's owner to judge: drawn fairly, on a page that does nothing but keep answers."""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
import regex

import lapsus
from lapsus.errors import LapsusError
from lapsus.formats import read
from lapsus.log_check import check_entries
from lapsus.log_check.own_turns import MANY, Drawn, turns_page
from lapsus.model import Document, Segment, Unit, units
from lapsus.samples import sample_path
from lapsus.schemes import load_scheme
from tests.log_check.test_ranking import HOSTILE, check, hostile_entries, refused

_RECORDS = regex.compile(r'<script type="application/json" id="records">(.*?)</script>', regex.DOTALL)


def turns(many: int) -> list[Unit]:
    segments = tuple(Segment(str(n), ("user", "system")[n % 2], f"Turn {n}.") for n in range(2 * many))  # type: ignore[arg-type]
    return list(units(Document("d", segments, "en"), load_scheme("breakdown").unit))


def test_every_turn_is_as_likely_and_the_same_ones_come_again() -> None:
    counts: Counter[int] = Counter()
    whole = turns(30)
    for start in range(1000):
        drawn = Drawn(5)
        drawn._chance.seed(start)
        for unit in whole:
            drawn.offer(unit)
        assert [int(unit.key.segment or 0) for unit in drawn.turns] == sorted(
            int(unit.key.segment or 0) for unit in drawn.turns
        )
        counts.update(int(unit.key.segment or 0) for unit in drawn.turns)
    # A sixth of 1,000 draws, give or take four standard deviations.
    assert len(counts) == 30
    assert all(abs(count - 1000 / 6) < 48 for count in counts.values()), counts
    first, second = Drawn(), Drawn()
    for unit in whole:
        first.offer(unit)
        second.offer(unit)
    assert first.turns == second.turns
    assert len(first.turns) == MANY


def test_fewer_turns_are_all_there_and_none_are_said_to_be_none() -> None:
    page = turns_page(turns(3), "en")
    assert "3 turns of your system to judge" in page
    assert page.count("<fieldset>") == 3
    assert "There is no turn to judge." in turns_page([], "en")


def test_whoever_judges_a_turn_reads_it_whole() -> None:
    segments = tuple(
        Segment(str(n), ("user", "system")[n % 2], f"turn {n} " + "word " * 400 + f"end {n}")  # type: ignore[arg-type]
        for n in range(8)
    )
    (*_, last) = units(Document("d", segments, "en"), load_scheme("breakdown").unit)
    page = _RECORDS.sub("", turns_page([last], "en"))
    assert all(f"end {n}" in page for n in range(8))
    assert "3 turns before these" in page


@pytest.mark.parametrize("language", ["en", "ja"])
def test_hostile_text_is_only_text_and_only_our_script_may_run(language: str) -> None:
    found = check_entries(hostile_entries(), top=1)
    page = found.to_judge(language)
    scripts = regex.findall(r"<script>(.*?)</script>", page, regex.DOTALL)
    (script,) = scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page
    assert page.count("<script") == page.count("</script>") == 2
    assert "<img" not in page
    assert "\u202e" not in _RECORDS.sub("", page)
    (records,) = _RECORDS.findall(page)
    data = json.loads(records)
    assert len(data["records"]) == min(MANY, 3 * len(HOSTILE))
    page.encode("utf-8")


def test_what_the_page_saves_is_adapted_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = sample_path("helpdesk-en")
    check(str(log), "--judge", "turns.html", "--words", "en")
    page = (tmp_path / "turns.html").read_text(encoding="utf-8")
    data = json.loads(_RECORDS.findall(page)[0])
    for label, name in (("O", "fine.jsonl"), ("X", "bad.jsonl")):
        lines = [data["header"]]
        for turn in data["records"]:
            lines += [turn["document"], turn["judgments"][label]]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert len(list(read(tmp_path / "fine.jsonl"))) == MANY
    fine, bad = (lapsus.check(log, adapt=tmp_path / name) for name in ("fine.jsonl", "bad.jsonl"))
    assert fine.cut > bad.cut
    assert fine.likely < bad.likely
    assert fine.findings == bad.findings
    assert "is there already" in refused(str(log), "--judge", "turns.html")
    assert "the same file" in refused(str(log), "--judge", "a.html", "--html", "a.html")
    with pytest.raises(LapsusError, match="not adapted to"):
        check(str(sample_path("pairs-en")), "--judge", "pairs.html")
    assert not (tmp_path / "pairs.html").exists()
