"""`lapsus detect`: let programs judge documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lapsus.cli.convert import tell_reading
from lapsus.cli.language_model_options import (
    NOTHING_SAID,
    Asking,
    LanguageModelOptions,
    asks_language_models,
    facts,
)
from lapsus.cli.output import colon, print_json, reader_language, remark, say
from lapsus.cli.shared_options import HERE, engine_of
from lapsus.errors import LapsusError
from lapsus.formats import Conversion, EntryStream
from lapsus.notices import Notice

if TYPE_CHECKING:
    from lapsus.annotators import Annotator, Detection
    from lapsus.annotators.detection import UnfinishedError


@asks_language_models()
def detect_command(
    data: list[Path],
    target: Path,
    judges: list[str] | None = None,
    scheme: str | None = None,
    profile: str | None = None,
    reader: str | None = None,
    only: str | None = None,
    lang: str | None = None,
    turns: str | None = None,
    keep: bool = False,
    batch: bool = False,
    asking: LanguageModelOptions = NOTHING_SAID,
    engine: str = HERE,
    ray: str | None = None,
    overwrite: bool = False,
    as_json: bool = False,
) -> None:
    """Let a detector or a language model judge documents, and write the judgments as a run."""
    from lapsus.annotators import detect
    from lapsus.annotators.detection import UnfinishedError

    done: Conversion | None = None
    if batch:
        asking = asking._replace(how={**asking.how, "batch": True})
    with engine_of(engine, ray) as where, Asking(asking, judges) as talk:
        found = detect(
            data,
            model=judges or None,
            scheme=scheme,
            profile=profile,
            reader=reader,
            only=only,
            language=lang,
            keep=keep,
            turns=turns,
            engine=where,
            stop=talk.stop,
            tell=announce,
            announce=lambda reading: tell_format(reading, as_json),
            **asking.how,
        )
        _tell_kept(target, as_json)
        try:
            done = found.write(target, overwrite=overwrite, leave=talk.leave, progress=talk.step)
        except UnfinishedError as error:
            _tell_batch(error, as_json)
        except LapsusError:
            _tell_asked(found, talk, target, as_json)
            raise
    tell_reading(found.reading)
    if done is not None and not as_json:
        _remark_left_out(found, done)
    if found.is_jury and done is not None:
        _report_jury(found, talk, target, done.to.name, as_json)
    elif found.asked:
        _tell_asked(found, talk, target, as_json)
    elif done is not None:
        _report(found, done, target, as_json)
    talk.finish()


def _remark_left_out(found: Detection, done: Conversion) -> None:
    if found.left_out:
        remark("only-turns-votes-answered", left_out=found.left_out)
    if not found.asked and (others := found.reading.documents - done.documents):
        remark("documents-without-turn-judge", others=others)


def tell_format(reading: EntryStream, as_json: bool) -> None:
    """Say which format a source was recognised as."""
    if reading.recognised and not as_json:
        remark("read", source=reading.source.shown, name=reading.format.name)


def _tell_batch(error: UnfinishedError, as_json: bool) -> None:
    """Where a batch is not done: how far it is, and that it is to be come back to."""
    from lapsus.annotators.language_model.batch import PendingError

    if not isinstance(error, PendingError):
        return
    if as_json:
        print_json({"batches": list(error.ids), "done": error.done, "requests": error.total})
    else:
        said = error.in_language(reader_language())
        typer.echo(said.what)
        remark(said.hint or "")
    raise typer.Exit(1)


def _tell_kept(target: Path, as_json: bool) -> None:
    """Say that another go was begun, where one was."""
    from lapsus.annotators.bulk import KeptChunks

    kept = KeptChunks.beside(target)
    if len(kept) and not as_json:
        remark("holds-chunks-run-not", folder=kept.folder, count=len(kept))


def _tell_asked(found: Detection, talk: Asking, target: Path, as_json: bool) -> None:
    """How it went with language models; nothing where none was asked yet."""
    if not as_json:
        talk.tell()
    for one in talk.waiting:
        out = target if found.units and target.exists() else one.kept.path if one.kept else target
        judged, left = len(one.kept.judgments) if one.kept else 0, len(one.model.refused)
        if as_json:
            there = str(out) if out.exists() else None
            print_json({"by": one.model.name, "out": there, "judged": judged, **facts(one.model)})
            continue
        said = Notice("units-judged", judged=judged, name=one.model.name)
        said = Notice("could-not-be-judged", said=said, left=left) if left else said
        say(said, to=out if out.exists() else None)


def _report_jury(found: Detection, talk: Asking, target: Path, format: str, as_json: bool) -> None:
    from lapsus.annotators.judges import JURY

    if as_json:
        print_json({"by": JURY, "members": found.names, "out": str(target)})
        return
    talk.tell()
    for member, counts in found.by_member.items():
        for question, answers in _sorted(counts).items():
            remark(f"{member}{colon()}{question}{colon()}{_counts(answers)}")
    say("of", jury=JURY, names=", ".join(found.names), target=target, format=format)


def _sorted(counts: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    return {question: dict(sorted(answers.items())) for question, answers in counts.items() if answers}


def _report(found: Detection, done: Conversion, target: Path, as_json: bool) -> None:
    counts = _sorted(found.answers)
    only = next(iter(counts.values())) if len(counts) == 1 else None
    if as_json:
        facts = {"documents": done.documents, "turns": found.units, "answers": counts}
        labels = {} if only is None else {"labels": only}
        print_json({"by": ", ".join(found.names), "out": str(target), **facts, **labels})
        return
    told = f" ({_counts(only)})" if only else ""
    if found.whole:
        say("documents", documents=done.documents, told=told, target=target, name=done.to.name)
    else:
        say(
            "documents-turns",
            documents=done.documents,
            units=found.units,
            told=told,
            target=target,
            name=done.to.name,
        )
    for question, answers in counts.items() if only is None else ():
        typer.echo(f"  {question}{colon()}{_counts(answers)}")


def _counts(answers: Mapping[str, int]) -> str:
    return ", ".join(f"{answer} {count:,}" for answer, count in answers.items())


def announce(annotator: Annotator) -> None:
    """Say who judges."""
    name, method = annotator.name, annotator.method
    if origin := annotator.origin_:
        languages = ", ".join(origin.languages)
        if annotator.scheme.unit.role == "document":
            remark(
                "judged-learned-documents", name=name, method=method, units=origin.units, languages=languages
            )
        else:
            remark("judged-learned-turns", name=name, method=method, units=origin.units, languages=languages)
    else:
        remark("judged", name=name, method=method)
    for line in annotator.summary():
        remark(f"  {line}")
