"""`lapsus report`: what a paper or the sign-off of a release needs; `lapsus verify`: its figures once more."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from lapsus.cli.output import print_json, print_table, reader_language, remark, say, warn
from lapsus.cli.shared_options import open_database
from lapsus.errors import UsageError

if TYPE_CHECKING:
    from lapsus.model import UnitKey
    from lapsus.store import Store


def report_command(
    campaign: str,
    out: Path,
    gold: str = "majority",
    names: bool = False,
    drop_broken: bool = False,
    bundle: Path | None = None,
    lang: str | None = None,
    overwrite: bool = False,
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """Write a report of a campaign: data, guideline, annotators, agreement, gold, disputes, methods, data card."""
    from lapsus.analysis.bundle import write_bundle
    from lapsus.campaign_stats.report import campaign_report
    from lapsus.formats.sink import put_in_place
    from lapsus.reports.report import KINDS
    from lapsus.store.reduced_copy import without_judgments

    kind = out.suffix.removeprefix(".").lower()
    if kind not in KINDS:
        raise UsageError("cannot-write", hint="end", name=out.name, kinds=", ".join(f".{k}" for k in KINDS))
    language = lang or reader_language()
    if language not in ("en", "ja"):
        raise UsageError("no-words", hint="known-en-ja", language=language)
    with open_database(db) as store, ExitStack() as stack:
        broken = _broken(store, campaign)
        if broken and drop_broken:
            store = stack.enter_context(without_judgments(store, campaign, broken))
        report = campaign_report(
            store, campaign, language, method=gold, names=names, left_out=len(broken) if drop_broken else 0
        )
        if bundle is not None:
            called: Literal["names", "pseudonyms"] = "names" if names else "pseudonyms"
            with closing(store.exports.export(campaign, names=called, programs=True)) as entries:
                scheme = store.campaigns.scheme(campaign)
                figures = write_bundle(entries, scheme, bundle, method=gold, overwrite=overwrite)
            remark("figures", figures=figures, bundle=bundle)
    text = report.render(kind)
    with put_in_place(out, overwrite=overwrite) as draft:
        draft.write_text(text, encoding="utf-8")
    if broken and drop_broken:
        remark("judgments-campaign-break-guideline", count=len(broken))
    elif broken:
        warn("judgments-of-the-campaign-break-the-guideline", count=len(broken))
    if as_json:
        parts = [part.id for part in report.parts]
        print_json(
            {"out": str(out), "campaign": campaign, "kind": kind, "broken": len(broken), "parts": parts}
        )
        return
    typer.echo(f"{campaign} → {out}")


def _broken(store: Store, campaign: str) -> list[tuple[UnitKey, str]]:
    """Whose judgments of what break the guideline: those imported unchecked, or under another version."""
    from lapsus.schemes.answer_rules import Checker

    checker = Checker([store.campaigns.scheme(campaign)])
    return [
        (judgment.unit, judgment.annotator)
        for entry in store.exports.export(campaign, names="names")
        for judgment in entry.judgments
        if checker.broken(judgment, entry.document)
    ]


def verify_command(bundle: Path, as_json: bool = False) -> None:
    """Work out every figure of a bundle from the votes in it. Exit code 1 where one differs."""
    from lapsus.analysis.bundle import verify

    found = verify(bundle)
    if as_json:
        print_json(found)
    else:
        if found.made_with != found.verified_with:
            remark("made-lapsus-verified", made_with=found.made_with, verified_with=found.verified_with)
        if found.differences:
            rows = [(one.figure, str(one.stated), str(one.found)) for one in found.differences]
            print_table(("figure", "stated", "found"), rows)
        say("figures-differ", figures=found.figures, count=len(found.differences))
    if found.differences:
        raise typer.Exit(1)
