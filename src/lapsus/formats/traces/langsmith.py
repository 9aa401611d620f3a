"""LangSmith's exports: runs, a record each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from lapsus.formats.messages import json_text, moment
from lapsus.formats.records import Record
from lapsus.formats.traces.base import TraceFormat, first, known
from lapsus.formats.traces.calls import MODEL_CALL, WHOLE_RUN, Call
from lapsus.formats.traces.messages import messages_of
from lapsus.notices import Notice

_THREADS = ("thread_id", "session_id", "conversation_id")


class LangSmith(TraceFormat):
    """Runs. A thread is a conversation; without one, a trace is."""

    name = "langsmith"
    title = Notice("langsmith-exports-runs-jsonl")
    expected = "id, trace_id, run_type, inputs, outputs"

    def knows(self, record: dict[str, Any]) -> bool:
        """By the keys of a run."""
        return record.keys() >= {"id", "run_type", "inputs"}

    def calls(self, record: Record, dropped: Counter[str]) -> Iterator[Call]:
        """A call for each run of a model, and for each outermost run of a program."""
        run = record.value
        is_model = run["run_type"] in ("llm", "chat", "chat_model")
        if not is_model and _is_inner(run):
            dropped[Notice("runs-tools-inner-steps")] += 1
            return
        trace = str(first(run, "trace_id", "id"))
        metadata = _metadata(run)
        yield Call(
            conversation=str(first(metadata, *_THREADS) or trace),
            time=moment(run.get("start_time")) or str(run.get("dotted_order") or ""),
            heard=messages_of(run.get("inputs"), "user", dropped),
            said=messages_of(run.get("outputs"), "system", dropped),
            turn=known(
                trace_id=trace,
                span_id=str(run["id"]),
                model=first(metadata, "ls_model_name", "model"),
                time=moment(first(run, "end_time", "start_time")),
                input_tokens=run.get("prompt_tokens"),
                output_tokens=run.get("completion_tokens"),
            ),
            rank=MODEL_CALL if is_model else WHOLE_RUN,
        )


def _is_inner(run: dict[str, Any]) -> bool:
    """Whether another run of the trace is around it. Bulk exports name all of them, interfaces only the nearest."""
    around = first(run, "parent_run_id") or json_text(run.get("parent_run_ids"))
    return bool(around) or str(run.get("trace_id") or run["id"]) != str(run["id"])


def _metadata(run: dict[str, Any]) -> dict[str, Any]:
    extra = json_text(run.get("extra"))
    metadata = json_text(extra.get("metadata")) if isinstance(extra, dict) else None
    return metadata if isinstance(metadata, dict) else {}
