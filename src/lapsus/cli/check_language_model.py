"""`lapsus check` with language models, or with several judges as a jury.

What a language model said is kept for the next check: a report shows a few turns, and all of them were paid for.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from lapsus.cli.detect import announce
from lapsus.cli.language_model_options import (
    PREFIX,
    LanguageModelOptions,
    ask_leave,
    ending_gently,
    make_language_model,
    tell,
)
from lapsus.cli.output import counted, progress, remark, warn

if TYPE_CHECKING:
    from lapsus.annotators.bulk import Engine
    from lapsus.annotators.language_model import LanguageModel
    from lapsus.annotators.language_model.journal import Journal
    from lapsus.formats import EntryStream
    from lapsus.log_check import LogCheck, PairCheck
    from lapsus.model import Document, Entry, Judgment, Scheme

ENDING = ".answers"
"""Not that of any format: where a whole folder is checked, answers that are kept in it are no log."""


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
            return list(counted(judges.entries(documents, Bulk(engine)), step))
    stop = threading.Event()
    model = make_language_model(name, scheme, options, stop, engine)
    kept = _kept_answers(reading.source.name, model, documents)
    left = wanted - (0 if kept is None else len(kept.judgments))
    if kept is not None and left < wanted:
        remark(f"{kept.path} holds {wanted - left:,} answers about this log; {left:,} units are left")
    if left:
        ask_leave(options, left)
    try:
        with ending_gently(stop), progress("documents", len(documents)) as step:
            return list(counted(judged_entries(model, documents), step))
    finally:
        tell(model)
        if kept is not None and left:
            _tell_kept(model, kept, wanted)


def _kept_answers(log: str, model: LanguageModel, documents: Sequence[Document]) -> Journal | None:
    """What the model said before of the texts of now, asked as it is asked now; it goes on from there.

    None where nothing can be written: that is no reason not to look over a log.
    """
    from lapsus.annotators.cases import cases_of
    from lapsus.annotators.language_model.journal import Journal
    from lapsus.annotators.language_model.prompt import unit_digest

    path = Path(f"{log}.{quote(model.name.removeprefix(PREFIX), safe='')}{ENDING}")
    if not _can_be_written(path):
        return None
    units = (case.unit for document in documents for case in cases_of(document, model.scheme))
    texts = {unit.key: unit_digest(unit) for unit in units}

    def fits(judgment: Judgment) -> bool:
        told = judgment.metadata.get("material")
        return told is not None and told == texts.get(judgment.unit) and not model.others(judgment)

    kept = Journal(path, fits)
    model.go_on_with(kept)
    return kept


def _can_be_written(path: Path) -> bool:
    """Whether answers can be kept there: tried before any is paid for."""
    try:
        with path.open("ab") as stream:
            is_new = not stream.tell()
    except OSError as error:
        warn(f"{path} cannot be written: {error.strerror}; what the model says is not kept for another check")
        return False
    if is_new:
        path.unlink()
    return True


def _tell_kept(model: LanguageModel, kept: Journal, wanted: int) -> None:
    """Where the answers are, and what for."""
    known, who = len(kept.judgments), model.name
    if known == wanted:
        remark(
            f"{known:,} answers of {who} are kept in {kept.path}; the next check asks for what changed only"
        )
    elif known:
        remark(
            f"{known:,} answers of {who} are kept in {kept.path}; the same command asks for the others only"
        )
