"""The store: everything that is kept of people, campaigns and judgments, behind one object."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Engine

from lapsus.store.access import Access
from lapsus.store.arrivals import Identities, PlatformArrivals
from lapsus.store.assignment import Assignment
from lapsus.store.audit import AuditTrail
from lapsus.store.backup import Backups
from lapsus.store.base import Database, utc_now
from lapsus.store.campaigns import Campaigns
from lapsus.store.challenges import Challenges
from lapsus.store.database import open_engine
from lapsus.store.decisions import Decisions
from lapsus.store.drafts import Drafts
from lapsus.store.export import Export
from lapsus.store.flags import Flags
from lapsus.store.judgment_import import JudgmentImport
from lapsus.store.judgments import Judgments
from lapsus.store.learning import Learning
from lapsus.store.members import Members, Messages
from lapsus.store.people import People
from lapsus.store.program_runs import ProgramRuns
from lapsus.store.programs import Programs
from lapsus.store.progress import CampaignProgress
from lapsus.store.saves import Saves
from lapsus.store.stats_cache import StatsCache
from lapsus.store.talk_figures import TalkFigures
from lapsus.store.talks import Talks
from lapsus.store.units import UnitBrowsing, Units


class Store:
    """People, campaigns and judgments in a database. Safe to use from many threads; each process opens its own.

    It is made of parts with one job each, on one `database`: `store.campaigns.create(...)`, `store.saves.save(...)`.
    """

    def __init__(self, engine: Engine, clock: Callable[[], datetime] = utc_now) -> None:
        database = self.database = Database(engine, clock)
        """Transactions, and the clock."""
        self.people = People(database)
        """Accounts: who there is, and what each may do."""
        self.access = Access(database, self.people)
        """Ways in: passwords, sessions, invitations and tokens."""
        self.identities = Identities(database, self.people)
        """People who sign in elsewhere: at a provider, or at a proxy in front of us."""
        self.arrivals = PlatformArrivals(database, self.access, self.people)
        """People who come by a crowdsourcing platform's link."""
        self.campaigns = Campaigns(database)
        """Campaigns: made from a plan, filled with documents, opened, paused and closed."""
        self.units = Units(database)
        """The documents and units of a campaign."""
        self.assignment = Assignment(database, self.people)
        """Who judges what: hands units out and takes them back."""
        self.members = Members(database, self.assignment)
        """People in a campaign: consent, stopping and going on, practice."""
        self.messages = Messages(database)
        """Messages from those who run a campaign to its annotators."""
        self.saves = Saves(database)
        """Writes answers: acknowledged only when on disk."""
        self.judgments = Judgments(database)
        """Reads judgments back."""
        self.progress = CampaignProgress(database, self.saves)
        """How far a campaign and each person in it is."""
        self.flags = Flags(database, self.people)
        """Units that somebody wants to discuss."""
        self.audit = AuditTrail(database)
        """The audit trail."""
        self.exports = Export(database, self.access)
        """Documents and judgments as every format can write them."""
        self.stats = StatsCache(database)
        """Counts and packed votes of a campaign, kept up to date."""
        self.imports = JudgmentImport(database, self.stats)
        """Takes in judgments that were given elsewhere."""
        self.talks = Talks(database)
        """People who talk to systems, turn by turn, and the documents that come of it."""
        self.talk_figures = TalkFigures(database)
        """How collecting goes, by system."""
        self.programs = Programs(database, self.imports, self.judgments)
        """Detectors and language models as annotators of a campaign."""
        self.program_runs = ProgramRuns(database, self.programs)
        """Programs that a server has judge beside its answers."""
        self.learning = Learning(database)
        """Judges that learn from campaigns while they run."""
        self.drafts = Drafts(database)
        """Campaigns that somebody is about to make in the browser."""
        self.decisions = Decisions(database, self.people, self.judgments)
        """Adjudicators' decisions, and the gold that comes of them."""
        self.browsing = UnitBrowsing(database)
        """All units of a campaign, for those who look through them."""
        self.challenges = Challenges(database)
        """Challenges: test sets, teams and runs."""
        self.backups = Backups(database)
        """The whole database in one file."""

    def close(self) -> None:
        """Finish the saves that are in line and let go of the database."""
        self.talks.close()
        self.saves.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_store(database: str | Path | None = None, *, clock: Callable[[], datetime] = utc_now) -> Store:
    """Open a database given as a path or a URL; the one in the user's data folder where none is given.

    It is made where there is none, and brought up to date where it is older (an SQLite file after a copy).
    """
    return Store(open_engine(database), clock)
