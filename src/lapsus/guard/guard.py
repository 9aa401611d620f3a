"""Judging replies before they are sent, by the same reading as `lapsus check`: signs and the shipped reader."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from lapsus.annotators import Annotator
from lapsus.annotators.breakdown import SCHEME
from lapsus.annotators.encoder.reader import GENERAL
from lapsus.annotators.judges import Judges
from lapsus.errors import InputError, UsageError
from lapsus.formats.base import ReadOptions
from lapsus.formats.conversations import Conversations
from lapsus.formats.shapes import Conversation
from lapsus.guard.records import MOST_RISK, NOT_JUDGED, Candidate, LikelyType, Sign, Verdict, verdict
from lapsus.guard.recovery import read_ways, suggestions
from lapsus.log_check.finding import Finding, find
from lapsus.log_check.likely_types import unfitting, with_types
from lapsus.measures.scores.breakdown_labels import LABELS
from lapsus.model import Document, Judgment, Unit, units
from lapsus.schemes import load_scheme

SMALL: Final = "small"
_ID: Final = "guard"
TO_LOAD_WITH: Final = (
    ("When do you open?", "I like apples very much."),
    ("何時に開きますか。", "りんごが大好きです。"),
)
"""Questions with replies that are flagged, so that all models have something to say."""


class Guard:
    """Says of replies how likely they break a talk down. May be used by many threads.

    `most_risk` is the risk above which a reply is flagged; `reader` is `small`, `large` or None, as for `lapsus check`;
    `words` is the language of evidence and suggestions, by default that of the talk; `recovery` is a file with ways to
    recover of your own.
    """

    def __init__(
        self,
        *,
        most_risk: float = MOST_RISK,
        model: Annotator | str | None = None,
        profile: str | None = None,
        reader: str | None = SMALL,
        language: str | None = None,
        words: str | None = None,
        recovery: Path | str | None = None,
    ) -> None:
        if not 0 <= most_risk <= 1:
            raise UsageError("most-risk-no-share", hint="write-0-6", most_risk=most_risk)
        self.most_risk = most_risk
        self._words = words
        self._ways = read_ways(recovery)
        self._options = ReadOptions(language=language)
        self._judges = Judges(
            model,
            scheme=SCHEME,
            profile=profile,
            reader=None if model is not None else reader,
            usual=GENERAL,
        )
        self._lock = threading.Lock()
        """Models are loaded by one thread alone."""

    def load(self) -> None:
        """Load the models of both languages now, so that the first reply waits no longer than any other."""
        for asked, said in TO_LOAD_WITH:
            self.check([{"role": "user", "content": asked}], [said])

    def check(
        self,
        messages: Sequence[Mapping[str, Any]],
        candidates: Sequence[str | Mapping[str, Any]] | None = None,
    ) -> Verdict:
        """What is said of each candidate as the next reply; without candidates, of the last message.

        Messages are those of chats: `{"role": "user", "content": "…"}`. A candidate is a text or such a message; one
        that only calls tools is not judged.
        """
        talk, replies = list(messages), None if candidates is None else list(candidates)
        if replies is None:
            if not talk:
                raise InputError("guard-no-messages", hint="give-messages-candidates")
            talk, replies = talk[:-1], [talk[-1]]
        if not replies:
            raise InputError("guard-no-candidates", hint="give-messages-candidates")
        documents = [self._document([*talk, as_message(one)]) for one in replies]
        found = [_last(document, len(talk)) for document in documents]
        if candidates is None and found[0] is None:
            raise InputError("guard-last-no-reply", hint="give-messages-candidates")
        judged = self._findings([(one, unit) for one, unit in zip(documents, found, strict=True) if unit])
        rest = iter(judged)
        return verdict(tuple(self._candidate(next(rest)) if unit else NOT_JUDGED for unit in found))

    def _document(self, messages: list[Any]) -> Document:
        # The reader of records lets go of what it has read.
        return Conversations(self._options).document(Conversation(messages), _ID)

    def _findings(self, judged: Sequence[tuple[Document, Unit]]) -> list[Finding]:
        """As `lapsus check` finds them, with likely types where they are flagged."""
        if not judged:
            return []
        units_of = [unit for _, unit in judged]
        with self._lock:
            judge, _ = next(self._judges.assigned([judged[0][0]]))
        scheme, apart = load_scheme(SCHEME), unfitting(units_of)
        findings = []
        for place, (unit, opinion) in enumerate(zip(units_of, judge.opinions(units_of), strict=True)):
            who = judge.name, scheme.id, scheme.version
            said = Judgment(*unit.key, *who, opinion.answers, opinion.distributions)
            findings.append(find(unit, said, None, apart.get(place)))
        flagged = iter(with_types([one for one in findings if one.risk > self.most_risk]))
        return [next(flagged) if one.risk > self.most_risk else one for one in findings]

    def _candidate(self, finding: Finding) -> Candidate:
        language = self._words or ("ja" if finding.language == "ja" else "en")
        is_flagged = finding.risk > self.most_risk
        types = [type for one in finding.evidence if one.weight for type in one.types]
        types += [type for type, _ in finding.types]
        return Candidate(
            round(finding.risk, 4),
            {label: round(share, 4) for label, share in zip(LABELS, finding.shares, strict=True)},
            is_flagged,
            tuple(
                Sign(one.kind, one.sign, one.types, one.says(language), one.quote, one.weight)
                for one in finding.evidence
            ),
            tuple(LikelyType(type, round(share, 4)) for type, share in finding.types),
            suggestions(types, language, self._ways) if is_flagged else (),
        )


def as_message(candidate: str | Mapping[str, Any]) -> dict[str, Any]:
    """A candidate as a message of the system."""
    if isinstance(candidate, str):
        return {"role": "assistant", "content": candidate}
    return {"role": "assistant", **candidate}


def _last(document: Document, place: int) -> Unit | None:
    """The reply that stands in the message at that place; None where it has no words, or is none of the system's."""
    own = (str(place), f"{place}.")
    found = (
        unit
        for unit in units(document, load_scheme(SCHEME).unit)
        if unit.target is not None and (unit.target.id == own[0] or unit.target.id.startswith(own[1]))
    )
    return next(found, None)
