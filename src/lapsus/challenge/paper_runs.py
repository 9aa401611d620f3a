"""The runs of the challenge's paper, written anew: trained on one part of a corpus, scored on the other."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from lapsus.annotators import make_annotator, training_data
from lapsus.challenge.leaderboard import Entrant
from lapsus.challenge.paper_tables import Scored
from lapsus.challenge.run_scores import floors, score_run
from lapsus.challenge.run_validation import CheckedRun, check_run, run_of_judgments
from lapsus.challenge.testset import Track, gold_of, language_of, tracks, unlabelled
from lapsus.errors import InputError, UsageError
from lapsus.formats import read
from lapsus.formats.remote import location
from lapsus.measures.scores.breakdown_labels import Rule
from lapsus.model import EMPTY, Entry
from lapsus.registry import did_you_mean

THRESHOLDS: Final = (0.5, 0.0)
"""Of the paper, and of the challenge's program."""
TEST_PARTS: Final = frozenset({"test", "eval", "ref"})
"""Folders whose dialogues are scored, where nobody says which; all others are learned from."""
FOLDS, SEED = 5, 0


class PaperRun(NamedTuple):
    """A run of the paper as a method of ours."""

    team: str
    name: str
    method: str
    settings: Mapping[str, Any] = EMPTY
    threshold: float | None = None
    """The one threshold at which it is scored by labels; None: all. It was trained for it."""
    half: int | None = None
    """Which half of the training dialogues it learns from; None: all."""

    @property
    def title(self) -> str:
        """What it is called in tables: as in the paper, and how to train it."""
        settings = [f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in self.settings.items()]
        half = [] if self.half is None else [f"half={self.half + 1}"]
        return " ".join([*([f"{self.name}:"] if self.name else []), self.method, *settings, *half])


RUNS: Final = (
    *(PaperRun("baseline", "", "crf", {"t": t}, t) for t in THRESHOLDS),
    PaperRun("Team 1", "run1", "lstm", {"cell": "rnn"}),
    PaperRun("Team 1", "run2", "lstm", {"cell": "lstm"}),
    PaperRun("Team 2", "run1", "lstm", {"features": "frequencies,words"}),
    PaperRun("Team 2", "run2", "lstm", {"features": "frequencies,words", "layers": 2}),
    PaperRun("Team 2", "run3", "lstm", {"features": "frequencies,words", "cell": "rnn"}),
    PaperRun("Team 3", "run1", "rules", {"rules": "topic,questions"}),
    PaperRun("Team 3", "run2", "rules", {"rules": "topic,questions,repetition,contradiction"}),
    PaperRun("Team 3", "run3", "rules", {"rules": "all"}),
    *(PaperRun("Team 4", f"run{degree}", "svm", {"degree": degree}) for degree in (1, 2, 3)),
    PaperRun("Team 5", "run1", "acts"),
    *(PaperRun("Team 5", f"run{half + 2}", "acts", half=half) for half in (0, 1)),
    PaperRun("Team 6", "run1", "ncm", {"history": 2}),
)
"""Every run of the paper. Of Team 5's it says that they differ in the data to which their parameters were tuned, but
not in which; here the second and third learn from one half of the training dialogues each.
"""


class Split(NamedTuple):
    """Dialogues to learn from, and dialogues to judge that are none of them."""

    learn: Sequence[Entry]
    judge: Sequence[Entry]


class Corpus(NamedTuple):
    """A corpus split into parts, and what is scored of it."""

    parts: Sequence[Split]
    trained_on: Track
    track: Track

    @property
    def crossed(self) -> bool:
        """Whether all of it is scored, each dialogue by what was learned from others."""
        return len(self.parts) > 1


def read_corpus(
    data: Path,
    *,
    only: str | None = None,
    train: str | None = None,
    test: str | None = None,
    language: str | None = None,
) -> Corpus:
    """Take a corpus apart: by globs of paths, else by the names of its folders. Without a part to score, or with
    `train` alone, it is cross-validated by dialogue.
    """
    if test is not None and train is None:
        raise UsageError("test-given-without-train", hint="say-both-leave-both")
    if train is not None and only is not None:
        raise UsageError("only-goes-without-train", hint="put-into-their-patterns")
    if train is not None:
        learn = list(read(data, only=train))
        judge = list(read(data, only=test)) if test is not None else []
    else:
        entries = list(read(data, only=only))
        judge = [entry for entry in entries if _split(entry) in TEST_PARTS]
        learn = [entry for entry in entries if _split(entry) not in TEST_PARTS]
    found = _tracks(judge or learn, data, language)
    learn = [entry for entry in learn if _language(entry) == found.language]
    judge = [entry for entry in judge if _language(entry) == found.language]
    if not learn:
        raise InputError("nothing-learn", where=str(data), hint="say-train-glob")
    if both := {entry.id for entry in learn} & {entry.id for entry in judge}:
        name = min(both)
        raise InputError("dialogue-learned-scored", where=str(data), name=name)
    parts = [Split(learn, judge)] if judge else _folds(learn)
    return Corpus(parts, _tracks(learn, data, found.language), found)


def more_corpora(sources: Iterable[str], language: str) -> dict[str, Track]:
    """Corpora to count beside others, by their names. `DATA:GLOB` is the files of DATA whose path matches."""
    found = {}
    for source in sources:
        data, colon, glob = source.rpartition(":")
        if not colon or "://" in source[: len(data) + 3] or Path(source).exists():
            data, glob = source, ""
        path = location(data)
        name = path.name.removesuffix(".zip")
        entries = read(path, only=glob or None)
        found[f"{name} {glob}" if glob else name] = _tracks(entries, path, language)
    return found


def score_paper_runs(
    corpus: Corpus,
    own: Mapping[str, Path],
    *,
    runs: Sequence[PaperRun] = RUNS,
    rule: Rule = "program",
    tell: Callable[[str], None] = lambda title: None,
) -> list[Scored]:
    """Train and judge every run, and score them, and runs of one's own from files, at both thresholds."""
    said: list[tuple[str, str, CheckedRun, float | None]] = []
    for run in runs:
        tell(f"{run.team} {run.title}")
        said.append((f"after {run.team}", run.title, _judged(run, corpus), run.threshold))
    for name, path in own.items():
        said.append(("also", name, check_run({corpus.track.language: corpus.track}, path), None))
    now = datetime.now(UTC)
    return [
        Scored(
            t,
            [
                Entrant(number, team, name, now, score_run(checked, t, rule=rule).figures)
                for number, (team, name, checked, only_at) in enumerate(said)
                if only_at in (None, t)
            ],
            floors(corpus.track, t, rule=rule),
            rule,
        )
        for t in THRESHOLDS
    ]


def _judged(run: PaperRun, corpus: Corpus) -> CheckedRun:
    """What a run says of every scored turn, learned from other dialogues only."""
    judgments = [
        judgment
        for part in corpus.parts
        for judgment in make_annotator(run.method, run.settings)
        .fit(*training_data(part.learn if run.half is None else part.learn[run.half :: 2]))
        .judge(unlabelled(entry.document) for entry in part.judge if entry.document is not None)
    ]
    return run_of_judgments(corpus.track, judgments)


def _folds(entries: Sequence[Entry]) -> list[Split]:
    fold = np.random.default_rng(SEED).permutation(len(entries)) % FOLDS
    pairs = list(zip(entries, fold.tolist(), strict=True))
    if len(entries) < FOLDS:
        raise InputError("dialogues-too-few-take", hint="give-least", count=len(entries), folds=FOLDS)
    return [
        Split([entry for entry, f in pairs if f != place], [entry for entry, f in pairs if f == place])
        for place in range(FOLDS)
    ]


def _tracks(entries: Iterable[Entry], data: Path, language: str | None) -> Track:
    """What is scored, or learned from, in one language."""
    found = tracks(gold_of(entries, str(data)))
    if language is None:
        return next(iter(found.values()))
    if language not in found:
        raise UsageError("no-dialogue-judged", hint=did_you_mean(language, list(found)), language=language)
    return found[language]


def _split(entry: Entry) -> str:
    return str(entry.document.metadata.get("split", "")).lower() if entry.document is not None else ""


def _language(entry: Entry) -> str:
    return language_of(entry.document) if entry.document is not None else ""
