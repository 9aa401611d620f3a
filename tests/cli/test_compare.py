"""`lapsus compare` on a terminal."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from lapsus.cli.app import app
from lapsus.samples import sample_path


def test_a_comparison_by_many_measures_goes_down_the_page(tmp_path: Path) -> None:
    lines = sample_path("dialogues-en").read_text(encoding="utf-8").splitlines(keepends=True)
    judged = [line for line in lines if '"error-types"' in line or '"judgment"' not in line]
    paths = {}
    for part in ("avery", "blake", "gold"):
        paths[part] = tmp_path / f"{part}.jsonl"
        mine = [line for line in judged if '"judgment"' not in line or part == "gold" or f'"{part}"' in line]
        paths[part].write_text("".join(mine), encoding="utf-8")
    command = ["compare", *(str(paths[part]) for part in ("gold", "avery", "blake")), "--trials", "100"]
    shown = CliRunner().invoke(app, command)
    assert shown.exit_code == 0
    head, first, *_ = shown.stdout.splitlines()
    assert head.split() == ["runs", "question", "measure", "difference", "n"]
    assert first.startswith("avery → blake  types  ")
