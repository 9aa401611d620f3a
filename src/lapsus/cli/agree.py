"""`lapsus agree`: how far annotators agree."""

from pathlib import Path

from lapsus.cli.result_tables import announce, bootstrap_plan, print_result


def agree_command(
    data: list[Path],
    scheme: str | None = None,
    question: list[str] | None = None,
    measure: list[str] | None = None,
    merge: str | None = None,
    each: bool = False,
    by: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    drop_broken: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    csv: bool = False,
    latex: bool = False,
    as_json: bool = False,
) -> None:
    """Show what a corpus holds and how far its annotators agree."""
    from lapsus.analysis import agree

    table = agree(
        data,
        scheme=scheme,
        questions=question or (),
        measures=measure or (),
        merge=merge,
        each=each,
        by=by,
        only=only,
        language=lang,
        drop_broken=drop_broken,
        bootstrap=bootstrap_plan(resamples, seed),
        announce=announce,
    )
    print_result(table, as_json=as_json, csv=csv, latex=latex)
