"""The functions of `lapsus`: a path, entries in memory and a long table give the same; hints speak Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from arro3.io import read_parquet

import lapsus
from lapsus.errors import LapsusError, UsageError
from lapsus.model import Entry
from lapsus.samples import sample_path

SAMPLE = sample_path("dialogues-en")


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return list(lapsus.read(SAMPLE))


def test_agreement_and_gold_of_a_path_of_entries_and_of_a_table(entries: list[Entry], tmp_path: Path) -> None:
    lapsus.convert(entries, tmp_path / "votes.parquet", lossy=True)
    table = read_parquet(tmp_path / "votes.parquet").read_all()
    columns = {name: table.column(name).to_pylist() for name in table.column_names}

    class Frame:
        """What pandas offers without pyarrow."""

        columns = property(lambda self: list(columns))

        def to_dict(self, orient: str) -> dict[str, list[object]]:
            assert orient == "list"
            return {name: list(cells) for name, cells in columns.items()}

    rows = [
        str(lapsus.agree(data, scheme="breakdown", bootstrap=None)).split("fleiss", 1)[1].split()
        for data in (SAMPLE, entries, iter(entries), table, Frame())
    ]
    assert all(row == rows[0] for row in rows)
    assert lapsus.gold(entries, scheme="breakdown").keys() == lapsus.gold(table, scheme="breakdown").keys()


def test_what_is_no_data_is_told() -> None:
    for data in (3, [3]):
        with pytest.raises(UsageError, match=r"give a path, entries .* or a table"):
            lapsus.agree(data)
    with pytest.raises(UsageError, match="neither a format nor files"):
        lapsus.read([], only="*.json")


def test_hints_speak_python(entries: list[Entry]) -> None:
    with pytest.raises(LapsusError) as caught:
        lapsus.agree(entries)
    assert "say which with `scheme=`" in str(caught.value)
    assert caught.value.hint == "say which with --scheme"
    told = UsageError("no model", hint="`lapsus train judge DATA -o M` makes one; --lang en, --with MODEL")
    assert str(told) == "no model (`lapsus.train(…)` makes one; `language=` en, `model=`)"


def test_a_keyword_that_nothing_takes_is_refused(entries: list[Entry], tmp_path: Path) -> None:
    calls: dict[str, Callable[..., object]] = {
        "check": lambda **asking: lapsus.check(entries, **asking),
        "detect": lambda **asking: lapsus.detect(entries, model="openai:m", **asking),
        "stress": lambda **asking: lapsus.stress(entries, ["openai:m"], **asking),
        "align": lambda **asking: lapsus.align(entries, "openai:m", scheme="breakdown", **asking),
        "watch": lambda **asking: lapsus.watch(entries, tmp_path / "state", **asking),
    }
    for name, call in calls.items():
        with pytest.raises(
            UsageError, match=rf"'sampels' is no parameter of '{name}' \(did you mean 'samples'"
        ):
            call(sampels=None)
