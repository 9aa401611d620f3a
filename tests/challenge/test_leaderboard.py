"""The board says what `lapsus score` and `lapsus compare` say, and keeps what it worked out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec
import numpy as np
import pytest

from lapsus.analysis.scores import SHOWN
from lapsus.challenge.leaderboard import Entrant, board_table, make_board, order
from lapsus.challenge.run_scores import RunScores, ScoredRun, ScoreValue, floors, kept_tally, score_run
from lapsus.challenge.run_validation import CheckedRun
from lapsus.challenge.testset import Track
from lapsus.errors import UsageError
from lapsus.measures.bootstrap import Bootstrap
from lapsus.measures.comparison import compare_runs, holm, swap_test
from lapsus.measures.scores.breakdown import BREAKDOWN_MEASURES, breakdown_scores, constant_floor, half_floor
from tests.challenge.helpers import track

FEW = Bootstrap(200)
TRACK = track(8)
Pairs = Mapping[tuple[int, int], Mapping[str, float | None]]


def run(seed: int, known: float = 0.5) -> CheckedRun:
    """A run that knows something of the votes."""
    generator = np.random.default_rng(seed)
    shares = TRACK.counts / TRACK.counts.sum(axis=1, keepdims=True)
    mixed = known * shares + (1 - known) * generator.dirichlet(np.ones(3), len(shares))
    return CheckedRun(TRACK, mixed.argmax(axis=1).astype(np.int8), mixed, 0)


def entrant(id: int, scored: ScoredRun, team: str | None = "Kite") -> Entrant:
    return Entrant(id, team, f"run{id}", datetime(2026, 3, 1, tzinfo=UTC), scored.figures)


def no_pairs(pairs: Sequence[tuple[int, int]]) -> Pairs:
    return {pair: dict.fromkeys(SHOWN) for pair in pairs}


def test_scores_are_those_of_the_measures() -> None:
    checked = run(1)
    found = score_run(checked, 0.5, FEW).figures
    expected = breakdown_scores(
        TRACK.counts, checked.labels, checked.distributions, TRACK.groups, t=0.5, bootstrap=FEW
    )
    for name, score in expected.items():
        assert score.interval is not None
        assert found.all.values[name] == ScoreValue(score.value, *score.interval)
    assert found.all.signature == expected["accuracy"].signature
    assert set(found.systems) == {"Robin", "Wren"}
    # Both systems together have all turns, and their accuracies average to the whole's.
    accuracy = [(part.n, part.values["accuracy"].value or 0) for part in found.systems.values()]
    whole = found.all.values["accuracy"].value
    assert sum(n for n, _ in accuracy) == found.all.n
    assert sum(n * value for n, value in accuracy) / found.all.n == pytest.approx(whole)


def test_kept_scores_are_read_back_as_they_were() -> None:
    found = score_run(run(1), 0.0, FEW).figures
    assert msgspec.json.decode(msgspec.json.encode(found), type=RunScores) == found


def test_floors_are_those_of_the_measures() -> None:
    found = floors(TRACK, 0.5, FEW)
    prior = constant_floor(TRACK.counts, TRACK.groups, t=0.5, bootstrap=FEW)
    halves = half_floor(TRACK.counts, TRACK.groups, t=0.5, bootstrap=FEW)
    assert found.prior.values["jsd"].value == prior["jsd"].value
    assert found.halves.values["f1_pb_b"].value == halves["f1_pb_b"].value
    assert "floor:halves" in found.halves.signature


def test_single_votes_have_no_halves() -> None:
    lone = Track("en", tuple(msgspec.structs.replace(g, votes={"2": (1, 0, 0)}) for g in TRACK.documents))
    found = floors(lone, 0.0, FEW)
    assert found.halves.n == 0
    assert found.halves.values["accuracy"].value is None
    assert found.prior.values["accuracy"].value == 1.0


def test_the_kept_sums_give_the_p_values_of_a_comparison() -> None:
    first, second = (score_run(run(seed, known), 0.0, FEW) for seed, known in ((1, 0.9), (2, 0.2)))
    tallies = {"a": kept_tally(first.sums), "b": kept_tally(second.sums)}
    bootstrap = Bootstrap(500, seed=3)
    (compared,) = compare_runs(tallies, bootstrap=bootstrap)
    assert swap_test(tallies["a"], tallies["b"], bootstrap) == [found.p for found in compared.differences]
    backwards = swap_test(tallies["b"], tallies["a"], bootstrap)
    assert backwards == swap_test(tallies["a"], tallies["b"], bootstrap)


def test_the_best_comes_first_whichever_way_a_measure_goes() -> None:
    entrants = [
        entrant(number, score_run(run(number, known), 0.0, FEW)) for number, known in ((1, 0.2), (2, 0.95))
    ]
    for by in ("accuracy", "jsd"):
        assert [one.id for one in order(entrants, by)] == [2, 1]


def test_equals_share_a_place() -> None:
    good, poor = score_run(run(1, 0.95), 0.0, FEW), score_run(run(2, 0.0), 0.0, FEW)
    entrants = [entrant(1, poor), entrant(2, good), entrant(3, good), entrant(4, poor)]
    board = make_board(entrants, floors(TRACK, 0.0, FEW), no_pairs, language="en", threshold=0.0)
    assert [(row.place, row.run) for row in board.rows] == [(1, 2), (1, 3), (3, 1), (3, 4)]


def test_p_values_of_neighbours_are_adjusted_for_their_number() -> None:
    entrants = [entrant(number, score_run(run(number, number / 4), 0.0, FEW)) for number in (1, 2, 3)]
    given = {"jsd": [0.004, 0.03], "accuracy": [0.0001, None]}
    asked = []

    def compare(pairs: Sequence[tuple[int, int]]) -> Pairs:
        asked.extend(pairs)
        return {
            pair: dict.fromkeys(SHOWN) | {name: p[place] for name, p in given.items()}
            for place, pair in enumerate(pairs)
        }

    board = make_board(entrants, floors(TRACK, 0.0, FEW), compare, language="en", threshold=0.0, by="jsd")
    rows = board.rows
    assert asked == [(rows[0].run, rows[1].run), (rows[1].run, rows[2].run)]
    found = [rows[0].p, rows[1].p]
    assert [p["jsd"] for p in found if p] == holm([0.004, 0.03]) == [0.008, 0.03]
    # One pair is undefined by accuracy, so there is one to adjust for.
    assert [p["accuracy"] for p in found if p] == [0.0001, None]
    assert rows[0].marks == {"jsd": "**", "accuracy": "***"}
    assert rows[1].marks == {"jsd": "*"}
    assert (rows[2].p, rows[2].marks) == (None, {})
    text = board_table(board).to_text()
    assert f"{rows[0].values['jsd'].value:.3f}".removeprefix("0") + "**" in text
    assert "(half against half)" in text


def test_an_empty_board_has_its_floors() -> None:
    board = make_board([], floors(TRACK, 0.0, FEW), no_pairs, language="en", threshold=0.0)
    assert board.rows == ()
    assert set(board.floors) == {"prior", "halves"}


def test_a_board_is_ordered_by_measures_that_there_are() -> None:
    with pytest.raises(UsageError, match="cannot be ordered by 'jsdd'"):
        make_board([], floors(TRACK, 0.0, FEW), no_pairs, language="en", threshold=0.0, by="jsdd")
    assert set(SHOWN) <= set(BREAKDOWN_MEASURES)
