"""`lapsus tour`: what Lapsus does, shown on the sample data."""

import contextlib
import shlex
import tempfile
from pathlib import Path

from lapsus.cli.output import in_words, out
from lapsus.notices import Notice

STEPS = (
    ("Four guidelines come with Lapsus, in English and Japanese.", "scheme list"),
    ("Each says what is judged and how.", "scheme show breakdown --lang ja"),
    ("A guideline prints as a manual.", "scheme manual error-types --lang en -o manual.html"),
    (Notice("data-try-things-invented"), "sample"),
    ("", "sample dialogues-en"),
    ("", "sample pairs-ja"),
    (Notice("converts-formats-field-uses"), "convert dialogues-en.jsonl table.csv"),
    (Notice("nothing-dropped-without-word"), "convert dialogues-en.jsonl challenge.zip --to dbdc"),
    ("", "convert dialogues-en.jsonl challenge.zip --to dbdc --lossy"),
    (Notice("how-far-do-invented"), "agree dialogues-en.jsonl --scheme breakdown --by system"),
    (Notice("spans-too-japanese"), "agree pairs-ja.jsonl"),
    (
        Notice("votes-put-together-each"),
        "gold dialogues-en.jsonl gold.jsonl --scheme breakdown --method mace",
    ),
    (Notice("run-here-gold-itself"), "score dialogues-en.jsonl gold.jsonl --scheme breakdown"),
    (Notice("formats-known"), "formats"),
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
    console.print("\n" + in_words("lapsus-help-lists"))
