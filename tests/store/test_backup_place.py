"""Dated backups in a folder and in S3, by hand and on a schedule."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zipfile import ZipFile

import pytest
from typer.testing import CliRunner

from lapsus.cli.app import app
from lapsus.errors import LapsusError, UsageError
from lapsus.store import open_store
from lapsus.store.backup_place import BackupPlace, BackupSchedule

_S3 = """
from moto.server import ThreadedMotoServer
import boto3, time
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
host, port = server.get_host_and_port()
boto3.client("s3", endpoint_url=f"http://{host}:{port}").create_bucket(Bucket="ours")
print(port, flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket of an S3 that runs on this machine."""
    keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_DEFAULT_REGION": "us-east-1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in keys.items():
            patch.setenv(name, value)
        command = [sys.executable, "-W", "ignore", "-c", _S3]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            assert process.stdout is not None
            patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{process.stdout.readline().strip()}")
            yield "s3://ours/lapsus"
            process.kill()


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.mark.parametrize("where", ["folder", "bucket"])
def test_backups_are_made_when_it_is_time_and_the_oldest_go(
    where: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address = str(tmp_path / "kept") if where == "folder" else request.getfixturevalue("bucket")
    place, clock = BackupPlace(address), Clock()
    with open_store(tmp_path / "a.sqlite", clock=clock) as store:
        store.people.add("Ada")
        schedule = BackupSchedule(store, place, timedelta(hours=6), keep=3)
        assert place.names() == []
        for hours in range(0, 48, 2):
            clock.now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hours)
            assert schedule.step() == pytest.approx(3600 * (6 - hours % 6))
            assert schedule.trouble is None
        # A second server that shares the place finds that it was done.
        assert BackupSchedule(store, BackupPlace(address), timedelta(hours=6), 3).step() < 6 * 3600
    assert place.names() == [f"lapsus-20260102T{hour:02}0000Z.zip" for hour in (6, 12, 18)]
    assert place.newest(datetime(2027, 1, 1, tzinfo=UTC)) == datetime(2026, 1, 2, 18, tzinfo=UTC)
    command = ["restore", f"{address}/{place.names()[-1]}", "--db", str(tmp_path / "b.sqlite")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    gone = CliRunner().invoke(app, ["restore", f"{address}/none.zip", "--db", str(tmp_path / "c.sqlite")])
    assert isinstance(gone.exception, LapsusError)
    assert not (tmp_path / "c.sqlite").exists()
    with open_store(tmp_path / "b.sqlite") as store:
        assert [person.name for person in store.people.all()] == ["Ada"]


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    for name in ("lapsus-mine.zip", "photo.jpg", "lapsus-20250101T000000Z.zip.part"):
        (kept / name).write_text("not yours")
    with open_store(tmp_path / "a.sqlite") as store:
        BackupPlace(str(kept)).put(store, keep=1)
    assert len(list(kept.iterdir())) == 4


def test_trouble_is_told_and_tried_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with open_store(tmp_path / "a.sqlite") as store:
        schedule = BackupSchedule(
            store, BackupPlace(str(tmp_path / "file" / "below")), timedelta(hours=6), None
        )
        assert schedule.step() == 300
        assert schedule.trouble is not None
        assert "cannot be used" in schedule.trouble
    # A server says so at once, and lets nobody in.
    command = ["serve", "--port", "0", "--backup-to", str(tmp_path / "file" / "below")]
    refused = CliRunner().invoke(app, [*command, "--db", str(tmp_path / "a.sqlite")])
    assert isinstance(refused.exception, UsageError)
    with pytest.raises(UsageError, match="no address of a store"):
        BackupPlace("nothing-known://bucket")


def test_the_command_makes_dated_backups_too(tmp_path: Path) -> None:
    run, db = CliRunner().invoke, ["--db", str(tmp_path / "a.sqlite")]
    open_store(tmp_path / "a.sqlite").close()
    done = run(app, ["backup", f"{tmp_path / 'kept'}/", "--keep", "2", *db])
    assert done.exit_code == 0, done.output
    (made,) = (tmp_path / "kept").glob("lapsus-*.zip")
    assert str(made) in done.stdout
    assert "backup.json" in ZipFile(made).namelist()
    refused = run(app, ["backup", str(tmp_path / "one.zip"), "--keep", "2", *db])
    assert isinstance(refused.exception, UsageError)


def test_dates_that_are_none_or_still_to_come_hold_up_no_backup(tmp_path: Path) -> None:
    clock, later = Clock(), "lapsus-20990101T000000Z.zip"
    for name in ("lapsus-99999999T999999Z.zip", later):
        (tmp_path / name).touch()
    with open_store(tmp_path / "store.sqlite", clock=clock) as store:
        schedule = BackupSchedule(store, BackupPlace(str(tmp_path)), timedelta(hours=6), 1)
        for _ in range(2):
            assert schedule.step() == pytest.approx(6 * 3600)
            clock.now += timedelta(hours=6)
    assert schedule.trouble is None
    kept = {path.name for path in tmp_path.glob("lapsus-2*.zip")}
    assert kept == {"lapsus-20260101T060000Z.zip", later}
