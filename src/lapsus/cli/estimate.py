"""`lapsus estimate`: shares and means from few people and a judge's many answers."""

from functools import partial
from pathlib import Path

from lapsus.cli.result_tables import announce_once, print_each_scheme


def estimate_command(
    data: list[Path],
    judge: list[str] | None = None,
    jury: bool = False,
    scheme: str | None = None,
    question: list[str] | None = None,
    by: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    csv: bool = False,
    latex: bool = False,
    as_json: bool = False,
) -> None:
    """Estimate shares of labels, means of scales and marks a text: judge alone, people alone, corrected."""
    from lapsus.analysis.estimate import estimate

    make = partial(
        estimate,
        *data,
        judges=judge or (),
        questions=question or (),
        by=by,
        jury=jury,
        only=only,
        language=lang,
        announce=announce_once(),
    )
    print_each_scheme(lambda under: make(scheme=under), scheme, as_json=as_json, csv=csv, latex=latex)
