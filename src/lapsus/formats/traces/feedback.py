"""Judgments as feedback for the tools that the traces came from: a record for each answer, by span or trace."""

import json
import uuid
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lapsus.errors import UsageError
from lapsus.formats.base import Format, Loss, ReadOptions
from lapsus.formats.source import Source
from lapsus.kinds import countable
from lapsus.model import Answer, Document, Entry, Judgment, Span, latest
from lapsus.notices import Notice
from lapsus.schemes import known_scheme

_IDS = uuid.UUID("8b0f5a1e-6a57-4e0c-9c53-3f9f4a3f2f10")
"""Ids of records are made from what they are about, so that sending twice stores once."""


class Feedback(NamedTuple):
    """One answer of one annotator about a turn, in the words that the tools share."""

    trace: str
    span: str | None
    session: str
    name: str
    """Scheme and question: `breakdown.breakdown`."""
    label: str | None
    place: str
    """Where a mark stands in its text; empty for other answers."""
    score: float | None
    """The value of a scale, or the share that the annotator gives to the label."""
    explanation: str | None
    kind: str
    """HUMAN, LLM or CODE."""
    judgment: Judgment

    @property
    def id(self) -> str:
        """The same for the same annotator, turn, question, label and place, however often it is made."""
        judgment = self.judgment
        turn = (judgment.document, judgment.segment or "")
        about = (*turn, judgment.annotator, self.name, self.label or "", self.place)
        return str(uuid.uuid5(_IDS, "\0".join(about)))


def feedback_of(entry: Entry) -> Iterator[Feedback]:
    """The answers about turns that know their span or trace."""
    if entry.document is None:
        return
    for judgment in latest(entry.judgments):
        place = _place(entry.document, judgment)
        if place is not None:
            yield from _answers(entry.document, judgment, *place)


def _place(document: Document, judgment: Judgment) -> tuple[str, str | None] | None:
    """Trace and span of what was judged; a whole dialogue has the trace of its last turn and no span."""
    for segment in reversed(document.segments):
        if judgment.segment in (None, segment.id):
            trace, span = segment.metadata.get("trace_id"), segment.metadata.get("span_id")
            if trace or span:
                return str(trace or ""), None if judgment.segment is None or not span else str(span)
            if judgment.segment is not None:
                return None
    return None


def _answers(document: Document, judgment: Judgment, trace: str, span: str | None) -> Iterator[Feedback]:
    free = free_texts(judgment.scheme)
    explanation = " ".join(str(judgment.answers[name]) for name in judgment.answers if name in free) or None
    for question, answer in judgment.answers.items():
        if question in free:
            continue
        shares = judgment.distributions.get(question, {})
        for label, at, score, words in _parts(document, answer, judgment.scheme):
            yield Feedback(
                trace,
                span,
                document.id,
                f"{judgment.scheme}.{question}",
                label,
                at,
                shares.get(label) if score is None and label is not None else score,
                words or explanation,
                _kind(judgment),
                judgment,
            )


def free_texts(scheme: str) -> set[str]:
    """The questions of a scheme that are answered in one's own words; none of a scheme that is not known here."""
    questions = found.questions if (found := known_scheme(scheme)) else ()
    return {question.id for question in questions} - {question.id for question in countable(questions)}


def nothing_of(scheme: str) -> str:
    """The label of an answer that says there is nothing: `none`, or `(none)` where a scheme has such a label itself."""
    questions = found.questions if (found := known_scheme(scheme)) else ()
    word = "none"
    while any(question.label(word) for question in questions):
        word = f"({word})"
    return word


def _parts(
    document: Document, answer: Answer, scheme: str
) -> Iterator[tuple[str | None, str, float | None, str | None]]:
    """Label, place, score and words of each part of an answer, or of one that says there is nothing."""
    if isinstance(answer, str):
        yield answer, "", None, None
    elif isinstance(answer, int | float):
        yield None, "", float(answer), None
    elif not answer:
        yield nothing_of(scheme), "", None, None
    for part in answer if isinstance(answer, tuple) else ():
        if isinstance(part, Span):
            words = document.segment(part.segment).text[part.start : part.end]
            yield part.label, f"{part.segment}:{part.start}-{part.end}", None, words
        else:
            yield part, "", None, None


def _kind(judgment: Judgment) -> str:
    if "answered_by" in judgment.metadata:
        return "LLM"
    return "CODE" if judgment.distributions else "HUMAN"


class FeedbackFormat(Format):
    """A file of feedback, a record a line. It can be written only: it holds no texts."""

    reads = False

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """Nothing: feedback holds no documents."""
        raise UsageError("format-can-written-but", where=source.shown, name=self.name)

    def losses(self, entry: Entry) -> Iterator[Loss]:
        """Texts, and judgments on turns that came from no trace."""
        if entry.document is None:
            yield Loss(Notice("judgments-whose-document-not"), severe=True)
            return
        yield Loss(Notice("texts-documents"))
        if any(_place(entry.document, judgment) is None for judgment in entry.judgments):
            yield Loss(Notice("judgments-turns-without-span"), severe=True)

    def write(self, entries: Iterable[Entry], path: Path) -> None:
        """A record a line."""
        encoder = msgspec.json.Encoder()
        with path.open("xb") as stream:
            for entry in entries:
                for feedback in feedback_of(entry):
                    stream.write(encoder.encode(self.record(feedback)) + b"\n")

    @abstractmethod
    def record(self, feedback: Feedback) -> dict[str, Any]:
        """The tool's own shape of a piece of feedback."""


class OpenInferenceAnnotations(FeedbackFormat):
    """Attributes `annotations.0.annotation.…` for a span."""

    name = "openinference-annotations"
    title = Notice("openinference-annotations-jsonl-judged")
    suffix = ".annotations.jsonl"

    def record(self, feedback: Feedback) -> dict[str, Any]:
        """Span, trace and the flat attributes of the convention."""
        values = {
            "name": feedback.name,
            "label": feedback.label,
            "score": feedback.score,
            "explanation": feedback.explanation,
            "annotator_kind": feedback.kind,
            # One of each: several labels are several annotations of the same name by the same annotator.
            "identifier": feedback.id,
            "metadata": json.dumps({"annotator": feedback.judgment.annotator}, ensure_ascii=False),
        }
        attributes = {
            f"annotations.0.annotation.{key}": value for key, value in values.items() if value is not None
        }
        return {"trace_id": feedback.trace, "span_id": feedback.span, "attributes": attributes}


class OpenTelemetryEvaluations(FeedbackFormat):
    """Log records `gen_ai.evaluation.result`, in OTLP JSON."""

    name = "otel-evaluations"
    title = Notice("opentelemetry-gen-ai-evaluation")
    suffix = ".evaluations.jsonl"

    def record(self, feedback: Feedback) -> dict[str, Any]:
        """A bundle with one log record, as collectors take it."""
        values = {
            "gen_ai.evaluation.name": feedback.name,
            "gen_ai.evaluation.score.label": feedback.label,
            "gen_ai.evaluation.score.value": feedback.score,
            "gen_ai.evaluation.explanation": feedback.explanation,
            "lapsus.annotator": feedback.judgment.annotator,
        }
        record: dict[str, Any] = {
            "eventName": "gen_ai.evaluation.result",
            "traceId": feedback.trace,
            "spanId": feedback.span or "",
            "attributes": [
                {"key": key, "value": {"doubleValue" if isinstance(value, float) else "stringValue": value}}
                for key, value in values.items()
                if value is not None
            ],
        }
        if at := feedback.judgment.at:
            record["timeUnixNano"] = str(int(at.timestamp() * 1_000_000) * 1000)
        return {
            "resourceLogs": [
                {"resource": {}, "scopeLogs": [{"scope": {"name": "lapsus"}, "logRecords": [record]}]}
            ]
        }


class LangfuseScores(FeedbackFormat):
    """Scores, in the columns of Langfuse's export."""

    name = "langfuse-scores"
    title = Notice("langfuse-scores-jsonl-score")
    suffix = ".scores.jsonl"

    def record(self, feedback: Feedback) -> dict[str, Any]:
        """A score: a number for a scale, else a category."""
        is_number = feedback.label is None
        return {
            "id": feedback.id,
            "trace_id": feedback.trace,
            "observation_id": feedback.span,
            "session_id": feedback.session,
            "name": feedback.name,
            "value": feedback.score,
            "string_value": feedback.label,
            "data_type": "NUMERIC" if is_number else "CATEGORICAL",
            "source": "ANNOTATION" if feedback.kind == "HUMAN" else "EVAL",
            "comment": feedback.explanation,
            "metadata": {"annotator": feedback.judgment.annotator},
        }


class LangSmithFeedback(FeedbackFormat):
    """Feedback, in the fields of LangSmith's interface."""

    name = "langsmith-feedback"
    title = Notice("langsmith-feedback-jsonl-piece")
    suffix = ".feedback.jsonl"

    def record(self, feedback: Feedback) -> dict[str, Any]:
        """Feedback on a run."""
        source = "app" if feedback.kind == "HUMAN" else "model"
        return {
            "id": feedback.id,
            "run_id": feedback.span or feedback.trace,
            "trace_id": feedback.trace,
            "key": feedback.name,
            "score": feedback.score,
            "value": feedback.label,
            "comment": feedback.explanation,
            "correction": None,
            "feedback_source": {"type": source, "metadata": {"annotator": feedback.judgment.annotator}},
        }
