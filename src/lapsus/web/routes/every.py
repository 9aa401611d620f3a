"""All routes of the workbench."""

from __future__ import annotations

from typing import Final

from starlette.routing import BaseRoute

from lapsus.web.routes import (
    adjudicate,
    api,
    challenge,
    challenge_making,
    data,
    entry,
    insight,
    managing,
    pages,
    setup,
    taking,
)

ROOMS: Final = (
    api, data, entry, pages, challenge, challenge_making, insight, adjudicate, managing, setup, taking,
)  # fmt: skip


def every_route() -> list[BaseRoute]:
    """The routes of every room. The kinds of parameters in their paths have to be known by now."""
    return [route for room in ROOMS for route in room.routes()]
