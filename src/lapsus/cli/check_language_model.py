"""`lapsus check` with language models, or with several judges as a jury."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lapsus.cli.detect import announce
from lapsus.cli.language_model_options import (
    PREFIX,
    LanguageModelOptions,
    ask_leave,
    ending_gently,
    make_language_model,
    tell,
)
from lapsus.cli.output import progress, warn

if TYPE_CHECKING:
    from lapsus.annotators.bulk import Engine
    from lapsus.annotators.language_model import LanguageModel
    from lapsus.formats import EntryStream
    from lapsus.log_check import LogCheck, PairCheck
    from lapsus.model import Document, Entry, Scheme


def check_by_models(
    names: Sequence[str],
    reading: EntryStream,
    options: LanguageModelOptions,
    engine: Engine,
    top: int,
    profile: str | None,
) -> LogCheck | PairCheck:
    """What language models find, or a jury of several judges.

    What could not be judged is told and counted; a broken server is an error.
    """
    from lapsus.annotators.breakdown import SCHEME
    from lapsus.annotators.cases import cases_of
    from lapsus.annotators.detection import nothing_to_judge
    from lapsus.annotators.jury import JURY, with_jury
    from lapsus.log_check import check_entries, pair_ranking
    from lapsus.log_check.checking import holds_pairs
    from lapsus.schemes import load_scheme

    of_pairs = holds_pairs(reading)
    scheme = load_scheme(pair_ranking.SCHEME if of_pairs else SCHEME)
    documents = [entry.document for entry in reading if entry.document is not None]
    wanted = sum(1 for document in documents for _ in cases_of(document, scheme))
    if not wanted:
        raise nothing_to_judge(reading)
    parts = [_judged(name, documents, scheme, reading, options, engine, profile, wanted) for name in names]
    entries = parts[0] if len(parts) == 1 else list(with_jury(parts, scheme, alone=True))
    found: LogCheck | PairCheck
    if of_pairs:
        found = pairs = pair_ranking.check_pairs(entries, top)
        judged = pairs.pairs
    else:
        found = turns = check_entries(entries, top)
        judged = turns.turns
    found.by = names[0] if len(names) == 1 else f"{JURY} ({', '.join(names)})"
    found.reading, found.unjudged = reading, wanted - judged
    if found.unjudged:
        warn(f"{found.unjudged:,} of {wanted:,} units were not judged; the report is about the others")
    return found


def _judged(
    name: str,
    documents: Sequence[Document],
    scheme: Scheme,
    reading: EntryStream,
    options: LanguageModelOptions,
    engine: Engine,
    profile: str | None,
    wanted: int,
) -> list[Entry]:
    """The documents as one judge sees them."""
    from lapsus.annotators import Judges, judged_entries, usual_profile
    from lapsus.annotators.bulk import Bulk

    if not name.startswith(PREFIX):
        usual = usual_profile(reading.format.name)
        judges = Judges(name, scheme=scheme, profile=profile, usual=usual, tell=announce)
        with progress("documents", len(documents)) as step:
            return [entry for entry in judges.entries(documents, Bulk(engine)) if step() or True]
    stop = threading.Event()
    model: LanguageModel = make_language_model(name, scheme, options, stop, engine)
    ask_leave(options, wanted)
    try:
        with ending_gently(stop), progress("documents", len(documents)) as step:
            return [entry for entry in judged_entries(model, documents) if step() or True]
    finally:
        tell(model)
