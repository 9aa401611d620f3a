"""Files made unsound and handed to everything that reads them: `make fuzz` for as long as one likes.

Each target runs in a process of its own with bounded memory. An input has escaped when anything but an error of ours
comes out, when something is printed, or when it takes too long; it is kept in a folder, to be looked at.

    python -m tests.fuzz.fuzzing --seconds 60 --keep escapes
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import zlib
from pathlib import Path
from typing import NamedTuple

from lapsus.errors import LapsusError
from tests.fuzz.mutations import mutated
from tests.fuzz.targets import Target, targets

MEMORY = 3 << 30
"""Bytes that a process may ask for."""
SLOW = 20.0
"""Seconds of processor time after which one input has escaped."""


class Outcome(NamedTuple):
    """What came of fuzzing one target."""

    target: str
    inputs: int
    refused: int
    """Inputs that an error of ours was said about; the others were sound enough."""
    escapes: list[str]
    megabytes: int
    """The most memory that the process, or one that it started, had."""
    slowest: float


def fuzz(name: str, seconds: float, seed: int, keep: Path | None, most: int | None = None) -> Outcome:
    """In this process: try inputs on one target until the time is up."""
    target, rng = targets()[name], random.Random(f"{seed} {name}")
    tried = refused = 0
    slowest, escapes = 0.0, []
    with tempfile.TemporaryDirectory(prefix="lapsus-fuzz-") as work:
        folder = Path(work)
        (folder / "seeds").mkdir()
        seeds = [(path.name, path.read_bytes()) for path in target.seeds(folder / "seeds")]
        if not seeds:
            raise AssertionError(f"{name} has nothing to begin with")
        for seed_name, content in seeds:
            _check_seed(target, folder, seed_name, content)
        until = time.monotonic() + seconds
        while time.monotonic() < until and (most is None or tried < most):
            seed_name, content = rng.choice(seeds)
            content = mutated(content, rng)
            begun = time.process_time()
            said = _escaped(target, _written(folder, seed_name, content), folder)
            took = time.process_time() - begun
            tried, slowest = tried + 1, max(slowest, took)
            refused += said == ""
            if said or took > SLOW:
                escapes.append(said or f"{took:.0f} seconds")
                _keep(keep, name, seed_name, content, escapes[-1])
    kilobytes = max(
        resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return Outcome(name, tried, refused, escapes, kilobytes // 1024, slowest)


def _check_seed(target: Target, folder: Path, name: str, content: bytes) -> None:
    """What is fuzzed has to be sound at first, or all of it is refused at the door."""
    target.use(_written(folder, name, content), folder)


def _written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _escaped(target: Target, path: Path, folder: Path) -> str | None:
    """What came out that should not; "" for an error of ours, None for nothing at all."""
    try:
        target.use(path, folder)
    except LapsusError as error:
        return "" if error.what else "an error without words"
    except BaseException:
        return traceback.format_exc(limit=-4)
    return None


def _keep(keep: Path | None, name: str, seed_name: str, content: bytes, why: str) -> None:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        called = f"{name.replace(' ', '-')}-{zlib.crc32(content):08x}"
        (keep / f"{called}-{seed_name}").write_bytes(content)
        (keep / f"{called}.txt").write_text(why, encoding="utf-8")


def fuzz_apart(name: str, seconds: float, seed: int, keep: Path | None, most: int | None = None) -> Outcome:
    """The same in a process of its own; what it prints has escaped too."""
    command = [sys.executable, "-m", "tests.fuzz.fuzzing", "--target", name, "--seconds", f"{seconds}"]
    command += [
        "--seed",
        str(seed),
        *(["--keep", str(keep)] if keep else []),
        *(["--most", str(most)] if most else []),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600 + 10 * seconds, check=False)
    if done.returncode:
        return Outcome(name, 0, 0, [f"ended with {done.returncode}: {done.stderr[-2000:]}"], 0, 0.0)
    outcome = Outcome(*json.loads(done.stdout.splitlines()[-1]))
    if done.stderr:
        outcome.escapes.append(f"printed: {done.stderr[:500]}")
    return outcome


def main() -> None:
    """All targets, one after the other, or one in this process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0, help="in all, or for the one target")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--keep", type=Path, help="where inputs that escaped are kept")
    parser.add_argument("--target")
    parser.add_argument("--most", type=int)
    given = parser.parse_args()
    if given.target is not None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        outcome = fuzz(given.target, given.seconds, given.seed, given.keep, given.most)
        sys.stdout.write(json.dumps(outcome) + "\n")
        sys.stdout.flush()
        os._exit(0)
    names, found = list(targets()), []
    print(f"seed {given.seed}")
    for name in names:
        found.append(fuzz_apart(name, given.seconds / len(names), given.seed, given.keep))
        print(_line(found[-1]), flush=True)
        for escape in found[-1].escapes[:3]:
            print(escape)
    print(
        f"{len(found)} targets, inputs {sum(one.inputs for one in found):,}, escapes"
        f" {sum(len(one.escapes) for one in found)}, most memory {max(one.megabytes for one in found):,} MB,"
        f" longest {max(one.slowest for one in found):.2f} s"
    )
    sys.exit(any(one.escapes for one in found))


def _line(one: Outcome) -> str:
    return (
        f"{one.target:22} inputs {one.inputs:6,}  refused {one.refused:6,}  escapes {len(one.escapes):3}"
        f"  memory {one.megabytes:5,} MB  longest {one.slowest:6.2f} s"
    )


if __name__ == "__main__":
    main()
