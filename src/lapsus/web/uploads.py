"""Files that come with a form: on disk while they are read, and named in complaints as their owner names them."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath, PurePosixPath
from typing import Final

from starlette.datastructures import UploadFile

from lapsus.challenge.run_validation import showable
from lapsus.errors import InputError, LapsusError
from lapsus.formats.source import check_unpacked
from lapsus.notices import with_texts
from lapsus.store import StoreError

LARGEST_UNPACKED: Final = 100_000_000
"""Bytes that a file of strangers may unpack to."""


def given_name(file: UploadFile) -> str:
    """The name of an uploaded file, without folders."""
    return showable(PurePosixPath((file.filename or "").replace("\\", "/")).name)


@contextmanager
def on_disk(file: UploadFile | None) -> Iterator[Path]:
    """An upload as a temporary file."""
    if file is None:
        raise InputError("choose-file", where="file")
    # The name's ending tells the format; nothing else of it is used.
    suffix = "".join(PurePath(file.filename or "").suffixes[-2:])[-20:]
    safe = suffix if suffix.replace(".", "").isalnum() else ""
    with tempfile.TemporaryDirectory(prefix="lapsus-upload-") as folder:
        path = Path(folder) / f"upload{safe}"
        with path.open("wb") as copy:
            shutil.copyfileobj(file.file, copy)
        try:
            check_unpacked(path, LARGEST_UNPACKED)
            yield path
        except StoreError:
            raise
        except LapsusError as error:
            name = given_name(file)

            def renamed(text: str) -> str:
                whole = text.replace(str(path), name).replace(folder, "")
                return whole.replace(path.name, name) if safe else whole

            where = None if error.where is None else with_texts(error.where, renamed)
            raise InputError(with_texts(error.what, renamed), where=where, hint=error.hint) from error
