"""`lapsus challenge run`: detectors, language models and juries judge a test set here."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import typer

from lapsus.cli.convert import OnlyOption
from lapsus.cli.database_option import DbOption, open_database
from lapsus.cli.language_model_options import (
    NOTHING_SAID,
    PREFIX,
    LanguageModelOptions,
    ask_leave,
    asks_language_models,
    ending_gently,
    make_language_model,
    several,
    tell,
)
from lapsus.cli.output import JsonOption, print_json, remark, say, word
from lapsus.errors import LapsusError, UsageError
from lapsus.formats.remote import location

if TYPE_CHECKING:
    from lapsus.annotators import Annotator
    from lapsus.store import Store
    from lapsus.store.challenge_records import StoredRun

NameArgument = Annotated[str, typer.Argument(help="Name of the challenge.", metavar="NAME")]
RunName = Annotated[
    str | None, typer.Option("--run", help="Name of the run; else run1, run2, ….", metavar="NAME")
]
TrackOption = Annotated[
    str | None, typer.Option("--lang", help="Which language, where it has several (en, ja).", metavar="LANG")
]


@asks_language_models("--words", without=("reasons",))
def run_command(
    name: NameArgument,
    judges: Annotated[
        list[str],
        typer.Option(
            "--with",
            help="A model's file, a method or openai:MODEL; several: a run each, and one of all as a jury.",
            metavar="MODEL",
        ),
    ],
    train: Annotated[
        Path | None,
        typer.Option(
            "--train",
            help="Train the method on these judged dialogues first; crf with the challenge's t.",
            metavar="DATA",
            parser=location,
        ),
    ] = None,
    only: OnlyOption = None,
    called: RunName = None,
    lang: TrackOption = None,
    asking: LanguageModelOptions = NOTHING_SAID,
    db: DbOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let programs judge the test set here, each turn with only what came before. Runs of the organisers."""
    from lapsus.challenge.service import run_here

    if only is not None and train is None:
        raise UsageError("--only says which files of --train, and --train is not given")
    names = several(judges, asking)
    stop = threading.Event()
    with open_database(db) as store:
        asked = {one: _Asked(store, name, one, asking, lang, stop) for one in names if one.startswith(PREFIX)}
        annotators = [
            asked[one].model if one in asked else _detector(store, name, one, train, only) for one in names
        ]
        try:
            with ending_gently(stop) if asked else nullcontext():
                kept = run_here(store, name, *annotators, run=called, language=lang)
        except LapsusError:
            for judge in asked.values():
                judge.tell_open(stop)
            raise
        for judge in asked.values():
            tell(judge.model)
            judge.journal.remove()
    report_runs(kept, as_json)


class _Asked:
    """A language model whose answers are on disk as they come, in a file that is gone once its run is kept."""

    def __init__(
        self,
        store: Store,
        challenge: str,
        name: str,
        asking: LanguageModelOptions,
        language: str | None,
        stop: threading.Event,
    ) -> None:
        from lapsus.annotators.breakdown import SCHEME
        from lapsus.annotators.language_model.journal import Journal
        from lapsus.challenge.service import turns_to_judge
        from lapsus.schemes import load_scheme

        self.model = make_language_model(name, load_scheme(SCHEME), asking, stop)
        called = quote(".".join(filter(None, (challenge, language, name.removeprefix(PREFIX)))), safe="")
        self.journal = Journal(Path(f"{called}.part.jsonl"))
        self.model.go_on_with(self.journal)
        turns = list(turns_to_judge(store, challenge, language))
        waiting = sum(self.journal.about(turn) is None for turn in turns)
        if waiting < len(turns):
            remark(f"{self.journal.path} holds {len(turns) - waiting:,} answers; {waiting:,} turns are left")
        if waiting:
            ask_leave(asking, waiting)

    def tell_open(self, stop: threading.Event) -> None:
        """Which turns are open and why, where the answers are, and what to do."""
        tell(self.model)
        if kept := len(self.journal.judgments):
            remark(
                f"{kept:,} answers of {self.model.name} are kept in {self.journal.path}; the same command asks"
                " for the others only"
            )
        if self.model.refused and not stop.is_set():
            first = (
                f"; remove {self.journal.path} first, since a run is made one way throughout" if kept else ""
            )
            remark(
                f"where it never answers, another --max-tokens, --temperature or --examples may help{first}"
            )


def _detector(store: Store, challenge: str, name: str, train: Path | None, only: str | None) -> Annotator:
    from lapsus.annotators import find_annotator
    from lapsus.challenge.service import trained_for

    return find_annotator(name) if train is None else trained_for(store, challenge, name, train, only)


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
        say(f"{run.team or word('organisers')} {run.name} ({run.language}), {figures.all.n:,} turns: {shown}")
        if figures.one_hot:
            remark(f"{figures.one_hot:,} turns came without a distribution; 1 for the label was taken")
        if figures.out_of_place:
            remark(
                f"in {figures.out_of_place:,} dialogues answers were matched by turn-index, not by position"
            )
