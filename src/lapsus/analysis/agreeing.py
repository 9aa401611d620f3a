"""How far the annotators of a corpus agree, and what the corpus holds: the challenge paper's Table 1 for any corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lapsus.analysis.corpus import Corpus, choose_scheme, countable_questions, load_corpus
from lapsus.analysis.scoring import Announce
from lapsus.errors import UsageError
from lapsus.language.words import is_spaceless, knows_words
from lapsus.measures.agreement import coefficient, merge_labels
from lapsus.measures.resample import USUAL, Bootstrap
from lapsus.measures.score import Score
from lapsus.model import Question, Scheme
from lapsus.model.votes import LabelVotes, Votes
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


def agree(
    data: Path | str,
    *,
    scheme: str | None = None,
    measures: Sequence[str] = (),
    merge: str | None = None,
    by: str | None = None,
    only: str | None = None,
    language: str | None = None,
    plan: Bootstrap | None = USUAL,
    announce: Announce = lambda reading: None,
) -> Table:
    """Agreement on every question of a scheme, with the corpus's statistics; a column a system with `by`."""
    if by not in (None, "system"):
        raise UsageError(f"cannot group by {by!r}", hint="known: system")
    corpus = load_corpus(data, only=only, language=language, announce=announce)
    chosen = choose_scheme([corpus], scheme)
    parts = {"all": corpus} | (_by_system(corpus) if by else {})
    columns = {name: _column(part, chosen, measures, merge, plan) for name, part in parts.items()}
    names = list(dict.fromkeys(name for column in columns.values() for name, _ in column))
    rows = [(name, *(dict(column).get(name) for column in columns.values())) for name in names]
    notes = list(dict.fromkeys(cell.signature for row in rows for cell in row[1:] if isinstance(cell, Score)))
    notes += _words_note(corpus)
    data_out = {"data": corpus.name, "scheme": chosen.id, **_as_json(columns["all"])}
    if by:
        data_out["by"] = {name: _as_json(column) for name, column in columns.items() if name != "all"}
    return Table(("", *columns), tuple(rows), notes=tuple(notes), data=data_out)


def _by_system(corpus: Corpus) -> dict[str, Corpus]:
    systems = sorted({facts.system for facts in corpus.documents.values()})
    parts = {}
    for system in systems:
        documents = {id: facts for id, facts in corpus.documents.items() if facts.system == system}
        parts[system] = Corpus(
            corpus.name, documents, [j for j in corpus.judgments if j.document in documents]
        )
    return parts


def _column(
    corpus: Corpus, scheme: Scheme, measures: Sequence[str], merge: str | None, plan: Bootstrap | None
) -> list[tuple[str, Any]]:
    cells = _statistics(corpus, scheme)
    questions = countable_questions(scheme)
    several = len([q for q in questions if q.required]) > 1
    for question in questions:
        votes = corpus.votes(scheme, question)
        if votes.units:
            prefix = f"{question.id}: " if several else ""
            found = _agreement(corpus, votes, question, measures, merge, scheme, plan)
            cells += [(f"{prefix}{name}", value) for name, value in found]
    return cells


def _statistics(corpus: Corpus, scheme: Scheme) -> list[tuple[str, Any]]:
    """The upper part of the paper's Table 1."""
    turns = Counter(role for facts in corpus.documents.values() for _, role in facts.turns)
    words: Counter[str] = Counter()
    for facts in corpus.documents.values():
        words.update(facts.words)
    judgments = corpus.under(scheme.id)
    raters = Counter(judgment.unit for judgment in judgments).values()
    cells: list[tuple[str, Any]] = [("documents", len(corpus.documents))]
    for role, name in (
        ("user", "user utterances"),
        ("system", "system utterances"),
        ("triple", "triples"),
        ("text", "texts"),
    ):
        if turns[role]:
            cells.append((name, turns[role]))
            cells.append((f"words ({role})", words[role]))
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
) -> list[tuple[str, Any]]:
    cells: list[tuple[str, Any]] = []
    if isinstance(votes, LabelVotes):
        shares = votes.counts().sum(axis=0) / max(votes.counts().sum(), 1)
        for label, share in zip(question.labels, shares, strict=False):
            cells.append((f"share {_shown(label.id, question)}", float(share)))
    wanted = list(measures) or list(USUAL_MEASURES[question.kind])
    lengths = corpus.lengths() if question.kind == "spans" else None
    for measure in wanted:
        cells.append((measure, coefficient(measure, votes, plan, lengths)))
    if isinstance(votes, LabelVotes) and (groups := _merge_groups(question, merge, scheme)):
        merged = merge_labels(votes, groups)
        shown = ", ".join(
            "+".join(_shown(label, question) for label in group.split("+")) for group in merged.labels
        )
        for measure in wanted if measures else ("fleiss",):
            cells.append((f"{measure} ({shown})", coefficient(measure, merged, plan)))
    return cells


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
    rest = [label.id for label in question.labels if label.id not in together]
    return [*rest, "+".join(together)]


def _words_note(corpus: Corpus) -> list[str]:
    spaceless = {facts.language for facts in corpus.documents.values() if is_spaceless(facts.language)}
    if spaceless and not knows_words(next(iter(spaceless)) or ""):
        return ["words are characters here; pip install 'lapsus[ja]' counts Japanese words"]
    return []


def _as_json(column: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    intervals: dict[str, Any] = {}
    signatures: dict[str, str] = {}
    notes: dict[str, str] = {}
    for name, cell in column:
        key = _key(name)
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


def _key(name: str) -> str:
    """`fleiss (NB, PB+B)` becomes `fleiss_kappa_merged`."""
    measure, _, merged = name.partition(" (")
    is_words = measure == "words"
    base = KEYS.get(measure, measure).replace(": ", ".").replace(" ", "_")
    if is_words:
        return f"words_{merged.rstrip(')')}"
    return f"{base}_merged" if merged else base
