"""All commands under one name."""

from __future__ import annotations

from typing import Annotated

import typer

from lapsus.cli import (
    agree,
    backup,
    campaign,
    challenge,
    check,
    compare,
    convert,
    demo,
    detect,
    export,
    formats,
    gold,
    report,
    restore,
    sample,
    scheme,
    score,
    serve,
    tour,
    train,
    user,
)
from lapsus.version import __version__

app = typer.Typer(
    name="lapsus",
    help="Find, label and measure the errors of systems that talk.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lapsus {__version__}")
        raise typer.Exit


@app.callback()
def lapsus(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and end.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Find, label and measure the errors of systems that talk."""


app.command("convert")(convert.convert_command)
app.command("formats")(formats.formats_command)
app.command("sample")(sample.sample_command)
app.add_typer(scheme.app, name="scheme")
app.command("score")(score.score_command)
app.command("compare")(compare.compare_command)
app.command("agree")(agree.agree_command)
app.command("gold")(gold.gold_command)
app.command("train")(train.train_command)
app.command("detect")(detect.detect_command)
app.command("check")(check.check_command)
app.command("serve")(serve.serve_command)
app.command("demo")(demo.demo_command)
app.add_typer(user.app, name="user")
app.add_typer(campaign.app, name="campaign")
app.add_typer(challenge.app, name="challenge")
app.command("export")(export.export_command)
app.command("report")(report.report_command)
app.command("backup")(backup.backup_command)
app.command("restore")(restore.restore_command)
app.command("tour")(tour.tour_command)
