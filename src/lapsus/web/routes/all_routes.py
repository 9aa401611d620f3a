"""All routes of the workbench."""

from __future__ import annotations

from typing import Final

from starlette.routing import BaseRoute

from lapsus.web.routes import (
    account,
    adjudicate,
    administration,
    api,
    campaign_control,
    campaign_settings,
    campaign_setup,
    challenge,
    explore,
    export,
    flags,
    judges,
    judging_pages,
    learning,
    new_challenge,
    own_guideline,
    provider_sign_in,
    sign_in,
    static_files,
    stats,
    wizard_sample,
)

ROOMS: Final = (
    api,
    static_files,
    sign_in,
    provider_sign_in,
    judging_pages,
    flags,
    account,
    challenge,
    new_challenge,
    stats,
    explore,
    judges,
    adjudicate,
    administration,
    campaign_control,
    campaign_settings,
    own_guideline,
    wizard_sample,
    campaign_setup,
    export,
    learning,
)


def every_route() -> list[BaseRoute]:
    """The routes of every room. The kinds of parameters in their paths have to be known by now."""
    return [route for room in ROOMS for route in room.routes()]
