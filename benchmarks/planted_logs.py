"""Good logs of modern assistants, and errors planted in them: the material of benchmarks/planted.py.

In some dialogues one reply is replaced or damaged, by rule or from `planted_words.yaml`. Both lists of wordings
were looked at while the rules of `check` were mended: figures on them flatter. Japanese logs with
tools are made up here.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

Talk = dict[str, Any]
"""A conversation: id, model, messages."""
MANY, EACH = 200, 3
"""Dialogues of a log, and plants of each kind in it."""
WORDS = yaml.safe_load(Path(__file__).with_name("planted_words.yaml").read_text(encoding="utf-8"))


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


# The plants. Each gives the new reply, or None where the kind cannot be planted there.

Planter = Callable[["Scene"], str | None]


class Scene(NamedTuple):
    """A reply that is to be spoilt, what came before it, and where chance and wordings come from."""

    talk: Talk
    place: int
    language: str
    chance: random.Random
    wordings: str
    others: list[Talk]

    @property
    def reply(self) -> str:
        return str(self.talk["messages"][self.place]["content"])

    def before(self, role: str) -> list[str]:
        found = self.talk["messages"][: self.place]
        return [one["content"] for one in found if one["role"] == role and one["content"]]

    def written(self, kind: str) -> str:
        lists = [WORDS[kind][key] for key in (self.language, "both") if key in WORDS[kind]]
        sorts = ("known", "held") if self.wordings == "both" else (self.wordings,)
        return str(self.chance.choice([text for one in lists for sort in sorts for text in one[sort]]))


def cut_off(scene: Scene) -> str | None:
    """The reply ends in the middle of a sentence."""
    text = scene.reply
    if len(text) < 60:
        return None
    cut = text[: int(len(text) * scene.chance.uniform(0.3, 0.8))].rstrip()
    return cut if cut and cut[-1].isalnum() and "```" not in cut else None


def leak(scene: Scene) -> str:
    return scene.written("leak").replace("{reply}", scene.reply)


def same_again(scene: Scene) -> str | None:
    """An earlier reply again, to another question; sometimes with a word before it."""
    earlier = [text for text in scene.before("assistant") if len(text) > 30]
    if not earlier:
        return None
    opening = {"en": ["", "", "Sure! ", "As I said, "], "ja": ["", "", "はい。", "先ほどのとおり、"]}
    return scene.chance.choice(opening[scene.language]) + scene.chance.choice(earlier)


def looping(scene: Scene) -> str | None:
    """The end of the reply over and over."""
    text = scene.reply[:400]
    piece = text[-scene.chance.randint(12, 50) :].strip()
    return text + "".join(f" {piece}" for _ in range(scene.chance.randint(6, 15))) if len(text) > 30 else None


def broken_encoding(scene: Scene) -> str | None:
    """Read in a wrong encoding, escaped twice, or with letters lost."""
    text = scene.reply[:600]
    if scene.language == "en":
        text = text.replace("'", "’").replace('"', "”").replace(" - ", " – ")
    ways: list[Callable[[], str]] = [
        lambda: text.encode().decode("cp1252", "replace"),
        lambda: text.encode().decode("latin-1"),
        lambda: "".join("\ufffd" if scene.chance.random() < 0.06 else sign for sign in text),
        lambda: text.encode("ascii", "xmlcharrefreplace").decode(),
        lambda: text.encode("unicode_escape").decode(),
    ]
    if scene.language == "ja":
        ways.append(lambda: text.encode().decode("shift_jis", "replace"))
        ways.append(lambda: text.encode("shift_jis", "replace").decode("utf-8", "replace"))
    found = scene.chance.choice(ways)()
    return found if found != text and found != scene.reply else None


def another_chat(scene: Scene) -> str | None:
    """What was said in another conversation."""
    other = scene.chance.choice(scene.others)
    said = [one["content"] for one in other["messages"] if one["role"] == "assistant" and one["content"]]
    asked = str(other["messages"][0]["content"])[:30]
    same = asked == str(scene.talk["messages"][0]["content"])[:30]
    return None if same or not said else str(scene.chance.choice(said))


def left(scene: Scene) -> str | None:
    """A question, a request or a greeting gets words that fit anything."""
    asked = scene.before("user")
    asks = asked and re.search(r"[?？]|ください|please|can you|could you", asked[-1], re.I)
    return scene.written("left") if asks else None


def against_tool(scene: Scene) -> str | None:
    """A number in the reply that stands in the tool's last results becomes another."""
    told = " ".join(scene.before("tool")[-1:])
    known = set(re.findall(r"\d+(?:\.\d+)?", told.replace(",", "")))
    places = [
        match
        for match in re.finditer(r"(?<![A-Za-z\d.,_-])\d[\d,]*(?:\.\d+)?(?![A-Za-z\d_-])", scene.reply)
        if match[0].replace(",", "") in known and match[0] != "0"
    ]
    if not places:
        return None
    match = scene.chance.choice(places)
    value = float(match[0].replace(",", ""))
    other = value + scene.chance.choice([1, 2, 3, 10]) * (1 if value < 50 else 7)
    shown = (
        f"{other:,.2f}" if "." in match[0] else (f"{int(other):,}" if "," in match[0] else f"{int(other)}")
    )
    return f"{scene.reply[: match.start()]}{shown}{scene.reply[match.end() :]}"


def _list(kind: str) -> Planter:
    return lambda scene: scene.written(kind)


PLANTS: dict[str, Planter] = {
    "empty": _list("empty"),
    "cut off": cut_off,
    "refusal": _list("refusal"),
    "other language": _list("other-language"),
    "error text": _list("error"),
    "leak": leak,
    "same again": same_again,
    "looping": looping,
    "abuse": _list("abuse"),
    "encoding": broken_encoding,
    "another chat": another_chat,
    "left": left,
    "against tool": against_tool,
}


def planted(talks: list[Talk], language: str, chance: random.Random, wordings: str) -> Iterator[Plant]:
    """Plant errors into a log, in place; no dialogue gets two."""
    free = list(range(len(talks)))
    chance.shuffle(free)
    # First the kinds that fit few places.
    for kind in sorted(PLANTS, key=lambda name: name not in ("against tool", "same again")):
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
                text = PLANTS[kind](Scene(talk, spot, language, chance, wordings, talks))
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
