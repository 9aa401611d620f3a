"""Programs' answers stand beside people's wherever somebody decides, and count as votes nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from lapsus.campaign_stats import CampaignStats
from lapsus.campaign_stats.adjudication import adjudication_order
from lapsus.formats import read
from lapsus.model import Entry, Judgment, Span
from tests.cli.in_process import lapsus
from tests.web.helpers import ANSWERS, Bench, Browser, chat, new_key, pair

LABELS = {"Ada": "XO", "Ben": "OO"}
"""On the first unit two people differ, on the second they agree."""
NAME = "breakdown"


def add_program(bench: Bench, campaign: str, program: str, judgments: list[Judgment]) -> None:
    said = [Entry(one.document, None, (one,)) for one in judgments]
    for _ in bench.store.programs.add_judgments(campaign, bench.store.programs.add(program), said):
        pass


@pytest.fixture
def mori(bench: Bench) -> Browser:
    """Two people, and two programs that say X of everything."""
    name = bench.campaign(documents=[chat("d0", 2)], per_unit=2)
    for who, labels in LABELS.items():
        person = bench.person(who)
        for label in labels:
            assert person.save(name, person.next(name)["unit"], {"breakdown": label}).status_code == 201
    for program in ("rules", "svm"):
        said = [Judgment("d0", turn, program, NAME, "1.0", {"breakdown": "X"}) for turn in ("0", "2")]
        add_program(bench, name, program, said)
    return bench.person("Mori", "manager")


def decide(mori: Browser, unit: int, **body: Any) -> Any:
    return mori.post(f"/c/{NAME}/decide/{unit}.json", {"key": new_key(), **body})


def test_programs_stand_apart_where_somebody_decides(bench: Bench, mori: Browser) -> None:
    shown = mori.get(f"/c/{NAME}/decide/1.json").json()
    assert [group["people"] for group in shown["groups"]] == [["Ada"], ["Ben"]]
    assert [(group["people"], group["key"]) for group in shown["programs"]] == [(["rules", "svm"], "3")]
    assert (shown["majority"], shown["majority_count"], shown["majority_total"]) == (None, 0, 2)
    page = mori.get(f"/c/{NAME}/decide/1").text
    people, programs = page.split('id="programs"')
    assert 'data-how="majority"' not in page
    assert "rules" not in people
    assert "rules, svm" in programs
    refused = decide(mori, 1, how="majority")
    assert (refused.status_code, refused.json()["reason"]) == (422, "no-majority")


def test_programs_do_not_outvote_people(bench: Bench, mori: Browser) -> None:
    assert "(2 of 2)" in mori.get(f"/c/{NAME}/decide/2").text
    assert decide(mori, 2, how="majority").status_code == 201
    assert bench.store.decisions.standing(NAME)[2].answers == {"breakdown": "O"}


def test_what_only_a_program_said_is_no_dispute_and_can_be_taken(bench: Bench, mori: Browser) -> None:
    assert adjudication_order(CampaignStats(bench.store, NAME), "disputed") == [(1, 1.0)]
    program = mori.get(f"/c/{NAME}/decide/1.json").json()["programs"][0]["ids"][0]
    assert decide(mori, 1, how="person", follows=program).status_code == 201
    assert bench.store.decisions.standing(NAME)[1].follows == "rules"


def test_a_unit_that_only_programs_judged(bench: Bench) -> None:
    name = bench.campaign(documents=[chat("d0", 1)])
    add_program(bench, name, "rules", [Judgment("d0", "0", "rules", NAME, "1.0", {"breakdown": "X"})])
    mori = bench.person("Mori", "manager")
    assert adjudication_order(CampaignStats(bench.store, name), "all") == []
    page = mori.get(f"/c/{name}/decide/1").text
    assert "Nobody has judged this unit yet." in page
    assert "What programs said" in page
    assert decide(mori, 1, how="majority").status_code == 422


def test_many_are_decided_without_programs(bench: Bench, mori: Browser) -> None:
    form = {"csrf": mori.csrf, "do": "decide", "unit": ["1", "2"], "share": "1"}
    assert "1 units were decided" in mori.http.post(f"/c/{NAME}/units", data=form).text
    assert {unit: made.answers for unit, made in bench.store.decisions.standing(NAME).items()} == {
        2: {"breakdown": "O"}
    }


def test_gold_is_made_without_programs(bench: Bench, mori: Browser, url: str, tmp_path: Path) -> None:
    """From the page and by the command; the tie is settled by the guideline, not by programs."""
    form = {"csrf": mori.csrf, "what": "gold", "to": "jsonl"}
    page, file = tmp_path / "page.jsonl", tmp_path / "gold.jsonl"
    page.write_bytes(mori.http.post(f"/c/{NAME}/export", data=form).content)
    done = lapsus("export", NAME, file.name, "--gold", "majority", "--db", url, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for path in (page, file):
        told = {one.segment: one for entry in read(path) for one in entry.judgments}
        assert told["2"].answers == {"breakdown": "O"}
        shares = told["0"].distributions["breakdown"]
        assert (shares["O"], shares["X"]) == (0.5, 0.5)


def test_programs_marks_are_nobodys(bench: Bench) -> None:
    name = bench.campaign("semantic-errors", [pair("p0")])
    ada = bench.person("Ada")
    ada.next(name)
    assert ada.save(name, 1, {"errors": []}).status_code == 201
    spans = msgspec.convert(ANSWERS[name]["errors"], tuple[Span, ...])
    add_program(bench, name, "rules", [Judgment("p0", None, "rules", name, "1.0", {"errors": spans})])
    shown = bench.person("Mori", "manager").get(f"/c/{name}/decide/1.json").json()
    assert [mark["people"] for mark in shown["marks"]] == [[], []]
    assert len(shown["pieces"]["text"]) == len(shown["groups"] + shown["programs"]) == 2
