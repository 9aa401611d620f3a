"""`lapsus check`: what is wrong in chat logs, and texts that disagree with their data, the worst first."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import typer

from lapsus.cli.convert import tell_reading
from lapsus.cli.detect import announce, tell_format
from lapsus.cli.language_model_options import NOTHING_SAID, Asking, LanguageModelOptions, asks_language_models
from lapsus.cli.output import print_json, reader_language, remark, warn
from lapsus.cli.shared_options import HERE, engine_of
from lapsus.errors import UsageError, reason_of
from lapsus.formats.sink import check_place, put_in_place

if TYPE_CHECKING:
    from lapsus.annotators import Annotator
    from lapsus.log_check import GuidelineCheck, LogCheck, PairCheck
    from lapsus.log_check.ranked_file import RankedFile


ENDING = ".answers"
"""Not that of any format: where a whole folder is checked, answers that are kept in it are no log."""


@asks_language_models("reasons", "prompt_words")
def check_command(
    logs: list[Path],
    html: Path | None = None,
    out: Path | None = None,
    fail_above: str | None = None,
    top: int = 20,
    judges: list[str] | None = None,
    profile: str | None = None,
    reader: str | None = None,
    adapt: Path | None = None,
    judge: Path | None = None,
    only: str | None = None,
    lang: str | None = None,
    words: str | None = None,
    asking: LanguageModelOptions = NOTHING_SAID,
    engine: str = HERE,
    ray: str | None = None,
    overwrite: bool = False,
    as_json: bool = False,
) -> None:
    """Find what is wrong in chat logs, the worst replies first, or texts that disagree with their data."""
    from lapsus.log_check import check

    shown_in = _language(words)
    limit = _share(fail_above)
    for page in (html, judge, out):
        if page is not None:
            check_place(page, overwrite=overwrite, sources=logs)
    if html is not None and judge is not None and html.resolve() == judge.resolve():
        raise UsageError("html-judge-name-same", hint="give-each-page-file")
    with _ranked(out, shown_in) as ranked, engine_of(engine, ray) as where, Asking(asking, judges) as talk:
        try:
            found = check(
                logs,
                model=judges or None,
                profile=profile,
                reader=reader,
                adapt=adapt,
                top=top,
                only=only,
                language=lang,
                engine=where,
                beside=html,
                out=ranked,
                stop=talk.stop,
                answers=lambda model: _answers_file(logs, model),
                tell=announce,
                announce=lambda reading: tell_format(reading, as_json),
                leave=talk.leave,
                progress=talk.step,
                **asking.how,
            )
        finally:
            talk.tell()
            talk.tell_kept()
        if ranked is not None and out is not None:
            with put_in_place(out, overwrite=overwrite) as draft:
                ranked.write(draft)
            remark(f"→ {out}")
    if found.unjudged:
        wanted = talk.waiting[0].units + talk.waiting[0].known
        warn("units-not-judged-report", unjudged=found.unjudged, wanted=wanted)
    if found.reading is not None:
        tell_reading(found.reading)
    _report(found, html, shown_in, overwrite=overwrite, as_json=as_json)
    if judge is not None:
        _write_turns(found, judge, shown_in, overwrite=overwrite)
    too_many = limit is not None and _too_many(found, limit)
    if found.unjudged or too_many:
        raise typer.Exit(1)


@contextmanager
def _ranked(path: Path | None, language: str) -> Iterator[RankedFile | None]:
    """What takes every turn for --out."""
    from lapsus.log_check.ranked_file import RankedFile

    if path is None:
        yield None
        return
    with closing(RankedFile(path, language)) as ranked:
        yield ranked


def _share(text: str | None) -> float | None:
    """A share as 3% or 0.03."""
    if text is None:
        return None
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError("fail-above-no-share", hint="write-3-0-03", text=text)
    return share


def _too_many(found: LogCheck | PairCheck | GuidelineCheck, limit: float) -> bool:
    from lapsus.log_check import LogCheck

    if not isinstance(found, LogCheck):
        raise UsageError("fail-above-breakdowns-chat-logs", hint="leave-out")
    if found.share > limit:
        warn("turns-called-likely-more", share=found.share, limit=limit)
    return found.share > limit


def _answers_file(logs: list[Path], model: Annotator) -> Path | None:
    """Where answers that were paid for stay for the next check, since a report shows only a few.

    Tried before any is asked for; None where nothing can be written: that is no reason not to look over a log.
    """
    from lapsus.formats import read

    path = Path(f"{read(logs).source.name}.{quote(model.name.partition(':')[2], safe='')}{ENDING}")
    try:
        with path.open("ab") as stream:
            is_new = not stream.tell()
    except OSError as error:
        warn("cannot-written-model-says", path=path, strerror=reason_of(error))
        return None
    if is_new:
        path.unlink()
    return path


def _write_turns(
    found: LogCheck | PairCheck | GuidelineCheck, path: Path, language: str, *, overwrite: bool
) -> None:
    from lapsus.log_check import GuidelineCheck, LogCheck

    if isinstance(found, GuidelineCheck):
        raise UsageError("model-under-not-adapted", hint="lapsus-train-judge-learns", id=found.scheme.id)
    if not isinstance(found, LogCheck):
        raise UsageError("pairs-data-text-not", hint="lapsus-train-triples-learns")
    with put_in_place(path, overwrite=overwrite) as draft:
        draft.write_text(found.to_judge(language), encoding="utf-8", errors="replace")
    remark(f"→ {path}")


def _report(
    found: LogCheck | PairCheck | GuidelineCheck,
    html: Path | None,
    language: str,
    *,
    overwrite: bool,
    as_json: bool,
) -> None:
    if html is not None:
        with put_in_place(html, overwrite=overwrite) as draft:
            draft.write_text(found.to_html(language), encoding="utf-8", errors="replace")
    if as_json:
        print_json({"by": found.by, **found.as_data(language)})
        return
    sys.stdout.write(found.to_text(language))
    if html is not None:
        remark(f"→ {html}")


def _language(words: str | None) -> str:
    from lapsus.word_files import LANGUAGES

    if words is not None and words not in LANGUAGES:
        raise UsageError("report-not-written", hint="languages", words=words, known=", ".join(LANGUAGES))
    return words or reader_language()
