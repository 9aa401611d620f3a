"""How far the annotators of a corpus agree, and what the corpus holds: the challenge paper's Table 1 for any corpus."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lapsus.analysis.corpus import (
    Announce,
    Corpus,
    by_system,
    choose_scheme,
    countable_questions,
    load_corpus,
    with_broken,
)
from lapsus.errors import UsageError
from lapsus.kinds import Kind, kind_of
from lapsus.language.tokenizer import is_spaceless, knows_words
from lapsus.measures.agreement import coefficient, merge_labels
from lapsus.measures.agreement.details import label_use, why_apart, with_the_rest
from lapsus.measures.agreement.patterns import Patterns
from lapsus.measures.bootstrap import USUAL, Bootstrap
from lapsus.measures.score import Score, parse_measure
from lapsus.model import Question, Scheme, latest
from lapsus.model.votes import Votes
from lapsus.notices import Notice
from lapsus.reports import Table
from lapsus.schemes import AnyScheme

KEYS = {"fleiss": "fleiss_kappa", "alpha(nominal)": "alpha"}
"""Names in JSON that differ from how one writes the measure."""


class AgreementRow(NamedTuple):
    """What a row of the table is about."""

    name: str
    question: str = ""
    merged: str = ""
    """The labels after merging, as papers write them: "NB, PB+B"."""

    def shown(self, with_question: bool) -> str:
        """The measure's name as tables show it: with the merged labels and, where asked, the question."""
        text = f"{self.name} ({self.merged})" if self.merged else self.name
        return f"{self.question}: {text}" if self.question and with_question else text

    def merged_names(self, kind: Kind, language: str) -> str:
        """The merged labels by their names, for readers who do not know the papers' letters."""
        names = kind.choice_names(language)

        def name(shown: str) -> str:
            return names.get(kind.spellings.id_of(shown), shown)

        return " / ".join(" + ".join(map(name, group.split("+"))) for group in self.merged.split(", "))

    def key(self, with_question: bool) -> str:
        """As programs read it: `fleiss_kappa_merged`."""
        base = KEYS.get(self.name, self.name).replace(" ", "_")
        text = f"{base}_merged" if self.merged else base
        return f"{self.question}.{text}" if self.question and with_question else text


def agree(
    data: Any,
    *,
    scheme: AnyScheme | None = None,
    questions: Sequence[str] = (),
    measures: Sequence[str] = (),
    merge: str | None = None,
    each: bool = False,
    by: str | None = None,
    only: str | None = None,
    language: str | None = None,
    drop_broken: bool = False,
    bootstrap: Bootstrap | None = USUAL,
    announce: Announce = lambda reading: None,
) -> Table:
    """Agreement on every question of a scheme, with the corpus's statistics; a column a system with `by`.

    With `each` there is a row for each annotator against all others: where does a model stand among people?
    With `drop_broken` judgments that break the guideline are left out, and the signatures say so.
    """
    corpus = load_corpus(
        data, only=only, language=language, scheme=scheme, drop_broken=drop_broken, announce=announce
    )
    chosen = choose_scheme([corpus], scheme)
    asked = [q for q in countable_questions(chosen, questions) if corpus.votes(chosen, q).units]
    kinds = [kind_of(question, chosen) for question in asked]
    if merge is not None and not any(kind.can_merge for kind in kinds):
        raise UsageError("no-single-labels-merge", hint="merge-questions-one-label")
    if each and kinds and all(kind.pair_measure is None for kind in kinds):
        raise UsageError("spans-not-compared-one", hint="leave-each-out")
    wanted = [str(parse_measure(measure)) for measure in measures]
    parts = {"all": corpus} | (by_system(corpus, by) if by else {})
    columns = {name: _column(part, chosen, asked, wanted, merge, bootstrap) for name, part in parts.items()}
    if each:
        for name, part in parts.items():
            columns[name] |= _each(part, chosen, asked, bootstrap)
    rows = list(dict.fromkeys(row for column in columns.values() for row in column))
    several = len({row.question for row in rows if row.question}) > 1
    shown = tuple((row.shown(several), *(column.get(row) for column in columns.values())) for row in rows)
    scores = [cell for line in shown for cell in line[1:] if isinstance(cell, Score)]
    notes = list(dict.fromkeys(score.signature for score in scores if score.signature))
    notes += [*_apart_notes(corpus, chosen, kinds, columns["all"])]
    notes += [*corpus.version_warnings(chosen), *_words_note(corpus)]
    data_out = {"data": corpus.name, "scheme": chosen.id, **_as_json(columns["all"], several)}
    if by:
        data_out["by"] = {name: _as_json(part, several) for name, part in columns.items() if name != "all"}
    table = Table(("", *columns), shown, notes=tuple(notes), data=data_out)
    return with_broken(table, [corpus], chosen)


def _column(
    corpus: Corpus,
    scheme: Scheme,
    questions: Sequence[Question],
    measures: Sequence[str],
    merge: str | None,
    bootstrap: Bootstrap | None,
) -> dict[AgreementRow, Any]:
    cells: dict[AgreementRow, Any] = {
        AgreementRow(name): value for name, value in _statistics(corpus, scheme)
    }
    for question in questions:
        votes = corpus.votes(scheme, question)
        if votes.units:
            cells |= _agreement(corpus, votes, kind_of(question, scheme), measures, merge, bootstrap)
    return cells


def _each(
    corpus: Corpus, scheme: Scheme, questions: Sequence[Question], bootstrap: Bootstrap | None
) -> dict[AgreementRow, Score]:
    """How far each annotator agrees with all the others, question by question; spans have no such measure."""
    cells: dict[AgreementRow, Score] = {}
    for question in questions:
        votes = corpus.votes(scheme, question)
        if kind_of(question).pair_measure is not None and votes.units:
            found = with_the_rest(votes, bootstrap)  # type: ignore[arg-type]
            cells |= {
                AgreementRow(f"{name} with the rest", question.id): score for name, score in found.items()
            }
    return cells


def _statistics(corpus: Corpus, scheme: Scheme) -> list[tuple[str, Any]]:
    """The upper part of the paper's Table 1."""
    turns = Counter(role for facts in corpus.documents.values() for _, role in facts.turns)
    words: Counter[str] = Counter()
    for facts in corpus.documents.values():
        words.update(facts.words)
    raters = Counter(judgment.unit for judgment in latest(corpus.under(scheme.id))).values()
    # Of a table of judgments the documents are known by name only.
    named = {judgment.document for judgment in corpus.under(scheme.id)}
    cells: list[tuple[str, Any]] = [("documents", len(named | corpus.documents.keys()))]
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
    kind: Kind,
    measures: Sequence[str],
    merge: str | None,
    bootstrap: Bootstrap | None,
) -> dict[AgreementRow, Any]:
    cells: dict[AgreementRow, Any] = {}
    id = kind.question.id
    for one in label_use(votes, kind.label_ids) if kind.by_label else ():
        name = _shown(one.label, kind)
        cells[AgreementRow(f"share {name}", id)] = one.given / max(one.answers, 1)
        cells[AgreementRow(f"given {name}", id)] = one.given
        cells[AgreementRow(f"positive agreement {name}", id)] = one.positive
        cells[AgreementRow(f"negative agreement {name}", id)] = one.negative
        cells[AgreementRow(f"expected agreement {name}", id)] = one.expected
    lengths = corpus.lengths() if kind.on_text else None
    found = coefficients(votes, kind, bootstrap, measures=measures, merge=merge, lengths=lengths)
    cells[AgreementRow("units compared", id)] = max((score.n for score in found.values()), default=0)
    return cells | found


def coefficients(
    votes: Votes | Patterns,
    kind: Kind,
    bootstrap: Bootstrap | None,
    *,
    measures: Sequence[str] = (),
    merge: str | None = None,
    lengths: Mapping[str, Mapping[str, int]] | None = None,
) -> dict[AgreementRow, Score]:
    """The coefficients of a question: those asked for, or the usual ones of its kind.

    A usual one that such votes cannot have (gamma of a crowd) is undefined, and its note says why.
    """
    cells: dict[AgreementRow, Score] = {}
    id = kind.question.id
    wanted = list(measures) or list(kind.agreement)
    for measure in wanted:
        try:
            cells[AgreementRow(measure, id)] = coefficient(measure, votes, bootstrap, lengths)
        except UsageError as error:
            if measures:
                raise
            cells[AgreementRow(measure, id)] = Score(measure, None, 0, note=error.what)
    for groups in _views(kind, merge) if kind.can_merge else ():
        merged = _merged(votes, kind, groups)
        shown = ", ".join("+".join(_shown(label, kind) for label in group) for group in groups)
        for measure in wanted if measures else ("fleiss",):
            cells[AgreementRow(measure, id, shown)] = coefficient(measure, merged, bootstrap)
    return cells


def _merged(votes: Votes | Patterns, kind: Kind, groups: Sequence[Sequence[str]]) -> Any:
    """The same votes on merged labels."""
    if not isinstance(votes, Patterns):
        return merge_labels(votes, groups)  # type: ignore[arg-type]
    together = [[kind.label_ids.index(label) for label in group] for group in groups]
    return votes.merged(together, ["+".join(group) for group in groups])


def _shown(id: str, kind: Kind) -> str:
    """A label as papers write it: NB rather than O."""
    return next((label.aliases[0] for label in kind.labels if label.id == id and label.aliases), id)


def _views(kind: Kind, merge: str | None) -> list[list[list[str]]]:
    """The labels in groups, all others each alone: as `PB+B` asks for it, else as the guideline has them merged."""
    if merge is None:
        return [_groups(kind, together) for together in kind.question.analysis.merged]
    together = [kind.spellings.id_of(name.strip()) for name in merge.split("+")]
    for name in together:
        if name not in kind.label_ids:
            known = ", ".join(kind.label_ids)
            raise UsageError("no-label-merge", hint="known", id=kind.question.id, name=name, known=known)
    if len(set(together)) < 2:
        raise UsageError("merges-nothing", hint="name-two-labels-more", merge=merge)
    return [_groups(kind, together)]


def _groups(kind: Kind, together: Collection[str]) -> list[list[str]]:
    """The merged label stands where its first part stood: labels may be in an order."""
    groups: list[list[str]] = []
    joined: list[str] = []
    for label in kind.label_ids:
        if label not in together:
            groups.append([label])
        else:
            if not joined:
                groups.append(joined)
            joined.append(label)
    return groups


def _apart_notes(
    corpus: Corpus, scheme: Scheme, kinds: Sequence[Kind], column: Mapping[AgreementRow, Any]
) -> Iterator[str]:
    """One line for each question on which alpha and AC1 tell different stories."""
    for kind in kinds:
        alpha, ac1 = (column.get(AgreementRow(name, kind.question.id)) for name in ("alpha", "ac1"))
        if kind.by_label and isinstance(alpha, Score) and isinstance(ac1, Score):
            votes = corpus.votes(scheme, kind.question)
            use = [one._replace(label=_shown(one.label, kind)) for one in label_use(votes, kind.label_ids)]
            if (why := why_apart(alpha.value, ac1.value, use)) is not None:
                yield why


def _words_note(corpus: Corpus) -> list[str]:
    spaceless = {facts.language for facts in corpus.documents.values() if is_spaceless(facts.language)}
    if spaceless and not knows_words(next(iter(spaceless)) or ""):
        return [Notice("words-characters-here-pip")]
    return []


def _as_json(column: Mapping[AgreementRow, Any], with_question: bool) -> dict[str, Any]:
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
