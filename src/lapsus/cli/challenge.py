"""`lapsus challenge`: a shared task from its test set to its tables, without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer

from lapsus.cli.challenge_run import report_runs, run_command
from lapsus.cli.challenge_tables import tables_command
from lapsus.cli.database_option import open_database
from lapsus.cli.help_words import Group
from lapsus.cli.output import colon, in_words, print_json, print_table, remark, say, word
from lapsus.cli.result_tables import print_result
from lapsus.errors import UsageError
from lapsus.notices import Notice

if TYPE_CHECKING:
    from lapsus.store import Store
    from lapsus.store.challenge_records import Challenge, ChallengePlan, ChallengeState

PAPERS_THRESHOLD = 0.5

app = Group("challenge", "Run a challenge: test set, teams, runs, board.")


@app.command("create")
def create_command(
    name: str,
    data: Path | None = None,
    campaign: str | None = None,
    only: str | None = None,
    threshold: float = PAPERS_THRESHOLD,
    runs: int = 3,
    title: str | None = None,
    feedback: str = "overall",
    lang: str | None = None,
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """Make a challenge from dialogues that people judged for breakdown. The votes stay here."""
    from lapsus.challenge.service import challenge_tracks
    from lapsus.store.challenge_records import ChallengePlan, Feedback

    if feedback not in get_args(Feedback):
        raise UsageError("feedback-none-overall-all", feedback=feedback)
    shown: Any = feedback
    titles = {"en": title} if title else {}
    source = data.name if data else campaign or ""
    plan = ChallengePlan(name, titles, threshold, runs, shown, source)
    with open_database(db, make=True) as store:
        found = challenge_tracks(store, _made(store, plan, data, campaign, only, lang))
    counts = {
        language: {"dialogues": len(track.documents), "turns": len(track.units)}
        for language, track in found.items()
    }
    if as_json:
        print_json({"challenge": name, "languages": counts, "threshold": plan.threshold, "runs": plan.runs})
        return
    for language, count in counts.items():
        say(
            "dialogues-turns-score",
            name=name,
            language=language,
            count=count["dialogues"],
            count2=count["turns"],
        )


def _made(
    store: Store,
    plan: ChallengePlan,
    data: Path | None,
    campaign: str | None,
    only: str | None,
    lang: str | None,
) -> Challenge:
    from lapsus.challenge.service import create, create_from_campaign

    if data is not None and campaign is None:
        return create(store, plan, data, only=only, language=lang)
    if campaign is not None and not (data or only or lang):
        return create_from_campaign(store, plan, campaign)
    hint = Notice("say-data-gold-campaign")
    raise UsageError("challenge-made-one-test", hint=hint)


@app.command("list")
def list_command(db: str | None = None, as_json: bool = False) -> None:
    """List the challenges."""
    with open_database(db) as store:
        found = [
            (one.name, one.state, len(store.challenges.teams(one.name)), len(store.challenges.runs(one.name)))
            for one in store.challenges.all()
        ]
    columns = ("challenge", "state", "teams", "runs")
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in found])
        return
    rows = [(name, word(state), *counts) for name, state, *counts in found]
    print_table(columns, rows, numbers=("teams", "runs"))


@app.command("publish")
def publish_command(name: str, target: Path, overwrite: bool = False, db: str | None = None) -> None:
    """Write the test set in the challenge's format, without its labels."""
    from lapsus.challenge.service import publish

    with open_database(db) as store:
        count = publish(store, name, target, overwrite=overwrite)
    say("dialogues-without-labels", count=count, target=target)


@app.command("team")
def team_command(name: str, team: str, at: str = "", db: str | None = None, as_json: bool = False) -> None:
    """Add a team, and print its link for handing in runs. Again for the same team: a new link; the old one ends."""
    with open_database(db) as store:
        token = store.challenges.add_team(name, team)
    path = f"/challenge/{name}/team/{token}"
    if as_json:
        print_json({"team": team, "path": path, "token": token})
        return
    typer.echo(f"{at.rstrip('/')}{path}")
    remark("team-link-shown-once" if at else "opened-your-server-browser")


@app.command("submit")
def submit_command(
    name: str, run: Path, team: str, called: str | None = None, db: str | None = None, as_json: bool = False
) -> None:
    """Hand in a team's run: checked turn by turn, taken whole or not at all."""
    from lapsus.challenge.service import submit

    with open_database(db) as store:
        kept = submit(store, name, run, store.challenges.team_named(name, team), run=called)
    report_runs([kept], as_json)


app.command("run")(run_command)


@app.command("board")
def board_command(
    name: str,
    by: str = "accuracy",
    lang: str | None = None,
    csv: bool = False,
    tex: bool = False,
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """The leaderboard with all runs, intervals, floors, and marks where neighbours really differ."""
    from lapsus.challenge.leaderboard import board_table
    from lapsus.challenge.service import challenge_board

    with open_database(db) as store:
        board = challenge_board(store, store.challenges.get(name), language=lang, by=by)
    print_result(board_table(board), as_json=as_json, csv=csv, latex=tex, across=True)


app.command("tables")(tables_command)


@app.command("freeze")
def freeze_command(name: str, db: str | None = None) -> None:
    """Take no more runs. Teams still see only what they saw before."""
    _set_state(db, name, "frozen", Notice("takes-no-more-runs"))


@app.command("open")
def open_command(name: str, db: str | None = None) -> None:
    """Take runs again, after it was frozen."""
    _set_state(db, name, "open", Notice("takes-runs"))


@app.command("reveal")
def reveal_command(name: str, db: str | None = None) -> None:
    """Show everybody the whole board and all runs, for good. No more runs are taken."""
    _set_state(db, name, "revealed", Notice("everybody-sees-board-all"))


def _set_state(db: str | None, name: str, state: ChallengeState, what: str) -> None:
    with open_database(db) as store:
        store.challenges.set_state(name, state)
    typer.echo(f"{name}{colon()}{in_words(what)}")
