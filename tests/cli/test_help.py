"""`lapsus --help`: every command under the reader's job, every line whole, in both languages."""

from __future__ import annotations

import re

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from lapsus.cli.app import app
from lapsus.cli.help_words import jobs
from lapsus.cli.output import choose_words


def test_every_command_has_its_job_once() -> None:
    listed = [name for names in jobs().values() for name in names]
    assert sorted(listed) == sorted(get_command(app).commands)  # type: ignore[attr-defined]
    assert listed[0] == "check"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_no_line_is_cut_off(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    try:
        shown = CliRunner().invoke(app, ["--words", language, "--help"]).stdout
        titles = list(jobs())
    finally:
        choose_words(None)
    assert not re.search(r"(?<!\[ARGS\])(?<!\[引数\])\.\.\.$|…$", shown, re.M)
    places = [shown.index(title) for title in titles]
    assert places == sorted(places)
    for name in get_command(app).commands:  # type: ignore[attr-defined]
        assert re.search(rf"^  {name}\s", shown, re.M)
