"""The detectors' commands as a user runs them, in this process."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from lapsus.cli.app import app
from lapsus.errors import LapsusError


def lapsus(*arguments: str) -> tuple[str, str]:
    """What a command prints and remarks; its error is raised."""
    done = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def refused(*arguments: str) -> str:
    """The error that a command ends in."""
    with pytest.raises(LapsusError) as caught:
        lapsus(*arguments)
    return str(caught.value)
