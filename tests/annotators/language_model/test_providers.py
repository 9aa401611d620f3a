"""Every provider against a stub that checks requests by the published schema and answers as the provider does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Barrier
from typing import Any, NamedTuple

import jsonschema
import pytest

import lapsus
from lapsus.annotators import find_annotator
from lapsus.annotators.language_model import LanguageModel
from lapsus.annotators.language_model.providers import PROVIDERS, provider_of
from lapsus.errors import LapsusError, UsageError
from lapsus.model import Entry
from lapsus.schemes import load_scheme
from tests.annotators.language_model.helpers import chat, unit_of
from tests.annotators.language_model.stub import Said, Stub, serving
from tests.patience import LONG

KEY = "sk-very-secret-0123456789"
ANSWER = {"breakdown": "X", "comment": None}
TEXT, NUMBER, COUNT = {"type": "string"}, {"type": "number"}, {"type": "integer", "minimum": 1}
WORDS = {"type": "string", "pattern": r"\S"}
ANY: dict[str, Any] = {}


def closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


MESSAGES = {"type": "array", "minItems": 1, "items": closed(["role", "content"], role=TEXT, content=TEXT)}
TURNS = {
    "type": "array",
    "minItems": 1,
    "items": closed(["role", "content"], role={"enum": ["user", "assistant"]}, content=WORDS),
}
PARTS = {"type": "array", "items": closed(["text"], text=WORDS)}
CHAT = closed(
    ["model", "messages"], model=TEXT, messages=MESSAGES, temperature=NUMBER, seed={"type": "integer"},
    max_tokens=COUNT, max_completion_tokens=COUNT, response_format=ANY, tools=ANY, tool_choice={"enum": ["required"]},
)  # fmt: skip


class Interface(NamedTuple):
    """What a provider publishes."""

    path: str
    headers: dict[str, str]
    schema: dict[str, Any]
    said: Callable[[Any], dict[str, Any]]
    """The reply with an answer; None: the model will not answer."""
    limit: str
    """What the bound on an answer is called."""
    root: str = "/v1"
    """Where it begins on its host."""


def chat_said(answer: Any) -> dict[str, Any]:
    content = None if answer is None else json.dumps(answer)
    message = {"role": "assistant", "content": content, "refusal": "I cannot." if answer is None else None}
    return {"id": "1", "object": "chat.completion", "model": "m-2026", "choices": [
        {"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}  # fmt: skip


def response_said(answer: Any) -> dict[str, Any]:
    part = {"type": "refusal", "refusal": "I cannot."} if answer is None else (
        {"type": "output_text", "text": json.dumps(answer), "annotations": []}
    )  # fmt: skip
    output = [{"type": "reasoning", "summary": []},
              {"type": "message", "role": "assistant", "status": "completed", "content": [part]}]  # fmt: skip
    return {"id": "1", "object": "response", "status": "completed", "model": "m-2026", "output": output,
            "incomplete_details": None, "usage": {"input_tokens": 100, "output_tokens": 10}}  # fmt: skip


def message_said(answer: Any) -> dict[str, Any]:
    block = {"type": "text", "text": "I cannot."} if answer is None else (
        {"type": "tool_use", "id": "t", "name": "judgment", "input": answer}
    )  # fmt: skip
    return {"id": "1", "type": "message", "role": "assistant", "model": "m-2026", "content": [block],
            "stop_reason": "refusal" if answer is None else "tool_use",
            "usage": {"input_tokens": 100, "output_tokens": 10}}  # fmt: skip


def converse_said(answer: Any) -> dict[str, Any]:
    block = {"text": "I cannot."} if answer is None else (
        {"toolUse": {"toolUseId": "t", "name": "judgment", "input": answer}}
    )  # fmt: skip
    return {"output": {"message": {"role": "assistant", "content": [block]}}, "metrics": {"latencyMs": 9},
            "stopReason": "content_filtered" if answer is None else "tool_use",
            "usage": {"inputTokens": 100, "outputTokens": 10, "totalTokens": 110}}  # fmt: skip


def gemini_said(answer: Any) -> dict[str, Any]:
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 6, "thoughtsTokenCount": 4}
    if answer is None:
        return {"promptFeedback": {"blockReason": "SAFETY I cannot."}, "usageMetadata": usage}
    parts = [{"text": "hm", "thought": True}, {"text": json.dumps(answer)}]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return {"candidates": [candidate], "modelVersion": "m-2026", "usageMetadata": usage}


GEMINI = closed(
    ["contents"],
    systemInstruction=closed(["parts"], parts=PARTS),
    contents={"type": "array", "items": closed(["role", "parts"], role={"enum": ["user", "model"]}, parts=PARTS)},
    generationConfig=closed([], temperature=NUMBER, seed={"type": "integer"}, maxOutputTokens=COUNT,
                            responseMimeType={"const": "application/json"}, responseJsonSchema=ANY),
)  # fmt: skip
BLOCKS = {"type": "array", "minItems": 1, "items": closed(["text"], text=WORDS)}
TOOLS = closed(
    ["name", "inputSchema"],
    name=TEXT,
    description=TEXT,
    inputSchema=closed(["json"], json={"type": "object"}),
)
CONVERSE = closed(
    ["messages"],
    system=BLOCKS,
    messages={"type": "array", "items": closed(
        ["role", "content"], role={"enum": ["user", "assistant"]}, content=BLOCKS)},
    inferenceConfig=closed([], temperature={"type": "number", "maximum": 1}, maxTokens=COUNT),
    toolConfig=closed(["tools"], tools={"type": "array", "items": closed(["toolSpec"], toolSpec=TOOLS)},
                      toolChoice=closed(["tool"], tool=closed(["name"], name=TEXT))),
)  # fmt: skip
INTERFACES = {
    "openai": Interface("/chat/completions", {"Authorization": f"Bearer {KEY}"}, CHAT, chat_said, "max_tokens"),
    "responses": Interface("/responses", {"Authorization": f"Bearer {KEY}"}, closed(
        ["model", "input"], model=TEXT, instructions=TEXT, input=TURNS, temperature=NUMBER, max_output_tokens=COUNT,
        store={"type": "boolean"}, text=ANY), response_said, "max_output_tokens"),
    "azure": Interface("/openai/deployments/m/chat/completions?api-version=2024-10-21", {"Api-key": KEY}, CHAT,
                       chat_said, "max_tokens", ""),
    "anthropic": Interface("/messages", {"X-api-key": KEY, "Anthropic-version": "2023-06-01"}, closed(
        ["model", "max_tokens", "messages"], model=TEXT, max_tokens=COUNT, messages=TURNS, system=TEXT,
        temperature={"type": "number", "maximum": 1}, tools=ANY, tool_choice=ANY), message_said, "max_tokens"),
    "bedrock": Interface("/model/m/converse", {"Authorization": f"Bearer {KEY}"}, CONVERSE, converse_said, "maxTokens",
                         ""),
    "gemini": Interface("/models/m:generateContent", {"X-goog-api-key": KEY}, GEMINI, gemini_said, "maxOutputTokens"),
}  # fmt: skip


class Published(Stub):
    """A stub that takes what a provider publishes and nothing else."""

    def __init__(self, interface: Interface, answer: Callable[[dict[str, Any]], Said]) -> None:
        super().__init__(answer)
        self.interface = interface

    def reply(self, path: str, headers: Any, body: dict[str, Any]) -> Said:
        self.asked.append(body)
        self.headers.append(headers)
        known = {name.lower(): value for name, value in headers.items()}
        wanted = {name.lower(): value for name, value in self.interface.headers.items()}
        if path != self.interface.root + self.interface.path or not wanted.items() <= known.items():
            return Said(404, {"error": {"message": f"no {path}"}})
        try:
            jsonschema.validate(body, self.interface.schema)
        except jsonschema.ValidationError as error:
            return Said(418, {"error": {"message": f"not as published: {error.message}"}})
        return self.answer(body)


def published(name: str, answer: Callable[[dict[str, Any]], Said] | None = None) -> Any:
    interface = INTERFACES[name]
    usual = answer or (lambda body: Said(200, interface.said(ANSWER)))
    return serving(usual, Published(interface, usual))


def model_of(name: str, stub: Stub, monkeypatch: pytest.MonkeyPatch, **how: Any) -> LanguageModel:
    monkeypatch.setenv("LAPSUS_API_KEY", KEY)
    address = stub.endpoint.removesuffix("/v1") + INTERFACES[name].root
    found = find_annotator(f"{name}:m", load_scheme("breakdown"), endpoint=address, **how)
    assert isinstance(found, LanguageModel)
    return found


def judged(model: LanguageModel) -> Any:
    return next(iter(model.judge_units([unit_of(chat(), model.scheme)])), None)


def test_every_provider_is_tried() -> None:
    assert set(PROVIDERS.names()) == set(INTERFACES)


@pytest.mark.parametrize("name", INTERFACES)
def test_a_request_is_as_published_and_the_reply_is_understood(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with published(name) as stub:
        model = model_of(name, stub, monkeypatch, max_tokens=300, temperature=0.5, seed=4)
        judgment = judged(model)
    assert model.refused == []
    assert (judgment.annotator, judgment.answers) == (f"{name}:m", {"breakdown": "X"})
    assert judgment.metadata["tokens"] == {"prompt": 100, "completion": 10}
    assert judgment.metadata["answered_by"] == (None if name == "bedrock" else "m-2026")
    assert judgment.metadata["form"] == model.provider.forms[0]
    sent = stub.asked[0]
    body = sent.get("generationConfig") or sent.get("inferenceConfig") or sent
    assert (body[INTERFACES[name].limit], body["temperature"]) == (300, 0.5)
    has_seed = name in ("openai", "azure", "gemini")
    assert (body.get("seed") == 4, model.dropped) == (has_seed, [] if has_seed else ["seed"])


@pytest.mark.parametrize("name", INTERFACES)
def test_what_is_wrong_is_said_in_the_next_message(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    replies = iter([{"breakdown": "maybe"}, ANSWER])
    with published(name, lambda body: Said(200, INTERFACES[name].said(next(replies)))) as stub:
        assert judged(model_of(name, stub, monkeypatch)).answers == {"breakdown": "X"}
    assert "maybe" in json.dumps(stub.asked[1])


@pytest.mark.parametrize("name", INTERFACES)
def test_a_refusal_is_told_in_its_words_and_not_asked_again(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with published(name, lambda body: Said(200, INTERFACES[name].said(None))) as stub:
        model = model_of(name, stub, monkeypatch)
        assert judged(model) is None
        assert len(stub.asked) == 1
        assert "I cannot." in model.refused[0].reason
        if name != "openai":
            return
        for _ in range(2):
            found = lapsus.detect([Entry("c1", chat())], model=model_of(name, stub, monkeypatch))
            with pytest.raises(LapsusError, match="not all was judged"):
                found.write(tmp_path / "run.jsonl")
    assert len(stub.asked) == 3


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("azure", {"message": "The response was filtered.", "code": "content_filter", "param": "prompt"}),
        ("openai", {"message": "Invalid prompt: it was flagged.", "code": "invalid_prompt"}),
    ],
)
def test_texts_that_a_provider_does_not_take_are_a_refusal(
    name: str, error: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with published(name, lambda body: Said(400, {"error": error})) as stub:
        model = model_of(name, stub, monkeypatch)
        assert judged(model) is None
    assert (len(stub.asked), model.ended) == (1, None)
    assert error["message"] in model.refused[0].reason


@pytest.mark.parametrize("name", INTERFACES)
def test_a_model_that_said_nothing_is_asked_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = INTERFACES[name].said
    empty = json.loads(json.dumps(said(ANSWER)).replace(json.dumps(json.dumps(ANSWER)), '""'))
    if name in ("anthropic", "bedrock"):
        empty = {**empty, "content": [], "output": {"message": {"role": "assistant", "content": []}}}
    replies = iter([empty, said(ANSWER)])
    with published(name, lambda body: Said(200, next(replies))) as stub:
        assert judged(model_of(name, stub, monkeypatch)).answers == {"breakdown": "X"}


@pytest.mark.parametrize("name", INTERFACES)
def test_the_next_form_is_tried_where_one_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(body: dict[str, Any]) -> Said:
        is_plain = not {"response_format", "tools", "toolConfig", "text"} & body.keys()
        if is_plain and "responseMimeType" not in body.get("generationConfig", {}):
            return Said(200, INTERFACES[name].said(ANSWER))
        return Said(400, {"error": {"message": "this form is not known here"}})

    with published(name, answer) as stub:
        assert judged(model_of(name, stub, monkeypatch)).metadata["form"] == "text"


def test_answers_in_a_tool_call_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(body: dict[str, Any]) -> Said:
        if "tools" not in body:
            return Said(400, {"error": {"message": "response_format is not known here"}})
        called = {"type": "function", "function": {"name": "judgment", "arguments": json.dumps(ANSWER)}}
        message = {"role": "assistant", "content": None, "tool_calls": [called]}
        return Said(200, {"choices": [{"message": message, "finish_reason": "tool_calls"}], "model": "m"})

    with published("openai", answer) as stub:
        assert judged(model_of("openai", stub, monkeypatch)).metadata["form"] == "tool call"


REASONING = {
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model."
    " Use 'max_completion_tokens' instead.",
    "temperature": "Unsupported value: 'temperature' does not support 0 with this model."
    " Only the default (1) value is supported.",
}


def test_what_a_reasoning_model_refuses_is_renamed_or_dropped_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(body: dict[str, Any]) -> Said:
        for name, told in REASONING.items():
            if name in body:
                error = {"message": told, "type": "invalid_request_error", "param": name}
                return Said(400, {"error": error})
        return Said(200, chat_said(ANSWER))

    with published("openai", answer) as stub:
        model = model_of("openai", stub, monkeypatch, max_tokens=300)
        for _ in range(2):
            judgment = judged(model)
    assert [set(body) & {"temperature", "max_tokens", "max_completion_tokens"} for body in stub.asked] == [
        {"temperature", "max_tokens"} if place == 0 else {"temperature", "max_completion_tokens"} if place == 1
        else {"max_completion_tokens"} for place in range(4)
    ]  # fmt: skip
    assert {body["response_format"]["type"] for body in stub.asked} == {"json_schema"}
    assert (model.dropped, list(judgment.metadata["without"])) == (["temperature"], ["temperature"])


def test_what_several_are_refused_at_once_is_renamed_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    both = Barrier(2, timeout=LONG)

    def answer(body: dict[str, Any]) -> Said:
        if "max_tokens" in body:
            both.wait()
            return Said(400, {"error": {"message": REASONING["max_tokens"], "param": "max_tokens"}})
        return Said(200, chat_said(ANSWER))

    with published("openai", answer) as stub:
        model = model_of("openai", stub, monkeypatch, max_tokens=300, parallel=2)
        units = [unit_of(chat(id=id), model.scheme) for id in ("c1", "c2")]
        assert len(list(model.judge_units(units))) == 2
    assert [body.get("max_completion_tokens") for body in stub.asked] == [None, None, 300, 300]
    assert model.dropped == []


@pytest.mark.parametrize(
    ("name", "status", "error", "hint"),
    [
        ("openai", 429, {"message": "You exceeded your current quota.", "code": "insufficient_quota"}, "top it up"),
        ("anthropic", 400, {"type": "invalid_request_error", "message": "Your credit balance is too low to go on."},
         "top it up"),
        ("openai", 402, {"message": "Insufficient Balance"}, "top it up"),
        ("openai", 429, {"message": "Billing hard limit has been reached", "code": "billing_hard_limit_reached"},
         "top it up"),
        ("anthropic", 400, {"type": "invalid_request_error",
                            "message": "You have reached your specified API usage limits."}, "top it up"),
        ("gemini", 400, {"message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}, "key right"),
        ("gemini", 429, {"message": "You exceeded your current quota.", "details": [
            {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}, "tomorrow"),
        ("bedrock", 429, {"message": "Too many tokens per day, please wait before trying again."}, "tomorrow"),
    ],
)  # fmt: skip
def test_an_empty_account_or_a_wrong_key_ends_it_at_once(
    name: str, status: int, error: Any, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with published(name, lambda body: Said(status, {"error": error})) as stub:
        model = model_of(name, stub, monkeypatch)
        assert judged(model) is None
    assert len(stub.asked) == 1
    assert model.ended is not None
    assert hint in (model.ended.hint or "")


def test_names() -> None:
    assert provider_of("anthropic:claude-x")[1] == "claude-x"
    assert provider_of("azure:gpt:4")[1] == "gpt:4"
    with pytest.raises(UsageError, match="no name"):
        provider_of("gemini:")
    with pytest.raises(UsageError, match="names no language model"):
        provider_of("anthropik:claude-x")


def test_where_azure_is_asked() -> None:
    azure = provider_of("azure:gpt 4")[0]
    assert azure.path("gpt 4", "https://x.openai.azure.com") == (
        "/openai/deployments/gpt%204/chat/completions?api-version=2024-10-21"
    )
    assert azure.path("gpt-4", "https://x.openai.azure.com/openai/v1") == "/chat/completions"
