"""`lapsus export`: a campaign's documents and judgments as a file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lapsus.cli.gold import tell_undecided
from lapsus.cli.output import print_json, progress, say, warn
from lapsus.cli.shared_options import open_database
from lapsus.errors import UsageError
from lapsus.formats import Conversion, convert

if TYPE_CHECKING:
    from lapsus.store import Store


def export_command(
    campaign: str,
    target: Path,
    to_format: str | None = None,
    names: bool = False,
    revisions: bool = False,
    extras: bool = False,
    programs: bool = False,
    gold: str | None = None,
    threshold: float | None = None,
    lossy: bool = False,
    overwrite: bool = False,
    db: str | None = None,
    as_json: bool = False,
) -> None:
    """Write what was submitted in a campaign, in any format, as of this moment."""
    if gold is None and threshold is not None:
        raise UsageError("threshold-gold", hint="say-gold-method-majority")
    if gold is not None and (names or revisions or extras or programs):
        raise UsageError("gold-no-annotators-revisions", hint="leave-options-out")
    with open_database(db) as store, progress("documents") as step:
        if gold is not None:
            _write_gold(store, campaign, target, to_format, gold, threshold, lossy, overwrite, as_json)
            return
        exported = store.exports.export(
            campaign,
            names="names" if names else "pseudonyms",
            revisions="all" if revisions else "newest",
            extras=extras,
            programs=programs,
        )
        with closing(exported) as entries:
            done = convert(
                entries,
                target,
                to_format,
                lossy=lossy,
                overwrite=overwrite,
                progress=step,
                schemes=[store.campaigns.scheme(campaign)],
            )
        store.audit.exported(campaign, what="names" if names else "pseudonyms", format=done.to.name)
    _report(done, target, as_json)


def _write_gold(
    store: Store,
    campaign: str,
    target: Path,
    to_format: str | None,
    method: str,
    threshold: float | None,
    lossy: bool,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Make gold, write it, and keep it in the store with how it was made."""
    from lapsus.campaign_stats.adjudication import campaign_gold, gold_entries, keep_gold

    found = campaign_gold(store, campaign, method, threshold)
    entries, schemes = gold_entries(store, campaign, found), [store.campaigns.scheme(campaign)]
    done = convert(entries, target, to_format, lossy=lossy, overwrite=overwrite, schemes=schemes)
    kept = keep_gold(store, campaign, found, method)
    store.audit.exported(campaign, what="gold", format=done.to.name)
    undecided = {id: [unit._asdict() for unit in made.undecided] for id, made in found.items()}
    more = {"gold": kept.id, "decided": kept.decided, "signatures": kept.signatures, "undecided": undecided}
    _report(done, target, as_json, more)
    if not as_json:
        for question, signature in kept.signatures.items():
            typer.echo(f"  {question}: {signature}")
            tell_undecided(found[question])


def _report(done: Conversion, target: Path, as_json: bool, more: Mapping[str, object] | None = None) -> None:
    for loss, count in done.losses.items():
        warn("does-not-carry-documents", name=done.to.name, reason=loss.what, count=count)
    if as_json:
        result = {"out": str(target), "to": done.to.name}
        counts = {"documents": done.documents, "judgments": done.judgments}
        print_json({**result, **counts, **(more or {})})
        return
    say(
        "documents-judgments",
        documents=done.documents,
        judgments=done.judgments,
        target=target,
        name=done.to.name,
    )
