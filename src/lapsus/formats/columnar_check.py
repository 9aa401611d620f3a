"""Parquet and Arrow files of strangers, looked through in a process of their own before they are read in this one.

The library prints a trace and panics at some damaged files, and a few kilobytes can stand for gigabytes. What goes
wrong in that process goes wrong there; here it is one error, in words.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import OrderedDict
from typing import IO, Final

from lapsus.errors import InputError
from lapsus.formats import columnar_process
from lapsus.notices import Notice

SECONDS: Final = 600
_KEPT: Final = 1000
_sound: OrderedDict[tuple[int, int, int, int], None] = OrderedDict()
"""Files that were found sound, as they were then."""


def check_columnar(stream: IO[bytes], name: str, kind: str = "Parquet") -> None:
    """Complain of a file that cannot be read through. The stream stands where it stood."""
    found = os.fstat(stream.fileno())
    key = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    if key in _sound:
        return
    place = os.lseek(stream.fileno(), 0, os.SEEK_CUR)
    try:
        done = subprocess.run(  # noqa: S603  our own words
            [sys.executable, "-I", columnar_process.__file__, *filter(None, sys.path)],
            stdin=stream.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
        found_wrong = json.loads(done.stdout) if done.stdout else Notice("ends-middle")
    except subprocess.TimeoutExpired:
        found_wrong = Notice("takes-longer", seconds=SECONDS)
    finally:
        # The other process shares the place in the file, and what is buffered here goes by it.
        os.lseek(stream.fileno(), place, os.SEEK_SET)
    if isinstance(found_wrong, dict):
        found_wrong = Notice("rows-unpack-bytes", **found_wrong)
    if found_wrong is not None:
        raise InputError("not-sound-file", where=name, kind=kind, said=found_wrong)
    _sound[key] = None
    while len(_sound) > _KEPT:
        _sound.popitem(last=False)
