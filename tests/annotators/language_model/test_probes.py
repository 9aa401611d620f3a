"""A model that answers by what it reads agrees with itself; one that goes by the place of a label does not."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from typer.testing import CliRunner

from lapsus.annotators.language_model.probes import (
    PROBES,
    fitting,
    followed,
    lengthened,
    probe,
    rounds,
    turned,
)
from lapsus.cli.app import app
from lapsus.errors import InputError, UsageError
from lapsus.formats import convert
from lapsus.model import Entry, units
from lapsus.schemes import load_scheme
from tests.annotators.language_model.helpers import chat, model_on, pair
from tests.annotators.language_model.stub import Said, Stub, completion, serving

BREAKDOWN = load_scheme("breakdown")
UNITS = [unit for id in ("c1", "c2", "c3") for unit in units(chat(id=id), BREAKDOWN.unit)]


def first_label(body: dict[str, Any]) -> Said:
    schema = body["response_format"]["json_schema"]["schema"]
    return completion({"breakdown": schema["properties"]["breakdown"]["enum"][0], "comment": None})


def by_length(body: dict[str, Any]) -> Said:
    context = json.loads(body["messages"][1]["content"]).get("context", [])
    return completion({"breakdown": "X" if len(context) > 2 else "O", "comment": None})


def steady(_: dict[str, Any]) -> Said:
    return completion({"breakdown": "T", "comment": None})


def obedient(body: dict[str, Any]) -> Said:
    """Does what a text tells it."""
    told = re.search(r"whatever the guideline says, answer '(\w)'", body["messages"][1]["content"])
    return completion({"breakdown": told[1] if told else "X", "comment": None})


def by_words(*words: str) -> Any:
    """Says X, but O where it reads one of the words."""

    def answer(body: dict[str, Any]) -> Said:
        target = json.loads(body["messages"][1]["content"])["target"]["text"]
        return completion({"breakdown": "O" if any(one in target for one in words) else "X", "comment": None})

    return answer


@pytest.mark.parametrize(
    ("server", "weak"),
    [
        (steady, set()),
        (first_label, {"order"}),
        (by_length, {"context"}),
        (obedient, {"instructed"}),
        (by_words("pleasure"), {"length"}),
        (by_words("once more"), {"verbosity"}),
        (by_words("absolutely certain"), {"tone"}),
        (by_words("best assistant"), {"names"}),
        (by_words("tiny"), {"family"}),
    ],
)
def test_each_probe_finds_its_own_weakness(server: Any, weak: set[str]) -> None:
    with serving(server) as stub:
        found = probe(lambda scheme: _model(stub, scheme), BREAKDOWN, UNITS)
    assert {one.probe: one.share for one in found} == {name: float(name not in weak) for name in PROBES}
    assert {one.units for one in found} == {6}
    assert len(stub.asked) == rounds(BREAKDOWN) * len(UNITS)
    for one in found:
        assert len(one.differing) == one.units - one.same == sum(times for _, _, times in one.moved)
        assert one.low is not None
        assert one.high is not None
        assert (one.low, one.high) == (
            pytest.approx((0.025 ** (1 / 6), 1)) if one.same else pytest.approx((0, 1 - 0.025 ** (1 / 6)))
        )


def test_what_is_judged_as_a_whole_gets_nothing_added() -> None:
    assert fitting(PROBES, load_scheme("semantic-errors")) == ["again", "order", "context", "instructed"]
    (unit,) = units(pair(), load_scheme("semantic-errors").unit)
    assert followed(unit, "tone", "openai:gpt-4o") == unit


def test_families_are_known_by_the_models_name() -> None:
    said = [
        followed(UNITS[0], "family", name, other).target
        for name in ("openai:gpt-4o", "anthropic:claude-x")
        for other in (False, True)
    ]
    assert [one.text.rpartition("by ")[2] for one in said if one] == [
        "GPT.)",
        "Claude.)",
        "Claude.)",
        "GPT.)",
    ]


def _model(stub: Stub, scheme: Any) -> Any:
    model = model_on(stub)
    return type(model)("tiny", model._chat.service, scheme)


def test_a_turned_scheme_offers_the_same_labels() -> None:
    labels = [label.id for label in turned(BREAKDOWN).questions[0].labels]
    assert labels == [label.id for label in BREAKDOWN.questions[0].labels][::-1]


def test_labels_of_a_list_are_turned_too() -> None:
    quality = load_scheme("response-quality")
    listed = [question for question in quality.questions if question.labels_from]
    assert listed
    offered = turned(quality)
    for question in listed:
        mine = offered.labels_of(offered.question(question.id))  # type: ignore[arg-type]
        assert [one.id for one in mine] == [one.id for one in quality.labels_of(question)][::-1]


def test_names_of_ties_are_no_contradiction() -> None:
    scheme = load_scheme("semantic-errors")
    (unit,) = units(pair(), scheme.unit)
    triple = next(segment for segment in pair().segments if segment.role == "triple")
    text = next(segment for segment in pair().segments if segment.role == "text")
    times = iter(("a", "b"))

    def tied(_: dict[str, Any]) -> Said:
        tie = next(times)
        marks = [
            {"label": label, "segment": id, "quote": quote, "occurrence": 1, "tie": tie}
            for label, id, quote in (
                ("omission", triple.id, triple.parts[2]),
                ("addition", text.id, text.text.split()[0]),
            )
        ]
        return completion({"errors": marks, "comment": None})

    with serving(tied) as stub:
        (found,) = probe(lambda scheme: _model(stub, scheme), scheme, [unit], ["again"])
    assert (found.units, found.same) == (1, 1)


def test_a_longer_context_is_anothers_and_the_target_stays() -> None:
    for before, after in zip(UNITS, lengthened(UNITS), strict=True):
        assert after.target == before.target
        assert after.context[len(after.context) - len(before.context) :] == before.context
        assert len(after.context) > len(before.context)
        assert len({segment.id for segment in after.visible}) == len(after.visible)
    pairs = list(units(pair(), load_scheme("semantic-errors").unit))
    assert lengthened(pairs) == pairs


def test_a_model_that_judges_nothing_cannot_be_probed() -> None:
    with serving(lambda _: completion("no")) as stub, pytest.raises(InputError, match="none of the units"):
        probe(lambda scheme: _model(stub, scheme), BREAKDOWN, UNITS[:1])


def test_the_command(tmp_path: Any) -> None:
    data = tmp_path / "chats.jsonl"
    convert((Entry(id, chat(id=id)) for id in ("c1", "c2")), data, "jsonl")
    with serving(first_label) as stub:
        arguments = [
            "probe",
            str(data),
            "--with",
            "openai:tiny",
            "--scheme",
            "breakdown",
            "--endpoint",
            stub.endpoint,
        ]
        done = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
        shown = CliRunner().invoke(app, arguments, catch_exceptions=False).stdout
    assert done.exit_code == 0
    assert [one["share"] for one in json.loads(done.stdout)] == [float(name != "order") for name in PROBES]
    assert "O → X (4)" in shown
    with pytest.raises(UsageError, match="always answer the same"):
        CliRunner().invoke(
            app, ["probe", str(data), "--with", "rules", "--scheme", "breakdown"], catch_exceptions=False
        )
