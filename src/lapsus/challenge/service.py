"""Running a challenge: what its organiser and its teams do, on a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from lapsus.analysis.scores import SHOWN
from lapsus.challenge.feedback import coarse_figures, secret_shift
from lapsus.challenge.leaderboard import (
    FIRST,
    Entrant,
    Leaderboard,
    check_measure,
    make_board,
    neighbours,
    order,
)
from lapsus.challenge.paper_tables import Scored
from lapsus.challenge.run_scores import (
    Answers,
    Floors,
    RunScores,
    ScoredRun,
    floors,
    kept_tally,
    score_run,
)
from lapsus.challenge.run_validation import CheckedRun, check_run, run_of_judgments
from lapsus.challenge.testset import SCHEME, Track, given_out, gold_of, read_gold, tracks, unlabelled
from lapsus.errors import UsageError
from lapsus.formats import FORMATS
from lapsus.formats.sink import put_in_place
from lapsus.measures.comparison import swap_test
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES
from lapsus.measures.scores.breakdown_labels import LABELS, Rule
from lapsus.model import Judgment, Unit
from lapsus.notices import Notice, as_text
from lapsus.registry import did_you_mean
from lapsus.schemes import load_scheme
from lapsus.store.challenge_records import Challenge, ChallengePlan, GoldDocument, NewRun, StoredRun, Team
from lapsus.store.records import StoreError
from lapsus.store.validation import digest_of

if TYPE_CHECKING:
    from lapsus.annotators import Annotator
    from lapsus.annotators.bulk import Kept
    from lapsus.store import Store

_FLOORS = msgspec.json.Decoder(dict[str, Floors])
_FIGURES = msgspec.json.Decoder(RunScores)
_ANSWERS = msgspec.json.Decoder(Answers)
_SUMS = msgspec.json.Decoder(list[list[float]])
_P = msgspec.json.Decoder(list[float | None])


def create(
    store: Store,
    plan: ChallengePlan,
    data: Path | str,
    *,
    only: str | None = None,
    language: str | None = None,
    by: int | None = None,
) -> Challenge:
    """Make a challenge from dialogues with votes."""
    return create_from(store, plan, read_gold(data, only=only, language=language), by=by)


def create_from_campaign(
    store: Store, plan: ChallengePlan, campaign: str, *, by: int | None = None
) -> Challenge:
    """Make a challenge from what people have said so far in a campaign. What they say later changes nothing."""
    with closing(store.exports.export(campaign)) as entries:
        return create_from(store, plan, gold_of(entries, Notice("campaign", campaign=campaign)), by=by)


def create_from(
    store: Store, plan: ChallengePlan, documents: Sequence[GoldDocument], *, by: int | None = None
) -> Challenge:
    """The same, from dialogues that are read already. The floors are worked out once, here."""
    found = {language: floors(track, plan.threshold) for language, track in tracks(documents).items()}
    return store.challenges.create(plan, documents, floors=_text(found), by=by)


def publish(store: Store, name: str, path: Path, *, overwrite: bool = False) -> int:
    """Write the test set without its labels; how many dialogues that are."""
    documents = store.challenges.gold(store.challenges.get(name).id)
    with put_in_place(path, overwrite=overwrite) as draft:
        FORMATS.get("dbdc")().write(given_out(documents), draft)
    return len(documents)


def submit(
    store: Store,
    name: str,
    path: Path,
    team: Team,
    *,
    run: str | None = None,
    called: str | None = None,
    by: int | None = None,
) -> StoredRun:
    """Check, score and keep a team's run: all of it, or nothing and every reason why not."""
    challenge = store.challenges.get(name)
    checked = check_run(challenge_tracks(store, challenge), path, called)
    return keep_run(store, challenge, checked, team=team.id, run=run, by=by)


def run_here(
    store: Store,
    name: str,
    *annotators: Annotator,
    run: str | None = None,
    language: str | None = None,
    prepare: bool = True,
    by: int | None = None,
    kept: Callable[[Annotator], Kept | None] = lambda annotator: None,
) -> list[StoredRun]:
    """Let programs judge the test set here: of each turn they get what came before, and never what came after.

    A run a program and language, with none named in all that the challenge has; of several programs one more of all as
    a jury. There is no run of any where one of them cannot judge to the end; `kept` says where answers are kept
    meanwhile.
    """
    from lapsus.annotators.judges import JURY, jury_of

    scheme = load_scheme(SCHEME)
    for annotator in annotators:
        annotator.must_judge_under(scheme)
    challenge = store.challenges.get(name)
    wanted = _wanted_tracks(store, challenge, language)
    judged = [[_judged(track, annotator, kept(annotator)) for annotator in annotators] for track in wanted]
    checked: list[tuple[str, CheckedRun]] = []
    for track, said in zip(wanted, judged, strict=True):
        own = run if len(annotators) == 1 else None
        checked += [
            (own or annotator.name, run_of_judgments(track, judgments))
            for annotator, judgments in zip(annotators, said, strict=True)
        ]
        if len(annotators) > 1:
            together = jury_of([judgment for judgments in said for judgment in judgments], scheme)
            checked.append((run or JURY, run_of_judgments(track, together)))
    return [
        keep_run(store, challenge, found, run=called, prepare=prepare, by=by) for called, found in checked
    ]


def trained_for(store: Store, name: str, method: str, data: Path, only: str | None = None) -> Annotator:
    """A method trained for a challenge: one that learns from gold labels learns them at the challenge's threshold."""
    from lapsus.annotators import METHODS, train

    threshold = store.challenges.get(name).plan.threshold
    settings: dict[str, Any] = {"t": threshold} if "t" in METHODS.get(method).defaults() else {}
    return train(method, data, scheme=SCHEME, only=only, **settings)


def turns_to_judge(store: Store, name: str, language: str | None = None) -> Iterator[Unit]:
    """The turns that a program is asked about: all of the system, scored or not."""
    from lapsus.annotators.cases import cases_of

    scheme = load_scheme(SCHEME)
    for track in _wanted_tracks(store, store.challenges.get(name), language):
        for gold in track.documents:
            yield from (case.unit for case in cases_of(unlabelled(gold.document), scheme))


def _wanted_tracks(store: Store, challenge: Challenge, language: str | None) -> list[Track]:
    known = challenge_tracks(store, challenge)
    return list(known.values()) if language is None else [find_track(known, language)]


def _judged(track: Track, annotator: Annotator, kept: Kept | None) -> list[Judgment]:
    from lapsus.annotators.bulk import Run

    assigned = ((annotator, unlabelled(gold.document)) for gold in track.documents)
    return [judgment for entry in Run(kept=kept).entries(assigned) for judgment in entry.judgments]


def keep_run(
    store: Store,
    challenge: Challenge,
    checked: CheckedRun,
    *,
    team: int | None = None,
    run: str | None = None,
    prepare: bool = True,
    by: int | None = None,
) -> StoredRun:
    """Score and keep a run that is known to be sound.

    `prepare` compares it with its neighbours at once; otherwise whoever looks at the board first waits for that.
    """
    scored = score_run(checked, challenge.plan.threshold)
    answers, language = _text(scored.answers), checked.track.language
    new = NewRun(
        language=language,
        digest=digest_of(language, answers),
        answers=answers,
        sums=_text(scored.sums.tolist()),
        scores=_text(scored.figures),
        name=run,
    )
    kept = store.challenges.add_run(challenge.name, new, team=team, by=by)
    if prepare:
        _prepare(store, challenge, kept)
    return kept


def _prepare(store: Store, challenge: Challenge, new: StoredRun) -> None:
    """Compare a new run with its neighbours now, in every order of the board, so that nobody waits later."""
    entrants = [entrant(run) for run in store.challenges.runs(challenge.name) if run.language == new.language]
    wanted = {pair for by in SHOWN for pair in neighbours(order(entrants, by)) if new.id in pair}
    compare_pairs(store, challenge.id, sorted(wanted))


def challenge_tracks(store: Store, challenge: Challenge) -> dict[str, Track]:
    """The test set by language."""
    return tracks(store.challenges.gold(challenge.id))


def find_track(known: Mapping[str, Any], language: str | None) -> Any:
    """What there is for a language; the first where none is named."""
    if language is None:
        return next(iter(known.values()))
    if language not in known:
        raise UsageError(
            "challenge-no-dialogues", hint=did_you_mean(language, list(known)), language=language
        )
    return known[language]


def challenge_floors(challenge: Challenge) -> dict[str, Floors]:
    """The floors, by language: also which languages there are."""
    return _FLOORS.decode(challenge.floors)


def entrant(run: StoredRun) -> Entrant:
    """A kept run as one of a board."""
    return Entrant(run.id, run.team, run.name, run.at, _FIGURES.decode(run.scores))


def scored_at(
    store: Store, challenge: Challenge, track: Track, threshold: float, rule: Rule = "program"
) -> Scored:
    """The runs and floors of one language at a threshold: as they are kept at the challenge's own, else scored anew."""
    runs = [run for run in store.challenges.runs(challenge.name) if run.language == track.language]
    if threshold == challenge.plan.threshold and rule == "program":
        return Scored(
            threshold, [entrant(run) for run in runs], find_track(challenge_floors(challenge), track.language)
        )
    found = []
    for run in runs:
        kept, answers = entrant(run), _ANSWERS.decode(store.challenges.run_answers(run.id))
        labels = np.array([LABELS.index(label) for label in answers.labels], dtype=np.int8)
        checked = CheckedRun(track, labels, np.array(answers.shares), kept.figures.one_hot)
        found.append(msgspec.structs.replace(kept, figures=score_run(checked, threshold, rule=rule).figures))
    return Scored(threshold, found, floors(track, threshold, rule=rule), rule)


def challenge_board(
    store: Store,
    challenge: Challenge,
    *,
    language: str | None = None,
    by: str = FIRST,
    runs: Iterable[StoredRun] | None = None,
) -> Leaderboard:
    """The leaderboard of one language, of all runs or of some."""
    check_measure(by)
    known = challenge_floors(challenge)
    floor: Floors = find_track(known, language)
    language = language or next(iter(known))
    shown = store.challenges.runs(challenge.name) if runs is None else runs
    return make_board(
        [entrant(run) for run in shown if run.language == language],
        floor,
        lambda pairs: compare_pairs(store, challenge.id, pairs),
        language=language,
        threshold=challenge.plan.threshold,
        by=by,
    )


def coarse_runs(store: Store, challenge: Challenge, runs: Sequence[StoredRun]) -> dict[int, RunScores]:
    """What a team may see of its own runs before the reveal, by run. `runs` are all it has, the first one first."""
    sums = store.challenges.run_sums(run.id for run in runs)
    found: dict[int, RunScores] = {}
    for language in dict.fromkeys(run.language for run in runs):
        mine = [run for run in runs if run.language == language]
        kept = [
            ScoredRun(
                _ANSWERS.decode(store.challenges.run_answers(run.id)),
                np.array(_SUMS.decode(sums[run.id])),
                _FIGURES.decode(run.scores),
            )
            for run in mine
        ]
        shown = coarse_figures(kept, secret_shift(store.access.secret("feedback"), challenge.id, language))
        found |= {run.id: figures for run, figures in zip(mine, shown, strict=True) if figures is not None}
    return found


def coarse_board(
    challenge: Challenge, runs: Iterable[StoredRun], shown: Mapping[int, RunScores], language: str, by: str
) -> Leaderboard:
    """A team's own runs by their coarse scores: in their order, and with nothing else that votes went into."""
    entrants = [
        msgspec.structs.replace(entrant(run), figures=shown[run.id])
        for run in runs
        if run.language == language and run.id in shown
    ]
    floor: Floors = find_track(challenge_floors(challenge), language)
    board = make_board(
        entrants, floor, lambda pairs: {}, language=language, threshold=challenge.plan.threshold, by=by
    )
    return msgspec.structs.replace(board, floors={}, test="")


def compare_pairs(
    store: Store, challenge: int, pairs: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], Mapping[str, float | None]]:
    """The p of each measure for pairs of runs: looked up, or worked out and kept.

    Swapping two runs changes nothing, so a pair is kept one way round.
    """
    kept = store.challenges.run_pairs(challenge) if pairs else {}
    missing = sorted({_upright(pair) for pair in pairs} - kept.keys())
    if missing:
        sums = store.challenges.run_sums({run for pair in missing for run in pair})
        tallies = {run: kept_tally(np.array(_SUMS.decode(text))) for run, text in sums.items()}
        made = {
            (first, second): _text(swap_test(tallies[first], tallies[second])) for first, second in missing
        }
        with suppress(StoreError):  # where nothing can be kept, it is worked out again at the next look
            store.challenges.keep_pairs(challenge, made)
        kept |= made
    return {
        pair: dict(zip(BREAKDOWN_MEASURES, _P.decode(kept[_upright(pair)]), strict=True)) for pair in pairs
    }


def _upright(pair: tuple[int, int]) -> tuple[int, int]:
    return min(pair), max(pair)


def _text(value: Any) -> str:
    return msgspec.json.encode(value, enc_hook=as_text).decode()
