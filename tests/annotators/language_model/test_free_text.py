"""Words never cost a judgment; faults of a server are told, and what can be judged is."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from lapsus.annotators.language_model import make_prompt
from lapsus.annotators.language_model.reply import (
    BOUND,
    REASON,
    answer_schema,
    salvage,
    without_bounds,
)
from lapsus.errors import UsageError
from lapsus.model import Question
from lapsus.schemes import load_scheme, scheme_names
from tests.annotators.language_model.helpers import chat, document, model_on, right, unit_of
from tests.annotators.language_model.stub import Said, completion, refusal, script, serving

BREAKDOWN = load_scheme("breakdown")


@pytest.mark.parametrize("name", scheme_names())
def test_optional_texts_come_last_and_are_bounded(name: str) -> None:
    scheme = load_scheme(name)
    schema = answer_schema(scheme, reasons=True)
    assert list(schema["properties"])[-1] == REASON
    texts = [question.id for question in scheme.questions if question.kind == "text"]
    assert list(schema["properties"])[-1 - len(texts) : -1] == texts
    for text in (*texts, REASON):
        assert schema["properties"][text]["maxLength"] == BOUND
    assert "maxLength" not in json.dumps(without_bounds(schema))
    assert without_bounds(schema)["required"] == schema["required"]


@pytest.mark.parametrize("name", scheme_names())
@pytest.mark.parametrize("language", ["en", "ja"])
def test_an_endless_comment_costs_no_judgment(name: str, language: str) -> None:
    """The reply of a small model that does not stop writing: cut in the middle of its comment."""
    said, answers = right(name, language)
    texts = [question.id for question in load_scheme(name).questions if question.kind == "text"]
    kept = {key: value for key, value in said.items() if key not in texts}
    comment = texts[0] if texts else REASON
    reply = json.dumps(kept, ensure_ascii=False)[:-1] + f', "{comment}": "and so on and so on and'
    with serving(script(completion(reply, finish="length"))) as stub:
        model = model_on(stub, name)
        judgments = list(model.judge([document(name, language)]))
    assert not model.refused
    assert len(stub.asked) == len(judgments), "nothing is asked twice"
    assert dict(judgments[-1].answers) == {key: value for key, value in answers.items() if key not in texts}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"breakdown": "X", "comment": "no end', {"breakdown": "X"}),
        ('{"breakdown": "X", "comment": "done"', {"breakdown": "X", "comment": "done"}),
        ('{"breakdown": "X",\n\n\n', {"breakdown": "X"}),
        ('{"breakdown": "X", "reas', {"breakdown": "X"}),
        ('{"breakdown": "X", "reason": "bec', {"breakdown": "X"}),
        ('{"breakdown": "X', None),
        ('{"comment": "long and', None),
        ('{"breakdown": "X", "surprise": [1', None),
        ("no JSON at all", None),
        ('{"comment": "{\\"breakdown\\": \\"O\\"}', None),
    ],
)
def test_only_what_is_whole_is_taken(text: str, found: dict[str, Any] | None) -> None:
    assert salvage(text, BREAKDOWN) == found


def test_a_half_given_answer_that_counts_is_not_dropped() -> None:
    """Marks that were cut off are no smaller list of marks."""
    assert (
        salvage('{"errors": [{"label": "omission", "segment": "t1"', load_scheme("semantic-errors")) is None
    )


def test_a_reply_that_was_not_cut_must_be_whole() -> None:
    with serving(script(completion('{"breakdown": "X", "comment": "no end'))) as stub:
        model = model_on(stub)
        assert list(model.judge_units([unit_of(chat(), model.scheme)])) == []
    assert len(model.refused) == 1


def test_servers_without_bounds_are_asked_without() -> None:
    def server(body: dict[str, Any]) -> Said:
        asked = json.dumps(body.get("response_format", {}))
        return (
            refusal(400, "maxLength is not permitted")
            if "maxLength" in asked
            else completion({"breakdown": "T"})
        )

    with serving(server) as stub:
        model = model_on(stub, parallel=1)
        judgments = list(model.judge([chat()]))
    assert [judgment.answers["breakdown"] for judgment in judgments] == ["T", "T"]
    assert stub.asked[-1]["response_format"]["json_schema"]["strict"] is True


def test_reasons_are_asked_for_and_kept() -> None:
    reply = {"breakdown": "X", "comment": None, "reason": "It ignores the lost keys."}
    with serving(script(completion(reply))) as stub:
        model = model_on(stub, reasons=True)
        judgment = next(iter(model.judge_units([unit_of(chat(), model.scheme)])))
    assert judgment.metadata["reason"] == "It ignores the lost keys."
    assert dict(judgment.answers) == {"breakdown": "X"}
    assert '"reason": why' in stub.asked[0]["messages"][0]["content"]
    assert make_prompt(BREAKDOWN).digest != make_prompt(BREAKDOWN, reasons=True).digest


def test_a_scheme_that_asks_for_a_reason_itself() -> None:
    import msgspec

    own = Question("reason", "text", {"en": "Why"}, {"en": "Why?"}, required=False)
    scheme = msgspec.structs.replace(BREAKDOWN, questions=(*BREAKDOWN.questions, own))
    with pytest.raises(UsageError, match="of its own"):
        make_prompt(scheme, reasons=True)


def slow(_: dict[str, Any]) -> Said:
    time.sleep(0.6)
    return completion({"breakdown": "O"})


@pytest.mark.parametrize(
    ("server", "reason"),
    [
        (slow, "time"),
        (script(completion('{"breakd', finish="length")), "cut off"),
        (script(refusal(500, "out of memory")), "500"),
        (script(completion("{'breakdown': O}")), "no JSON"),
        (script(completion("I cannot judge people.")), "“I cannot judge people.”"),
        (
            script(Said(200, {"choices": [{"message": {"content": None, "refusal": "I will not."}}]})),
            "“I will not.”",
        ),
        (script(Said(200, {"choices": []})), "no message"),
        (script(Said(200, b"<html>")), "JSON"),
        (script(completion("<think>X, or rather O</think>")), "no JSON"),
    ],
)
def test_faults_are_told_with_their_reason(server: Any, reason: str) -> None:
    with serving(server) as stub:
        model = model_on(stub, timeout=0.2 if server is slow else 60.0)
        assert list(model.judge_units([unit_of(chat(), model.scheme)])) == []
    told = " ".join([*(one.reason for one in model.refused), str(model.ended or "")])
    assert reason in told


@pytest.mark.parametrize(
    "first",
    [
        refusal(429, "slow down", {"Retry-After": "0"}),
        refusal(500, "try again"),
        completion("Sorry?"),
        completion('<think>{"breakdown": "O"}'),
        completion('{"breakdown": "Z"}'),
    ],
)
def test_one_fault_costs_no_judgment(first: Said) -> None:
    with serving(script(first, completion('<think>hm</think>{"breakdown": "X", "comment": null}'))) as stub:
        model = model_on(stub, parallel=1)
        judgments = list(model.judge_units([unit_of(chat(), model.scheme)]))
    assert [judgment.answers["breakdown"] for judgment in judgments] == ["X"]
    assert len(stub.asked) == 2
