"""Aligned prompts: a file, to keep in git, of what is added to a prompt so that a model answers as people do."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml

from lapsus.annotators.language_model.reply import places
from lapsus.errors import InputError, UsageError, reason_of
from lapsus.model import Answer, Scheme, Span, Unit


class Shot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A unit that people judged, and their answer, as a model is shown both."""

    document: str
    unit: dict[str, Any]
    answer: dict[str, Any]


class Figure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An agreement with people or a difference of two, with its interval at 95%."""

    value: float
    low: float
    high: float


class Told(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What came of an alignment, on documents that nothing was chosen from or by."""

    model: str
    units: int
    documents: int
    before: Figure
    after: Figure
    difference: Figure
    learned_from: tuple[str, ...]
    """The documents that it was chosen from and by: figures on these would flatter it."""

    @property
    def outcome(self) -> str:
        """helped, harmed or unsure: by the interval of the difference."""
        return "helped" if self.difference.low > 0 else "harmed" if self.difference.high < 0 else "unsure"


class Aligned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Clauses and examples that go into the prompt of one guideline in one language."""

    scheme: str
    version: str
    language: str
    clauses: tuple[str, ...] = ()
    examples: tuple[Shot, ...] = ()
    digest: str | None = None
    """Of all the above; a file whose digest is another was changed since."""
    told: Told | None = None

    @property
    def own_digest(self) -> str:
        """A few letters that differ where something else is added to the prompt."""
        parts = (self.scheme, self.version, self.language, self.clauses, self.examples)
        return hashlib.blake2b(msgspec.json.encode(parts), digest_size=8).hexdigest()

    def must_fit(self, scheme: Scheme) -> None:
        """Complain where it was made for another guideline, or another version of it."""
        if (self.scheme, self.version) != (scheme.id, scheme.version):
            raise UsageError(
                "aligned-other-scheme",
                hint="align-again",
                own=f"{self.scheme} {self.version}",
                id=f"{scheme.id} {scheme.version}",
            )


def read_aligned(path: Path | str) -> Aligned:
    """An aligned prompt from its file."""
    try:
        raw = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        found = msgspec.convert(raw, Aligned)
    except OSError as error:
        raise InputError(reason_of(error), where=str(path)) from None
    except (UnicodeDecodeError, yaml.YAMLError, msgspec.ValidationError) as error:
        why = str(error).splitlines()[0]
        raise InputError("no-aligned-prompt", where=str(path), hint="aligned-form", error=why) from None
    if found.digest is not None and found.digest != found.own_digest:
        raise InputError("aligned-changed", where=str(path), hint="aligned-changed-what-to-do")
    return found


def aligned_yaml(aligned: Aligned) -> str:
    """The text of its file."""
    kept = msgspec.structs.replace(aligned, digest=aligned.own_digest)
    return yaml.safe_dump(msgspec.to_builtins(kept), allow_unicode=True, sort_keys=False, width=100)


def as_reply(answers: Mapping[str, Answer], unit: Unit, scheme: Scheme) -> dict[str, Any]:
    """People's answers as a model would give them: marks as quotes, null where a question was left open."""
    texts = {segment.id: segment.text for segment in unit.visible}
    return {question.id: _as_json(answers.get(question.id), texts) for question in scheme.questions}


def _as_json(answer: Answer | None, texts: Mapping[str, str]) -> Any:
    if not isinstance(answer, tuple):
        return answer
    return [_quoted(one, texts) if isinstance(one, Span) else one for one in answer]


def _quoted(span: Span, texts: Mapping[str, str]) -> dict[str, Any]:
    text = texts[span.segment]
    quote = text[span.start : span.end]
    which = places(text, quote).index((span.start, span.end)) + 1
    return {
        "label": span.label, "segment": span.segment, "quote": quote, "occurrence": which, "tie": span.tie,
    }  # fmt: skip


def told(answer: Any) -> str:
    """An answer in a few words; marks by their labels."""
    if not isinstance(answer, tuple):
        return "–" if answer is None else str(answer)
    return ", ".join(sorted({getattr(one, "label", str(one)) for one in answer})) or "–"
