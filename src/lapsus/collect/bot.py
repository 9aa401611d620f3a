"""A small rule-based bot in English and Japanese, so that a talk can be tried without any model or network.

It is honest rubbish: it follows key words, asks back, and loses the thread now and then, as early chat systems do. So
there is something to judge in what it says.
"""

import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import regex
import yaml

from lapsus.collect.base import TalkSoFar
from lapsus.store.talk_records import Reply

_RULES = Path(__file__).with_name("bot_rules.yaml")
LOSES_THREAD = 0.2
"""How often it goes on to something else, whatever was said."""


@cache
def _rules(language: str) -> Mapping[str, Any]:
    known = yaml.safe_load(_RULES.read_text(encoding="utf-8"))
    found: Mapping[str, Any] = known.get(language, known["en"])
    return found


class Bot:
    """The same talk gives the same reply."""

    def reply(self, talk: TalkSoFar) -> Reply:
        """What the first rule that fits says; never the same words twice while there are others."""
        rules = _rules(talk.language)
        said = {message["content"] for message in talk.messages if message["role"] == "assistant"}
        lot = random.Random(f"{talk.id}/{len(talk.messages)}")
        if not talk.messages:
            return Reply(lot.choice(rules["opening"]))
        last = talk.messages[-1]["content"]
        if lot.random() < LOSES_THREAD:
            return Reply(_fresh(rules["elsewhere"], said, lot))
        for rule in rules["rules"]:
            if found := regex.search(rule["if"], last, regex.IGNORECASE):
                word = found.groupdict().get("word") or ""
                choices = [one.replace("{word}", word) for one in rule["say"]]
                return Reply(_fresh([one[:1].upper() + one[1:] for one in choices], said, lot))
        return Reply(_fresh(rules["otherwise"], said, lot))


def _fresh(choices: Sequence[str], said: set[str], lot: random.Random) -> str:
    return lot.choice([one for one in choices if one not in said] or list(choices))
