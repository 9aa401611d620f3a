"""Invented corpora in the forms of those that the shipped models learn from: a handful of dialogues each."""

from __future__ import annotations

import gzip
import json
import random
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ENGLISH = (
    "Do you like tea?",
    "Yes, tea is nice.",
    "Which tea do you drink?",
    "Green tea. It is hot.",
    "Let's go out!",
    "No.",
)
JAPANESE = (
    "お茶は好きですか。",
    "はい、好きです。",
    "何を飲みますか。",
    "緑茶です。",
    "出かけましょう。",
    "いやです。",
)
CHATS = (
    "sgd_task", "meena", "chatgpt_roleplay", "halueval", "empathy_experts", "factual_consistency", "faithdial_audit",
    "dstc9", "ieval", "ji2022", "dailydialog", "begin", "rgm_contradiction",
)  # fmt: skip
JAPANESE_CHATS = ("realpersonachat", "asdc_task", "mrmp", "jmrd", "newschat", "recommind", "rpc_gpt_bots")
BOTS = {"meena": ("human", "meena"), "faithdial_audit": ("gold",)}
RATED = {"grade": "coherence_1to5", "gupta": "appropriateness_mean5", "holistic": "context_coherence_1to5"}
FOLLOWS = ("entailment", "neutral", "contradiction")
FED = (
    "Interesting", "Engaging", "Specific", "Relevant", "Correct", "Semantically appropriate", "Understandable",
    "Fluent", "Overall",
)  # fmt: skip
TYPES = ("期待無視", "質問無視", "繰り返し", "誤情報", "発話意図不明確", "自己矛盾")
LETTERS = str.maketrans("0123456789", "abcdefghij")
TALKS = 70


def write_corpora(folder: Path) -> Path:
    """The folder that LAPSUS_DATA names."""
    (folder / "pool").mkdir(parents=True)
    rng = random.Random(0)
    _challenges(folder, rng)
    _chats(folder, rng)
    _others(folder, rng)
    _data(folder, rng)
    return folder


def _said(rng: random.Random, texts: tuple[str, ...] = ENGLISH) -> list[str]:
    """A little talk that begins with the user; no two are the same."""
    name = f"{rng.randrange(10**4)}".translate(LETTERS)
    return [f"{rng.choice(texts)} {name}" for _ in range(rng.randrange(6, 9))]


def _turns(rng: random.Random, texts: tuple[str, ...] = ENGLISH) -> list[dict[str, Any]]:
    said = _said(rng, texts)
    said = said[: len(said) // 2 * 2]
    return [{"role": ("user", "system")[place % 2], "text": text} for place, text in enumerate(said)]


def _pool(folder: Path, name: str, records: Iterable[Any]) -> None:
    with gzip.open(folder / "pool" / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)


def _zip(path: Path, files: dict[str, str]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def _challenges(folder: Path, rng: random.Random) -> None:
    parts = {
        "dbdc5-en": ("dev",),
        "dbdc3-en": ("revised/dev", "revised/eval", "original"),
        "dbdc2-ja": ("dev", "ref"),
    }
    for corpus, within in parts.items():
        texts = JAPANESE if corpus == "dbdc2-ja" else ENGLISH
        files = {
            f"{corpus}/{part}/{place % 2}/{place}.log.json": _log(f"{part}-{place}", rng, texts)
            for part in within
            for place in range(24)
        }
        _zip(folder / f"{corpus}.zip", files)


def _log(name: str, rng: random.Random, texts: tuple[str, ...]) -> str:
    turns = [
        {
            "turn-index": place,
            "speaker": "SU"[place % 2],
            "utterance": text,
            "annotations": [
                {"breakdown": rng.choice("OTX"), "comment": "", "annotator-id": f"{number}"}
                for number in range(4)
            ]
            * (place % 2 == 0 and place > 0),
        }
        for place, text in enumerate(_said(rng, texts))
    ]
    return json.dumps({"dialogue-id": name, "speaker-id": "one", "turns": turns})


def _chats(folder: Path, rng: random.Random) -> None:
    for name in CHATS:
        _pool(folder, f"chat_en_{name}", (_chat(name, place, rng) for place in range(TALKS)))
    for name in JAPANESE_CHATS:
        records = ({"id": place, "lang": "ja", "turns": _turns(rng, JAPANESE)} for place in range(TALKS))
        _pool(folder, f"chat_ja_{name}", records)
    for name, texts in (("logs_en_mtbench101", ENGLISH), ("logs_ja_mtbench", JAPANESE)):
        roles = {"user": "user", "system": "assistant"}
        logs = (
            [{"role": roles[turn["role"]], "content": turn["text"]} for turn in _turns(rng, texts)]
            for _ in range(20)
        )
        _pool(folder, name, ({"id": f"one-{place}", "messages": log} for place, log in enumerate(logs)))
    talks = {
        f"talk {place}": {
            "content": [{"agent": f"agent_{n % 2 + 1}", "message": text} for n, text in enumerate(_said(rng))]
        }
        for place in range(TALKS)
    }
    _zip(folder / "topical-chat.zip", {"topical-chat/train.json": json.dumps(talks)})


def _chat(name: str, place: int, rng: random.Random) -> dict[str, Any]:
    turns, bots = _turns(rng), BOTS.get(name, ("one",))
    attributions = ("Fully attributable", "Not fully attributable", "Generic")
    turns[-1]["labels"] = {"hallucination": "yes", "attribution": attributions[place % 3]}
    turns[-1]["ratings"] = {"contradiction_votes_of_3": [place % 4]}
    felt = {one: [1 + place % 3] for one in ("coherent", "S", "topic")} | {"ER": [1 + place % 5]}
    told = {"knowledge": "Tea is hot."} if name == "begin" else {}
    return {"id": place, "bot": bots[place % len(bots)], "turns": turns, "dialogue_ratings": felt, **told}


def _others(folder: Path, rng: random.Random) -> None:
    labels = ("positive", "random", "adversarial")
    candidates = (
        {"context": _said(rng)[:3], "response": rng.choice(ENGLISH), "label": labels[place % 3]}
        for place in range(60)
    )
    _pool(folder, "cand_en_dailydialogpp", candidates)
    for name, key in RATED.items():
        some = ({"id": place, "turns": _turns(rng)} for place in range(20))
        _pool(folder, f"resp_en_{name}", (_rated(one, {key: [1 + one["id"] % 5]}) for one in some))
    for name in ("asdc_scud", "fcsnli", "jnli_and_neg", "jsick"):
        pairs = [{"premise": one, "hypothesis": two} for one in JAPANESE for two in JAPANESE]
        _pool(folder, f"nli_ja_{name}", ({**pair, "label": FOLLOWS[n % 3]} for n, pair in enumerate(pairs)))
    good = ({"text": one, "label": ("acceptable", "not")[n % 2]} for n, one in enumerate(JAPANESE))
    _pool(folder, "accept_ja_jcola", good)
    repaired = (
        {
            "question_id": place,
            "dialogue_history": _turns(rng, JAPANESE),
            "breakdown_type": TYPES[place % len(TYPES)],
            "breakdown_reason": "",
            "severity": 1,
            "user_response": "",
            "expected_repair": "",
        }
        for place in range(30)
    )
    lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in repaired)
    _zip(folder / "dbrc-ja.zip", {"dbrc-ja/DBRC.jsonl": lines})
    fed = []
    for _ in range(60):
        before = "\n".join(f"{('User', 'System')[n % 2]}: {text}" for n, text in enumerate(_said(rng)[:5]))
        annotations = {name: [rng.randrange(3) for _ in range(5)] for name in FED}
        fed.append(
            {"context": before, "response": f"System: {rng.choice(ENGLISH)}", "annotations": annotations}
        )
    (folder / "fed.json").write_text(json.dumps(fed))
    comments = "".join(f"{rng.choice(ENGLISH)} {n}\t{n % 28}\tid{n}\n" for n in range(140))
    names = "".join(f"{name}\n" for name in EMOTIONS)
    parts = {f"goemotions/{part}.tsv": comments for part in ("train", "dev", "test")}
    _zip(folder / "goemotions.zip", {**parts, "goemotions/labels.txt": names})


def _rated(record: dict[str, Any], ratings: dict[str, Any]) -> dict[str, Any]:
    record["turns"][-1]["ratings"] = ratings
    return record


EMOTIONS = (
    "admiration", "amusement", "anger", "annoyance", "approval", "caring", "confusion", "curiosity", "desire",
    "disappointment", "disapproval", "disgust", "embarrassment", "excitement", "fear", "gratitude", "grief", "joy",
    "love", "nervousness", "optimism", "pride", "realization", "relief", "remorse", "sadness", "surprise", "neutral",
)  # fmt: skip
PLACES = ("Porto", "Lima", "Oslo", "Quito", "Riga", "Cork")
RIVERS = ("Douro", "Rimac", "Aker", "Machangara", "Daugava", "Lee")


def _data(folder: Path, rng: random.Random) -> None:
    entries = [
        f'<entry category="City" eid="Id{n}" size="1"><modifiedtripleset><mtriple>{one} | river | {two}</mtriple>'
        f'</modifiedtripleset><lex comment="good" lid="Id1">The {two} is a river of {one}.</lex></entry>'
        for n, (one, two) in enumerate((one, two) for one in PLACES for two in RIVERS)
    ]
    text = f"<benchmark><entries>{''.join(entries)}</entries></benchmark>"
    splits = {
        f"webnlg-2017/{split}/1triples/1triples_City_{split}.xml": text for split in ("train", "dev", "test")
    }
    _zip(folder / "webnlg-2017.zip", splits)
    with (folder / "webnlg-2020-human-ratings.jsonl").open("w") as file:
        for n, (one, two) in enumerate((one, two) for one in PLACES for two in RIVERS):
            given = {
                name: 100 if n % 6 == 0 else rng.randrange(30, 90)
                for name in ("Correctness", "DataCoverage", "Relevance")
            }
            given |= {"Fluency": 90, "TextStructure": 90}
            record = {
                "id": str(n),
                "category": "City",
                "system": f"system {n % 3}",
                "triples": [[one, "river", two]],
            }
            said = {
                "text": f"The {two} is in {one}." + " Rome has a harbour of its own." * (n % 3),
                "ratings": {"worker": given},
                "mean": given,
            }
            file.write(json.dumps(record | said) + "\n")
    for name in ("quintd", "spanannotators"):
        _pool(folder, f"d2t_en_{name}", (_marked(n, rng) for n in range(24)))
    asked = (
        {
            "id": str(n),
            "data": {"question": f"Why is tea {n} hot?"},
            "text": "Water is hot. Tea is made of it. Cats are soft.",
            "spans": [{"start": 33, "end": 47, "label": "irrelevance"}] * (n % 2),
        }
        for n in range(40)
    )
    _pool(folder, "d2t_en_haluquestqa", asked)


def _marked(number: int, rng: random.Random) -> dict[str, Any]:
    place, river = rng.choice(PLACES), rng.choice(RIVERS)
    text = f"{place} lies on the {river}. It rained for {number} days."
    marks = [{"start": len(text) - 14, "end": len(text) - 1, "label": "Incorrect", "annotator": "one"}]
    data = {"name": f"{place} {number}", "river": river, "country": rng.choice(PLACES)}
    data |= {
        f"road {n} leads to": f"{rng.choice(PLACES)} and {rng.choice(RIVERS)}"
        for n in range(40 * (number % 3))
    }
    return {
        "id": str(number),
        "data": data,
        "text": text,
        "annotators": ["one"],
        "spans": marks,
    }
