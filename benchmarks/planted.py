"""How many planted errors `lapsus check` lists first, by kind, beside a plain script of regular expressions.

    LAPSUS_DATA=… python benchmarks/planted.py [--seeds 3] [--languages en,ja] [--wordings known|held|both]

Errors are put into good logs of modern assistants (`pool/logs_*`): into each of some dialogues out of two hundred one
reply is replaced or damaged, by rule or from `planted_words.yaml`. Found means among the first 20 and the first 40
turns of the ranking. False alarms are the share of turns called likely in the same logs before anything was planted.
Wordings that are `held` were not looked at when the rules of `check` were written. Japanese logs with tools are made
up here.
"""

from __future__ import annotations

import argparse
import copy
import gzip
import json
import os
import random
import re
import sys
import tempfile
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from rich.console import Console
from rich.table import Table

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


class Ranking(NamedTuple):
    """What a method says of a log: turns, worst first, as (dialogue, text), and how many it calls likely."""

    turns: list[tuple[str, str]]
    likely: int
    judged: int
    seconds: float


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


# The two methods.


def by_lapsus(talks: list[Talk], language: str) -> Ranking:
    """What `lapsus check` lists."""
    import lapsus

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in talks), encoding="utf-8")
        begun = time.perf_counter()
        found = lapsus.check(path, top=40, language=language)
        took = time.perf_counter() - begun
    ranked = [(one.document, one.turn.text) for one in found.findings]
    return Ranking(ranked, found.likely, found.turns, took)


# fmt: off
PATTERNS = [
    (5, r"^[\W_]*$"),
    (5, r"Traceback|Exception|[Ee]rror[: ]|エラー|timed? ?out|タイムアウト|Bad Gateway|Server Error"),
    (5, r"^\s*[\[{].*[\]}]\s*$"),
    (5, r"<\|.*?\|>|\[/?INST\]|</?s>|<think>|\{\{.*?\}\}|\$\{.*?\}"),
    (5, r"###? ?(Instruction|Response|指示|応答)|system prompt"),
    (5, r"\ufffd|Ã.|â€|ã[\x80-\xbf]|&#\d+;|\\u[0-9a-f]{4}|縺|繧"),
    (4, r"(?i)\b(idiot|stupid|moron|shut up|dumb)\b|バカ|馬鹿|黙れ|クズ|死ね"),
    (4, r"(?i)as an ai|can(no|')t (assist|help|fulfill)|unable to (help|assist)"),
    (4, r"お応えできません|回答できません|お手伝い.*できません"),
    (4, r"(.{12,}?)\s*\1\s*\1"),
    (2, r"[^\W_]$"),
]
# fmt: on


def by_patterns(talks: list[Talk], language: str) -> Ranking:
    """Twenty-five lines of regular expressions, as a team would write them on an afternoon."""
    found, begun = [], time.perf_counter()
    for talk in talks:
        said: set[str] = set()
        asked = ""
        for one in talk["messages"]:
            text = one["content"] or ""
            if one["role"] == "user":
                asked = text
            if one["role"] != "assistant" or one.get("tool_calls"):
                continue
            score = max((weight for weight, pattern in PATTERNS if re.search(pattern, text, re.S)), default=0)
            if text in said:
                score = max(score, 5)
            if _script(text) != _script(asked) and text.strip():
                score = max(score, 3)
            said.add(text)
            found.append((score, (talk["id"], text)))
    ranked = [turn for score, turn in sorted(found, key=lambda item: -item[0]) if score]
    return Ranking(ranked, len(ranked), len(found), time.perf_counter() - begun)


def _script(text: str) -> str:
    letters = Counter(unicodedata.name(sign, "?").split()[0] for sign in text if sign.isalpha())
    return "LATIN" if letters["LATIN"] > 0.8 * letters.total() else "OTHER"


METHODS = {"lapsus check": by_lapsus, "regular expressions": by_patterns}


# The figures.


def measure(language: str, pool: Path, seeds: int, wordings: str) -> dict[str, Any]:
    """For each method the shares found by kind, and its false alarms."""
    source = logs(language, pool)
    figures: dict[str, Any] = {name: defaultdict(list) for name in METHODS}
    for seed in range(seeds):
        chance = random.Random(f"{seed} {language}")
        good = _drawn(source, language, chance)
        spoilt = copy.deepcopy(good)
        plants = list(planted(spoilt, language, chance, wordings))
        for name, method in METHODS.items():
            clean, ranked = method(good, language), method(spoilt, language)
            rows = figures[name]
            rows["false alarms"].append(clean.likely / clean.judged)
            rows["turns a second"].append(clean.judged / clean.seconds)
            for plant in plants:
                turn = (plant.talk, plant.text)
                place = ranked.turns.index(turn) if turn in ranked.turns else sys.maxsize
                rows[plant.kind].append((place < 20, place < 40))
                if place >= 40 and "-v" in sys.argv and name == "lapsus check":
                    print(f"missed: {plant.kind}: {plant.talk}: {plant.text[:150]!r}", file=sys.stderr)
            known = {(plant.talk, plant.text) for plant in plants}
            rows["others listed"].append(sum(turn not in known for turn in ranked.turns[:40]))
    return figures


def _drawn(source: list[Talk], language: str, chance: random.Random) -> list[Talk]:
    """Two hundred dialogues; about a fifth with tools, as far as there are."""
    tools = [one for one in source if any(message["role"] == "tool" for message in one["messages"])]
    plain = [one for one in source if one not in tools]
    many = min(len(tools), MANY // 5)
    drawn = chance.sample(tools, many) + chance.sample(plain, min(len(plain), MANY - many))
    chance.shuffle(drawn)
    return drawn


def show(language: str, figures: dict[str, Any], wordings: str) -> None:
    table = Table(title=f"{language}: found in the first 20 / 40 of {MANY} dialogues, wordings {wordings}")
    table.add_column("kind")
    for name in figures:
        table.add_column(name, justify="right")
    for kind in PLANTS:
        cells = []
        for rows in figures.values():
            found = rows[kind]
            cells.append(
                f"{_mean([a for a, _ in found]):.0%} / {_mean([b for _, b in found]):.0%}" if found else "–"
            )
        table.add_row(f"{kind} ({len(next(iter(figures.values()))[kind])})", *cells)
    every = [[one for kind in PLANTS for one in rows[kind]] for rows in figures.values()]
    table.add_section()
    table.add_row(
        "all",
        *(f"{_mean([a for a, _ in one]):.0%} / {_mean([b for _, b in one]):.0%}" for one in every),
    )
    table.add_row(
        "good turns listed in the first 40",
        *(f"{_mean(rows['others listed']):.1f}" for rows in figures.values()),
    )
    table.add_row(
        "good turns called likely", *(f"{_mean(rows['false alarms']):.1%}" for rows in figures.values())
    )
    table.add_row("turns a second", *(f"{_mean(rows['turns a second']):,.0f}" for rows in figures.values()))
    Console(width=120).print(table)


def _mean(values: list[Any]) -> float:
    return sum(values) / len(values) if values else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--languages", default="en,ja")
    parser.add_argument("--wordings", choices=("known", "held", "both"), default="both")
    parser.add_argument("-v", action="store_true", help="name what was missed")
    told = parser.parse_args()
    pool = Path(os.environ["LAPSUS_DATA"]) / "pool"
    for language in told.languages.split(","):
        show(language, measure(language, pool, told.seeds, told.wordings), told.wordings)


if __name__ == "__main__":
    main()
