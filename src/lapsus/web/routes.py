"""All routes of the workbench."""

from typing import Final

from lapsus.web import api, static_files
from lapsus.web.pages.account import page as account
from lapsus.web.pages.account import sign_in
from lapsus.web.pages.administration import page as administration
from lapsus.web.pages.challenge import board, run
from lapsus.web.pages.decide import page as decide
from lapsus.web.pages.home import page as home
from lapsus.web.pages.judges import page as judges
from lapsus.web.pages.judging import campaign
from lapsus.web.pages.judging import page as judging
from lapsus.web.pages.manage import page as manage
from lapsus.web.pages.setup import columns, own_guideline_page, wizard
from lapsus.web.pages.stats import export, learning
from lapsus.web.pages.stats import page as stats
from lapsus.web.pages.talk import page as talk
from lapsus.web.pages.units import page as units

# The interface first, since it is asked for most; the guideline before the wizard, whose addresses have the same form.
_PAGES = (
    api, static_files, sign_in, home, judging, campaign, talk, account, board, run, stats, units, judges, decide,
    administration, manage, columns, own_guideline_page, wizard, export, learning,
)  # fmt: skip
ROUTES: Final = [route for page in _PAGES for route in page.ROUTES]
