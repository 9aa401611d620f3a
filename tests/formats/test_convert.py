"""Conversion owns up to every loss, and on any error leaves things as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from lapsus.errors import InputError, LossError, UsageError
from lapsus.formats import Loss, convert, read
from lapsus.formats.jsonl import Jsonl
from lapsus.formats.sink import MARK
from lapsus.model import Document, Entry, Judgment, Segment

DIALOGUE = Document("d1", (Segment("0", "system", "hello"), Segment("1", "user", "hi")), "en")
LABEL = Judgment("d1", "0", "a", "breakdown", "1", {"breakdown": "T", "comment": "hm"})
TYPES = Judgment("d1", "0", "a", "error-types", "1", {"types": ("repetition",)})
PAIR = Document(
    "p1", (Segment.triple("t1", "Bo", "likes", "Tea"), Segment("text", "text", "Bo likes tea.")), "en"
)


@pytest.fixture
def native(tmp_path: Path) -> Path:
    """A file with a judged dialogue, one without judgments, and a pair of triple and text."""
    path = tmp_path / "in.jsonl"
    bare = Document("d2", DIALOGUE.segments, "en")
    Jsonl().write([Entry("d1", DIALOGUE, (LABEL, TYPES)), Entry("d2", bare), Entry("p1", PAIR)], path)
    return path


def there(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_converted_by_its_path(native: Path) -> None:
    for data, name in ((native, "a.csv"), (str(native), "b.csv"), (read(native), "c.csv")):
        convert(data, native.parent / name, lossy=True)
    assert len({(native.parent / name).read_bytes() for name in ("a.csv", "b.csv", "c.csv")}) == 1


@pytest.mark.parametrize("name", ["out", "out.zip"])
def test_a_severe_loss_is_refused_and_nothing_is_written(native: Path, name: str) -> None:
    with pytest.raises(LossError) as caught:
        convert(read(native), native.parent / name, "dbdc")
    assert str(caught.value).startswith("document 'd1': format 'dbdc' cannot carry")
    assert "judgments under the scheme 'error-types'" in str(caught.value)
    assert "`lossy=True`" in str(caught.value)
    assert "--lossy" in str(caught.value.hint)
    assert there(native.parent) == ["in.jsonl"]


def test_a_loss_late_on_the_way_takes_everything_back(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    Jsonl().write([Entry("d1", DIALOGUE, (LABEL,)), Entry("p1", PAIR)], path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    (tmp_path / "out" / MARK).touch()
    with pytest.raises(LossError, match="document 'p1'"):
        convert(read(path), tmp_path / "out", "dbdc", overwrite=True)
    assert there(tmp_path) == ["in.jsonl", "out"]
    assert there(tmp_path / "out") == [MARK, "mine"]


def test_losses_that_are_allowed_are_counted_and_the_rest_is_carried(native: Path) -> None:
    done = convert(read(native), native.parent / "out", "dbdc", lossy=True)
    assert done.losses == {
        Loss("judgments under the scheme 'error-types'", severe=True): 1,
        Loss("segments that are no turns of a system or a user", severe=True): 1,
    }
    assert (done.documents, done.judgments) == (2, 1)
    assert list(read(native.parent / "out")) == [
        Entry("d1", DIALOGUE, (LABEL,)),
        Entry("d2", Document("d2", DIALOGUE.segments, "en")),
    ]


def test_a_run_takes_the_labels_of_judged_dialogues(native: Path, tmp_path: Path) -> None:
    with pytest.raises(LossError):
        convert(read(native), tmp_path / "out", "dbdc-run")
    convert(read(native), tmp_path / "out", "dbdc-run", lossy=True)
    assert list(read(tmp_path / "out")) == [Entry("d1", None, (LABEL,))]


def test_a_loss_that_is_not_severe_is_only_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    Jsonl().write([Entry("d1", DIALOGUE, (LABEL,))], path)
    done = convert(read(path), tmp_path / "out", "dbdc-run")
    assert done.losses == {Loss("documents (a run holds labels only)"): 1}
    assert list(read(tmp_path / "out")) == [Entry("d1", None, (LABEL,))]


def test_without_losses_nothing_is_reported(native: Path) -> None:
    done = convert(read(native), native.parent / "out.jsonl")
    assert not done.losses
    assert (native.parent / "out.jsonl").read_bytes() == native.read_bytes()


def test_doubled_ids_stop_the_conversion(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / "in" / folder).mkdir(parents=True)
        Jsonl().write([Entry("d1", DIALOGUE, (LABEL,))], tmp_path / "in" / folder / "a.jsonl")
    for name in ("out.jsonl", "out", "out.zip"):
        with pytest.raises(InputError, match="1 ids come twice"):
            convert(read(tmp_path / "in"), tmp_path / name, "jsonl" if name.endswith("jsonl") else "dbdc")
    assert there(tmp_path) == ["in"]


def test_bad_input_late_on_the_way_takes_everything_back(native: Path) -> None:
    with native.open("ab") as stream:
        stream.write(b'{"document": 3}\n')
    with pytest.raises(InputError, match="line 7"):
        convert(read(native), native.parent / "out.jsonl")
    assert there(native.parent) == ["in.jsonl"]


def test_a_file_can_be_converted_onto_itself(native: Path) -> None:
    before = list(read(native))
    convert(read(native), native, overwrite=True)
    assert list(read(native)) == before
    assert there(native.parent) == ["in.jsonl"]


def test_what_is_there_is_kept_without_leave(native: Path) -> None:
    (native.parent / "out.jsonl").write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        convert(read(native), native.parent / "out.jsonl")
    assert (native.parent / "out.jsonl").read_text() == "mine"


def test_an_ending_that_says_nothing_asks_for_a_format(native: Path) -> None:
    with pytest.raises(UsageError, match=r"known endings: .*convert --to"):
        convert(read(native), native.parent / "out.xyz")


def test_progress_is_told_entry_by_entry(native: Path) -> None:
    seen: list[str] = []
    convert(read(native), native.parent / "out.jsonl", progress=lambda entry: seen.append(entry.id))
    assert seen == ["d1", "d2", "p1"]
