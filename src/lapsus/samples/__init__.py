"""Sample data of our own: invented dialogues and texts, judged by invented annotators."""

from importlib.resources import files
from pathlib import Path

from lapsus.errors import UsageError
from lapsus.notices import Notice
from lapsus.registry import did_you_mean

SAMPLES = {
    "dialogues-en": Notice("16-english-chats-breakdown"),
    "dialogues-ja": Notice("16-japanese-chats-breakdown"),
    "helpdesk-en": Notice("48-english-chats-two"),
    "pairs-en": Notice("20-english-triple-text-pairs"),
    "pairs-ja": Notice("20-japanese-triple-text-pairs"),
}


def sample_path(name: str) -> Path:
    """Where a sample lies."""
    if name not in SAMPLES:
        raise UsageError("no-sample-called", hint=did_you_mean(name, list(SAMPLES)), name=name)
    return Path(str(files("lapsus.samples") / f"{name}.jsonl"))
