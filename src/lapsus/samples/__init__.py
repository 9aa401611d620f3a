"""Sample data of our own: invented dialogues and texts, judged by invented annotators."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from lapsus.errors import UsageError
from lapsus.registry import did_you_mean

SAMPLES = {
    "dialogues-en": "16 English chats: breakdown, error types, response quality",
    "dialogues-ja": "16 Japanese chats: breakdown, error types, response quality",
    "helpdesk-en": "48 English chats of two help desks, judged by two people: breakdown",
    "pairs-en": "20 English triple-text pairs: semantic errors",
    "pairs-ja": "20 Japanese triple-text pairs: semantic errors",
}


def sample_path(name: str) -> Path:
    """Where a sample lies."""
    if name not in SAMPLES:
        raise UsageError(f"no sample is called {name!r}", hint=did_you_mean(name, list(SAMPLES)))
    return Path(str(files("lapsus.samples") / f"{name}.jsonl"))
