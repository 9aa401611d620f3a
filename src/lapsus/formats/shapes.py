"""The shapes in which conversations are exported, each a small reader of one record.

A reader gives conversations, or calls of a model that are put together by conversation once all were read.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lapsus.formats.messages import json_text, moment, unwrapped
from lapsus.formats.speakers import ROLES
from lapsus.formats.spoken_text import has_speakers, messages_of_text

LISTS = {
    **dict.fromkeys(("messages", "conversations", "conversation"), "messages"),
    "chat_messages": "Claude account export",
    "traj": "tau-bench log",
    "contents": "Gemini contents",
    **dict.fromkeys(
        ("dialogue", "dialog", "turns", "transcript", "chat", "chat_history", "history"), "turns"
    ),
}
"""Keys under which a list of messages stands, and what such a record is called."""
PLAIN = ("messages", "conversations", "conversation")
_IDS = (
    *("id", "conversation_id", "dialogue_id", "conversation_hash", "uuid"),
    *("session_id", "thread_id", "task_id"),
)
_TITLED = ("model", "model_id", "model_name", "default_model_slug")
_PASSAGES = ("passages", "contexts", "retrieved_contexts", "documents", "context")
_ASKED = ("prompt", "question", "query", "instruction", "input", "user", "human", "gen_ai.input.messages")
_SAID = (
    *("completion", "response", "answer", "output", "bot", "assistant", "gpt", "chosen", "reply", "system"),
    "gen_ai.output.messages",
)
_EXCHANGED = (
    (("user", "human"), ("bot", "assistant", "gpt")),
    (("input",), ("output",)),
    (("gen_ai.input.messages",), ("gen_ai.output.messages",)),
)
"""Keys that are a question and its answer where they stand side by side and there is no other text."""
_AROUND = ("messages", "message", "inputBodyJson", "outputBodyJson", "output")
"""Keys of objects in which the messages of a request or a response stand (Amazon Bedrock, LangGraph)."""
OTHERS = frozenset({"choices", "run_type", "trace_id", "traceId", "scheme", "annotator", "data", "triples"})
"""Keys of records that are something else, whatever they have beside them."""
_TALK_TEXTS = ("messages_display", "transcript", "conversation", "dialogue", "dialog", "text", "chosen")


class Conversation(NamedTuple):
    """Messages in whatever spelling, and what is known of them all."""

    messages: list[Any]
    id: str | None = None
    metadata: Mapping[str, Any] = {}
    prompt: Sequence[Any] = ()
    """Instructions that stand beside the messages."""


class Shape(NamedTuple):
    """One way to export conversations."""

    name: str
    """What users are told that a record was taken for."""
    knows: Callable[[dict[str, Any]], bool]
    read: Callable[[dict[str, Any]], Iterator[Conversation]]


def shape_of(record: Mapping[str, Any]) -> Shape | None:
    """The shape of a record, by its keys; None where it is of none."""
    value = dict(record)
    return next((shape for shape in SHAPES if shape.knows(value)), None)


def is_message(value: Any) -> bool:
    """Whether something is one message that says who speaks."""
    if _speaker(value) is None:
        return False
    inner = unwrapped(value)
    return not inner.keys().isdisjoint(
        ("content", "value", "text", "parts", "tool_calls", "function_call", "message")
    )


def list_of(value: Mapping[str, Any]) -> str | None:
    """The key under which a record has its messages; None where it has none."""
    for key in LISTS:
        found = value.get(key)
        is_list = isinstance(found, list) and (bool(found) or key in (*PLAIN, "chat_messages"))
        if is_list and all(_speaker(one) is not None for one in value[key][:2]):
            return key
    return None


def _speaker(value: Any) -> str | None:
    """Who speaks in what looks like a message; None where it does not."""
    if not isinstance(value, dict):
        return None
    if isinstance(name := value.get("role"), str):
        return name
    inner = unwrapped(value)
    if isinstance(name := inner.get("role", inner.get("from")), str):
        return name
    names = (inner.get(key) for key in ("sender", "speaker", "author", "type"))
    return next((name for name in names if isinstance(name, str) and name.lower() in ROLES), None)


def take_id(rest: dict[str, Any]) -> str | None:
    """The id that a record has, taken out of it."""
    for name in _IDS:
        value = rest.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            del rest[name]
            return str(value)
    return None


def _take(rest: dict[str, Any], *keys: str) -> Any:
    key = next((key for key in keys if rest.get(key) not in (None, "", [])), None)
    return rest.pop(key) if key else None


def _talk(value: dict[str, Any]) -> Iterator[Conversation]:
    """A record with a list of messages, and beside it perhaps the prompt, the passages and the reply."""
    rest = value
    key = list_of(value) or next(key for key in LISTS if isinstance(value.get(key), list))
    # Of our own making: whoever reads it takes it apart.
    messages: list[Any] = rest.pop(key)
    if key == "traj" and "trial" in rest and "id" not in rest:
        rest["id"] = f"{rest.pop('task_id', '')}-{rest.pop('trial')}"
    prompt = _prompt(rest, key)
    passages = _passages(rest)
    reply = rest.pop("response") if isinstance(rest.get("response"), str) else None
    if "epoch" in rest:
        for heavy in ("events", "attachments", "store"):
            rest.pop(heavy, None)  # Inspect's own account of the same
    if isinstance(output := rest.get("output"), dict) and isinstance(output.get("model"), str):
        rest.setdefault("model", output["model"])  # Inspect
        del rest["output"]
        _end(messages, output)
    last = [{"role": "assistant", "content": reply}] if reply else []
    messages = _before_last_reply(messages, passages) + last if passages or last else messages
    yield Conversation(messages, take_id(rest), rest, prompt)


def _end(messages: list[Any], output: Mapping[str, Any]) -> None:
    """Why the last reply ended, which Inspect says beside the messages."""
    choices = output.get("choices") or [{}]
    reason = choices[0].get("stop_reason") if isinstance(choices[0], dict) else None
    if reason and messages and isinstance(messages[-1], dict) and messages[-1].get("role") == "assistant":
        messages[-1] = {**messages[-1], "finish_reason": reason}


def _prompt(rest: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Instructions that stand beside the messages. Beside OpenAI's, a `system` that is no sentence is a name."""
    found = _take(rest, "systemInstruction", "system_instruction", "system_prompt", "instructions")
    system = rest.get("system")
    is_prompt = key == "conversations" or isinstance(system, list) or bool(_SENTENCE.search(str(system)))
    if found is None and system and isinstance(system, str | list) and is_prompt:
        found = rest.pop("system")
    if isinstance(found, dict):
        found = found.get("parts", found.get("content"))
    return [{"role": "system", "content": found}] if isinstance(found, str | list) and found else []


def _passages(rest: dict[str, Any]) -> list[dict[str, Any]]:
    for key in _PASSAGES:
        value = rest.get(key)
        given = [value] if isinstance(value, str) and value else value
        if isinstance(given, list) and given and all(isinstance(one, str | dict) for one in given):
            texts = [
                one
                if isinstance(one, str)
                else next((one[k] for k in _CONTENTS if isinstance(one.get(k), str)), None)
                for one in given
            ]
            if all(isinstance(text, str) for text in texts):
                del rest[key]
                return [{"role": "passage", "content": text} for text in texts]
    return []


_SENTENCE = re.compile(r"[.!?。！？]\s*$|\n|(?:\S+\s+){5}")
_CONTENTS = ("text", "content", "page_content", "passage")


def _before_last_reply(messages: list[Any], passages: list[Any]) -> list[Any]:
    return [*messages[:-1], *passages, *messages[-1:]] if passages else messages


def _chatgpt(value: dict[str, Any]) -> Iterator[Conversation]:
    """A ChatGPT account's export: a tree of messages, of which the branch that was last open is the talk."""
    nodes = value["mapping"]
    here = value.get("current_node") or next(
        (key for key, node in nodes.items() if not node.get("children")), None
    )
    branch: list[Any] = []
    while here in nodes and len(branch) <= len(nodes):
        message = nodes[here].get("message")
        if message and _is_shown(message):
            branch.append(message)
        here = nodes[here].get("parent")
    about = {key: value[key] for key in ("title", "gizmo_id") if value.get(key)}
    if value.get("create_time"):
        about["time"] = moment(value["create_time"])
    if isinstance(model := value.get("default_model_slug"), str):
        about["model"] = model
    yield Conversation(branch[::-1], value.get("conversation_id") or value.get("id"), about)


def _is_shown(message: dict[str, Any]) -> bool:
    content = message.get("content") or {}
    says = any(content.get("parts") or ()) or content.get("text") or content.get("result")
    hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    return bool(says) and not hidden and content.get("content_type") != "user_editable_context"


def _samples(value: dict[str, Any]) -> Iterator[Conversation]:
    """A log of Inspect's: samples, each with its messages."""
    model = (value.get("eval") or {}).get("model")
    for sample in value["samples"]:
        for one in _talk({"model": model, **sample} if model else sample):
            epoch = one.metadata.get("epoch")
            yield one._replace(id=f"{one.id}-{epoch}" if epoch is not None else one.id)


def _simulations(value: dict[str, Any]) -> Iterator[Conversation]:
    """A log of tau2: simulations, each with its messages."""
    agent = ((value.get("info") or {}).get("agent_info") or {}).get("llm")
    for one in value["simulations"]:
        yield from _talk({"model": agent, **one} if agent else one)


def _answers(value: dict[str, Any]) -> Iterator[Conversation]:
    """Answers to the questions of a benchmark, with the questions put beside them as `question_turns`."""
    rest = {key: one for key, one in value.items() if key not in ("choices", "question_turns", "answer_id")}
    asked = value.get("question_turns") or ()
    model = _take(rest, *_TITLED)
    for number, choice in enumerate(value["choices"]):
        messages = []
        for place, reply in enumerate(choice["turns"]):
            if place < len(asked):
                messages.append({"role": "user", "content": asked[place]})
            messages.append({"role": "assistant", "content": reply})
        name = f"{model or 'answer'}-{value['question_id']}" + (f"-{number}" if number else "")
        yield Conversation(messages, name, {**rest, **({"model": model} if model else {})})


def _exchanges(value: dict[str, Any]) -> Iterator[Conversation]:
    """Pairs of a question and its answer, and perhaps the latest pair beside them."""
    rest = dict(value)
    key = next(key for key in LISTS if _is_exchanges(value.get(key)))
    prompt = _prompt(rest, "conversations")
    messages: list[Any] = []
    for pair in rest.pop(key):
        if isinstance(pair, dict):
            both = [
                next((pair[k] for k in keys if pair.get(k) is not None), None) for keys in (_ASKED, _SAID)
            ]
        else:
            both = list(pair)
        messages += _exchange(*both)
    asked, said = _asked(rest), _take(rest, *_SAID)
    messages += _exchange(asked, said if isinstance(said, str) else None)
    yield Conversation(messages, take_id(rest), rest, prompt)


def _exchange(asked: Any, said: Any) -> Iterator[dict[str, Any]]:
    if asked is not None:
        yield {"role": "user", "content": str(asked)}
    if said is not None:
        yield {"role": "assistant", "content": str(said)}


def _is_exchanges(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(
        (isinstance(one, list | tuple) and len(one) == 2)
        or (isinstance(one, dict) and not is_message(one) and _has(one, _ASKED) and _has(one, _SAID))
        for one in value
    )


def _has(value: Mapping[str, Any], keys: tuple[str, ...]) -> bool:
    return any(isinstance(value.get(key), str) for key in keys)


def _asked(rest: dict[str, Any]) -> Any:
    """What was asked: an instruction with what it is about, or one of the usual names."""
    asked = _take(rest, *_ASKED)
    more = rest.pop("input", None) if isinstance(asked, str) else None
    return f"{asked}\n\n{more}" if isinstance(more, str) and more else asked


def _one_exchange(value: dict[str, Any]) -> Iterator[Conversation]:
    """A prompt and its completion, or an instruction and its output; each a text or messages."""
    rest = dict(value)
    prompt, passages = _prompt(rest, "conversations"), _passages(rest)
    asked = _as_messages(_within(_asked(rest)), "user")
    said = _as_messages(_within(_take(rest, *_SAID)), "assistant")
    yield Conversation([*asked, *passages, *said], take_id(rest), rest, prompt)


def _as_messages(value: Any, role: str) -> list[Any]:
    if value is None or isinstance(value, str):
        return [{"role": role, "content": value}] if value is not None else []
    return list(value) if isinstance(value, list) else [value]


def _preferences(value: dict[str, Any]) -> Iterator[Conversation]:
    """Two replies to the same talk, one preferred: a document for each, as of two systems."""
    rest = dict(value)
    both = {which: rest.pop(which) for which in ("chosen", "rejected")}
    prompt, id = _prompt(rest, "conversations"), take_id(rest)
    asked = _as_messages(_asked(rest), "user")
    for which, reply in both.items():
        if isinstance(reply, str) and not asked and has_speakers(reply):
            messages = messages_of_text(reply)
        else:
            said = _as_messages(reply, "assistant")
            # The replies of some data sets repeat the talk before them.
            messages = [*([] if len(said) > 1 else asked), *said]
        name = which if id is None else f"{id}-{which}"
        yield Conversation(messages, name, {**rest, "system": which}, prompt)


def _preferred(value: dict[str, Any]) -> Iterator[Conversation]:
    """Preferences as OpenAI takes them for training."""
    rest = dict(value)
    given = rest.pop("input")
    asked = given.get("messages", []) if isinstance(given, dict) else given
    both = {"chosen": rest.pop("preferred_output"), "rejected": rest.pop("non_preferred_output")}
    yield from _preferences({**rest, "prompt": asked, **both})


def _spoken(value: dict[str, Any]) -> Iterator[Conversation]:
    """A talk written down as one text."""
    rest = dict(value)
    key = next(key for key in _TALK_TEXTS if has_speakers(rest.get(key)))
    yield Conversation(messages_of_text(rest.pop(key)), take_id(rest), rest)


def _is_text_pair(value: dict[str, Any]) -> bool:
    if not value.keys().isdisjoint(OTHERS):
        return False
    is_trace = "id" in value and ("session_id" in value or "sessionId" in value)  # Langfuse's
    pairs = ((_ASKED[:4], _SAID[:4]), *(() if "text" in value or is_trace else _EXCHANGED))
    return any(
        all(_is_said(next((value[key] for key in keys if value.get(key) is not None), None)) for keys in pair)
        for pair in pairs
    )


def _within(value: Any) -> Any:
    """What was said, out of the object or the text of JSON that it was logged in."""
    value = json_text(value)
    while isinstance(value, dict) and not is_message(value):
        if (key := next((key for key in _AROUND if isinstance(value.get(key), dict | list)), None)) is None:
            return value
        value = value[key]
    return [value] if isinstance(value, dict) else value


def _is_said(value: Any) -> bool:
    value = _within(value)
    return isinstance(value, str) or (isinstance(value, list) and bool(value) and all(map(is_message, value)))


TALK = Shape("messages", lambda v: list_of(v) in PLAIN and "direction" not in v, _talk)
SHAPES = (
    Shape("ChatGPT account export", lambda v: isinstance(v.get("mapping"), dict), _chatgpt),
    Shape("Inspect log", lambda v: isinstance(v.get("samples"), list) and "eval" in v, _samples),
    Shape("tau2 log", lambda v: isinstance(v.get("simulations"), list), _simulations),
    Shape(
        "FastChat answers",
        lambda v: "question_id" in v
        and isinstance(v.get("choices"), list)
        and all("turns" in c for c in v["choices"]),
        _answers,
    ),
    *(
        Shape(name, lambda v, name=name: LISTS.get(list_of(v) or "") == name and "direction" not in v, _talk)  # type: ignore[misc]
        for name in dict.fromkeys(LISTS.values())
    ),
    Shape(
        "pairs of a question and an answer",
        lambda v: any(_is_exchanges(v.get(key)) for key in LISTS),
        _exchanges,
    ),
    Shape("preferences (chosen and rejected)", lambda v: {"chosen", "rejected"} <= v.keys(), _preferences),
    Shape(
        "preferences (chosen and rejected)",
        lambda v: {"input", "preferred_output", "non_preferred_output"} <= v.keys(),
        _preferred,
    ),
    Shape("prompt and completion", _is_text_pair, _one_exchange),
    Shape("a talk as text", lambda v: any(has_speakers(v.get(key)) for key in _TALK_TEXTS), _spoken),
)
