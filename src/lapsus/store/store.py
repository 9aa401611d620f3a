"""The store: everything that is kept of people, campaigns and judgments, behind one object."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from lapsus.store.backup import BackingUp
from lapsus.store.base import utc_now
from lapsus.store.challenges import Challenges
from lapsus.store.deciding import Deciding
from lapsus.store.opening import open_engine
from lapsus.store.setting_up import SettingUp


class Store(SettingUp, Deciding, BackingUp, Challenges):
    """People, campaigns and judgments in a database. Safe to use from many threads; each process opens its own.

    Its parts, each in a module of its own: people, access (ways in), campaigns, assignment, saving, reading,
    exporting, figures, importing, running, programs, setting up, deciding and backup.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_store(database: str | Path | None = None, *, clock: Callable[[], datetime] = utc_now) -> Store:
    """Open a database given as a path or a URL; the one in the user's data folder where none is given.

    It is made where there is none, and brought up to date where it is older (an SQLite file after a copy).
    """
    return Store(open_engine(database), clock)
