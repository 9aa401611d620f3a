"""Where dated backups are kept: a folder, or a store that fsspec knows (`s3://bucket/lapsus`)."""

import errno
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import regex

from lapsus.errors import LapsusError, UsageError, reason_of
from lapsus.store.backup import Backup
from lapsus.store.store import Store

_DATED: Final = "lapsus-%Y%m%dT%H%M%SZ.zip"
_NAME: Final = regex.compile(r"lapsus-\d{8}T\d{6}Z\.zip")
RETRY: Final = 300.0
"""Seconds until the next try after one that failed."""


class BackupPlace:
    """A folder or an address. Only files that carry our dated names are ever looked at or removed."""

    def __init__(self, where: str) -> None:
        self.where = where.rstrip("/") or "/"
        self._remote = _file_system(self.where) if "://" in where else None

    def try_out(self) -> None:
        """Complain now of a place that could not be used later; a folder is made where there is none."""
        if self._remote is not None:
            self.names()
            return
        with self._told():
            Path(self.where).mkdir(parents=True, exist_ok=True)
            if not os.access(self.where, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    def names(self) -> list[str]:
        """The backups that are there, the oldest first."""
        with self._told():
            if self._remote is None:
                found = [path.name for path in Path(self.where).glob("lapsus-*.zip")]
            else:
                self._remote.invalidate_cache()
                there = self._remote.exists(self.where)
                found = [
                    path.rpartition("/")[2] for path in (self._remote.ls(self.where, False) if there else ())
                ]
        return sorted(name for name in found if _NAME.fullmatch(name))

    def newest(self, latest: datetime) -> datetime | None:
        """When the newest backup was made; one from after `latest`, made while a clock was wrong, does not count."""
        dates = []
        for name in self.names():
            # Any digits have the form of a date; not all are one.
            with suppress(ValueError):
                dates.append(datetime.strptime(name, _DATED).replace(tzinfo=UTC))
        return max((date for date in dates if date <= latest), default=None)

    def put(self, store: Store, keep: int | None = None) -> tuple[str, Backup]:
        """Make a backup there; then remove the oldest, so that so many stay. Its name, and what it holds."""
        name = store.database.clock().astimezone(UTC).strftime(_DATED)
        if self._remote is None:
            self.try_out()
            done = store.backups.backup(Path(self.where) / name)
        else:
            with tempfile.TemporaryDirectory() as folder, self._told():
                done = store.backups.backup(Path(folder) / name)
                self._remote.put_file(str(Path(folder) / name), f"{self.where}/{name}")
        # What is dated later than this one was made while a clock was wrong: it takes no newer one's place.
        for old in [one for one in self.names() if one <= name][:-keep] if keep else ():
            self._remove(old)
        return name, done

    def fetch(self, name: str, folder: Path) -> Path:
        """A backup as a file: where it is, or copied from an address into a folder."""
        if self._remote is None:
            return Path(self.where) / name
        with self._told():
            self._remote.get_file(f"{self.where}/{name}", str(folder / name))
        return folder / name

    def _remove(self, name: str) -> None:
        with self._told():
            if self._remote is None:
                (Path(self.where) / name).unlink(missing_ok=True)
            else:
                self._remote.rm_file(f"{self.where}/{name}")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Raise whatever fails there as a UsageError."""
        try:
            yield
        except LapsusError:
            raise
        except OSError as error:
            raise UsageError("cannot-used", where=self.where, strerror=reason_of(error)) from error
        except Exception as error:  # Each store has errors of its own.
            raise UsageError(
                "cannot-be-used", where=self.where, name=type(error).__name__, error=error
            ) from error


@contextmanager
def fetched(source: str) -> Iterator[Path]:
    """A backup as a file on this machine, while it is needed; the one at an address is copied."""
    if "://" not in source:
        yield Path(source)
        return
    place, name = BackupPlace(source.rpartition("/")[0]), source.rpartition("/")[2]
    with tempfile.TemporaryDirectory() as folder:
        yield place.fetch(name, Path(folder))


def _file_system(where: str) -> Any:
    try:
        import fsspec

        return fsspec.core.url_to_fs(where)[0]
    except ImportError:
        raise UsageError("address", where=where, hint="pip install 'lapsus-eval[remote]' s3fs") from None
    except ValueError as error:
        raise UsageError("no-address-store", where=where, error=error) from error


class BackupSchedule(threading.Thread):
    """Makes a backup whenever the newest one there is old enough.

    Several servers may share a place: whoever comes first makes the backup, the others find it there.
    """

    def __init__(self, store: Store, place: BackupPlace, every: timedelta, keep: int | None) -> None:
        super().__init__(name="backups", daemon=True)
        self._store, self._place, self._every, self._keep = store, place, every, keep
        self._ended = threading.Event()
        self.trouble: str | None = None
        """What went wrong at the last try."""

    def run(self) -> None:
        """Until told to end."""
        wait = 0.0
        while not self._ended.wait(wait):
            wait = self.step()

    def step(self) -> float:
        """Make a backup where it is time; the seconds until the next look."""
        from logging import getLogger

        log = getLogger("lapsus.backup")
        try:
            now = self._store.database.clock()
            newest = self._place.newest(now + self._every)
            left = timedelta(0) if newest is None else newest + self._every - now
            if left <= timedelta(0):
                name, done = self._place.put(self._store, self._keep)
                log.info("backup %s: %d judgments", name, done.rows.get("judgment", 0))
                left = self._every
            self.trouble = None
            return max(left.total_seconds(), 1.0)
        except LapsusError as error:
            self.trouble = str(error)
            log.warning("no backup was made: %s", error)
        except Exception as error:
            self.trouble = str(error)
            log.exception("no backup was made")
        return min(RETRY, self._every.total_seconds())

    def end(self) -> None:
        """Let a backup that is under way finish, then end."""
        self._ended.set()
        if self.is_alive():
            self.join(60)
