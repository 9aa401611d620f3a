"""How far the annotators of a corpus agree, and what the corpus holds: the challenge paper's Table 1 for any corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lapsus.analysis.corpus import (
    Announce,
    Corpus,
    by_system,
    choose_scheme,
    countable_questions,
    load_corpus,
)
from lapsus.errors import UsageError
from lapsus.language.words import is_spaceless, knows_words
from lapsus.measures.agreement import coefficient, merge_labels
from lapsus.measures.agreement.analysis import with_the_rest
from lapsus.measures.agreement.patterns import Patterns
from lapsus.measures.declare import parse_measure
from lapsus.measures.resample import USUAL, Bootstrap
from lapsus.measures.score import Score
from lapsus.model import Question, Scheme, latest
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes, Votes
from lapsus.reports import Table

USUAL_MEASURES = {
    "label": ("fleiss", "alpha", "ac1", "percent"),
    "labels": ("weighted_fleiss", "alpha(masi)", "alpha(jaccard)"),
    "scale": ("alpha(ordinal)", "alpha(interval)", "ac2"),
    "spans": ("span_f1", "span_f1(characters)", "unitizing", "gamma"),
}
"""What is worked out for each kind of question unless measures are asked for."""
KEYS = {"fleiss": "fleiss_kappa", "alpha(nominal)": "alpha"}
"""Names in JSON that differ from how one writes the measure."""
BREAKDOWN_MERGE = "T+X"


class Row(NamedTuple):
    """What a row of the table is about."""

    name: str
    question: str = ""
    merged: str = ""
    """The labels after merging, as papers write them: "NB, PB+B"."""

    def shown(self, with_question: bool) -> str:
        """As people read it."""
        text = f"{self.name} ({self.merged})" if self.merged else self.name
        return f"{self.question}: {text}" if self.question and with_question else text

    def key(self, with_question: bool) -> str:
        """As programs read it: `fleiss_kappa_merged`."""
        base = KEYS.get(self.name, self.name).replace(" ", "_")
        text = f"{base}_merged" if self.merged else base
        return f"{self.question}.{text}" if self.question and with_question else text


def agree(
    data: Path | str,
    *,
    scheme: str | None = None,
    questions: Sequence[str] = (),
    measures: Sequence[str] = (),
    merge: str | None = None,
    each: bool = False,
    by: str | None = None,
    only: str | None = None,
    language: str | None = None,
    plan: Bootstrap | None = USUAL,
    announce: Announce = lambda reading: None,
) -> Table:
    """Agreement on every question of a scheme, with the corpus's statistics; a column a system with `by`.

    With `each` there is a row for each annotator against all others: where does a model stand among people?
    """
    corpus = load_corpus(data, only=only, language=language, announce=announce)
    chosen = choose_scheme([corpus], scheme)
    asked = [q for q in countable_questions(chosen, questions) if corpus.votes(chosen, q).units]
    if merge is not None and not any(question.kind == "label" for question in asked):
        raise UsageError(
            "there are no single labels to merge", hint="--merge is for questions with one label"
        )
    if each and asked and all(question.kind == "spans" for question in asked):
        raise UsageError("spans are not compared one against the rest", hint="leave --each out")
    wanted = [str(parse_measure(measure)) for measure in measures]
    parts = {"all": corpus} | (by_system(corpus, by) if by else {})
    columns = {name: _column(part, chosen, asked, wanted, merge, plan) for name, part in parts.items()}
    if each:
        for name, part in parts.items():
            columns[name] |= _each(part, chosen, asked, plan)
    rows = list(dict.fromkeys(row for column in columns.values() for row in column))
    several = len({row.question for row in rows if row.question}) > 1
    shown = tuple((row.shown(several), *(column.get(row) for column in columns.values())) for row in rows)
    scores = [cell for line in shown for cell in line[1:] if isinstance(cell, Score)]
    notes = list(dict.fromkeys(score.signature for score in scores if score.signature))
    notes += [*corpus.version_warnings(chosen), *_words_note(corpus)]
    data_out = {"data": corpus.name, "scheme": chosen.id, **_as_json(columns["all"], several)}
    if by:
        data_out["by"] = {name: _as_json(part, several) for name, part in columns.items() if name != "all"}
    return Table(("", *columns), shown, notes=tuple(notes), data=data_out)


def _column(
    corpus: Corpus,
    scheme: Scheme,
    questions: Sequence[Question],
    measures: Sequence[str],
    merge: str | None,
    plan: Bootstrap | None,
) -> dict[Row, Any]:
    cells: dict[Row, Any] = {Row(name): value for name, value in _statistics(corpus, scheme)}
    for question in questions:
        votes = corpus.votes(scheme, question)
        if votes.units:
            cells |= _agreement(corpus, votes, question, measures, merge, scheme, plan)
    return cells


def _each(
    corpus: Corpus, scheme: Scheme, questions: Sequence[Question], plan: Bootstrap | None
) -> dict[Row, Score]:
    """How far each annotator agrees with all the others, question by question; spans have no such measure."""
    cells: dict[Row, Score] = {}
    for question in questions:
        votes = corpus.votes(scheme, question)
        if isinstance(votes, LabelVotes | LabelSetVotes | ScaleVotes) and votes.units:
            found = with_the_rest(votes, plan)
            cells |= {Row(f"{name} with the rest", question.id): score for name, score in found.items()}
    return cells


def _statistics(corpus: Corpus, scheme: Scheme) -> list[tuple[str, Any]]:
    """The upper part of the paper's Table 1."""
    turns = Counter(role for facts in corpus.documents.values() for _, role in facts.turns)
    words: Counter[str] = Counter()
    for facts in corpus.documents.values():
        words.update(facts.words)
    raters = Counter(judgment.unit for judgment in latest(corpus.under(scheme.id))).values()
    cells: list[tuple[str, Any]] = [("documents", len(corpus.documents))]
    for role, name in (
        ("user", "user utterances"),
        ("system", "system utterances"),
        ("triple", "triples"),
        ("text", "texts"),
    ):
        if turns[role]:
            cells.append((name, turns[role]))
            cells.append((f"words {role}", words[role]))
    cells.append(("judged units", len(raters)))
    if raters:
        low, high = min(raters), max(raters)
        cells.append(("annotators a unit", f"{low}" if low == high else f"{low}-{high}"))
    cells.append(("annotators", _annotators(corpus, scheme)))
    return cells


def _annotators(corpus: Corpus, scheme: Scheme) -> int | str:
    judgments = corpus.under(scheme.id)
    if any(judgment.is_anonymous for judgment in judgments):
        return "unnamed"
    return len({judgment.annotator for judgment in judgments})


def _agreement(
    corpus: Corpus,
    votes: Votes,
    question: Question,
    measures: Sequence[str],
    merge: str | None,
    scheme: Scheme,
    plan: Bootstrap | None,
) -> dict[Row, Any]:
    cells: dict[Row, Any] = {}
    if isinstance(votes, LabelVotes):
        totals = votes.counts().sum(axis=0)
        for label, share in zip(question.labels, totals / max(totals.sum(), 1), strict=False):
            cells[Row(f"share {_shown(label.id, question)}", question.id)] = float(share)
    lengths = corpus.lengths() if question.kind == "spans" else None
    return cells | coefficients(
        votes, question, scheme, plan, measures=measures, merge=merge, lengths=lengths
    )


def coefficients(
    votes: Votes | Patterns,
    question: Question,
    scheme: Scheme,
    plan: Bootstrap | None,
    *,
    measures: Sequence[str] = (),
    merge: str | None = None,
    lengths: Mapping[str, Mapping[str, int]] | None = None,
) -> dict[Row, Score]:
    """The coefficients of a question: those asked for, or the usual ones of its kind.

    A usual one that such votes cannot have (gamma of a crowd) is undefined, and its note says why.
    """
    cells: dict[Row, Score] = {}
    wanted = list(measures) or list(USUAL_MEASURES[question.kind])
    for measure in wanted:
        try:
            cells[Row(measure, question.id)] = coefficient(measure, votes, plan, lengths)
        except UsageError as error:
            if measures:
                raise
            cells[Row(measure, question.id)] = Score(measure, None, 0, note=error.what)
    if question.kind == "label" and (groups := _merge_groups(question, merge, scheme)):
        merged, names = _merged(votes, question, groups)
        shown = ", ".join("+".join(_shown(label, question) for label in group.split("+")) for group in names)
        for measure in wanted if measures else ("fleiss",):
            cells[Row(measure, question.id, shown)] = coefficient(measure, merged, plan)
    return cells


def _merged(
    votes: Votes | Patterns, question: Question, groups: Sequence[str]
) -> tuple[LabelVotes | Patterns, tuple[str, ...]]:
    """The same votes on merged labels."""
    if isinstance(votes, Patterns):
        places = {label.id: place for place, label in enumerate(question.labels)}
        together = [[places[label] for label in group.split("+")] for group in groups]
        return votes.merged(together, groups), tuple(groups)
    if not isinstance(votes, LabelVotes):
        raise UsageError(f"{question.id!r} has no single labels to merge")
    merged = merge_labels(votes, groups)
    return merged, merged.labels


def _shown(label: str, question: Question) -> str:
    """A label as papers write it: NB rather than O."""
    found = question.label(label)
    return found.aliases[0] if found and found.aliases else label


def _merge_groups(question: Question, merge: str | None, scheme: Scheme) -> list[str] | None:
    """`PB+B` as groups of label ids, all others each alone; breakdown is merged this way unless told otherwise."""
    text = merge or (BREAKDOWN_MERGE if scheme.id == "breakdown" else None)
    if text is None:
        return None
    together = []
    for name in text.split("+"):
        label = question.label(name.strip())
        if label is None:
            known = ", ".join(known.id for known in question.labels)
            raise UsageError(f"{question.id!r} has no label {name!r} to merge", hint=f"known: {known}")
        together.append(label.id)
    if len(set(together)) < 2:
        raise UsageError(f"{text!r} merges nothing", hint="name two labels or more, such as PB+B")
    # The merged label stands where its first part stood: labels may be in an order.
    groups = []
    for label in question.labels:
        if label.id not in together:
            groups.append(label.id)
        elif label.id == next(known.id for known in question.labels if known.id in together):
            groups.append("+".join(known.id for known in question.labels if known.id in together))
    return groups


def _words_note(corpus: Corpus) -> list[str]:
    spaceless = {facts.language for facts in corpus.documents.values() if is_spaceless(facts.language)}
    if spaceless and not knows_words(next(iter(spaceless)) or ""):
        return ["words are characters here; pip install 'lapsus[ja]' counts Japanese words"]
    return []


def _as_json(column: Mapping[Row, Any], with_question: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    intervals: dict[str, Any] = {}
    signatures: dict[str, str] = {}
    notes: dict[str, str] = {}
    for row, cell in column.items():
        key = row.key(with_question)
        if not isinstance(cell, Score):
            found[key] = cell
            continue
        found[key] = cell.value
        signatures[key] = cell.signature
        if cell.interval:
            intervals[key] = list(cell.interval)
        if cell.note:
            notes[key] = cell.note
    return {**found, "intervals": intervals, "signatures": signatures, "notes": notes}
