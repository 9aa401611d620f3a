"""`lapsus probe`: does a language model agree with itself?"""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import to_builtins

from lapsus.cli.language_model_options import NOTHING_SAID, Asking, LanguageModelOptions, asks_language_models
from lapsus.cli.output import print_json, print_table
from lapsus.cli.shared_options import open_database
from lapsus.errors import InputError, UsageError

if TYPE_CHECKING:
    from lapsus.annotators.language_model import LanguageModel
    from lapsus.annotators.language_model.probes import Probed
    from lapsus.model import Scheme


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
    _tell(found)


def _tell(found: list[Probed]) -> None:
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
