"""What a judge and vectors add to the evidence: likely types of errors, and replies that take up nothing said."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from lapsus.annotators import Annotator
from lapsus.annotators.base import Opinion
from lapsus.annotators.features.cues import cues_of, look
from lapsus.annotators.features.evidence import Evidence, made
from lapsus.annotators.features.reply_signs.reply import Reply, Seen, pattern, prose
from lapsus.annotators.judge.judge import Judge
from lapsus.annotators.judge.sentence_vectors import sentence_vectors
from lapsus.annotators.library import default_model, load_model
from lapsus.errors import UsageError
from lapsus.log_check.finding import Finding
from lapsus.model import Unit

SCHEME: Final = "error-types"
QUESTION: Final = "types"
LEAST: Final = 0.5
"""How often a type that is named must have been right, on turns that the judge was measured by."""
_NEAR = 0.15
"""Likeness to what was said from which a reply has something to do with it."""
_SHARED, _TAKEN_UP, _AT_LEAST = 0.15, 0.5, 2
"""Vectors cost more than words. They are not asked where this share of a reply's keywords was said before, or where it
takes up this share of what the user said last, and so many of it."""
_LONG = 500
"""Characters of a text that are looked at."""
_LEAST = 6
"""Letters of a reply: less says nothing of what it is about."""
_ENOUGH = 60
"""Letters of a reply, where spaces part words, from which it must have something to do with what was said."""


def with_types(findings: Sequence[Finding]) -> list[Finding]:
    """The findings with their likely types. Where no judge of types is installed, they stay as they are."""
    judge = _judge() if findings else None
    if judge is None:
        return list(findings)
    return [
        finding._replace(types=_likely(opinion, shown_to_be_right(judge)))
        for finding, opinion in zip(findings, judge.opinions([one.unit for one in findings]), strict=True)
    ]


@cache
def _judge() -> Annotator | None:
    try:
        return load_model(default_model("en", SCHEME))
    except UsageError:
        return None


def shown_to_be_right(judge: Annotator) -> frozenset[str]:
    """The types that were right often enough where the judge named them."""
    reports = judge.reports_ if isinstance(judge, Judge) else ()
    figures = next((one.ranking.choices for one in reports if one.question == QUESTION and one.ranking), {})
    return frozenset(
        type for type, one in figures.items() if one.precision is not None and one.precision >= LEAST
    )


def _likely(opinion: Opinion, known: frozenset[str]) -> tuple[tuple[str, float], ...]:
    """Of the set that the guideline allows those types that may be named, with their shares."""
    answer, shares = opinion.answers.get(QUESTION, ()), opinion.distributions.get(QUESTION, {})
    named = answer if isinstance(answer, tuple) else ()
    return tuple((str(type), shares[str(type)]) for type in named if type in known)


def unfitting(units: Sequence[Unit]) -> dict[int, Evidence]:
    """Which of some replies, by their places, have nothing to do with what was said before."""
    asked = [place for place, unit in enumerate(units) if _doubtful(unit)]
    if not asked:
        return {}
    texts = [_texts(units[place]) for place in asked]
    rows = iter(sentence_vectors().of([text for group in texts for text in group]))
    found = {}
    for place, group in zip(asked, texts, strict=True):
        reply, *before = [next(rows) for _ in group]
        if max(float(reply @ one) for one in before) < _NEAR:
            found[place] = _apart(units[place])
    return found


def _apart(unit: Unit) -> Evidence:
    """Short replies may well answer without a word that is like what was asked."""
    reply = Reply.of(unit)
    is_short = reply.letters < _ENOUGH and not cues_of(unit.language).spaceless
    return made("short-apart" if is_short else "another-chat", Seen(_short(reply.turn.text)))


def _doubtful(unit: Unit) -> bool:
    """Whether a reply shares few words with what was said."""
    reply = Reply.of(unit)
    if not reply.users or reply.letters < _LEAST:
        return False
    seen = look(reply.prose, unit.language)
    if seen.asks and pattern("demands").search(reply.prose):
        return False  # it asks for what it needs first: a name, an address
    own = seen.keywords
    said = {word for one in reply.before for word in look(one.text, unit.language).keywords}
    asked = look(reply.asked, unit.language).keywords
    taken_up = len(own & asked) >= max(_AT_LEAST, _TAKEN_UP * len(asked))
    return not taken_up and len(own & said) < _SHARED * max(len(own), 1)


def _texts(unit: Unit) -> list[str]:
    """The reply; the user's last and first messages, and what the system said last."""
    reply = Reply.of(unit)
    said = [reply.users[0].text[-_LONG:], reply.users[-1].text[:_LONG]]
    said += [one.text[:_LONG] for one in reply.own[:1]]
    return [prose(reply.turn.text)[:_LONG], *dict.fromkeys(said)]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else f"{text[:80]}…"
