"""The samples: all four schemes, both languages, every rule kept, made by the script."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import lapsus
from lapsus.formats import read
from lapsus.formats.jsonl import Jsonl
from lapsus.model import Entry
from lapsus.samples import SAMPLES, sample_path
from lapsus.schemes import broken_rules, load_scheme

TOOL = Path(__file__).parents[2] / "tools" / "make_samples.py"


def entries(name: str) -> list[Entry]:
    return list(read(sample_path(name)))


@pytest.mark.parametrize("name", SAMPLES)
def test_every_judgment_keeps_the_rules(name: str) -> None:
    for entry in entries(name):
        for judgment in entry.judgments:
            scheme = load_scheme(judgment.scheme)
            assert judgment.version in (scheme.version, *scheme.compatible)
            assert broken_rules(scheme, judgment.answers, entry.document, judgment.segment) == []


def test_there_is_enough_of_it() -> None:
    dialogues = entries("dialogues-en") + entries("dialogues-ja")
    pairs = entries("pairs-en") + entries("pairs-ja")
    assert len(dialogues) >= 30
    assert len(pairs) >= 40
    schemes = Counter(judgment.scheme for entry in dialogues + pairs for judgment in entry.judgments)
    assert set(schemes) == {"breakdown", "error-types", "response-quality", "semantic-errors"}


@pytest.mark.parametrize("name", ["dialogues-en", "dialogues-ja"])
def test_every_error_type_is_there(name: str) -> None:
    chosen: Counter[Any] = Counter()
    for entry in entries(name):
        for judgment in entry.judgments:
            chosen.update(judgment.answers.get("types", ()))  # type: ignore[arg-type]
    assert set(chosen) == {label.id for label in load_scheme("error-types").questions[0].labels}


@pytest.mark.parametrize("name", SAMPLES)
def test_it_is_said_to_be_invented(name: str) -> None:
    assert all(entry.document and entry.document.metadata["invented"] is True for entry in entries(name))


def test_the_script_makes_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("make_samples", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_samples"] = module
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "TARGET", tmp_path)
    module.main()
    for name in SAMPLES.keys() - {"helpdesk-en"}:
        assert (tmp_path / f"{name}.jsonl").read_bytes() == sample_path(name).read_bytes()


def test_the_helpdesk_is_made_by_its_script(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("make_helpdesk", TOOL.with_name("make_helpdesk.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path)
    assert (tmp_path / "helpdesk-en.jsonl").read_bytes() == sample_path("helpdesk-en").read_bytes()


@pytest.mark.parametrize("language", ["en", "ja"])
def test_what_people_said_can_be_seen_in_the_texts(language: str, tmp_path: Path) -> None:
    """The shipped detector, which sees the texts alone, knows more than the shares of the answers."""
    gold, run = sample_path(f"dialogues-{language}"), tmp_path / "run.jsonl"
    Jsonl().write(lapsus.detect(gold), run)
    table = lapsus.score(gold, run, scheme="breakdown", bootstrap=None)
    place = table.columns.index("accuracy")
    detector, constant = (row[place].value for row in table.rows[:2])
    assert detector > constant
