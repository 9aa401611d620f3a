"""Good logs of modern assistants, and errors planted in them: the material of benchmarks/planted.py.

In some dialogues one reply is replaced or damaged by the rules of `lapsus.mutation.turn_rules`. Both lists of wordings
were looked at while the rules of `check` were mended: figures on them flatter. Japanese logs with
tools are made up here.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lapsus.mutation.turn_rules import RULES, Scene
from planted_blind import THIRD
from planted_otherwise import SECOND

Talk = dict[str, Any]
"""A conversation: id, model, messages."""
MANY, EACH = 200, 3
"""Dialogues of a log, and plants of each kind in it."""


class Plant(NamedTuple):
    """A planted error: where, of which kind, and what the reply says now."""

    talk: str
    kind: str
    text: str


# The logs.


def logs(language: str, pool: Path) -> list[Talk]:
    """Every good conversation of a language, in the shape of OpenAI's messages."""
    if language == "ja":
        return [*_records(pool / "logs_ja_mtbench.jsonl.gz"), *bookings(40)]
    tau = [
        {"id": one["id"], "model": one["model"], "messages": one["traj"]}
        for one in _records(pool / "logs_en_tau_airline.jsonl.gz")
    ]
    shots = [
        {"id": f"shot-{place}", "model": "gpt-4o-retail", "messages": _display(one["messages_display"])}
        for place, one in enumerate(_records(pool / "logs_en_tau_fewshot.jsonl.gz"))
    ]
    return [*_records(pool / "logs_en_mtbench101.jsonl.gz"), *tau, *shots]


def _records(path: Path) -> list[Talk]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _display(text: str) -> list[dict[str, Any]]:
    """Talk written as one text; `assistant: None` is a call of a tool that was not written down."""
    parts = re.split(r"^(user|assistant|tool): ", text, flags=re.M)[1:]
    messages = []
    for role, said in zip(parts[::2], parts[1::2], strict=True):
        said = said.strip()
        if role == "assistant" and said == "None":
            call = {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
            messages.append({"role": role, "content": None, "tool_calls": [call]})
        else:
            messages.append({"role": role, "content": said})
    return messages


def bookings(many: int) -> list[Talk]:
    """Japanese talk about bookings with a tool's results, made up here."""
    chance, made = random.Random(7), []
    for number in range(many):
        name = chance.choice(["佐藤", "田中", "高橋", "伊藤", "渡辺", "山本"])
        nights, people = chance.randint(1, 6), chance.randint(1, 4)
        price, day = chance.randrange(6000, 40000, 500), chance.randint(1, 28)
        found = {
            "予約番号": f"R{chance.randint(10000, 99999)}",
            "氏名": name,
            "チェックイン": f"2025-0{chance.randint(3, 9)}-{day:02}",
            "泊数": nights,
            "人数": people,
            "料金": price,
            "部屋": chance.choice(["和室", "洋室", "ツイン"]),
        }
        month = int(found["チェックイン"][5:7])
        said = [
            f"ご予約を確認しました。{name}様、{month}月{day}日から{nights}泊、{people}名様、{found['部屋']}のご予約です。",
            f"確認いたしました。チェックインは{month}月{day}日、ご宿泊は{nights}泊で、料金は{price:,}円です。",
            f"予約番号{found['予約番号']}は{people}名様・{nights}泊で承っております。合計は{price:,}円でございます。",
        ]
        call = {"id": "c", "type": "function", "function": {"name": "find_booking", "arguments": "{}"}}
        made.append(
            {
                "id": f"booking-{number}",
                "model": "hotel-bot",
                "messages": [
                    {"role": "user", "content": "予約の内容を確認したいのですが。"},
                    {"role": "assistant", "content": "かしこまりました。予約番号を教えていただけますか。"},
                    {"role": "user", "content": f"{found['予約番号']}です。"},
                    {"role": "assistant", "content": None, "tool_calls": [call]},
                    {"role": "tool", "content": json.dumps(found, ensure_ascii=False), "tool_call_id": "c"},
                    {"role": "assistant", "content": chance.choice(said)},
                    {"role": "user", "content": "ありがとうございます。駐車場はありますか。"},
                    {"role": "assistant", "content": "はい、ホテルの裏手に無料の駐車場がございます。"},
                ],
            }
        )
    return made


# The plants.

HANDS = {"first": RULES, "second": SECOND, "third": THIRD}
PLANTS = (
    "empty", "cut-off", "refusal", "other-language", "error-text", "leak", "same-again", "looping", "abuse",
    "encoding", "another-chat", "left", "against-tool",
)  # fmt: skip


def scene(
    talk: Talk, place: int, language: str, chance: random.Random, wordings: str, talks: list[Talk]
) -> Scene:
    """A reply of a conversation as the rules see it."""

    def before(role: str) -> list[str]:
        found = talk["messages"][:place]
        return [one["content"] for one in found if one["role"] == role and one["content"]]

    other = chance.choice(talks)
    said = [one["content"] for one in other["messages"] if one["role"] == "assistant" and one["content"]]
    same = str(other["messages"][0]["content"])[:30] == str(talk["messages"][0]["content"])[:30]
    others = [] if same or not said else [str(chance.choice(said))]
    reply, asked = str(talk["messages"][place]["content"]), "".join(before("user")[-1:])
    tool = "".join(before("tool")[-1:])
    return Scene(reply, before("assistant"), asked, tool, others, language, chance, wordings)


def planted(
    talks: list[Talk], language: str, chance: random.Random, wordings: str, hand: str = "first"
) -> Iterator[Plant]:
    """Plant errors into a log, in place; no dialogue gets two. `hand` says whose plants, one of HANDS."""
    rules = HANDS[hand]
    free = list(range(len(talks)))
    chance.shuffle(free)
    # First the kinds that fit few places.
    for kind in sorted(PLANTS, key=lambda name: name not in ("against-tool", "same-again")):
        done = 0
        for place in list(free):
            if done == EACH:
                break
            talk = talks[place]
            spots = [
                number
                for number, one in enumerate(talk["messages"])
                if number and one["role"] == "assistant" and one.get("content") and not one.get("tool_calls")
            ]
            for spot in chance.sample(spots, len(spots)):
                text = rules[kind](scene(talk, spot, language, chance, wordings, talks))
                if text is not None and text != talk["messages"][spot]["content"]:
                    talk["messages"][spot]["content"] = text
                    free.remove(place)
                    done += 1
                    yield Plant(talk["id"], kind, text)
                    break


def drawn(source: list[Talk], language: str, chance: random.Random) -> list[Talk]:
    """Two hundred dialogues; about a fifth with tools, as far as there are."""
    tools = [one for one in source if any(message["role"] == "tool" for message in one["messages"])]
    plain = [one for one in source if one not in tools]
    many = min(len(tools), MANY // 5)
    drawn = chance.sample(tools, many) + chance.sample(plain, min(len(plain), MANY - many))
    chance.shuffle(drawn)
    return drawn
