"""`lapsus align`: fit a judge's prompt to people's answers; `lapsus probe`: does a language model agree with itself?"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer
from msgspec import to_builtins

from lapsus.cli.language_model_options import (
    NOTHING_SAID,
    Asking,
    LanguageModelOptions,
    asks_language_models,
    facts,
)
from lapsus.cli.output import print_json, print_table, say, warn
from lapsus.cli.shared_options import open_database
from lapsus.errors import InputError, UsageError

if TYPE_CHECKING:
    from lapsus.annotators.language_model import LanguageModel
    from lapsus.annotators.language_model.align import Alignment
    from lapsus.annotators.language_model.aligned import Told
    from lapsus.annotators.language_model.probes import Probed
    from lapsus.model import Scheme


@asks_language_models("samples", "reasons", "aligned")
def align_command(
    data: list[Path],
    judge: str,
    scheme: str,
    target: Path,
    units: int = 150,
    shots: int = 6,
    draw: int = 0,
    asking: LanguageModelOptions = NOTHING_SAID,
    campaign: str | None = None,
    db: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    overwrite: bool = False,
    as_json: bool = False,
) -> None:
    """Fit a language model's prompt to people's answers, and say by documents kept apart whether that helped."""
    from lapsus.annotators.language_model.align import align
    from lapsus.annotators.language_model.aligned import aligned_yaml
    from lapsus.annotators.library import OPENAI, is_language_model
    from lapsus.formats.sink import check_place, put_in_place
    from lapsus.store.audit import ALIGNED

    if not is_language_model(judge):
        raise UsageError("align-language-models", hint="with-model", openai=OPENAI)
    check_place(target, overwrite=overwrite, sources=data)
    kept = target.with_name(f"{target.name}.part.jsonl")
    with Asking(asking, [judge]) as talk:
        found = align(
            data,
            judge,
            scheme=scheme,
            units=units,
            shots=shots,
            draw=draw,
            kept=kept,
            only=only,
            language=lang,
            stop=talk.stop,
            leave=talk.leave,
            progress=talk.step,
            **asking.how,
        )
    told = found.aligned.told if found.aligned is not None else None
    if found.aligned is not None:
        with put_in_place(target, overwrite=overwrite) as draft:
            draft.write_text(aligned_yaml(found.aligned), encoding="utf-8")
    if campaign is not None and told is not None:
        with open_database(db) as store:
            store.audit.add(campaign, ALIGNED, {"judge": told.model, "told": to_builtins(told)})
    for path in (kept, kept.with_suffix(".clauses")):
        path.unlink(missing_ok=True)
    if as_json:
        print_json({"tried": {one.name: one.agreement for one in found.tried}, "told": told,
                    **facts(talk.waiting[0].model)})  # fmt: skip
    else:
        talk.tell()
        _tell(found, told, target)
    if told is None:
        raise typer.Exit(1)


def _tell(found: Alignment, told: Told | None, target: Path) -> None:
    from lapsus.measures.score import shown

    columns = ("addition", "clauses", "examples", "agreement")
    tried = [
        (
            one.name,
            str(len(one.aligned.clauses) if one.aligned else 0),
            str(len(one.aligned.examples) if one.aligned else 0),
            f"{one.agreement:.3f}",
        )
        for one in found.tried
    ]
    print_table(columns, tried, numbers=columns[1:])
    if told is None:
        warn("align-nothing-better")
        return
    head = ("kept apart", "agreement", "interval")
    figures = (("plain prompt", told.before), ("aligned prompt", told.after), ("difference", told.difference))
    apart = [
        (name, shown(one.value), f"[{shown(one.low, 2)}, {shown(one.high, 2)}]") for name, one in figures
    ]
    print_table(head, apart, numbers=head[1:])
    outcome = {"helped": "align-helped", "harmed": "align-harmed", "unsure": "align-unsure"}[told.outcome]
    say(outcome, to=target, units=told.units, documents=told.documents)


@asks_language_models("samples", "reasons")
def probe_command(
    data: list[Path],
    judge: str,
    scheme: str,
    units: int = 50,
    asking: LanguageModelOptions = NOTHING_SAID,
    campaign: str | None = None,
    db: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    as_json: bool = False,
) -> None:
    """Ask a language model again with what should not matter changed: does it agree with itself?"""
    from lapsus import model
    from lapsus.annotators import find_annotator
    from lapsus.annotators.detection import Waiting
    from lapsus.annotators.language_model.probes import probe, rounds
    from lapsus.annotators.library import OPENAI, is_language_model
    from lapsus.formats import read
    from lapsus.schemes import load_scheme
    from lapsus.store.audit import PROBED

    if not is_language_model(judge):
        raise UsageError("detectors-always-answer-same", hint="with-model", openai=OPENAI)
    guideline = load_scheme(scheme)
    reading = read(data, only=only, language=lang)
    documents = (entry.document for entry in reading if entry.document is not None)
    chosen = list(islice((unit for one in documents for unit in model.units(one, guideline.unit)), units))
    if not chosen:
        raise InputError("nothing-in-it-is-judged-under", where=reading.source.shown, id=guideline.id)

    def make(asked: Scheme) -> LanguageModel:
        return cast("LanguageModel", find_annotator(judge, asked, stop=talk.stop, **asking.how))

    with Asking(asking, [judge]) as talk:
        asked, times = make(guideline), rounds(guideline)
        expected = asked.expects(unit for _ in range(times) for unit in chosen)
        talk.leave([Waiting(asked, len(chosen) * times, 0, None, expected=expected)])
        found = probe(make, guideline, chosen)
    if campaign is not None:
        with open_database(db) as store:
            store.audit.add(campaign, PROBED, {"judge": asked.name, "probes": to_builtins(found)})
    if as_json:
        print_json(found)
        return
    _tell_probes(found)


def _tell_probes(found: list[Probed]) -> None:
    columns = ("probe", "question", "units", "same", "share", "interval", "most often")
    rows = [
        (
            one.probe,
            one.question,
            f"{one.units:,}",
            f"{one.same:,}",
            "-" if one.share is None else f"{one.share:.3f}",
            "-" if one.low is None or one.high is None else f"[{one.low:.2f}, {one.high:.2f}]",
            " → ".join(one.moved[0][:2]) + f" ({one.moved[0][2]})" if one.moved else "",
        )
        for one in found
    ]
    print_table(columns, rows, numbers=columns[2:6])
