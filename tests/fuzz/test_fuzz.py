"""A short fuzzing of everything that reads files of strangers; `make fuzz` does more."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest

from lapsus.formats import FORMATS
from tests.fuzz.fuzzing import fuzz
from tests.fuzz.mutations import mutated
from tests.fuzz.targets import targets

SLOW_ONES = {"read parquet"}
"""Each input costs a process there."""


def test_every_reader_is_fuzzed() -> None:
    assert {f"read {kind.name}" for kind in FORMATS if kind.reads} <= targets().keys()


@pytest.mark.fuzz
@pytest.mark.parametrize("name", list(targets()))
def test_nothing_escapes(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    outcome = fuzz(name, 0.4, seed=1, keep=None, most=2 if name in SLOW_ONES else 40)
    assert outcome.escapes == []
    assert outcome.inputs
    assert capfd.readouterr().err == ""


def test_mutations_are_many_and_the_same_with_the_same_seed(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", '{"a": [1, 2]}')
    for content in (path.read_bytes(), b'{"a": [1, {"b": null}]}', b"plain text"):
        first, again = ([mutated(content, random.Random(n)) for n in range(100)] for _ in range(2))
        assert first == again
        assert len(set(first)) > 50
