"""Which formats there are, and which one a source is in."""

from pathlib import Path

from lapsus.errors import InputError, UsageError
from lapsus.formats.base import Format, ReadOptions
from lapsus.formats.encoding import refuse_other_encodings
from lapsus.formats.source import LINED, Source
from lapsus.notices import Notice
from lapsus.registry import Registry

FORMATS: Registry[type[Format]] = Registry(
    "kind-format",
    "lapsus.formats",
    {
        "jsonl": "lapsus.formats.jsonl:Jsonl",
        "dbdc": "lapsus.formats.dbdc:Dbdc",
        "dbdc-run": "lapsus.formats.dbdc_run:DbdcRun",
        "dbrc": "lapsus.formats.dbrc:Dbrc",
        "webnlg": "lapsus.formats.webnlg:WebNlg",
        "pairs": "lapsus.formats.pairs:Pairs",
        "arena": "lapsus.formats.arena:Arena",
        "chat": "lapsus.formats.chat:Chat",
        "chat-csv": "lapsus.formats.chat_csv:ChatCsv",
        "csv": "lapsus.formats.table:CsvTable",
        "parquet": "lapsus.formats.table:ParquetTable",
        "brat": "lapsus.formats.brat:Brat",
        "labelstudio": "lapsus.formats.labelstudio:LabelStudio",
        "inception": "lapsus.formats.marks_export:Inception",
        "potato": "lapsus.formats.marks_export:Potato",
        "otel": "lapsus.formats.traces.opentelemetry:OpenTelemetry",
        "openinference": "lapsus.formats.traces.opentelemetry:OpenInference",
        "langfuse": "lapsus.formats.traces.tools:Langfuse",
        "langsmith": "lapsus.formats.traces.tools:LangSmith",
        "rasa": "lapsus.formats.traces.tools:Rasa",
        "dialogflow-cx": "lapsus.formats.traces.tools:DialogflowCx",
        "botpress": "lapsus.formats.traces.tools:Botpress",
        "openinference-annotations": "lapsus.formats.traces.feedback:OpenInferenceAnnotations",
        "otel-evaluations": "lapsus.formats.traces.feedback:OpenTelemetryEvaluations",
        "langfuse-scores": "lapsus.formats.traces.feedback:LangfuseScores",
        "langsmith-feedback": "lapsus.formats.traces.feedback:LangSmithFeedback",
    },
)


def recognise(source: Source, options: ReadOptions | None = None) -> Format:
    """The one format that a source is surely in; an error where it is none or could be several.

    Where the columns of a table say who speaks, the map that was told from them is put into the options.
    """
    is_one_file = source.path.is_file() and not source.is_zip and not source.others
    if is_one_file and (ours := FORMATS.get("jsonl")()).recognises(source):
        # A file that Lapsus wrote says so; no other format need be loaded to ask.
        return ours
    formats = [kind() for kind in FORMATS if kind.reads]
    fitting = [format for format in formats if format.recognises(source)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(format.name for format in fitting)
        hint = Notice("lapsus-convert-takes-one", names=names)
        raise InputError("could-several-formats", where=source.shown, hint=hint)
    if source.only and not source.first():
        raise InputError("nothing-matches-only", where=source.shown, only=source.only)
    _refuse_what_cannot_be_read(source)
    from lapsus.formats.chat import first_records, first_text, map_told, text_told
    from lapsus.formats.conversations import unknown_shape
    from lapsus.formats.pairs import NEEDS, has_data_alone
    from lapsus.formats.records import SUFFIXES
    from lapsus.formats.spoken_text import has_speakers

    member = source.first(*SUFFIXES)
    some = first_records(member)
    if options is not None and (told := map_told(some)) is not None:
        options.map = told
        return FORMATS.get("chat")()
    if has_data_alone(source):
        hint = Notice("pairs-data-text", needs=NEEDS)
        raise InputError("no-known-format", where=source.shown, hint=hint)
    if some:
        error = unknown_shape(*some)
        where = member.name if member is not None and source.path.is_dir() else source.shown
        raise InputError(error.what, where=where, hint=error.hint)
    text = first_text(source)
    if options is not None and options.map and has_speakers(text, options.map.names):
        return FORMATS.get("chat")()
    hint = text_told(text) if text.strip() else Notice("lapsus-formats-lists-those")
    raise InputError("no-known-format", where=source.shown, hint=hint)


def _refuse_what_cannot_be_read(source: Source) -> None:
    """Say more than that the format is unknown, where a file is empty, damaged or in another encoding."""
    from lapsus.formats.records import SUFFIXES, TABLES, records

    member = source.first(*SUFFIXES, ".tsv")
    if member is None:
        return
    name = member.name.lower()
    if not name.endswith(TABLES):
        if not member.head().strip():
            raise InputError("empty", where=member.name)
        refuse_other_encodings(member)
    if name.endswith((*TABLES, *LINED, ".json")) and next(records(member), None) is None:
        raise InputError("no-rows", where=member.name)


def format_for_output(path: Path) -> Format:
    """The format that an output's file ending stands for."""
    fitting = [kind for kind in FORMATS if kind.writes and kind.suffix and path.name.endswith(kind.suffix)]
    if fitting:
        return max(fitting, key=lambda kind: len(kind.suffix or ""))()
    endings = ", ".join(str(kind.suffix) for kind in FORMATS if kind.writes and kind.suffix)
    hint = Notice("known-endings-lapsus-convert", endings=endings)
    raise UsageError("ending-does-not-say", where=str(path), hint=hint)
