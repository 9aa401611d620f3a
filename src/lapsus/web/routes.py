"""All routes of the workbench."""

from typing import Final

from starlette.routing import BaseRoute

from lapsus.web import api, static_files
from lapsus.web.pages.account import page as account
from lapsus.web.pages.account import provider, sign_in
from lapsus.web.pages.administration import page as administration
from lapsus.web.pages.challenge import board, new, run
from lapsus.web.pages.decide import page as decide
from lapsus.web.pages.home import page as home
from lapsus.web.pages.judges import page as judges
from lapsus.web.pages.judging import flags
from lapsus.web.pages.judging import page as judging
from lapsus.web.pages.manage import page as manage
from lapsus.web.pages.manage import settings
from lapsus.web.pages.setup import columns, own_guideline_page, wizard
from lapsus.web.pages.stats import export, learning
from lapsus.web.pages.stats import page as stats
from lapsus.web.pages.talk import collection
from lapsus.web.pages.talk import page as talk
from lapsus.web.pages.units import page as units

# The interface first, since it is asked for most; the guideline before the wizard, whose addresses have the same form.
ROOMS: Final = (
    api,
    static_files,
    sign_in,
    provider,
    home,
    judging,
    flags,
    talk,
    collection,
    account,
    board,
    run,
    new,
    stats,
    units,
    judges,
    decide,
    administration,
    manage,
    settings,
    columns,
    own_guideline_page,
    wizard,
    export,
    learning,
)


def every_route() -> list[BaseRoute]:
    """The routes of every page. The kinds of parameters in their paths have to be known by now."""
    return [route for room in ROOMS for route in room.routes()]
