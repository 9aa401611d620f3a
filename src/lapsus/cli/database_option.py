"""What commands that work on campaigns share: which database, and opening it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from lapsus.errors import UsageError
from lapsus.notices import Notice, listed

if TYPE_CHECKING:
    from lapsus.store import Store

_ANOTHER: Final = Notice("db-names-another-database")


@contextmanager
def open_database(db: str | None, *, make: bool = False) -> Iterator[Store]:
    """The store, brought up to date. A file that is not there is made only with `make`.

    A name that it does not have is told with the place that was looked in: `--db` may have been forgotten.
    """
    # Loaded only now, so that other commands start quickly.
    from lapsus.store import UnknownNameError, open_store
    from lapsus.store.database import missing_file, shown_address

    if not make and (path := missing_file(db)) is not None:
        raise UsageError("no-database", where=str(path), hint=_ANOTHER)
    with open_store(db) as store:
        try:
            yield store
        except UnknownNameError as error:
            error.hint = listed(filter(None, (error.hint, _ANOTHER)), "then")
            raise error.at(shown_address(store.database.engine.url)) from None
