"""What a model has said so far is on disk, and stays readable whatever happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from lapsus.annotators.bulk import Journal
from lapsus.errors import InputError
from lapsus.formats import read
from lapsus.model import Judgment


def judgment(segment: str) -> Judgment:
    return Judgment(
        "d", segment, "openai:tiny", "breakdown", "1.0", {"breakdown": "O"}, metadata={"form": "text"}
    )


def test_a_program_that_was_killed_leaves_half_a_line(tmp_path: Path) -> None:
    path = tmp_path / "run.part.jsonl"
    for kept in (judgment("0"), judgment("2")):
        Journal(path).add(kept)
    path.write_bytes(path.read_bytes() + b'{"judgment": {"docu')
    Journal(path).add(judgment("4"))
    assert list(Journal(path).judgments.values()) == [judgment("0"), judgment("2"), judgment("4")]
    assert [found.segment for entry in read(path) for found in entry.judgments] == ["0", "2", "4"]


def test_nothing_is_there_before_the_first_judgment(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.part.jsonl")
    assert not journal.path.exists()
    journal.remove()


def test_a_damaged_journal_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "run.part.jsonl"
    Journal(path).add(judgment("0"))
    path.write_bytes(path.read_bytes() + b"{}\nno\n")
    with pytest.raises(InputError, match="line 4"):
        Journal(path)


def test_what_is_not_wanted_is_passed_over_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "log.answers"
    for kept in (judgment("0"), judgment("2")):
        Journal(path).add(kept)
    some = Journal(path, lambda one: one.segment == "2")
    some.add(judgment("4"))
    assert [one.segment for one in some.judgments.values()] == ["2", "4"]
    assert len(Journal(path).judgments) == 3
