"""A challenge from its test set to its board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from lapsus.analysis.scores import score
from lapsus.annotators.breakdown import BreakdownAnnotator
from lapsus.challenge import service
from lapsus.challenge.run_validation import RunError
from lapsus.challenge.service import (
    challenge_board,
    compare_pairs,
    create,
    create_from,
    publish,
    run_here,
    submit,
)
from lapsus.challenge.testset import read_gold
from lapsus.errors import InputError, UsageError
from lapsus.formats import FORMATS, read
from lapsus.model import Entry, Judgment, Unit
from lapsus.store import RefusedError, Store, open_store
from lapsus.store.challenge_records import ChallengePlan
from tests.challenge.helpers import answers, gold_set, write_run

GOLD = gold_set(6)


class Spy(BreakdownAnnotator):
    """Remembers what it was shown."""

    method = "spy"
    title = "for tests"
    needs_fit = False

    def __init__(self) -> None:
        super().__init__()
        self.units: list[Unit] = []

    def _fit(self, examples: Any, progress: Any) -> None:
        raise NotImplementedError

    def _distributions(self, units: Sequence[Unit]) -> NDArray[Any]:
        self.units += units
        return np.tile([0.2, 0.3, 0.5], (len(units), 1))

    def _state(self) -> Any:
        raise NotImplementedError

    def _restore(self, state: Any) -> None:
        raise NotImplementedError


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


def corpus(path: Path) -> Path:
    """The test set as a file of judged dialogues."""
    entries = []
    for gold in GOLD:
        judgments = tuple(
            Judgment(gold.document.id, turn, f"a{place}", "breakdown", "1", {"breakdown": label})
            for turn, counts in gold.votes.items()
            for place, label in enumerate("O" * counts[0] + "T" * counts[1] + "X" * counts[2])
        )
        entries.append(Entry(gold.document.id, gold.document, judgments))
    FORMATS.get("jsonl")().write(entries, path)
    return path


def test_a_test_set_is_read_with_its_votes_and_given_out_without(store: Store, tmp_path: Path) -> None:
    data = corpus(tmp_path / "gold.jsonl")
    assert read_gold(data) == GOLD
    create(store, ChallengePlan("c"), data)
    assert publish(store, "c", tmp_path / "out.zip") == 6
    entries = list(read(tmp_path / "out.zip"))
    assert [entry.judgments for entry in entries] == [()] * 6
    for entry, gold in zip(sorted(entries, key=lambda entry: entry.id), GOLD, strict=True):
        assert entry.document is not None
        assert [s.text for s in entry.document.segments] == [s.text for s in gold.document.segments]
        # What else was known of the dialogue might give the answers away.
        assert dict(entry.document.metadata) == {"system": gold.document.system}
    publish(store, "c", tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "out.zip").read_bytes()


def test_labels_alone_and_dialogues_alone_are_no_test_set(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no dialogues in it"):
        read_gold(write_run(tmp_path / "run.zip", answers(GOLD)))
    FORMATS.get("jsonl")().write([Entry("en-0", GOLD[0].document, ())], tmp_path / "bare.jsonl")
    with pytest.raises(InputError, match="nothing in it is judged"):
        read_gold(tmp_path / "bare.jsonl")


def test_a_runs_scores_are_those_of_the_score_command(store: Store, tmp_path: Path) -> None:
    data, run = corpus(tmp_path / "gold.jsonl"), write_run(tmp_path / "run.zip", answers(GOLD, 1))
    challenge = create(store, ChallengePlan("c", threshold=0.5), data)
    store.challenges.add_team("c", "Kite")
    submit(store, "c", run, store.challenges.team_named("c", "Kite"))
    (row,) = challenge_board(store, challenge).rows
    expected = score(data, run, threshold=0.5).data["runs"][0]
    for name, figure in row.values.items():
        assert figure.value == expected["scores"][name]
        assert [figure.low, figure.high] == expected["intervals"][name]


def test_a_broken_run_leaves_nothing_behind(store: Store, tmp_path: Path) -> None:
    create_from(store, ChallengePlan("c"), GOLD)
    store.challenges.add_team("c", "Kite")
    run = answers(GOLD)
    del run["en-3"]
    with pytest.raises(RunError, match=r"en-3\.labels\.json: is missing"):
        submit(store, "c", write_run(tmp_path / "run.zip", run), store.challenges.team_named("c", "Kite"))
    assert store.challenges.runs("c") == []


def test_a_detector_that_runs_here_sees_nothing_of_what_came_after(store: Store) -> None:
    create_from(store, ChallengePlan("c"), GOLD)
    spy = Spy()
    (run,) = run_here(store, "c", spy)
    assert (run.team, run.name, run.language) == (None, "spy", "en")
    assert len(spy.units) == 18
    for unit in spy.units:
        assert unit.target is not None
        place = int(unit.target.id)
        assert [int(segment.id) for segment in unit.context] == list(range(place))
        assert all(not segment.metadata for segment in unit.visible)
    with pytest.raises(RefusedError, match="same answers"):
        run_here(store, "c", spy)


def test_every_language_has_a_board_of_its_own(store: Store) -> None:
    challenge = create_from(store, ChallengePlan("c"), gold_set(3, ("en", "ja")))
    assert [run.language for run in run_here(store, "c", Spy())] == ["en", "ja"]
    for language in ("en", "ja"):
        board = challenge_board(store, challenge, language=language)
        assert (board.language, len(board.rows), board.rows[0].n) == (language, 1, 6)
    with pytest.raises(UsageError, match="no dialogues in 'de'"):
        challenge_board(store, challenge, language="de")


def test_neighbours_are_compared_once_and_kept(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    challenge = create_from(store, ChallengePlan("c", runs=5), GOLD)
    store.challenges.add_team("c", "Kite")
    team = store.challenges.team_named("c", "Kite")
    for shift in range(3):
        submit(store, "c", write_run(tmp_path / f"{shift}.zip", answers(GOLD, shift)), team)
    before = [challenge_board(store, challenge, by=by) for by in ("accuracy", "f1_b", "jsd")]
    assert all(row.p for board in before for row in board.rows[:-1])

    def never(*_: Any) -> None:
        raise AssertionError("worked out again")

    monkeypatch.setattr(service, "swap_test", never)
    assert [challenge_board(store, challenge, by=by) for by in ("accuracy", "f1_b", "jsd")] == before
    first, second, _ = (run.id for run in store.challenges.runs("c"))
    there, back = (compare_pairs(store, challenge.id, [pair]) for pair in ((first, second), (second, first)))
    assert list(there.values()) == list(back.values())
    assert msgspec.json.decode(store.challenges.run_pairs(challenge.id)[first, second])
