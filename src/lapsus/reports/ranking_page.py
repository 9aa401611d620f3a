"""A ranking of systems as a page that stands alone: a chart of strengths, one of win rates, and the table."""

from pathlib import Path
from typing import Any

from markupsafe import Markup

from lapsus.notices import Notice, localized
from lapsus.reports.charts import Chart, inline, style
from lapsus.reports.html_page import page
from lapsus.reports.table import Table, plain

_WORDS = {"strength": Notice("ranking-strength"), "win_rate": Notice("ranking-win-rate")}


def write_ranking(table: Table, path: Path, language: str = "en") -> None:
    """Write the page of a table that `lapsus.rank` gave."""
    charts = [
        inline(_chart(question, found["systems"], name, language), f"{name}-{place}")
        for place, (question, found) in enumerate(table.data.items())
        for name in _WORDS
    ]
    text = page(
        "lapsus.reports",
        "ranking.html",
        language,
        title=Notice("ranking-title").in_language(language),
        chart_style=Markup(style()),  # noqa: S704  our own file
        charts=charts,
        columns=table.columns,
        rows=[[plain(cell) for cell in row] for row in table.rows],
        notes=[localized(note, language) for note in table.notes],
    )
    path.write_text(text, encoding="utf-8")


def _chart(question: str, systems: list[dict[str, Any]], name: str, language: str) -> Chart:
    rows = tuple((one["system"], one[name], *(one[f"{name}_interval"] or (None, None))) for one in systems)
    title = f"{question}: {_WORDS[name].in_language(language)}"
    return Chart("intervals", title, ("system", name, "low", "high"), rows, language=language)
