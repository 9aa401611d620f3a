"""Running a challenge: what its organiser and its teams do, on a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from lapsus.analysis.scoring import SHOWN
from lapsus.challenge.board import FIRST, Board, Entrant, check_measure, make_board, neighbours, order
from lapsus.challenge.checking import CheckedRun, check_run, run_of_judgments
from lapsus.challenge.figures import Floors, RunFigures, by_measure, floors, kept_tally, score_run
from lapsus.challenge.testset import Track, given_out, gold_of, read_gold, tracks, unlabelled
from lapsus.errors import UsageError
from lapsus.formats import FORMATS
from lapsus.formats.sink import put_in_place
from lapsus.measures.compare import swap_test
from lapsus.registry import did_you_mean
from lapsus.store.challenge_records import Challenge, ChallengePlan, GoldDocument, NewRun, StoredRun, Team
from lapsus.store.checks import digest_of

if TYPE_CHECKING:
    from lapsus.annotators import Annotator
    from lapsus.store import Store

_FLOORS = msgspec.json.Decoder(dict[str, Floors])
_FIGURES = msgspec.json.Decoder(RunFigures)
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
    with closing(store.export(campaign)) as entries:
        return create_from(store, plan, gold_of(entries, f"campaign {campaign!r}"), by=by)


def create_from(
    store: Store, plan: ChallengePlan, documents: Sequence[GoldDocument], *, by: int | None = None
) -> Challenge:
    """The same, from dialogues that are read already. The floors are worked out once, here."""
    found = {language: floors(track, plan.threshold) for language, track in tracks(documents).items()}
    return store.create_challenge(plan, documents, floors=_text(found), by=by)


def publish(store: Store, name: str, path: Path, *, overwrite: bool = False) -> int:
    """Write the test set without its labels; how many dialogues that are."""
    documents = store.challenge_gold(store.challenge(name).id)
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
    challenge = store.challenge(name)
    checked = check_run(challenge_tracks(store, challenge), path, called)
    return keep_run(store, challenge, checked, team=team.id, run=run, by=by)


def run_here(
    store: Store,
    name: str,
    annotator: Annotator,
    *,
    run: str | None = None,
    language: str | None = None,
    prepare: bool = True,
    by: int | None = None,
) -> list[StoredRun]:
    """Let a detector judge the test set here: of each turn it gets what came before, and never what came after.

    A run a language; with none named, in all that the challenge has.
    """
    challenge = store.challenge(name)
    known = challenge_tracks(store, challenge)
    wanted = known.values() if language is None else [find_track(known, language)]
    checked = [
        run_of_judgments(track, annotator.judge(unlabelled(gold.document) for gold in track.documents))
        for track in wanted
    ]
    return [
        keep_run(store, challenge, found, run=run or annotator.called, prepare=prepare, by=by)
        for found in checked
    ]


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
    kept = store.add_run(challenge.name, new, team=team, by=by)
    if prepare:
        _prepare(store, challenge, kept)
    return kept


def _prepare(store: Store, challenge: Challenge, new: StoredRun) -> None:
    """Compare a new run with its neighbours now, in every order of the board, so that nobody waits later."""
    entrants = [entrant(run) for run in store.challenge_runs(challenge.name) if run.language == new.language]
    wanted = {pair for by in SHOWN for pair in neighbours(order(entrants, by)) if new.id in pair}
    compare_pairs(store, challenge.id, sorted(wanted))


def challenge_tracks(store: Store, challenge: Challenge) -> dict[str, Track]:
    """The test set by language."""
    return tracks(store.challenge_gold(challenge.id))


def find_track(known: Mapping[str, Any], language: str | None) -> Any:
    """What there is for a language; the first where none is named."""
    if language is None:
        return next(iter(known.values()))
    if language not in known:
        raise UsageError(
            f"the challenge has no dialogues in {language!r}", hint=did_you_mean(language, list(known))
        )
    return known[language]


def challenge_floors(challenge: Challenge) -> dict[str, Floors]:
    """The floors, by language: also which languages there are."""
    return _FLOORS.decode(challenge.floors)


def entrant(run: StoredRun) -> Entrant:
    """A kept run as one of a board."""
    return Entrant(run.id, run.team, run.name, run.at, _FIGURES.decode(run.scores))


def challenge_board(
    store: Store,
    challenge: Challenge,
    *,
    language: str | None = None,
    by: str = FIRST,
    runs: Iterable[StoredRun] | None = None,
) -> Board:
    """The leaderboard of one language, of all runs or of some."""
    check_measure(by)
    known = challenge_floors(challenge)
    floor: Floors = find_track(known, language)
    language = language or next(iter(known))
    shown = store.challenge_runs(challenge.name) if runs is None else runs
    return make_board(
        [entrant(run) for run in shown if run.language == language],
        floor,
        lambda pairs: compare_pairs(store, challenge.id, pairs),
        language=language,
        threshold=challenge.plan.threshold,
        by=by,
    )


def compare_pairs(
    store: Store, challenge: int, pairs: Sequence[tuple[int, int]]
) -> dict[tuple[int, int], Mapping[str, float | None]]:
    """The p of each measure for pairs of runs: looked up, or worked out and kept.

    Swapping two runs changes nothing, so a pair is kept one way round.
    """
    kept = store.run_pairs(challenge) if pairs else {}
    missing = sorted({_upright(pair) for pair in pairs} - kept.keys())
    if missing:
        sums = store.run_sums({run for pair in missing for run in pair})
        tallies = {run: kept_tally(np.array(_SUMS.decode(text))) for run, text in sums.items()}
        made = {
            (first, second): _text(swap_test(tallies[first], tallies[second])) for first, second in missing
        }
        store.keep_pairs(challenge, made)
        kept |= made
    return {pair: by_measure(_P.decode(kept[_upright(pair)])) for pair in pairs}


def _upright(pair: tuple[int, int]) -> tuple[int, int]:
    return min(pair), max(pair)


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
