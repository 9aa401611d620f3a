"""`lapsus challenge`: a shared task from its test set to its tables, without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args
from urllib.parse import quote

import typer

from lapsus.cli.challenge_tables import tables_command
from lapsus.cli.help_words import Group
from lapsus.cli.language_model_options import NOTHING_SAID, Asking, LanguageModelOptions, asks_language_models
from lapsus.cli.output import colon, in_words, print_json, print_table, remark, say, word
from lapsus.cli.result_tables import print_result
from lapsus.cli.shared_options import open_database
from lapsus.errors import LapsusError, UsageError
from lapsus.notices import Notice

if TYPE_CHECKING:
    from lapsus.annotators import Annotator
    from lapsus.annotators.detection import Waiting
    from lapsus.annotators.language_model import LanguageModel
    from lapsus.store import Store
    from lapsus.store.challenge_records import Challenge, ChallengePlan, ChallengeState, StoredRun

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


@app.command("run")
@asks_language_models("reasons")
def run_command(
    name: str,
    judges: list[str],
    train: Path | None = None,
    only: str | None = None,
    called: str | None = None,
    lang: str | None = None,
    asking: LanguageModelOptions = NOTHING_SAID,
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """Let programs judge the test set here, each turn with only what came before. Runs of the organisers."""
    from lapsus.annotators import find_annotator
    from lapsus.annotators.library import is_language_model
    from lapsus.challenge.service import run_here, trained_for

    if only is not None and train is None:
        raise UsageError("only-says-files-train")
    if len(set(judges)) < len(judges):
        raise UsageError("judge-named-twice", hint="jury-different-members")
    with open_database(db) as store, Asking(asking, judges) as talk:
        annotators = [
            trained_for(store, name, one, train, only)
            if train is not None and not is_language_model(one)
            else find_annotator(one, stop=talk.stop, **asking.how)
            for one in judges
        ]
        talk.leave([_waiting(store, name, one, lang) for one in annotators if one.costs])
        journals = {id(one.model): one.kept for one in talk.waiting}
        try:
            kept = run_here(
                store, name, *annotators, run=called, language=lang, kept=lambda one: journals.get(id(one))
            )
        except LapsusError:
            talk.tell()
            talk.tell_kept()
            _tell_open(talk)
            raise
        talk.tell()
        for one in talk.waiting:
            if one.kept is not None:
                one.kept.remove()
    report_runs(kept, as_json)


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


def _waiting(store: Store, challenge: str, annotator: Annotator, language: str | None) -> Waiting:
    """What a language model is still to be asked; its answers are in a file that is gone once its run is kept."""
    from lapsus.annotators.bulk import Journal
    from lapsus.annotators.detection import Waiting
    from lapsus.challenge.service import turns_to_judge

    model = cast("LanguageModel", annotator)
    called = ".".join(filter(None, (challenge, language, model.name.partition(":")[2])))
    journal = Journal(Path(f"{quote(called, safe='')}.part.jsonl"))
    model.must_go_on(journal.judgments.values(), str(journal.path))
    work, turns = model.work(), list(turns_to_judge(store, challenge, language))
    left = [turn for turn in turns if journal.find(work, [turn]) is None]
    return Waiting(model, len(left), len(turns) - len(left), journal, expected=model.expects(left))


def _tell_open(talk: Asking) -> None:
    for one in talk.waiting:
        if one.model.refused and not talk.stop.is_set() and one.kept is not None:
            there = one.kept.path.exists()
            first = f"; remove {one.kept.path} first, since a run is made one way throughout" if there else ""
            remark("where-never-answers-another", first=first)


def report_runs(runs: list[StoredRun], as_json: bool) -> None:
    """Say how runs did."""
    from lapsus.challenge.service import entrant

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
        say(
            "turns",
            team=run.team or word("organisers"),
            name=run.name,
            language=run.language,
            n=figures.all.n,
            shown=shown,
        )
        if figures.one_hot:
            remark("turns-came-without-distribution", one_hot=figures.one_hot)
        if figures.out_of_place:
            remark("dialogues-answers-matched-turn-index", out_of_place=figures.out_of_place)
