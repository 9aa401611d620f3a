"""`lapsus sample`: data to try things with."""

from pathlib import Path

import typer

from lapsus.cli.output import in_words, print_json, print_table
from lapsus.formats.sink import put_in_place
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
