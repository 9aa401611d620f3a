"""A judge under guard: a frozen set judged by people, bounds that a judge must keep, and what it was made with.

The gate is a file for the repository; `lapsus trust --gate FILE` checks the judge's newest answers against it.
"""

import hashlib
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import yaml

from lapsus.analysis.corpus import Announce, Corpus, choose_scheme, countable_questions
from lapsus.analysis.trust import learned_warnings, load_corpora, people_and_judges
from lapsus.errors import InputError, UsageError
from lapsus.kinds.votes import compared
from lapsus.model import Judgment, Scheme
from lapsus.notices import Notice, localized
from lapsus.schemes import load_scheme
from lapsus.schemes.marked_yaml import parse_yaml
from lapsus.text_files import read_text
from lapsus.trust.alternative_test import AgreementWithPeople, agreement_with_people
from lapsus.trust.ranking import USUAL_EPSILON, PeopleAndJudges, standings

TOLERANCE = 0.05
SURE = 0.01
"""Shuffled answers do as well as a judge that is worth anything less often than this."""
_SETTING = ("model", "prompt", "language", "samples", "temperature", "seed", "max_tokens")


class Bounds(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What must hold on one question."""

    agreement: float | None = None
    advantage: float | None = None
    winning_rate: float | None = None


class Gate(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A judge's bounds on a frozen set."""

    judge: str
    scheme: str
    people: str
    """File with the people's judgments; paths start from the gate's folder."""
    bounds: Mapping[str, Bounds]
    """By question."""
    run: str | None = None
    """File with the judge's answers; that of the people where it is left out."""
    digest: str | None = None
    """Of what the people said: the set is frozen."""
    setting: Mapping[str, Any] = {}
    """What the judge was made with: model, digest of the prompt, …"""
    answered: float = 1.0
    """Share of the judged units that the judge must answer."""
    epsilon: float = USUAL_EPSILON


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that a gate looks at."""

    name: str
    passes: bool
    found: str
    wanted: str

    def to_text(self, language: str = "en") -> str:
        """The check in a line."""
        mark = "ok    " if self.passes else "FAILED"
        colon = "：" if language == "ja" else ": "
        said = f"{mark} {localized(self.name, language)}{colon}{localized(self.found, language)}"
        return said if self.passes else said + localized(Notice("wanted", wanted=self.wanted), language)


class Verdict(msgspec.Struct, frozen=True):
    """What a gate says of a judge."""

    judge: str
    passes: bool
    checks: tuple[Check, ...]
    warnings: tuple[str, ...] = ()
    """What makes no check fail, and still has to be known."""

    def to_text(self, language: str = "en") -> str:
        """For people: what failed first."""
        ordered = sorted(self.checks, key=lambda check: check.passes)
        lines = [check.to_text(language) for check in ordered]
        failed = sum(not check.passes for check in self.checks)
        end = (
            Notice("gate-passed", judge=self.judge)
            if self.passes
            else Notice("gate-failed", judge=self.judge, failed=failed, checks=len(self.checks))
        )
        return "\n".join([*lines, localized(end, language)])

    def to_junit(self) -> bytes:
        """For continuous integration: a test case a check."""
        failed = sum(not check.passes for check in self.checks)
        counts = {"tests": str(len(self.checks)), "failures": str(failed), "errors": "0"}
        suite = ElementTree.Element("testsuite", {"name": f"lapsus trust: {_plain(self.judge)}", **counts})
        for check in self.checks:
            case = ElementTree.SubElement(
                suite, "testcase", {"classname": "lapsus.trust", "name": _plain(check.name)}
            )
            if not check.passes:
                message = _plain(f"{check.found} (wanted: {check.wanted})")
                ElementTree.SubElement(case, "failure", {"message": message}).text = message
            else:
                ElementTree.SubElement(case, "system-out").text = _plain(check.found)
        if self.warnings:
            ElementTree.SubElement(suite, "system-err").text = _plain("\n".join(self.warnings))
        return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))


def freeze(
    data: Path,
    target: Path,
    *,
    judge: str | None = None,
    scheme: str | None = None,
    questions: Sequence[str] = (),
    epsilon: float = USUAL_EPSILON,
    tolerance: float = TOLERANCE,
    announce: Announce = lambda reading: None,
    tell: Callable[[str], None] = lambda warning: None,
) -> Gate:
    """A gate from how a judge stands now: bounds a little below its figures, digests of what it was made with.

    `tell` hears what has to be known of these figures.
    """
    corpus = load_corpora([data], announce=announce)
    chosen = choose_scheme([corpus], scheme)
    who = people_and_judges(corpus, chosen, [judge] if judge else ())
    if len(who.judges) > 1:
        raise UsageError("gate-one-judge", hint="judge-name", judges=", ".join(who.judges))
    bounds: dict[str, Bounds] = {}
    answered = 1.0
    for question, like, advantage, rate in _figures(corpus, chosen, who, questions, epsilon):
        if like.agreement is None:
            continue
        answered = min(answered, like.answered / max(like.wanted, 1))
        bounds[question] = Bounds(
            _below(like.agreement, tolerance),
            None if advantage is None else _below(advantage, tolerance),
            None if rate is None or rate < 0.5 else 0.5,
        )
    if not bounds:
        raise InputError("judge-people-no-unit", where=corpus.name)
    for warning in learned_warnings(corpus, chosen, who):
        tell(warning)
    path = os.path.relpath(data.resolve(), target.resolve().parent)
    return Gate(
        who.judges[0],
        scheme if scheme and scheme.endswith((".yaml", ".yml")) else chosen.id,
        path,
        bounds,
        digest=people_digest(corpus, chosen, who),
        setting=_setting(_of(corpus, chosen, who.judges[0])),
        answered=_below(answered, 0.0),
        epsilon=epsilon,
    )


def check_gate(path: Path, run: Path | None = None, announce: Announce = lambda reading: None) -> Verdict:
    """Hold a judge's answers against a gate. `run` goes before the file that the gate names."""
    gate = read_gate(path)
    folder = path.parent
    newest = run or (None if gate.run is None else folder / gate.run)
    scheme = _scheme(gate, folder)
    frozen = load_corpora([folder / gate.people], announce=announce)
    people = people_and_judges(frozen, scheme, (), need_judges=False).people
    people = tuple(name for name in people if name != gate.judge)
    who = PeopleAndJudges(people, (gate.judge,))
    corpus = (
        frozen
        if newest is None
        else _with_run(frozen, load_corpora([newest], announce=announce), scheme, gate)
    )
    checks = tuple(_checks(gate, frozen, corpus, scheme, who))
    warnings = tuple(learned_warnings(corpus, scheme, who))
    return Verdict(gate.judge, all(check.passes for check in checks), checks, warnings)


def read_gate(path: Path) -> Gate:
    """A gate from its file."""
    try:
        return msgspec.convert(parse_yaml(read_text(path), path.name).data, Gate)
    except FileNotFoundError:
        raise UsageError("no-file", where=str(path), hint="lapsus-trust-data-freeze") from None
    except (OSError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise InputError("no-gate", where=str(path), error=error) from error


def gate_yaml(gate: Gate) -> str:
    """A gate as a file to keep."""
    text: str = yaml.safe_dump(msgspec.to_builtins(gate), sort_keys=False, allow_unicode=True)
    return text


def people_digest(corpus: Corpus, scheme: Scheme, who: PeopleAndJudges) -> str:
    """One line that changes when anything that people said does."""
    lines = sorted(
        msgspec.json.encode([*judgment.unit, judgment.annotator, judgment.revision, judgment.answers])
        for judgment in corpus.under(scheme.id)
        if judgment.annotator in who.people
    )
    return "blake2b:" + hashlib.blake2b(b"\n".join(lines), digest_size=16).hexdigest()


def _scheme(gate: Gate, folder: Path) -> Scheme:
    is_file = gate.scheme.endswith((".yaml", ".yml"))
    return load_scheme(str(folder / gate.scheme) if is_file else gate.scheme)


def _with_run(frozen: Corpus, run: Corpus, scheme: Scheme, gate: Gate) -> Corpus:
    """The people's answers of the frozen set with the judge's of the run."""
    people = [one for one in frozen.judgments if one.annotator != gate.judge]
    found = [one for one in run.judgments if one.scheme == scheme.id]
    names = list(dict.fromkeys(one.annotator for one in found))
    mine = [one for one in found if one.annotator == gate.judge]
    if not mine and len(names) == 1:
        # A run is one judge's, whatever it is called today.
        mine = [msgspec.structs.replace(one, annotator=gate.judge) for one in found]
    if not mine:
        raise InputError(
            "holds-no-judgments",
            where=run.name,
            hint="there-are",
            judge=gate.judge,
            names=", ".join(names) or Notice("none"),
        )
    return Corpus(run.name, frozen.documents, [*people, *mine])


def _checks(
    gate: Gate, frozen: Corpus, corpus: Corpus, scheme: Scheme, who: PeopleAndJudges
) -> Iterator[Check]:
    if gate.digest is not None:
        found = people_digest(frozen, scheme, who)
        yield Check(Notice("frozen-set-unchanged"), found == gate.digest, found, gate.digest)
    now = _setting(_of(corpus, scheme, gate.judge))
    for name, wanted in gate.setting.items():
        given = now.get(name)
        told = "not said" if given is None else str(given)
        yield Check(Notice("made-same", name=name), given == wanted, told, str(wanted))
    seen = set()
    for question, like, advantage, rate in _figures(corpus, scheme, who, list(gate.bounds), gate.epsilon):
        seen.add(question)
        bounds = gate.bounds[question]
        share = like.answered / max(like.wanted, 1)
        yield Check(
            Notice("units-answered", question=question),
            share >= gate.answered - 1e-9,
            Notice("units", answered=like.answered, wanted=like.wanted),
            f"{gate.answered:.1%}",
        )
        yield from _bounded(Notice("agreement-people", question=question), like.agreement, bounds.agreement)
        yield from _bounded(Notice("advantage-over-person", question=question), advantage, bounds.advantage)
        yield from _bounded(
            Notice("winning-rate", question=question, epsilon=gate.epsilon), rate, bounds.winning_rate
        )
        p = like.p_value
        told = (
            "nothing"
            if like.agreement is None
            else Notice("against-shuffled", agreement=like.agreement, shuffled=like.shuffled)
        )
        yield Check(
            Notice("better-answers-shuffled", question=question),
            p is not None and p <= SURE,
            told,
            Notice("higher"),
        )
    for question in gate.bounds.keys() - seen:
        yield Check(
            Notice("units-answered", question=question), False, Notice("none"), f"{gate.answered:.1%}"
        )


def _bounded(name: str, found: float | None, least: float | None) -> Iterator[Check]:
    if least is not None:
        passes = found is not None and found >= least - 1e-9
        yield Check(
            name, passes, Notice("nothing") if found is None else f"{found:.3f}", Notice("more", least=least)
        )


def _figures(
    corpus: Corpus, scheme: Scheme, who: PeopleAndJudges, questions: Sequence[str], epsilon: float
) -> Iterator[tuple[str, AgreementWithPeople, float | None, float | None]]:
    """For each question: agreement with people, advantage, winning rate."""
    for question in countable_questions(scheme, questions):
        votes = corpus.votes(scheme, question)
        if who.judges[0] not in votes.annotators:
            continue
        answers = compared(votes)
        people, (judge,) = who.columns(votes)
        here = PeopleAndJudges(tuple(votes.annotators[column] for column in people), who.judges)
        like = agreement_with_people(answers, people, answers.codes[:, judge])
        stand = standings(question.id, votes, here, epsilon=epsilon)[0]
        yield question.id, like, stand.advantage, stand.winning_rate


def _of(corpus: Corpus, scheme: Scheme, judge: str) -> list[Judgment]:
    return [judgment for judgment in corpus.under(scheme.id) if judgment.annotator == judge]


def _setting(judgments: Iterable[Judgment]) -> dict[str, Any]:
    """What all of a judge's answers were made with; "several" where they differ."""
    found: dict[str, list[Any]] = {}
    for judgment in judgments:
        setting = judgment.metadata.get("setting")
        if isinstance(setting, Mapping):
            for name in _SETTING:
                if setting.get(name) is not None and setting[name] not in found.setdefault(name, []):
                    found[name].append(setting[name])
    return {name: values[0] if len(values) == 1 else "several" for name, values in found.items() if values}


def _below(value: float, tolerance: float) -> float:
    return math.floor((value - tolerance) * 1000) / 1000


def _plain(text: str) -> str:
    """Without the signs that XML cannot hold."""
    return "".join(sign for sign in text if sign in "\t\n" or sign.isprintable())
