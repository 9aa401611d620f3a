"""The process in which a Parquet or Arrow file of a stranger is read through: `python -I columnar_process.py PATH...`.

It is run as a script and imports nothing of ours, so that it starts in a tenth of the time; its arguments are the
folders in which packages are found.
"""

import json
import os
import sys
from typing import Final

ROWS: Final = 2_000
"""How many rows are unpacked at a time; the same as where they are read."""
LARGEST_ROWS: Final = 256_000_000
"""Bytes that so many rows may unpack to."""
LARGEST_PROCESS: Final = 4 << 30
"""Bytes of memory that the process may ask for."""


def look_through() -> None:
    """Read what comes on standard input through, and write what is wrong with it as JSON, or null."""
    _bound_memory()
    said: str | dict[str, int] | None = None
    try:
        said = _trouble()
    except BaseException as error:
        said = (str(error).splitlines() or [type(error).__name__])[0][:300]
    sys.stdout.write(json.dumps(said))


def _trouble() -> dict[str, int] | None:
    from arro3.io import read_ipc, read_ipc_stream, read_parquet

    with open(0, "rb", closefd=False) as stream:
        stream.seek(0)
        start = stream.read(6)
        stream.seek(0)
        if start.startswith(b"PAR1"):
            batches = read_parquet(stream, batch_size=ROWS)
        else:
            batches = read_ipc(stream) if start == b"ARROW1" else read_ipc_stream(stream)
        for batch in batches:
            if batch.nbytes > LARGEST_ROWS:
                return {"num_rows": batch.num_rows, "nbytes": batch.nbytes}
    return None


def _bound_memory() -> None:
    if os.name == "posix":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        bound = LARGEST_PROCESS if most == resource.RLIM_INFINITY else min(most, LARGEST_PROCESS)
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))


if __name__ == "__main__":
    sys.path[:] = sys.argv[1:]
    look_through()
