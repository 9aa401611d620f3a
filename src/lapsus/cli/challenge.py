"""`lapsus challenge`: a shared task from its test set to its tables, without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lapsus.cli.convert import DataLanguage, OnlyOption
from lapsus.cli.output import JsonOption, print_json, print_table, remark
from lapsus.cli.serve_store import DbOption, opened
from lapsus.cli.tables import CsvOption, ThresholdOption, print_result
from lapsus.errors import UsageError

if TYPE_CHECKING:
    from lapsus.store import Store
    from lapsus.store.challenge_records import Challenge, ChallengePlan, ChallengeState, StoredRun

app = typer.Typer(
    help="Run a challenge: test set, teams, runs, board.", no_args_is_help=True, rich_markup_mode=None
)

NameArgument = Annotated[str, typer.Argument(help="Name of the challenge.", metavar="NAME")]
RunName = Annotated[
    str | None, typer.Option("--run", help="Name of the run; else run1, run2, ….", metavar="NAME")
]
TrackOption = Annotated[
    str | None, typer.Option("--lang", help="Which language, where it has several (en, ja).", metavar="LANG")
]
TexOption = Annotated[bool, typer.Option("--tex", "--latex", help="Print for LaTeX (booktabs).")]


@app.command("create")
def create_command(
    name: NameArgument,
    data: Annotated[
        Path | None, typer.Option("--data", help="Dialogues with votes: file, folder or zip.", metavar="GOLD")
    ] = None,
    campaign: Annotated[
        str | None,
        typer.Option("--campaign", help="Take a campaign's dialogues and votes instead.", metavar="CAMPAIGN"),
    ] = None,
    only: OnlyOption = None,
    threshold: ThresholdOption = None,
    runs: Annotated[
        int, typer.Option("--runs", help="Runs that a team may hand in for each language.", metavar="N")
    ] = 3,
    title: Annotated[str | None, typer.Option("--title", help="Title on the pages.", metavar="WORDS")] = None,
    feedback: Annotated[
        str,
        typer.Option(
            "--feedback", help="What teams see before the end: own scores, or none.", metavar="own|none"
        ),
    ] = "own",
    lang: DataLanguage = None,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a challenge from dialogues that people judged for breakdown. The votes stay here."""
    from lapsus.challenge.desk import challenge_tracks
    from lapsus.store.challenge_records import ChallengePlan

    if feedback not in ("own", "none"):
        raise UsageError(f"--feedback is own or none, not {feedback!r}")
    shown: Any = feedback
    titles = {"en": title} if title else {}
    source = data.name if data else campaign or ""
    plan = ChallengePlan(name, titles, threshold or 0.0, runs, shown, source)
    with opened(db) as store:
        found = challenge_tracks(store, _made(store, plan, data, campaign, only, lang))
    counts = {
        language: {"dialogues": len(track.documents), "turns": len(track.units)}
        for language, track in found.items()
    }
    if as_json:
        print_json({"challenge": name, "languages": counts, "threshold": plan.threshold, "runs": plan.runs})
        return
    for language, count in counts.items():
        typer.echo(
            f"{name} ({language}): {count['dialogues']:,} dialogues, {count['turns']:,} turns to score"
        )


def _made(
    store: Store,
    plan: ChallengePlan,
    data: Path | None,
    campaign: str | None,
    only: str | None,
    lang: str | None,
) -> Challenge:
    from lapsus.challenge.desk import create, create_from_campaign

    if data is not None and campaign is None:
        return create(store, plan, data, only=only, language=lang)
    if campaign is not None and not (data or only or lang):
        return create_from_campaign(store, plan, campaign)
    hint = "say --data GOLD, or --campaign CAMPAIGN without --only and --lang"
    raise UsageError("a challenge is made from one test set", hint=hint)


@app.command("list")
def list_command(db: DbOption = None, as_json: JsonOption = False) -> None:
    """List the challenges."""
    with opened(db) as store:
        found = [
            (one.name, one.state, len(store.challenge_teams(one.name)), len(store.challenge_runs(one.name)))
            for one in store.challenges()
        ]
    columns = ("challenge", "state", "teams", "runs")
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in found])
        return
    print_table(columns, found, numbers=("teams", "runs"))


@app.command("publish")
def publish_command(
    name: NameArgument,
    target: Annotated[
        Path, typer.Option("-o", "--out", help="The test set: OUT.zip, or a folder.", metavar="OUT")
    ],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at OUT.")] = False,
    db: DbOption = None,
) -> None:
    """Write the test set in the challenge's format, without its labels."""
    from lapsus.challenge.desk import publish

    with opened(db) as store:
        count = publish(store, name, target, overwrite=overwrite)
    typer.echo(f"{count:,} dialogues without labels → {target}")


@app.command("team")
def team_command(
    name: NameArgument,
    team: Annotated[str, typer.Argument(help="Name of the team.", metavar="TEAM")],
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a team, and print its link for handing in runs. Again for the same team: a new link; the old one ends."""
    with opened(db) as store:
        token = store.add_team(name, team)
    path = f"/challenge/{name}/team/{token}"
    if as_json:
        print_json({"team": team, "path": path, "token": token})
        return
    typer.echo(path)
    remark(
        "To be opened on your server, in a browser; shown once. Programs send the last part as bearer token."
    )


@app.command("submit")
def submit_command(
    name: NameArgument,
    run: Annotated[Path, typer.Argument(help="The run: a zip or a folder of *.labels.json.", metavar="RUN")],
    team: Annotated[str, typer.Option("--team", help="Whose run it is.", metavar="TEAM")],
    called: RunName = None,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Hand in a team's run: checked turn by turn, taken whole or not at all."""
    from lapsus.challenge.desk import submit

    with opened(db) as store:
        kept = submit(store, name, run, store.team_named(name, team), run=called)
    _report([kept], as_json)


@app.command("run")
def run_command(
    name: NameArgument,
    judge: Annotated[str, typer.Option("--with", help="A model's file or a method.", metavar="MODEL")],
    called: RunName = None,
    lang: TrackOption = None,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a detector judge the test set here, each turn with only what came before. A run of the organisers."""
    from lapsus.annotators import find_annotator
    from lapsus.challenge.desk import run_here

    with opened(db) as store:
        kept = run_here(store, name, find_annotator(judge), run=called, language=lang)
    _report(kept, as_json)


@app.command("board")
def board_command(
    name: NameArgument,
    by: Annotated[
        str, typer.Option("--by", help="Measure to order by: accuracy, f1_b, jsd, ….", metavar="MEASURE")
    ] = "accuracy",
    lang: TrackOption = None,
    csv: CsvOption = False,
    tex: TexOption = False,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """The leaderboard with all runs, intervals, floors, and marks where neighbours really differ."""
    from lapsus.challenge.board import board_table
    from lapsus.challenge.desk import challenge_board

    with opened(db) as store:
        board = challenge_board(store, store.challenge(name), language=lang, by=by)
    print_result(board_table(board), as_json=as_json, csv=csv, latex=tex, across=True)


@app.command("tables")
def tables_command(
    name: NameArgument,
    also: Annotated[
        list[Path] | None,
        typer.Option(
            "--also", help="More corpora for Table 1, such as training data; repeatable.", metavar="DATA"
        ),
    ] = None,
    lang: TrackOption = None,
    csv: CsvOption = False,
    tex: TexOption = False,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """The three tables of the challenge's paper: the data, the runs by labels, the runs by distributions."""
    if sum((csv, tex, as_json)) > 1:
        raise UsageError("choose one of --json, --csv and --tex")
    with opened(db) as store:
        tables = _tables(store, name, also or [], lang)
    if as_json:
        print_json([table.to_data() for table in tables])
        return
    show = {"csv": "to_csv", "tex": "to_latex"}.get("csv" if csv else "tex" if tex else "", "to_text")
    typer.echo("\n".join(getattr(table, show)() + ("" if csv or tex else "\n") for table in tables), nl=False)


def _tables(store: Store, name: str, also: list[Path], lang: str | None) -> list[Any]:
    from lapsus.challenge.desk import challenge_floors, challenge_tracks, entrant, find_track
    from lapsus.challenge.tables import table_1, table_2, table_3
    from lapsus.challenge.testset import read_gold, tracks

    challenge = store.challenge(name)
    known = challenge_tracks(store, challenge)
    track = find_track(known, lang)
    corpora = {}
    for path in also:
        found = tracks(read_gold(path, language=track.language))
        corpora[path.name.removesuffix(".zip")] = found[track.language]
    corpora[name] = track
    floors = find_track(challenge_floors(challenge), track.language)
    runs = [entrant(run) for run in store.challenge_runs(name) if run.language == track.language]
    return [
        table_1(corpora),
        table_2(runs, floors, challenge.plan.threshold),
        table_3(runs, floors),
    ]


@app.command("freeze")
def freeze_command(name: NameArgument, db: DbOption = None) -> None:
    """Take no more runs. Teams still see only what they saw before."""
    _set_state(db, name, "frozen", "takes no more runs; `reveal` shows everybody everything")


@app.command("open")
def open_command(name: NameArgument, db: DbOption = None) -> None:
    """Take runs again, after it was frozen."""
    _set_state(db, name, "open", "takes runs")


@app.command("reveal")
def reveal_command(name: NameArgument, db: DbOption = None) -> None:
    """Show everybody the whole board and all runs, for good. No more runs are taken."""
    _set_state(db, name, "revealed", "everybody sees the board, all runs and the votes")


def _set_state(db: str | None, name: str, state: ChallengeState, what: str) -> None:
    with opened(db) as store:
        store.set_challenge_state(name, state)
    typer.echo(f"{name}: {what}")


def _report(runs: list[StoredRun], as_json: bool) -> None:
    from lapsus.challenge.desk import entrant

    found = [(run, entrant(run).figures) for run in runs]
    if as_json:
        print_json(
            [
                {
                    "run": run.id, "name": run.name, "team": run.team, "language": run.language,
                    "scores": {name: figure.value for name, figure in figures.all.values.items()},
                    "signature": figures.all.signature, "without_distribution": figures.one_hot,
                    "out_of_place": figures.out_of_place,
                }
                for run, figures in found
            ]
        )  # fmt: skip
        return
    for run, figures in found:
        values = figures.all.values
        shown = "  ".join(
            f"{label} {values[name].value:.3f}"
            for name, label in (("accuracy", "accuracy"), ("f1_b", "F(B)"), ("jsd", "JSD"))
            if values[name].value is not None
        )
        typer.echo(
            f"{run.team or 'organisers'} {run.name} ({run.language}), {figures.all.n:,} turns: {shown}"
        )
        if figures.one_hot:
            remark(f"{figures.one_hot:,} turns came without a distribution; 1 for the label was taken")
        if figures.out_of_place:
            remark(
                f"in {figures.out_of_place:,} dialogues answers were matched by turn-index, not by position"
            )
