"""What every format must do. A format that reports no loss gives back exactly what it was given."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lapsus.formats import FORMATS, Format, ReadOptions, Source
from lapsus.model import Entry
from tests import strategies
from tests.formats.refusals import refusal

# Entries that each two-way format is made for; losses are left out in the test itself.
AT_HOME = {
    "jsonl": strategies.mixed_entries,
    "dbdc": strategies.breakdown_entries,
    "dbdc-run": strategies.without_documents(strategies.breakdown_entries),
    "brat": strategies.pair_entries,
    "chat": strategies.bare_dialogues,
    "chat-csv": strategies.bare_dialogues,
    "labelstudio": strategies.later_schemes_entries,
    "csv": strategies.without_documents(strategies.later_schemes_entries),
    "parquet": strategies.without_documents(strategies.later_schemes_entries),
}
TWO_WAY = [kind.name for kind in FORMATS if kind.reads and kind.writes]


def counted(entries: list[Entry]) -> Counter[bytes]:
    """Documents and judgments in an order of their own: formats group judgments as they like."""
    records = [entry.document for entry in entries if entry.document]
    judgments = [judgment for entry in entries for judgment in entry.judgments]
    return Counter(msgspec.json.encode(record, order="deterministic") for record in [*records, *judgments])


def written_and_read(format: Format, entries: list[Entry], folder: Path) -> list[Entry]:
    path = folder / f"out{format.suffix or ''}"
    format.write(iter(entries), path)
    return list(format.read(Source(path), ReadOptions()))


def test_every_two_way_format_is_tested() -> None:
    assert set(TWO_WAY) == set(AT_HOME)


@pytest.mark.parametrize("name", TWO_WAY)
@settings(max_examples=strategies.examples(25), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_reported_as_carried_comes_back(name: str, data: st.DataObject) -> None:
    format = FORMATS.get(name)()
    entries = data.draw(st.lists(AT_HOME[name], min_size=1, max_size=3, unique_by=lambda entry: entry.id))
    carried = [entry for entry in entries if not list(format.losses(entry))]
    if not carried:
        return
    with tempfile.TemporaryDirectory() as folder:
        back = written_and_read(format, carried, Path(folder))
    assert counted(back) == counted(carried)


@pytest.mark.parametrize("name", TWO_WAY)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_it_writes_it_alone_recognises(name: str, data: st.DataObject) -> None:
    format = FORMATS.get(name)()
    entry = data.draw(AT_HOME[name])
    if list(format.losses(entry)):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"out{format.suffix or ''}"
        format.write([entry], path)
        recognised = [kind.name for kind in FORMATS if kind.reads and kind().recognises(Source(path))]
    assert recognised == [name]


@pytest.mark.parametrize("name", [kind.name for kind in FORMATS if kind.reads])
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(content=st.one_of(st.binary(max_size=200), strategies.json_values.map(msgspec.json.encode)))
def test_bad_input_is_an_error_of_ours(name: str, content: bytes) -> None:
    """Whatever a file holds, it is read, or refused with a word on where."""
    kind = FORMATS.get(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{ENDINGS.get(name, kind.suffix or '')}"
        path.write_bytes(content)
        error = refusal(lambda: kind().read(Source(path), ReadOptions()))
        assert error is None or error.where


ENDINGS = {
    "dbdc": ".log.json",
    "dbdc-run": ".labels.json",
    "webnlg": ".xml",
    "brat": ".ann",
    "dbrc": ".jsonl",
    **dict.fromkeys(
        ("otel", "openinference", "langfuse", "langsmith", "rasa", "dialogflow-cx", "botpress"), ".jsonl"
    ),
}
