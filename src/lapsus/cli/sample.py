"""`lapsus sample`: data to try things with; `lapsus tour`: what Lapsus does, shown on them."""

import contextlib
import shlex
import tempfile
from pathlib import Path

import typer

from lapsus.cli.output import in_words, out, print_json, print_table
from lapsus.formats.sink import put_in_place
from lapsus.notices import Notice
from lapsus.samples import SAMPLES, sample_path


def sample_command(
    name: str | None = None, target: Path | None = None, overwrite: bool = False, as_json: bool = False
) -> None:
    """Copy sample data: invented dialogues and texts, judged by invented annotators."""
    if name is None:
        if as_json:
            print_json(SAMPLES)
        else:
            print_table(("sample", "what it is"), [(id, in_words(what)) for id, what in SAMPLES.items()])
        return
    source = sample_path(name)
    path = target or Path(source.name)
    with put_in_place(path, overwrite=overwrite) as draft:
        draft.write_bytes(source.read_bytes())
    if as_json:
        print_json({"sample": name, "out": str(path)})
    else:
        typer.echo(f"{name} → {path}")


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
