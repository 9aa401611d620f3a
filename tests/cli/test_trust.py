"""`trust`, `estimate`, `plan` and gates as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import lapsus
from lapsus.analysis.cascade import cascade
from lapsus.analysis.trust import doubts
from lapsus.cli.app import app
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.formats import convert
from lapsus.kinds import kinds_of
from lapsus.model import Document, Entry, Judgment, Segment
from lapsus.schemes import load_scheme
from lapsus.store import Reservation, SaveRequest, open_store

LABELS = ("O", "T", "X")
TURNS = 6


def run(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.stdout


def refused(*arguments: object) -> str:
    with pytest.raises(LapsusError) as caught:
        run(*arguments)
    return str(caught.value)


def document(number: int) -> Document:
    roles = ("user", "system")
    segments = [
        Segment(str(place), roles[place % 2], f"words {place} of {number}") for place in range(2 * TURNS)
    ]
    return Document(f"d{number}", tuple(segments), "en", {"system": f"S{number % 2}"})


def say(number: int, turn: int, who: str, label: str, **more: Any) -> Judgment:
    return Judgment(f"d{number}", str(2 * turn + 1), who, "breakdown", "1.0", {"breakdown": label}, **more)


def entries(documents: int, judged: int, seed: int = 0) -> list[Entry]:
    """Chats in which the judge is right four times of five, and so are people; people judged the first few."""
    rng = np.random.default_rng(seed)

    def answer(truth: int, right: float) -> str:
        return LABELS[truth if rng.random() < right else int(rng.integers(0, 3))]

    found = []
    for number in range(documents):
        judgments = []
        for turn in range(TURNS):
            truth = int(rng.integers(0, 3))
            sure = float(rng.choice([0.5, 0.9]))
            label = answer(truth, sure)
            rest = dict.fromkeys(LABELS, (1 - sure) / 2)
            shares = {"breakdown": rest | {label: sure}}
            setting = {"setting": {"model": "m1", "prompt": "abc"}}
            judgments.append(say(number, turn, "robot", label, distributions=shares, metadata=setting))
            if number < judged:
                judgments += [say(number, turn, who, answer(truth, 0.8)) for who in ("ann", "bo", "cy")]
        found.append(Entry(f"d{number}", document(number), tuple(judgments)))
    return found


@pytest.fixture
def write(tmp_path: Path) -> Callable[[list[Entry], str], Path]:
    def put(given: list[Entry], name: str = "data.jsonl") -> Path:
        convert(iter(given), tmp_path / name, "jsonl", overwrite=True)
        return tmp_path / name

    return put


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


def test_a_gate_passes_as_it_stands_and_fails_when_answers_are_shuffled(write: Any, tmp_path: Path) -> None:
    whole = entries(40, 40)
    data, gate, report = write(whole), tmp_path / "gate.yaml", tmp_path / "out.xml"
    run("trust", data, "--freeze", gate)
    frozen = yaml.safe_load(gate.read_text())
    assert frozen["people"] == "data.jsonl"
    assert frozen["setting"] == {"model": "m1", "prompt": "abc"}
    assert "passes the gate" in run("trust", "--gate", gate, "--junit", report)
    assert ElementTree.parse(report).getroot().attrib["failures"] == "0"  # noqa: S314  our own file
    answers = [j.answers for e in whole for j in e.judgments if j.annotator == "robot"]
    order = iter(np.random.default_rng(0).permutation(len(answers)).tolist())

    def shuffled(judgment: Judgment) -> Judgment:
        if judgment.annotator != "robot":
            return judgment
        return say(int(judgment.document[1:]), int(judgment.segment or 0) // 2, "robot",
                   str(answers[next(order)]["breakdown"]), metadata=judgment.metadata)  # fmt: skip

    run_file = write([Entry(e.id, e.document, tuple(map(shuffled, e.judgments))) for e in whole], "run.jsonl")
    told = run("trust", run_file, "--gate", gate, "--junit", report, code=1)
    assert "FAILED breakdown: better than its answers shuffled" in told
    assert "FAILED breakdown: agreement with people" in told
    suite = ElementTree.parse(report).getroot()  # noqa: S314  our own file
    assert int(suite.attrib["failures"]) == sum(case.find("failure") is not None for case in suite) >= 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "m2"}, "made with the same model: m2 (wanted: m1)"),
        ({"prompt": "xyz"}, "made with the same prompt: xyz (wanted: abc)"),
    ],
)
def test_a_gate_sees_another_model_or_prompt(
    write: Any, tmp_path: Path, change: dict[str, str], words: str
) -> None:
    whole, gate = entries(40, 40), tmp_path / "gate.yaml"
    run("trust", write(whole), "--freeze", gate)
    setting = {"setting": {"model": "m1", "prompt": "abc"} | change}
    changed = [
        say(
            int(j.document[1:]),
            int(j.segment or 0) // 2,
            "robot",
            str(j.answers["breakdown"]),
            metadata=setting,
        )
        for e in whole
        for j in e.judgments
        if j.annotator == "robot"
    ]
    by_document = [Entry(e.id, e.document, tuple(j for j in changed if j.document == e.id)) for e in whole]
    assert words in run("trust", write(by_document, "run.jsonl"), "--gate", gate, code=1)
    fewer = write(by_document[:20], "fewer.jsonl")
    assert "units answered: 120 of 240" in run("trust", fewer, "--gate", gate, code=1)


def test_a_gate_sees_when_the_frozen_set_was_changed(write: Any, tmp_path: Path) -> None:
    gate = tmp_path / "gate.yaml"
    run("trust", write(entries(40, 40)), "--freeze", gate)
    write(entries(40, 39))
    assert "FAILED the frozen set is unchanged" in run("trust", "--gate", gate, code=1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "is no gate"),
        ("judge: a", "is no gate"),
        ("judge: r\nscheme: breakdown\npeople: p\nbounds: {}\nsurprise: 1", "is no gate"),
        ("{", "not sound YAML"),
        ("[" * 5000, "nested too deep"),
        ("judge: !!timestamp x", "not the kind of value"),
        ("judge: &a [x]\nscheme: [*a, *a]", "aliases"),
    ],
)
def test_a_broken_gate_is_told(tmp_path: Path, text: str, told: str) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text(text)
    with pytest.raises(InputError, match=told):
        run("trust", "--gate", gate)
    with pytest.raises(UsageError, match="no such file"):
        run("trust", "--gate", tmp_path / "none.yaml")


def test_a_cascade_goes_on_from_stage_to_stage(write: Any, tmp_path: Path) -> None:
    whole = entries(20, 0)
    first, out = write(whole, "first.jsonl"), tmp_path / "next.jsonl"
    named = ("--judge", "robot", "--judge", "model", "--overwrite", "-o", out)
    robot = {j.unit: j for e in whole for j in e.judgments}
    doubted = {unit for unit, j in robot.items() if max(j.distributions["breakdown"].values()) < 0.7}
    told = json.loads(run("cascade", first, *named, "--json"))
    assert (told["units"], told["waits_for"], told["waiting"]) == (120, "second", len(doubted))
    waiting = {
        (entry.id, segment)
        for entry in lapsus.read(out)
        for segment in entry.document.metadata["drawn_units"]["units"]
    }
    assert waiting == {tuple(unit) for unit in doubted}

    def judged(who: str, units: Any, label: Callable[[Any], str], **more: Any) -> list[Entry]:
        found: dict[str, list[Judgment]] = {}
        for unit in sorted(units):
            found.setdefault(unit.document, []).append(
                say(int(unit.document[1:]), int(unit.segment) // 2, who, label(unit), **more)
            )
        return [Entry(name, document(int(name[1:])), tuple(judgments)) for name, judgments in found.items()]

    cost = {"metadata": {"tokens": {"prompt": 90, "completion": 10}}, "seconds": 0.5}
    second = write(judged("model", doubted, lambda unit: "X", **cost), "second.jsonl")
    disputed = {unit for unit in doubted if robot[unit].answers["breakdown"] != "X"}
    told = json.loads(run("cascade", first, second, *named, "--json"))
    assert (told["waits_for"], told["waiting"]) == ("people", len(disputed))
    assert told["stages"][1]["tokens"] == 100 * len(doubted)
    assert told["stages"][1]["seconds"] == pytest.approx(0.5 * len(doubted))
    assert told["stages"][1]["settled"] == len(doubted) - len(disputed)
    # Nobody measured how long the first took; nothing was asked of people yet, which took no time.
    assert [told["stages"][place]["seconds"] for place in (0, 2)] == [None, 0.0]
    shown = run("cascade", first, second, *named).splitlines()
    assert [line.split()[-1] for line in shown[1:4:2]] == ["–", "0.0"]
    people = write(judged("ann", disputed, lambda unit: "T"), "people.jsonl")
    assert "all 120 units are settled" in run("cascade", first, second, people, *named)
    final = {j.unit: j for entry in lapsus.read(out) for j in entry.judgments}
    assert len(final) == 120
    for unit, judgment in final.items():
        assert judgment.annotator == "cascade"
        assert judgment.answers["breakdown"] == (
            "T" if unit in disputed else robot[unit].answers["breakdown"]
        )


def test_a_cascade_needs_a_first_judge_that_doubts(write: Any) -> None:
    sure = [
        Entry(e.id, e.document, tuple(say(int(e.id[1:]), t, "robot", "O") for t in range(TURNS)))
        for e in entries(4, 0)
    ]
    assert "does not say how sure it is" in refused("cascade", write(sure), "--judge", "robot")
    three = [part for name in "abc" for part in ("--judge", name)]
    assert "a first judge, and a second" in refused("cascade", write(sure), *three)


def test_a_judge_of_several_labels_doubts_those_that_may_be_or_not(write: Any) -> None:
    """Such shares do not add up to 1: that every label is unlikely is no doubt, that one is as likely as not is."""
    labels = ("uninterpretable", "grammatical-error")
    shares = [(0.02, 0.03), (0.98, 0.5), (0.9, 0.1)]
    data = [
        Entry(
            f"d{number}",
            document(number),
            (
                Judgment(
                    f"d{number}",
                    "1",
                    "robot",
                    "error-types",
                    "1.2.1",
                    {"types": labels[:1]},
                    {"types": dict(zip(labels, given, strict=True))},
                ),
            ),
        )
        for number, given in enumerate(shares)
    ]
    told, waiting = cascade(write(data), judges=["robot", "model"])
    assert (told.waiting, [entry.id for entry in waiting]) == (1, ["d1"])
    kinds = kinds_of(load_scheme("error-types"))
    assert [doubts(entry.judgments[0], kinds) for entry in data] == [
        [pytest.approx(0.03)],
        [pytest.approx(0.5)],
        [pytest.approx(0.1)],
    ]
