"""`lapsus verify`: work out every figure of a bundle again."""

from pathlib import Path

import typer

from lapsus.cli.output import print_json, print_table, remark, say


def verify_command(bundle: Path, as_json: bool = False) -> None:
    """Work out every figure of a bundle from the votes in it. Exit code 1 where one differs."""
    from lapsus.analysis.bundle import verify

    found = verify(bundle)
    if as_json:
        print_json(found)
    else:
        if found.made_with != found.verified_with:
            remark("made-lapsus-verified", made_with=found.made_with, verified_with=found.verified_with)
        if found.differences:
            rows = [(one.figure, str(one.stated), str(one.found)) for one in found.differences]
            print_table(("figure", "stated", "found"), rows)
        say("figures-differ", figures=found.figures, count=len(found.differences))
    if found.differences:
        raise typer.Exit(1)
