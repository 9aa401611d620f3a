"""The command `lapsus`: its subcommands, and the options that stand before them."""

from __future__ import annotations

from typing import Annotated

import typer

from lapsus.cli import (
    agree,
    align,
    backup,
    campaign,
    cascade,
    challenge,
    check,
    compare,
    convert,
    demo,
    detect,
    dif,
    doctor,
    estimate,
    export,
    formats,
    gold,
    guard,
    look,
    pair,
    plan,
    probe,
    push,
    rank,
    report,
    restore,
    sample,
    scheme,
    score,
    serve,
    stress,
    tour,
    train,
    trust,
    user,
    validate,
    verify,
    watch,
)
from lapsus.cli.help_words import Commands
from lapsus.cli.output import choose_words
from lapsus.version import __version__

app = typer.Typer(
    name="lapsus",
    help="Find, label and measure the errors of systems that talk.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lapsus {__version__}")
        raise typer.Exit


def _choose_language(language: str | None) -> str | None:
    choose_words(language)
    return language


@app.callback()
def lapsus(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and end.", callback=_version, is_eager=True)
    ] = False,
    words: Annotated[
        str | None,
        typer.Option(
            "--words",
            help="Language of what is said (en, ja); that of your terminal by default.",
            metavar="LANG",
            callback=_choose_language,
            is_eager=True,  # so that --help behind it is in that language
        ),
    ] = None,
) -> None:
    """Find, label and measure the errors of systems that talk."""


app.command("convert")(convert.convert_command)
app.command("look")(look.look_command)
app.command("formats")(formats.formats_command)
app.command("sample")(sample.sample_command)
app.add_typer(scheme.app, name="scheme")
app.command("score")(score.score_command)
app.command("compare")(compare.compare_command)
app.command("agree")(agree.agree_command)
app.command("validate")(validate.validate_command)
app.command("gold")(gold.gold_command)
app.command("trust")(trust.trust_command)
app.command("estimate")(estimate.estimate_command)
app.command("plan")(plan.plan_command)
app.command("cascade")(cascade.cascade_command)
app.command("align")(align.align_command)
app.command("probe")(probe.probe_command)
app.command("stress")(stress.stress_command)
app.command("train")(train.train_command)
app.command("detect")(detect.detect_command)
app.command("check")(check.check_command)
app.command("watch")(watch.watch_command)
app.command("serve")(serve.serve_command)
app.command("guard")(guard.guard_command)
app.command("demo")(demo.demo_command)
app.add_typer(user.app, name="user")
app.add_typer(campaign.app, name="campaign")
app.add_typer(challenge.app, name="challenge")
app.command("export")(export.export_command)
app.command("push")(push.push_command)
app.command("report")(report.report_command)
app.command("dif")(dif.dif_command)
app.command("rank")(rank.rank_command)
app.command("pair")(pair.pair_command)
app.command("verify")(verify.verify_command)
app.command("backup")(backup.backup_command)
app.command("restore")(restore.restore_command)
app.command("doctor")(doctor.doctor_command)
app.command("tour")(tour.tour_command)
