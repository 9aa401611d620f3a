"""How a campaign goes and what comes of it: for the page, for the report, for whoever answers for the data."""

from lapsus.insight.desk import Desk, warm

__all__ = ["Desk", "warm"]
