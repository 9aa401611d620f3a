"""`lapsus challenge tables`: the tables of the challenge's paper, for a challenge or for a corpus of one's own."""

from __future__ import annotations

import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from lapsus.cli.output import print_json, remark
from lapsus.cli.shared_options import open_database
from lapsus.errors import UsageError
from lapsus.notices import Notice

if TYPE_CHECKING:
    from lapsus.challenge.paper_tables import PaperTable
    from lapsus.measures.scores.breakdown_labels import Rule

_WHOSE = (
    "Rows that begin with *after* are the runs of the breakdown detection challenge's paper (2016) written anew, from"
    " the little that it says of them, then fitted and scored on this corpus: `lapsus train METHOD --set NAME=VALUE`"
    " makes the same models. Rows that begin with *paper:* are the figures that the paper published. Of Team 5's runs"
    " it says that they differ in the data to which their parameters were tuned, not in which data: run2 and run3 learn"
    " from one half of the training dialogues each."
)


def tables_command(
    name: str | None = None,
    data: Path | None = None,
    only: str | None = None,
    train: str | None = None,
    test: str | None = None,
    run: list[str] | None = None,
    also: list[str] | None = None,
    rule: str = "program",
    lang: str | None = None,
    csv: bool = False,
    tex: bool = False,
    markdown: bool = False,
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """The three tables of the challenge's paper: the data, the runs by labels at t = 0.5 and 0, by distributions."""
    from lapsus.measures.scores.breakdown_labels import check_rule

    if sum((csv, tex, markdown, as_json)) > 1:
        raise UsageError("choose-one-json-csv")
    if (name is None) == (data is None):
        raise UsageError("tables-challenge-data", hint="say-one-two")
    check_rule(rule)
    chosen: Any = rule
    if name is not None:
        if only or train or test or run:
            raise UsageError("only-train-test-run")
        how: str
        how, tables = (
            Notice("runs-challenges-teams-organisers"),
            _of_challenge(name, also or [], lang, db, chosen),
        )
    elif data is not None:
        how, tables = _of_corpus(data, only, train, test, _own(run or []), also or [], lang, chosen)
    if as_json:
        print_json([table.to_data() for table in tables])
    elif markdown:
        head = _page_head(name or str(data), how)
        typer.echo("\n".join([head, *(table.to_markdown() for table in tables)]), nl=False)
    else:
        show = {"csv": "to_csv", "tex": "to_latex"}.get("csv" if csv else "tex" if tex else "", "to_text")
        end = "" if csv or tex else "\n"
        typer.echo("\n".join(getattr(table, show)() + end for table in tables), nl=False)


def _page_head(of: str, how: str) -> str:
    """The head of a page: what is on it, when it was printed, by which command and how, so that it can be again."""
    printed = f"Printed {datetime.now(UTC):%Y-%m-%d} by `lapsus {shlex.join(sys.argv[1:])}`."
    return "\n\n".join([f"# The tables of the challenge's paper, for {Path(of).name}", how, printed, ""])


def _own(given: list[str]) -> dict[str, Path]:
    """Runs by the names they are to have."""
    found: dict[str, Path] = {}
    for text in given:
        name, _, path = text.partition("=")
        if not name or not path:
            raise UsageError("does-not-say-name", where="--run", hint="mine-run-zip", text=text)
        found[name] = Path(path)
    return found


def _of_challenge(
    name: str, also: list[str], lang: str | None, db: str | None, rule: Rule
) -> list[PaperTable]:
    from lapsus.challenge.paper_runs import THRESHOLDS, more_corpora
    from lapsus.challenge.paper_tables import results, table_1
    from lapsus.challenge.service import challenge_tracks, find_track, scored_at

    with open_database(db) as store:
        challenge = store.challenges.get(name)
        track = find_track(challenge_tracks(store, challenge), lang)
        thresholds = dict.fromkeys((challenge.plan.threshold, *THRESHOLDS))
        scored = [scored_at(store, challenge, track, t, rule) for t in thresholds]
    return [table_1({**more_corpora(also, track.language), name: track}), *results(scored)]


def _of_corpus(
    data: Path,
    only: str | None,
    train: str | None,
    test: str | None,
    own: dict[str, Path],
    also: list[str],
    lang: str | None,
    rule: Rule,
) -> tuple[str, list[PaperTable]]:
    """How the figures were made, and the tables."""
    from lapsus.annotators.features.word_forms import way_to_find_words
    from lapsus.challenge.paper_runs import FOLDS, more_corpora, read_corpus, score_paper_runs
    from lapsus.challenge.paper_tables import results, table_1

    corpus = read_corpus(data, only=only, train=train, test=test, language=lang)
    first = corpus.parts[0]
    if corpus.crossed:
        how = Notice("cross-validated-folds-dialogue-since", folds=FOLDS)
        shown = {data.name.removesuffix(".zip"): corpus.track}
    else:
        how = Notice("learned-dialogues-scored-others", count=len(first.learn), count2=len(first.judge))
        shown = {"train": corpus.trained_on, "test": corpus.track}
    if corpus.track.language == "ja":
        how = Notice("japanese-words-by", how=how, way=way_to_find_words("ja"))
    remark(how)
    scored = score_paper_runs(corpus, own, rule=rule, tell=lambda title: remark(f"{title} …"))
    return f"{_WHOSE}\n\n{how}", [
        table_1({**more_corpora(also, corpus.track.language), **shown}),
        *results(scored),
    ]
