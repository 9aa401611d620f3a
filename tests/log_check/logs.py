"""Invented chat logs, mostly good, with planted errors: what a developer might point `lapsus check` at."""

from __future__ import annotations

import json
from typing import Any

# Each chat: the system's name, then user and system by turns; an error is marked by its kind.
CHATS: dict[str, dict[str, tuple[str, list[tuple[str, str, str]]]]] = {
    "en": {
        "pets": (
            "birch",
            [
                ("Hello! Do you have any pets?", "Hi! Yes, I have two cats. Do you like animals?", ""),
                ("I love them. What are your cats called?", "My cats are called Tom and Mia.", ""),
                ("Cute! My dog is called Rex.", "Rex is a good name for a dog. How old is Rex?", ""),
                (
                    "He is five. Do your cats like dogs?",
                    "I have never had a cat, so I cannot say.",
                    "contradiction",
                ),
                ("Okay... Rex likes long walks.", "Long walks are good for a dog like Rex.", ""),
            ],
        ),
        "hiking": (
            "birch",
            [
                ("Hi, I just came back from a hike.", "Nice! Where did you go hiking?", ""),
                ("In the Alps, with my sister.", "The Alps are beautiful. What did you like best there?", ""),
                (
                    "The lakes. We swam in one of them.",
                    "Swimming in a mountain lake sounds cold but fun!",
                    "",
                ),
                ("It was freezing, but fun.", "Nice! Where did you go hiking?", "repetition"),
                ("As I said, in the Alps.", "Sorry, you did. Will you go to the Alps again?", ""),
            ],
        ),
        "dinner": (
            "oak",
            [
                ("I want to cook something tonight.", "Good idea! Do you like pasta?", ""),
                ("Yes, pasta is always good.", "Then how about pasta with tomatoes and basil?", ""),
                (
                    "Sounds great. How long do I cook the pasta?",
                    "My favourite team won the match.",
                    "question",
                ),
                ("Hm. I will try ten minutes.", "Ten minutes is right for most pasta.", ""),
                ("Thanks for your help!", "You are welcome. Enjoy your pasta!", ""),
            ],
        ),
        "books": (
            "oak",
            [
                ("Have you read a good book lately?", "Yes, I read a crime novel set in Venice.", ""),
                ("I like crime novels too.", "Who is your favourite writer of crime novels?", ""),
                ("I do not have one, I just try many.", "Trying many writers is a good way to find one.", ""),
            ],
        ),
    },
    "ja": {
        "猫": (
            "白樺",
            [
                ("こんにちは。動物は好きですか？", "こんにちは。はい、うちでは猫を飼っています。", ""),
                ("いいですね。猫の名前は何ですか？", "猫の名前はタマです。動物は飼っていますか？", ""),
                ("犬を飼っています。散歩が大好きなんです。", "犬の散歩は楽しそうですね。", ""),
                ("猫は散歩しますか？", "私は猫を飼ったことがありません。", "contradiction"),
                ("そうですか。今日も犬と散歩に行きます。", "気をつけて散歩に行ってきてくださいね。", ""),
            ],
        ),
        "旅行": (
            "白樺",
            [
                ("先週、旅行に行ってきました。", "いいですね。旅行はどこに行きましたか？", ""),
                ("京都です。紅葉がきれいでした。", "京都の紅葉は有名ですね。", ""),
                ("お寺もたくさん見ました。", "京都のお寺は静かでいいですよね。", ""),
                ("はい、また行きたいです。", "いいですね。旅行はどこに行きましたか？", "repetition"),
                ("京都ですよ。", "失礼しました。京都でしたね。", ""),
            ],
        ),
        "料理": (
            "楢",
            [
                ("今夜はカレーを作ろうと思います。", "カレーはおいしいですよね。", ""),
                ("野菜もたくさん入れます。", "野菜たっぷりのカレーは体にいいですね。", ""),
                ("カレーは何分くらい煮ればいいですか？", "昨日の野球は引き分けでした。", "question"),
                ("そうですか。三十分にしてみます。", "三十分煮ればおいしくなりますよ。", ""),
            ],
        ),
        "本": (
            "楢",
            [
                ("最近、本を読んでいます。", "読書はいいですね。どんな本ですか？", ""),
                ("推理小説です。", "推理小説は面白いですよね。", ""),
                ("はい、続きが気になります。", "続きが気になる本は楽しいですね。", ""),
            ],
        ),
    },
}


def planted(language: str) -> dict[tuple[str, str], str]:
    """The errors: the chat and the number of the turn, and the kind."""
    return {
        (name, str(2 * place + 1)): kind
        for name, (_, turns) in CHATS[language].items()
        for place, (_, _, kind) in enumerate(turns)
        if kind
    }


def lines(language: str) -> list[dict[str, Any]]:
    """The chats as chat programs keep them."""
    return [
        {
            "id": name,
            "model": system,
            "messages": [
                {"role": role, "content": text}
                for user, reply, _ in turns
                for role, text in (("user", user), ("assistant", reply))
            ],
        }
        for name, (system, turns) in CHATS[language].items()
    ]


def chat_jsonl(language: str) -> str:
    return "\n".join(json.dumps(line, ensure_ascii=False) for line in lines(language)) + "\n"


def chat_csv(language: str) -> str:
    rows = ["conversation,role,text,system"]
    for line in lines(language):
        rows += (
            f'{line["id"]},{message["role"]},"{message["content"]}",{line["model"]}'
            for message in line["messages"]
        )
    return "\n".join(rows) + "\n"
