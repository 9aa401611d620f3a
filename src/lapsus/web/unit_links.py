"""Addresses of the units behind a figure."""

from __future__ import annotations

from urllib.parse import urlencode

from lapsus.web.addresses import at


def units_url(campaign: str, question: str, **filters: object) -> str:
    """Where the units are listed that a mark of a chart, or a number, stands for."""
    asked = {"q": question} | {key: value for key, value in filters.items() if value not in (None, "")}
    return at(f"/c/{campaign}/units?{urlencode(asked)}")
