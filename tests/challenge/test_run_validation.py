"""Runs are read with distrust, and told everything that is wrong with them at once."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lapsus.challenge import run_validation
from lapsus.challenge.run_validation import SHOWN, RunError, RunProblem, check_run, problem
from lapsus.challenge.testset import tracks
from tests.challenge.helpers import answers, content, gold_set, label, write_run, write_zip

GOLD = gold_set(3)
TRACKS = tracks(GOLD)


def refused(path: Path, *, languages: Any = TRACKS, called: str | None = None) -> list[RunProblem]:
    with pytest.raises(RunError) as error:
        check_run(languages, path, called)
    assert str(path.parent) not in str(error.value)
    return list(error.value.problems)


def places(problems: list[RunProblem]) -> list[tuple[str, str, str | None]]:
    return [(one.kind, one.file, one.turn) for one in problems]


def test_a_sound_run_is_taken_in_the_order_of_the_test_set(tmp_path: Path) -> None:
    run = answers(GOLD)
    run["en-1"] = list(reversed(run["en-1"]))
    found = check_run(TRACKS, write_run(tmp_path / "run.zip", run))
    # Six scored turns: the second and third system turn of each dialogue.
    assert [str(unit.segment) for unit in found.track.units] == ["2", "4"] * 3
    assert found.labels.tolist() == [1, 2, 2, 0, 0, 1]
    assert found.distributions.tolist() == [[0.6, 0.3, 0.1]] * 6
    assert (found.one_hot, found.out_of_place) == (0, ("en-1",))


def test_turns_that_are_not_scored_need_no_answer(tmp_path: Path) -> None:
    run = {name: turns[1:] for name, turns in answers(GOLD).items()}
    found = check_run(TRACKS, write_run(tmp_path / "run.zip", run))
    assert found.out_of_place == ()


def test_a_folder_is_a_run_too_and_other_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "run" / "Robin").mkdir(parents=True)
    (tmp_path / "run" / "README.txt").write_text("hello")
    for name, turns in answers(GOLD).items():
        (tmp_path / "run" / "Robin" / f"{name}.labels.json").write_bytes(content(name, turns))
    assert len(check_run(TRACKS, tmp_path / "run").labels) == 6


def test_labels_without_distributions_are_certain_ones(tmp_path: Path) -> None:
    run = {name: [(turn, [label("PB", None)]) for turn, _ in turns] for name, turns in answers(GOLD).items()}
    found = check_run(TRACKS, write_run(tmp_path / "run.zip", run))
    assert found.one_hot == 6
    assert np.array_equal(found.distributions, np.tile([0.0, 1.0, 0.0], (6, 1)))


def test_all_faults_are_told_at_once_with_file_and_turn(tmp_path: Path) -> None:
    run = {
        "en-0": [(0, [label()]), (2, [label()]), (2, [label()]), (1, [label()]), (9, [label()])],
        "en-1": [(2, [label("Z")]), (4, [label(shares=(0.5, 0.5, 0.5))])],
        "other": [(0, [label()])],
    }
    again = {"sub/en-1.labels.json": content("en-1", [])}
    assert places(refused(write_run(tmp_path / "run.zip", run, again))) == [
        ("doubled-turn", "en-0.labels.json", "2"),
        ("user-turn", "en-0.labels.json", "1"),
        ("unknown-turn", "en-0.labels.json", "9"),
        ("unknown-label", "en-1.labels.json", "2"),
        ("bad-sum", "en-1.labels.json", "4"),
        ("unknown-dialogue", "other.labels.json", None),
        ("doubled-dialogue", "sub/en-1.labels.json", None),
        ("missing-turn", "en-0.labels.json", "4"),
        ("missing-dialogue", "en-2.labels.json", None),
    ]


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (label(shares=(1.2, -0.2, 0.0)), "bad-probability"),
        (label(shares=(2.0, 0.0, 0.0)), "bad-probability"),
        (label(shares=(0.0, 0.0, 0.0)), "bad-sum"),
        (label(shares=(0.4, 0.6)), "part-of-distribution"),
        (label("o"), "unknown-label"),
        (label(""), "unknown-label"),
    ],
)
def test_bad_answers(tmp_path: Path, given: dict[str, Any], kind: str) -> None:
    run = answers(GOLD)
    run["en-2"][1] = (2, [given])
    assert places(refused(write_run(tmp_path / "run.zip", run))) == [(kind, "en-2.labels.json", "2")]


def test_two_answers_to_one_turn_are_one_too_many(tmp_path: Path) -> None:
    run = answers(GOLD)
    run["en-2"][1] = (2, [label("O"), label("X")])
    (found,) = refused(write_run(tmp_path / "run.zip", run))
    assert str(found) == "en-2.labels.json, turn 2: has 2 answers; one is wanted"
    assert found.text("ja") == "回答が 2 個あります。一つにしてください。"


def test_a_run_is_for_one_language(tmp_path: Path) -> None:
    both = gold_set(2, ("en", "ja"))
    path = write_run(tmp_path / "run.zip", answers(both))
    assert places(refused(path, languages=tracks(both))) == [("two-languages", "run.zip", None)]
    path = write_run(tmp_path / "ja.zip", answers(both[2:]))
    assert check_run(tracks(both), path).track.language == "ja"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b'{"turns": 3}',
        b"\xff\xfe{\x00}\x00",
        b'{"turns": [{"turn-index": 0, "labels": [{"breakdown": "O", "prob-O": 1e999}]}]}',
        b'{"turns": [{"turn-index": 0, "labels": [{"breakdown": "O", "prob-O": NaN}]}]}',
        b'{"turns": [{"turn-index": "zero", "labels": []}]}',
        b'{"turns": ' + b"[" * 200_000,
        b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b', "turns": []}',
        b'{"dialogue-id": "\xed\xa0\x80", "turns": []}',
        b'{"unknown": "\xff", "turns": []}',
    ],
)
def test_files_that_are_no_runs_are_named(tmp_path: Path, data: bytes) -> None:
    path = write_run(tmp_path / "run.zip", answers(GOLD), {"bad/bad.labels.json": data})
    found = refused(path)
    assert [one.file for one in found] == ["bad/bad.labels.json"]
    assert found[0].kind in ("unreadable", "unknown-dialogue")
    # The file of a dialogue that cannot be read is there: nobody is told that it is missing too.
    if found[0].kind == "unreadable":
        others = {name: turns for name, turns in answers(GOLD).items() if name != GOLD[0].document.id}
        more = {f"{GOLD[0].document.id}.labels.json": data}
        assert [one.kind for one in refused(write_run(tmp_path / "b.zip", others, more))] == ["unreadable"]


def test_what_is_no_zip_and_what_is_empty(tmp_path: Path) -> None:
    (tmp_path / "run.zip").write_bytes(b"PK\x03\x04 not really")
    assert places(refused(tmp_path / "run.zip", called="mine.zip")) == [("not-a-run", "mine.zip", None)]
    assert places(refused(write_zip(tmp_path / "b.zip", {"a.txt": b"x"}))) == [("no-files", "b.zip", None)]
    assert places(refused(tmp_path / "nowhere.zip")) == [("not-a-run", "nowhere.zip", None)]


@pytest.mark.parametrize("name", ["../out.labels.json", "/etc/out.labels.json", "C:/out.labels.json"])
def test_names_that_point_outside_are_refused(tmp_path: Path, name: str) -> None:
    found = refused(write_run(tmp_path / "run.zip", answers(GOLD), {name: b"{}"}))
    assert found[-1].kind == "not-a-run"
    assert "points outside" in found[-1].text()


def test_a_zip_that_grows_without_end_is_not_read_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = {f"{number}.labels.json": b" " * 900_000 for number in range(100)}
    path = write_zip(tmp_path / "run.zip", bomb)
    assert path.stat().st_size < 200_000
    assert places(refused(path))[-1] == ("too-large", "run.zip", None)
    path = write_zip(tmp_path / "one.zip", {"a.labels.json": b" " * 30_000_000})
    assert "would grow" in refused(path)[0].text()
    monkeypatch.setattr(run_validation, "MOST_FILES", 2)
    assert places(refused(write_run(tmp_path / "many.zip", answers(GOLD))))[0][0] == "too-many-files"


def test_a_run_that_takes_long_is_not_read_to_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_validation, "SECONDS", 0.0)
    assert ("too-slow", "run.zip", None) in places(refused(write_run(tmp_path / "run.zip", answers(GOLD))))


def test_problems_without_end_are_counted_and_not_kept(tmp_path: Path) -> None:
    """Turns that no dialogue has cost nothing but their number; a file that is too large is named."""
    many = content(GOLD[0].document.id, [(number, [label("O", None)]) for number in range(9, 15_009)])
    large = random.Random(0).randbytes(run_validation.LARGEST_FILE + 1)
    path = write_run(tmp_path / "run.zip", {}, {"many.labels.json": many, "large.labels.json": large})
    with pytest.raises(RunError) as caught:
        check_run(TRACKS, path)
    assert caught.value.count > 15_000
    assert len(caught.value.problems) == 100
    assert ("unreadable", "large.labels.json", None) in places(list(caught.value.problems))


def test_an_encrypted_file_is_named(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run.zip", answers(GOLD))
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        first = archive.infolist()[0]
    data[first.header_offset + 6] |= 1
    central = data.find(b"PK\x01\x02")
    data[central + 8] |= 1
    path.write_bytes(bytes(data))
    assert places(refused(path))[0][:2] == ("unreadable", first.filename)


def test_names_of_strangers_are_made_fit_to_be_shown(tmp_path: Path) -> None:
    found = refused(write_run(tmp_path / "run.zip", answers(GOLD), {"\x1b[2J\u202e.labels.json": b"{}"}))
    assert found[0].file == "\\u{1b}[2J\\u{202e}.labels.json"
    assert len(problem("no-files", "a" * 5000).file) < 300


def test_of_very_many_faults_the_first_are_told(tmp_path: Path) -> None:
    many = gold_set(150)
    run = {name: [(0, [label()])] for name in answers(many)}
    with pytest.raises(RunError, match="for 300 reasons") as error:
        check_run(tracks(many), write_run(tmp_path / "run.zip", run))
    assert len(error.value.problems) == SHOWN
    assert "and 200 more" in str(error.value)
