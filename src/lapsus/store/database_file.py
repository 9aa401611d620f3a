"""The file of an SQLite database, watched: deleted or replaced under a running program, it takes nothing more."""

import os

from lapsus.store.records import StoreError


class DatabaseFile:
    """A file by its identity on disk. Without a path, as for PostgreSQL, there is nothing to watch."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._identity = None if path is None else _identity(path)
        self._has_log: bool | None = None
        """Whether there is a log beside the file; on some network drives there is none."""

    def check(self) -> None:
        """Complain where another file, or none, stands at the path. While it is open nothing else has its number."""
        if self._path is not None and _identity(self._path) != self._identity:
            raise _gone(self._path)

    def check_written(self) -> None:
        """The same for what was just committed: until it is copied over, it stands in the log beside the file."""
        self.check()
        if self._path is None:
            return
        is_there = _identity(f"{self._path}-wal") is not None
        if self._has_log is None:
            self._has_log = is_there
        if self._has_log and not is_there:
            raise _gone(f"{self._path}-wal")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  once for every transaction, and half the time of a Path
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _gone(path: str) -> StoreError:
    return StoreError("database-file-deleted-replaced", where=path, hint="put-back-stop-program")
