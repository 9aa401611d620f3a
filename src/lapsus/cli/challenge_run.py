"""`lapsus challenge run`: detectors, language models and juries judge a test set here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from lapsus.cli.database_option import open_database
from lapsus.cli.language_model_options import NOTHING_SAID, Asking, LanguageModelOptions, asks_language_models
from lapsus.cli.output import print_json, remark, say, word
from lapsus.errors import LapsusError, UsageError

if TYPE_CHECKING:
    from lapsus.annotators import Annotator
    from lapsus.annotators.detection import Waiting
    from lapsus.annotators.language_model import LanguageModel
    from lapsus.store import Store
    from lapsus.store.challenge_records import StoredRun


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
