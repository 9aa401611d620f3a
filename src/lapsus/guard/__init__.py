"""A guard before a system that talks: judges a reply before it is sent."""

from lapsus.guard.guard import Guard as Guard
from lapsus.guard.records import Candidate as Candidate
from lapsus.guard.records import Verdict as Verdict
