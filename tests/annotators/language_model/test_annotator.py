"""A language model judges: all schemes, both languages, and whatever a model or a server does wrong."""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import msgspec
import pytest

import lapsus
from lapsus.annotators.language_model import LanguageModel, Sampling, Service, endpoint
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.model import Entry, Judgment, Scheme, UnitKey
from lapsus.schemes import broken_rules, load_scheme, scheme_names
from tests.annotators.language_model.helpers import chat, document, model_on, right, unit_of
from tests.annotators.language_model.stub import Said, completion, refusal, script, serving
from tests.patience import LONG


def judged_last(model: Any, about: Any) -> Judgment:
    """The judgment of a document's last unit."""
    (judgment,) = model.judge_units([unit_of(about, model.scheme)])
    return judgment  # type: ignore[no-any-return]


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("name", scheme_names())
def test_every_scheme_in_both_languages(name: str, language: str) -> None:
    said, answers = right(name, language)
    about = document(name, language)
    with serving(script(completion(said))) as stub:
        model = model_on(stub, name)
        judgments = list(model.judge([about]))
    assert [judgment.answers for judgment in judgments] == [answers] * len(judgments)
    assert len(judgments) == (1 if name in ("semantic-errors", "preference") else 2)
    assert (model.refused, model.ended, model.form) == ([], None, "json_schema")
    for judgment in judgments:
        assert (judgment.annotator, judgment.scheme) == ("openai:tiny", name)
        assert not broken_rules(model.scheme, judgment.answers, about, judgment.segment)
    asked = stub.asked[0]
    assert asked["model"] == "tiny"
    assert asked["response_format"]["json_schema"]["strict"] is True
    assert ("アノテータ" in asked["messages"][0]["content"]) == (language == "ja")


def test_where_no_answer_could_be_right_nothing_is_asked() -> None:
    with serving(script()) as stub, pytest.raises(InputError, match="compares the replies A and B"):
        list(model_on(stub, "preference").judge([chat("en")]))
    assert stub.asked == []


def test_what_stands_with_a_judgment() -> None:
    with serving(
        script(completion({"breakdown": "O"}), completion({"breakdown": "O", "comment": None}))
    ) as stub:
        judgment = judged_last(model_on(stub, seed=5, examples=1), chat("ja"))
    setting = judgment.metadata["setting"]
    assert setting | {"prompt": "", "host": ""} == {
        "model": "tiny", "host": "", "language": "ja", "prompt": "", "samples": 1, "temperature": 0.0, "seed": 5,
        "max_tokens": None,
    }  # fmt: skip
    assert setting["host"].startswith("127.0.0.1:")
    assert len(setting["prompt"]) == len(judgment.metadata["material"]) == 16
    assert judgment.metadata["tokens"] == {"prompt": 100, "completion": 10}
    assert (judgment.metadata["form"], judgment.metadata["tries"]) == ("json_schema", 1)
    assert judgment.metadata["answered_by"] == "stub-2026"
    assert judgment.seconds is not None
    assert judgment.at is not None
    assert (stub.asked[0]["temperature"], stub.asked[0]["seed"]) == (0.0, 5)
    assert judgment.version == load_scheme("breakdown").version


def test_the_prompts_language_can_be_set() -> None:
    with serving(script(completion({"breakdown": "O", "comment": None}))) as stub:
        judgment = judged_last(model_on(stub, language="en"), chat("ja"))
        with pytest.raises(UsageError, match="not written in 'fr'"):
            model_on(stub, language="fr")
    assert judgment.metadata["setting"]["language"] == "en"
    assert "You are an annotator" in stub.asked[0]["messages"][0]["content"]


def without_schema(body: dict[str, Any]) -> Said:
    is_strict = body.get("response_format", {}).get("type") == "json_schema" or "tools" in body
    return refusal(400, "response_format?") if is_strict else completion({"breakdown": "T"})


def only_tools(body: dict[str, Any]) -> Said:
    return completion({"breakdown": "T"}) if "tools" in body else refusal(400, "response_format?")


def only_text(body: dict[str, Any]) -> Said:
    is_plain = not {"response_format", "tools"} & body.keys()
    return refusal(422) if not is_plain else completion('Well: ```{"breakdown": "T"}```')


@pytest.mark.parametrize(
    ("server", "form", "requests"),
    [(only_tools, "tool call", 4), (without_schema, "json_object", 5), (only_text, "text", 6)],
)
def test_a_server_without_schemas_is_asked_in_the_next_form(server: Any, form: str, requests: int) -> None:
    with serving(server) as stub:
        model = model_on(stub, parallel=1)
        judgments = list(model.judge([chat()]))
    assert [judgment.metadata["form"] for judgment in judgments] == [form, form]
    assert model.form == form
    assert len(stub.asked) == requests


def test_a_unit_that_the_server_refuses_in_every_form_is_refused_alone() -> None:
    def server(body: dict[str, Any]) -> Said:
        is_long = "context" in json.loads(body["messages"][1]["content"])
        return refusal(400, "context length exceeded") if is_long else completion({"breakdown": "O"})

    with serving(server) as stub:
        model = model_on(stub, parallel=1)
        judgments = list(model.judge([chat(), chat("ja", "c2")]))
    assert [judgment.unit for judgment in judgments] == [UnitKey("c1", "0"), UnitKey("c2", "0")]
    assert [refused.unit for refused in model.refused] == [UnitKey("c1", "2"), UnitKey("c2", "2")]
    assert all("context length exceeded" in refused.reason for refused in model.refused)
    assert model.form == "json_schema"
    assert model.ended is None


def test_an_invalid_answer_is_told_and_asked_again() -> None:
    with serving(script(completion({"breakdown": "Q"}), completion({"breakdown": "X"}))) as stub:
        judgment = judged_last(model_on(stub), chat())
    assert judgment.answers == {"breakdown": "X"}
    assert judgment.metadata["tries"] == 2
    assert judgment.metadata["tokens"] == {"prompt": 200, "completion": 20}
    first, again = (body["messages"] for body in stub.asked)
    assert again[:2] == first
    assert again[2] == {"role": "assistant", "content": '{"breakdown": "Q"}'}
    assert "“Q” is none of the choices" in again[3]["content"]


def test_a_model_that_never_answers_right_is_refused() -> None:
    with serving(script(completion("I would rather not."))) as stub:
        model = model_on(stub)
        assert list(model.judge_units([unit_of(chat(), model.scheme)])) == []
    assert len(stub.asked) == 3
    assert model.refused == [(UnitKey("c1", "2"), model.refused[0].reason)]
    assert model.refused[0].reason.endswith(
        "asked 3 times: there is no JSON object in it: “I would rather not.”"
    )
    assert model.ended is None
    assert model.tokens == {"prompt": 300, "completion": 30}, "what was refused was paid for"


def test_the_reason_of_a_refusal_is_one_short_line_whatever_a_model_says() -> None:
    with serving(script(completion({"breakdown": "\x1b[2J\n" + "Q" * 9000, "comment": 10**4000}))) as stub:
        model = model_on(stub)
        list(model.judge_units([unit_of(chat(), model.scheme)]))
    (refused,) = model.refused
    assert refused.reason.isprintable()
    assert len(refused.reason) <= 500
    assert len(stub.asked[1]["messages"][3]["content"]) < 500


def test_an_answer_that_was_cut_off_says_so() -> None:
    with serving(script(completion('{"breakd', finish="length"))) as stub:
        model = model_on(stub)
        list(model.judge_units([unit_of(chat("ja"), model.scheme)]))
    assert "途中で切れています" in model.refused[0].reason


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": []},
        {"choices": [{}]},
        {"choices": "no"},
        {"choices": [{"message": None}]},
    ],
)
def test_a_reply_without_a_message_refuses_the_unit(body: Any) -> None:
    with serving(script(Said(200, body))) as stub:
        model = model_on(stub)
        assert list(model.judge_units([unit_of(chat(), model.scheme)])) == []
    assert "no message" in model.refused[0].reason


def test_odd_but_usual_replies_are_understood() -> None:
    parts = [{"type": "text", "text": '{"breakdown":'}, {"type": "text", "text": ' "O"}'}]
    body = {"choices": [{"message": {"content": parts}}], "usage": None, "model": 7}
    with serving(script(Said(200, body))) as stub:
        judgment = judged_last(model_on(stub), chat())
    assert judgment.answers == {"breakdown": "O"}
    assert judgment.metadata["tokens"] == {"prompt": 0, "completion": 0}
    assert judgment.metadata["answered_by"] is None


def test_samples_make_a_distribution() -> None:
    said = [("T", None), ("O", "fine"), ("T", "hm"), ("X", None)]
    replies = [completion({"breakdown": label, "comment": words}) for label, words in said]
    with serving(script(*replies)) as stub:
        judgment = judged_last(model_on(stub, samples=4, seed=10), chat())
    assert judgment.answers == {"breakdown": "T"}
    assert judgment.distributions == {"breakdown": {"O": 0.25, "T": 0.5, "X": 0.25}}
    assert [body["seed"] for body in stub.asked] == [10, 11, 12, 13]
    assert {body["temperature"] for body in stub.asked} == {1.0}
    assert judgment.metadata["tries"] == 4


def test_a_tie_goes_to_the_first_label_and_words_come_from_a_sample_that_gave_it() -> None:
    replies = [completion({"breakdown": label, "comment": label}) for label in "XTXT"]
    with serving(script(*replies)) as stub:
        judgment = judged_last(model_on(stub, samples=4), chat())
    assert judgment.answers == {"breakdown": "T", "comment": "T"}


def test_samples_that_agree_on_no_whole_answer_still_make_one_that_the_rules_accept() -> None:
    questions = [
        {"id": id, "kind": "label", "name": {"en": id}, "ask": {"en": id}, "labels": [
            {"id": label, "name": {"en": label}, "definition": {"en": label}} for label in ("yes", "no")]}
        for id in ("kind", "short")
    ]  # fmt: skip
    questions.append({"id": "why", "kind": "text", "name": {"en": "Why"}, "ask": {"en": "Why?"}})
    words = {"title": {"en": "T"}, "summary": {"en": "S"}, "unit": {"role": "system"}}
    scheme = msgspec.convert({"scheme": "own", "version": "1", **words, "questions": questions}, Scheme)
    said = [("yes", "no", "a"), ("no", "yes", "b"), ("yes", "no", "c"), ("no", "yes", "d")]
    replies = [completion(dict(zip(("kind", "short", "why"), one, strict=True))) for one in said]
    with serving(script(*replies)) as stub:
        model = LanguageModel("m", Service(endpoint(stub.endpoint)), scheme, sampling=Sampling(4))
        judgment = judged_last(model, chat())
    assert judgment.answers == {"kind": "yes", "short": "yes", "why": "a"}
    assert not broken_rules(scheme, judgment.answers)


def test_samples_are_for_single_labels_only() -> None:
    with serving(script(completion("x"))) as stub, pytest.raises(UsageError, match="more than one label"):
        model_on(stub, "error-types", samples=3)


def test_no_more_requests_are_under_way_than_allowed() -> None:
    two = threading.Barrier(2, timeout=LONG)

    def server(_: Any) -> Said:
        two.wait()  # nobody is answered alone
        return completion({"breakdown": "O"})

    with serving(server) as stub:
        judgments = list(model_on(stub, parallel=3).judge(chat(id=f"c{n}") for n in range(8)))
    assert len(judgments) == 16
    assert 1 < stub.most_at_once <= 3


def test_documents_are_taken_as_they_are_needed() -> None:
    taken: list[str] = []

    def documents() -> Any:
        for number in range(50):
            taken.append(str(number))
            yield chat(id=f"c{number}")

    with serving(script(completion({"breakdown": "O"}))) as stub:
        judging = model_on(stub, parallel=2).judge(documents())
        next(judging)
        assert len(taken) < 5
        judging.close()  # type: ignore[attr-defined]


def test_a_wrong_key_ends_it_at_once() -> None:
    with serving(script(refusal(401, "bad key"))) as stub:
        model = model_on(stub, parallel=2)
        assert list(model.judge(chat(id=f"c{n}") for n in range(50))) == []
    assert model.ended is not None
    assert "bad key" in model.ended.what
    assert model.refused == []
    assert len(stub.asked) <= 4


def test_a_server_that_breaks_down_ends_it_and_what_was_judged_is_kept() -> None:
    replies = [completion({"breakdown": "O"})] * 3
    with serving(script(*replies, refusal(500, "gone"))) as stub:
        model = model_on(stub, parallel=1)
        judgments = list(model.judge(chat(id=f"c{n}") for n in range(50)))
    assert len(judgments) == 3
    assert len(model.refused) == 5
    assert model.ended is not None
    assert "gone" in model.ended.what


def test_a_stop_keeps_what_is_under_way_and_takes_nothing_new() -> None:
    stop = threading.Event()

    def server(_: Any) -> Said:
        stop.set()
        time.sleep(0.1)
        return completion({"breakdown": "O"})

    with serving(server) as stub:
        model = model_on(stub, parallel=2, stop=stop)
        judgments = list(model.judge(chat(id=f"c{n}") for n in range(50)))
    assert len(judgments) == len(stub.asked) <= 2
    assert (model.refused, model.ended) == ([], None)


def test_a_fault_of_ours_is_not_swallowed() -> None:
    with serving(script(completion({"breakdown": "O"}))) as stub:
        model = model_on(stub)
        with pytest.raises(AttributeError):
            list(model.judge_units(["no unit"]))  # type: ignore[list-item]


def test_a_setting_is_known_again() -> None:
    with serving(script(completion({"breakdown": "O"}))) as stub:
        model = model_on(stub, seed=1)
        metadata = json.loads(json.dumps(judged_last(model, chat("ja")).metadata))
        assert model.differences(metadata) == ()
        assert model_on(stub, seed=2, temperature=1).differences(metadata) == ("temperature", "seed")
        assert model_on(stub, seed=1, examples=0).differences(metadata) == ("prompt",)
        assert model_on(stub, seed=1, language="en").differences(metadata) == ("prompt",)
        assert model.differences({}) == ("model",)
        assert model.differences({"setting": {"language": "fr"}}) == ("model",)


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
        ("/home/avery/models/tiny.gguf", "tiny.gguf"),
        ("C:\\models\\tiny.gguf", "tiny.gguf"),
        ("./tiny.gguf", "tiny.gguf"),
        ("a\x00b", None),
        (7, None),
    ],
)
def test_where_a_models_file_lies_is_not_kept(told: Any, kept: str | None) -> None:
    said = completion({"breakdown": "O"})
    with serving(script(said._replace(body={**said.body, "model": told}))) as stub:
        assert judged_last(model_on(stub), chat()).metadata["answered_by"] == kept


def test_python_asks_it_like_any_annotator_and_documents_keep_their_order() -> None:
    def server(body: dict[str, Any]) -> Said:
        if "Hello" in json.loads(body["messages"][1]["content"])["target"]["text"]:
            time.sleep(0.1)
        return completion({"breakdown": "O"})

    entries = [Entry(id, chat(id=id)) for id in ("c1", "c2", "c3")]
    with serving(server) as stub:
        model = model_on(stub, parallel=4)
        found = list(lapsus.detect(entries, model=model))
    assert [(entry.id, [one.segment for one in entry.judgments]) for entry in found] == [
        (entry.id, ["0", "2"]) for entry in entries
    ]
    assert model.parameters()["parallel"] == 4


def test_python_hears_of_a_server_that_does_not_answer() -> None:
    with serving(lambda _: refusal(401, "bad key")) as stub, pytest.raises(LapsusError, match="bad key"):
        list(lapsus.detect([Entry("c1", chat())], model=model_on(stub)))
