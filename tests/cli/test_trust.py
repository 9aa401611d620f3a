"""`trust`, `estimate` and `plan` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import lapsus
from lapsus.model import Entry, Judgment
from lapsus.store import Reservation, SaveRequest, open_store
from tests.cli.trust_cases import LABELS, TURNS, entries, refused, run, write

__all__ = ["write"]


def test_trust_lists_each_judge_and_the_floors(write: Any) -> None:
    data = write(entries(40, 40))
    found = json.loads(run("trust", data, "--judge", "robot", "--json"))
    assert [one["judge"] for one in found] == ["robot", "(constant)", "(random)"]
    robot = found[0]
    assert robot["question"] == "breakdown"
    assert (robot["people"], robot["units"], robot["documents"]) == (3, 240, 40)
    assert robot["passes"] is True
    assert robot["winning_rate"] == 1
    assert 0.5 < robot["advantage"] < 1
    assert [one["epsilon"] for one in robot["epsilons"]] == [0.1, 0.15, 0.2]
    assert found[2]["passes"] is False
    assert "robot: may stand in" in run("trust", data)


def test_whoever_is_named_a_judge_is_no_person(write: Any) -> None:
    data = write(entries(40, 40))
    found = json.loads(run("trust", data, "--judge", "robot", "--judge", "cy", "--json", "--epsilon", "0.15"))
    assert sorted(one["judge"] for one in found if not one["floor"]) == ["cy", "robot"]
    assert {one["people"] for one in found} == {2}
    assert {one["epsilon"] for one in found} == {0.15}


def test_a_jury_has_its_own_row(write: Any) -> None:
    data = write(entries(60, 30))
    named = ("--judge", "robot", "--judge", "cy", "--jury", "--json")
    assert "(jury)" in [one["judge"] for one in json.loads(run("trust", data, *named))]
    found = {(one["by"], one["label"]): one for one in json.loads(run("estimate", data, *named))}
    shares = [found[("(jury)", label)]["judge"]["value"] for label in LABELS]
    assert sum(shares) == pytest.approx(1)


def test_people_and_judge_may_be_in_two_files(write: Any) -> None:
    whole = entries(40, 40)

    def of(programs: bool) -> list[Entry]:
        return [
            Entry(e.id, e.document, tuple(j for j in e.judgments if (j.annotator == "robot") == programs))
            for e in whole
        ]

    one, both = write(whole, "one.jsonl"), (write(of(False), "people.jsonl"), write(of(True), "robot.jsonl"))
    assert run("trust", one, "--json") == run("trust", *both, "--json")


@pytest.mark.parametrize(
    ("documents", "judged", "why"),
    [(6, 6, "people judged every unit that the judge judged: there is nothing to correct"), (12, 6, None)],
)
def test_why_nothing_was_corrected_is_said(write: Any, documents: int, judged: int, why: str | None) -> None:
    data = write(entries(documents, judged))
    said = run("estimate", data)
    assert ("nothing to correct" in said) == (why is not None)
    notes = {one["corrected"].get("note") for one in json.loads(run("estimate", data, "--json"))}
    assert notes == {why}
    if why:
        assert said.count(why) == 1


def test_what_cannot_be_tested_is_said(write: Any) -> None:
    data = write(entries(4, 4))
    assert "nobody is called 'robert'" in refused("trust", data, "--judge", "robert")
    assert "cannot be told" in run("trust", data)
    assert json.loads(run("trust", data, "--json"))[0]["passes"] is None
    people = [
        Entry(e.id, e.document, tuple(j for j in e.judgments if j.annotator != "robot"))
        for e in entries(4, 4)
    ]
    without = refused("trust", write(people, "people.jsonl"))
    assert "which of the annotators is the judge? No program's judgments are in it" in without
    assert "`lapsus export CAMPAIGN OUT --programs` writes them too; or --judge NAME" in without
    assert "no judgments of people" in refused("trust", write(entries(4, 0), "robot.jsonl"))
    assert "which data?" in refused("trust")


def test_estimate_has_three_ways_each_with_its_interval(write: Any) -> None:
    data = write(entries(100, 20))
    found = json.loads(run("estimate", data, "--judge", "robot", "--json"))
    assert [one["label"] for one in found] == list(LABELS)
    for one in found:
        for way in ("judge", "people", "corrected"):
            assert 0 <= one[way]["low"] <= one[way]["value"] <= one[way]["high"] <= 1
        assert (one["judged_units"], one["judge_units"]) == (120, 480)
        assert 0 < one["power"] < 1
    assert sum(one["people"]["value"] for one in found) == pytest.approx(1)
    widths = [[one[way]["high"] - one[way]["low"] for one in found] for way in ("corrected", "people")]
    assert np.mean(widths[0]) < np.mean(widths[1])


def test_estimate_by_system_and_between_systems(write: Any) -> None:
    found = json.loads(run("estimate", write(entries(100, 40)), "--by", "system", "--json"))
    of_x = {(one["system"], one["minus"]): one for one in found if one["label"] == "X"}
    assert list(of_x) == [(None, None), ("S0", None), ("S1", None), ("S0", "S1")]
    apart = of_x[("S0", "S1")]["corrected"]
    parts = [of_x[(name, None)]["corrected"]["value"] for name in ("S0", "S1")]
    assert apart["value"] == pytest.approx(parts[0] - parts[1])
    assert apart["low"] < apart["value"] < apart["high"]
    assert "cannot group by 'speaker'" in refused("estimate", write(entries(9, 9)), "--by", "speaker")


def test_a_judged_part_that_is_unlike_the_rest_is_warned_of(write: Any) -> None:
    odd = []
    for place, entry in enumerate(entries(100, 30)):
        judgments = tuple(
            Judgment(**{**{f: getattr(j, f) for f in j.__struct_fields__}, "answers": {"breakdown": "X"}})
            if j.annotator == "robot" and place >= 30
            else j
            for j in entry.judgments
        )
        odd.append(Entry(entry.id, entry.document, judgments))
    assert "no random part" in run("estimate", write(odd))


def test_python_says_the_same_as_the_commands(write: Any) -> None:
    data = write(entries(60, 30))
    assert json.loads(lapsus.rank_judges(data, judges=["robot"]).to_json()) == json.loads(
        run("trust", data, "--json")
    )
    assert json.loads(lapsus.estimate(data).to_json()) == json.loads(run("estimate", data, "--json"))
    plan, documents = lapsus.plan_units(data, units=40)
    assert plan.units == 40
    assert sum(len(one.metadata["drawn_units"]["units"]) for one in documents) == 40


def test_a_plan_says_how_many_and_draws_them(write: Any, tmp_path: Path) -> None:
    data = write(entries(200, 20))
    out = tmp_path / "sample.jsonl"
    plan = json.loads(
        run("plan", data, "--within", "0.06", "--epsilon", "0.2", "--people", "2", "-o", out, "--json")
    )
    assert plan["units"] == max(one["units"] for one in plan["goals"])
    assert {one["goal"] for one in plan["goals"]} == {"interval", "test"}
    assert all(one["from_people"] for one in plan["goals"])
    assert [one["name"] for one in plan["strata"]] == ["S0, doubtful", "S0, sure", "S1, doubtful", "S1, sure"]
    assert sum(one["drawn"] for one in plan["strata"]) == plan["units"]
    before = out.read_bytes()
    assert "is there already" in refused("plan", data, "--units", 30, "-o", out)
    run("plan", data, "--within", "0.06", "--epsilon", "0.2", "--people", "2", "-o", out, "--overwrite")
    assert out.read_bytes() == before, "the same seed draws the same"
    assert "jsonl" in refused("plan", data, "-o", tmp_path / "sample.csv")
    assert "did you mean" in refused("plan", data, "--within", "0.1", "--label", "XX")


def test_a_campaign_hands_out_exactly_what_was_drawn_and_the_weights_count(
    write: Any, tmp_path: Path
) -> None:
    whole = entries(150, 0, seed=3)
    data, sample = write(whole), tmp_path / "sample.jsonl"
    run("plan", data, "--units", 90, "-o", sample)
    drawn = {
        (entry.id, segment): float(about["weight"])
        for entry in lapsus.read(sample)
        for segment, about in entry.document.metadata["drawn_units"]["units"].items()
    }
    assert len(drawn) == 90
    assert sum(drawn.values()) == pytest.approx(150 * TURNS)
    # Drawn once more, from what the judge says of the sample alone: the few stand for all.
    judged = write(
        [
            msgspec.structs.replace(
                entry, judgments=tuple(j for j in known if (j.document, j.segment) in drawn)
            )
            for entry in lapsus.read(sample)
            for known in [next(one.judgments for one in whole if one.id == entry.id)]
        ],
        "judged.jsonl",
    )
    fewer = tmp_path / "fewer.jsonl"
    run("plan", judged, "--units", 40, "-o", fewer)
    again = [
        about["weight"]
        for entry in lapsus.read(fewer)
        for about in entry.document.metadata["drawn_units"]["units"].values()
    ]
    assert len(again) == 40
    assert sum(again) == pytest.approx(150 * TURNS)
    db = f"sqlite:///{tmp_path / 'store.db'}"
    told = json.loads(
        run("campaign", "create", "spring", "--scheme", "breakdown", "--data", sample, "--db", db, "--json")
    )
    assert told["units"] == told["wanted"] == 90
    with open_store(db) as store:
        person = store.people.add("ann").id
        handed: set[tuple[str, str | None]] = set()
        while isinstance(given := store.assignment.next_units(person, "spring"), Reservation):
            for unit in given.units:
                seen = store.units.visible("spring", unit.number)
                handed.add((seen.document, seen.key.segment))
                assert [s.id for s in seen.context] == [
                    str(place) for place in range(int(seen.key.segment or 0))
                ]
                label = "O" if int(seen.document[1:]) % 2 == 0 else "X"
                answers = {"breakdown": label}
                store.saves.save(
                    SaveRequest(f"{person}-{unit.number}", "spring", unit.number, person, answers)
                )
    assert handed == set(drawn)
    out = tmp_path / "people.jsonl"
    run("export", "spring", out, "--names", "--db", db)
    found = json.loads(run("estimate", out, data, "--json"))
    of_o = next(one for one in found if one["label"] == "O")
    assert of_o["weighted"]
    assert of_o["judged_units"] == 90
    # Ann says O of the even documents' units: the weighted share is that of the units she stands for.
    even = sum(weight for (name, _), weight in drawn.items() if int(name[1:]) % 2 == 0) / sum(drawn.values())
    assert of_o["people"]["value"] == pytest.approx(even)
