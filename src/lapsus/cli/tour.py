"""`lapsus tour`: what Lapsus does, shown on the sample data."""

from __future__ import annotations

import contextlib
import shlex
import tempfile
from pathlib import Path

from lapsus.cli.output import in_words, out

STEPS = (
    ("Four guidelines come with Lapsus, in English and Japanese.", "scheme list"),
    ("Each says what is judged and how.", "scheme show breakdown --lang ja"),
    ("A guideline prints as a manual.", "scheme manual error-types --lang en -o manual.html"),
    ("There is data to try things with, invented for the purpose.", "sample"),
    ("", "sample dialogues-en"),
    ("", "sample pairs-ja"),
    ("It converts to the formats that the field uses, and back.", "convert dialogues-en.jsonl table.csv"),
    ("Nothing is dropped without a word.", "convert dialogues-en.jsonl challenge.zip --to dbdc"),
    ("", "convert dialogues-en.jsonl challenge.zip --to dbdc --lossy"),
    ("How far do the invented annotators agree?", "agree dialogues-en.jsonl --scheme breakdown --by system"),
    ("On spans, too, and in Japanese.", "agree pairs-ja.jsonl"),
    (
        "Votes put together, and each annotator's reliability.",
        "gold dialogues-en.jsonl gold.jsonl --scheme breakdown --method mace",
    ),
    (
        "A run, here the gold itself, scored with intervals and floors.",
        "score dialogues-en.jsonl gold.jsonl --scheme breakdown",
    ),
    ("These formats are known.", "formats"),
)


def tour_command() -> None:
    """Show what Lapsus does, on the sample data, in a folder that is gone afterwards."""
    from lapsus.cli.app import app
    from lapsus.cli.output import complain
    from lapsus.errors import LapsusError

    console = out()
    with tempfile.TemporaryDirectory(prefix="lapsus-tour-") as folder, contextlib.chdir(Path(folder)):
        for words, command in STEPS:
            console.print()
            if words:
                console.print(in_words(words), style="italic")
            console.print(f"$ lapsus {command}", style="bold cyan", markup=False)
            try:
                app(shlex.split(command), standalone_mode=False)
            except LapsusError as error:
                complain(error)
    console.print("\n" + in_words("The documentation is in docs/; `lapsus --help` lists all commands."))
