"""Tables out of measures: for the terminal, for a notebook, for a paper, for another program."""

from lapsus.reports.table import Table

__all__ = ["Table"]
