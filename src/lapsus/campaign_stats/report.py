"""A campaign's report: what a paper's section on annotation, or the sign-off of a release, has to say."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from lapsus.analysis.corpus import signed_without
from lapsus.campaign_stats.adjudication import campaign_gold
from lapsus.campaign_stats.campaign import CampaignStats
from lapsus.campaign_stats.charts import agreement_chart, bounds_cell, days_chart, judges_part, systems_charts
from lapsus.campaign_stats.results import SIGNATURE, Results, results_of
from lapsus.kinds import kind_of
from lapsus.language import word_count
from lapsus.measures.gold import Gold
from lapsus.measures.score import shown
from lapsus.model import ANONYMOUS, Question, Unit, in_language
from lapsus.reports.report import Example, Report, ReportSection
from lapsus.reports.table import Cell, Table
from lapsus.store import Store
from lapsus.version import __version__
from lapsus.word_files import word_file

EXAMPLES = 5
"""How many disputed units are shown for each question."""
MOST_ANNOTATORS = 200
"""How many annotators the table lists at most: those with the most units."""


def campaign_report(
    store: Store,
    name: str,
    language: str = "en",
    *,
    method: str = "majority",
    names: bool = False,
    left_out: int = 0,
) -> Report:
    """The report of a campaign as of now. `left_out` is how many judgments were left out for breaking the guideline:
    the report and its signatures say so.
    """
    report = _Reporter(store, name, language, method, names, left_out).report()
    marked = (
        replace(
            part,
            tables=signed_without(part.tables, left_out),
            signatures=signed_without(part.signatures, left_out),
        )
        for part in report.parts
    )
    return replace(report, parts=tuple(marked)) if left_out else report


class _Reporter:
    """A report in the making."""

    def __init__(
        self, store: Store, name: str, language: str, method: str, names: bool, left_out: int
    ) -> None:
        self.store, self.name, self.language, self.method, self.names = store, name, language, method, names
        self.left_out = left_out
        first = CampaignStats(store, name)
        self.by_question = [first, *(CampaignStats(store, name, q.id) for q in first.questions[1:])]
        self.stats = first
        self.called: Callable[[str], str] = (lambda who: who) if names else store.exports.pseudonyms(name)
        self.gold: dict[str, Gold] = campaign_gold(store, name, method) if first.figures.days else {}

    def say(self, key: str, **values: object) -> str:
        text: str = in_language(word_file("lapsus.campaign_stats", "report_words.yaml")[key], self.language)
        return text.format(**values) if values else text

    def report(self) -> Report:
        title = in_language(self.stats.campaign.plan.titles, self.language)
        subtitle = self.say(
            "made", date=f"{self.store.database.clock():%Y-%m-%d}", version=__version__, campaign=self.name
        )
        parts = (
            *self._worse(),
            self._data(),
            self._guideline(),
            self._annotators(),
            *self._results(),
            *judges_part(self.by_question, self.say, self.language),
            self._methods(),
            self._card(),
        )
        words = {"table": self.say("table")}
        return Report(self.say("title", title=title), self.language, subtitle, parts, words)

    def _worse(self) -> tuple[ReportSection, ...]:
        """Which system is worse; nothing where there is only one."""
        tables: list[Table] = []
        for stats in self.by_question:
            found = results_of(stats) if stats.kind.tells_worse else Results()
            if len(found.systems) < 2:
                continue
            called = self._names(stats.question)
            labels = ", ".join(called.get(label, label) for label in found.bad)
            what = self.say(f"worse-{found.measure}", labels=labels)
            columns = (self.say("system"), what, self.say("units"))
            rows = tuple((one.system, bounds_cell(one.people), one.units) for one in found.systems)
            apart = tuple(
                (f"{one.worse} − {one.better}", bounds_cell(one.by), one.p) for one in found.differences
            )
            about = in_language(stats.question.name, self.language)
            tables += [
                Table(columns, rows, about),
                Table((self.say("systems"), self.say("worse-by"), "p (Holm)"), apart, about),
            ]
        if not tables:
            return ()
        return (ReportSection("worse", self.say("worse"), tables=tuple(tables), signatures=(SIGNATURE,)),)

    def _data(self) -> ReportSection:
        progress, words, systems, languages = self.stats.progress, 0, Counter[str](), Counter[str]()
        for _, document in self.store.exports.documents(self.name, practice=False):
            words += sum(word_count(s.text, document.language) for s in document.segments)
            systems[document.system or "?"] += 1
            languages[document.language or "?"] += 1
        rows: list[tuple[Cell, ...]] = [
            (self.say("documents"), progress.documents),
            (self.say("words"), words),
            (self.say("languages"), ", ".join(sorted(languages))),
            (self.say("systems"), ", ".join(sorted(systems))),
            (self.say("units"), progress.units),
            (self.say("judged"), len(self.stats.packed_votes().units)),
            (self.say("complete"), progress.complete),
            (self.say("judgments"), progress.done + progress.surplus),
            (self.say("wanted"), progress.wanted),
            (self.say("people"), self._people()),
        ]
        if self.left_out:
            rows.append((self.say("left-out"), self.left_out))
        if period := self._period():
            rows.append((self.say("period"), period))
        charts = tuple(days_chart(self.stats, self.say, self.language))
        return ReportSection("data", self.say("data"), tables=(self._table(rows),), charts=charts)

    def _guideline(self) -> ReportSection:
        scheme = self.stats.scheme
        rows: list[tuple[Cell, ...]] = [
            (self.say("guideline"), f"{in_language(scheme.title, self.language)} ({scheme.id})"),
            (self.say("version"), scheme.version),
        ]
        if scheme.source:
            rows.append((self.say("source"), in_language(scheme.source, self.language)))
        asked: list[tuple[Cell, ...]] = []
        for question in self.stats.questions:
            options = list(kind_of(question, scheme).choice_names(self.language).values())
            shown = ", ".join(options[:20]) + (" …" if len(options) > 20 else "")
            asked.append(
                (in_language(question.name, self.language), in_language(question.ask, self.language), shown)
            )
        columns = (self.say("question"), self.say("asked"), self.say("answer"))
        summary = in_language(scheme.summary, self.language)
        return ReportSection(
            "guideline", self.say("guideline"), (summary,), (self._table(rows), Table(columns, tuple(asked)))
        )

    def _annotators(self) -> ReportSection:
        table = self.stats.annotators()
        ordered = sorted(table.rows, key=lambda row: -row.units)[:MOST_ANNOTATORS]
        rows = tuple(
            (
                self.called(self.stats.names[row.person]), row.units, row.median_seconds, row.agreement, row.kappa,
                row.reliability,
            )
            for row in ordered
        )  # fmt: skip
        columns = tuple(
            map(self.say, ("annotator", "units", "seconds", "with-others", "beyond-chance", "reliability"))
        )
        privacy = self.say("real-names" if self.names else "pseudonyms")
        tables = (Table(columns, rows),) if rows else ()
        return ReportSection(
            "annotators", self.say("annotators"), (privacy,), tables, signatures=table.signatures
        )

    def _results(self) -> tuple[ReportSection, ...]:
        if not self.stats.figures.days:
            return (ReportSection("agreement", self.say("agreement"), (self.say("nothing"),)),)
        return self._agreement(), self._gold(), self._disputed()

    def _agreement(self) -> ReportSection:
        rows: list[tuple[Cell, ...]] = []
        labels: list[tuple[Cell, ...]] = []
        signatures: dict[str, None] = {}
        for stats in self.by_question:
            about = in_language(stats.question.name, self.language)
            for row, score in stats.agreement().items():
                merged = row.merged_names(stats.kind, self.language)
                measure = f"{row.name} ({merged})" if merged else row.name
                rows.append((self._of(about, measure), score, score.n))
                signatures |= {score.signature: None} if score.signature else {}
            scores, called = stats.by_label(), self._names(stats.question)
            for share in stats.shares():
                shown = called.get(share.answer, share.answer)
                agreed = scores.get(share.answer)
                labels.append((self._of(about, shown), share.votes, share.share, agreed))
        tables = (
            Table((self.say("coefficient"), self.say("value"), self.say("units")), tuple(rows)),
            Table(
                (self.say("answer"), self.say("votes"), self.say("share"), "fleiss"),
                tuple(labels),
                self.say("by-label"),
            ),
            *self._systems(),
        )
        charts = (
            *agreement_chart(self.by_question, self.say, self.language),
            *systems_charts(self.by_question, self.say, self.language),
        )
        return ReportSection(
            "agreement", self.say("agreement"), (), tables, charts, signatures=tuple(signatures)
        )

    def _of(self, question: str, what: str) -> str:
        """What a row is about; with its question where there are several."""
        return f"{question}: {what}" if len(self.by_question) > 1 else what

    def _systems(self) -> list[Table]:
        tables = []
        for stats in self.by_question:
            systems = stats.systems()
            if len(systems) > 1:
                called = self._names(stats.question)
                answers = [called.get(share.answer, share.answer) for share in systems[0].shares]
                columns = (self.say("system"), self.say("units"), *answers, stats.kind.agreement[0])
                rows: tuple[tuple[Cell, ...], ...] = tuple(
                    (row.system, row.units, *(share.share for share in row.shares), row.score)
                    for row in systems
                )
                about = in_language(stats.question.name, self.language)
                tables.append(Table(columns, rows, f"{self.say('by-system')} ({about})"))
        return tables

    def _gold(self) -> ReportSection:
        rows = tuple(
            (
                in_language(stats.question.name, self.language), made.method, len(made.by_unit()),
                len(made.undecided), len(made.decided),
            )
            for stats in self.by_question
            if (made := self.gold.get(stats.question.id)) is not None
        )  # fmt: skip
        columns = tuple(map(self.say, ("question", "method", "in-gold", "undecided", "decided")))
        tables = [Table(columns, rows)]
        for stats in self.by_question:
            made = self.gold.get(stats.question.id)
            if made is not None and stats.kind.is_counted and stats.kind.by_label:
                counts, called = Counter(made.by_unit().values()), self._names(stats.question)
                shares = tuple(
                    (name, counts[label], counts[label] / max(counts.total(), 1))
                    for label, name in called.items()
                )
                about = in_language(stats.question.name, self.language)
                tables.append(
                    Table((self.say("answer"), self.say("units"), self.say("share")), shares, about)
                )
        signatures = tuple(dict.fromkeys(made.signature for made in self.gold.values()))
        return ReportSection("gold", self.say("gold"), tables=tuple(tables), signatures=signatures)

    def _disputed(self) -> ReportSection:
        decisions = self.store.decisions.standing(self.name)
        examples = []
        for dispute in self.stats.disputes()[:EXAMPLES]:
            unit, called = self.store.units.visible(self.name, dispute.unit), self._answer_names()
            answers = tuple(
                ("+".join(called.get(part, part) for part in answer.split("+")), votes)
                for answer, votes in dispute.answers.items()
            )
            notes = []
            if (decided := decisions.get(dispute.unit)) is not None:
                shown, kind = decided.answers.get(self.stats.question.id), self.stats.kind
                fits = shown is not None and kind.holds(shown)
                answer = ", ".join(kind.in_words(shown, self.language, True)) if fits else "…"
                notes.append(self.say("decision", answer=answer, by=self.called(decided.by)))
                notes += [decided.reason] if decided.reason else []
            name = f"{unit.document} · {self.say('apart', value=f'{dispute.disagreement:.2f}')}"
            examples.append(Example(name, _text(unit), unit.language, answers, tuple(notes)))
        return ReportSection("disputed", self.say("disputed"), examples=tuple(examples))

    def _answer_names(self) -> dict[str, str]:
        """What answers are called; "none" is how the disputes write an answer that holds nothing."""
        kind, called = self.stats.kind, self._names(self.stats.question)
        return (
            {"none": "".join(kind.in_words((), self.language, True)), **called} if kind.holds(()) else called
        )

    def _methods(self) -> ReportSection:
        if not self.stats.figures.days:
            return ReportSection("methods", self.say("methods"), (self.say("nothing"),))
        scheme, progress = self.stats.scheme, self.stats.progress
        decided = len(self.store.decisions.decided_units(self.name))
        text = self.say(
            "methods-text",
            documents=f"{progress.documents:,}",
            units=f"{len(self.stats.packed_votes().units):,}",
            guideline=in_language(scheme.title, self.language),
            version=scheme.version,
            people=self._people(),
            judgments=f"{progress.done + progress.surplus:,}",
            per_unit=self.stats.campaign.plan.per_unit,
            context=self.say(f"context-{scheme.unit.context}"),
            agreement="; ".join(self._agreed(stats) for stats in self.by_question),
            gold=", ".join(dict.fromkeys(made.method for made in self.gold.values())),
            decided=self.say("decided-text", count=decided) if decided else "",
        )
        lines = [
            score.signature for stats in self.by_question for score in list(stats.agreement().values())[:1]
        ]
        lines += [made.signature for made in self.gold.values()]
        return ReportSection(
            "methods", self.say("methods"), (text.strip(),), signatures=tuple(dict.fromkeys(lines))
        )

    def _agreed(self, stats: CampaignStats) -> str:
        """The one figure of a question, in words."""
        row, score = next(iter(stats.agreement().items()))
        about = in_language(stats.question.name, self.language)
        if score.value is None:
            return f"{about}: {row.name} n/a"
        values = {"measure": f"{about}: {row.name}", "value": shown(score.value), "n": f"{score.n:,}"}
        if score.interval is None:
            return self.say("how-agreed-plain", **values)
        low, high = score.interval
        return self.say("how-agreed", low=shown(low), high=shown(high), **values)

    def _card(self) -> ReportSection:
        """The data in a few lines that may stand beside the files."""
        progress, plan, scheme = self.stats.progress, self.stats.campaign.plan, self.stats.scheme
        rows: list[tuple[Cell, ...]] = [
            (self.say("data"), in_language(plan.titles, self.language)),
            (self.say("guideline"), f"{scheme.id} {scheme.version}"),
            (self.say("documents"), progress.documents),
            (self.say("units"), progress.units),
            (self.say("judgments"), progress.done + progress.surplus),
            (self.say("per-unit"), plan.per_unit),
            (self.say("people"), self._people()),
            (self.say("recruited"), self.say(f"who-{plan.who}")),
            (self.say("privacy"), self.say("real-names" if self.names else "pseudonyms")),
            (
                self.say("agreement"),
                "; ".join(self._agreed(d) for d in self.by_question) if self.stats.figures.days else "-",
            ),
            (self.say("gold"), ", ".join(dict.fromkeys(made.method for made in self.gold.values())) or "-"),
            (self.say("decided"), len(self.store.decisions.decided_units(self.name))),
            (self.say("files"), f"lapsus export {self.name} OUT"),
        ]
        if period := self._period():
            rows.append((self.say("period"), period))
        return ReportSection("card", self.say("card"), tables=(self._table(rows),))

    def _table(self, rows: list[tuple[Cell, ...]]) -> Table:
        return Table((self.say("what"), self.say("value")), tuple(rows))

    def _names(self, question: Question) -> dict[str, str]:
        return kind_of(question, self.stats.scheme).choice_names(self.language)

    def _people(self) -> int | str:
        judged = {row.person for row in self.stats.figures.days}
        if any(self.stats.names[person].startswith(ANONYMOUS) for person in judged):
            return self.say("unnamed")
        return len(judged)

    def _period(self) -> str:
        days = [row.day for row in self.stats.days() if row.day]
        if not days:
            return ""
        return f"{days[0]}" if days[0] == days[-1] else f"{days[0]} – {days[-1]}"


def _text(unit: Unit) -> str:
    """What was judged; of a whole document, all of it."""
    if unit.target is not None:
        return unit.target.text
    return "\n".join(segment.text for segment in unit.visible)
