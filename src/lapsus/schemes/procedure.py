"""How an answer was come to: which text was read, which labels were asked one by one, which steps were taken."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from lapsus.kinds import kind_of
from lapsus.kinds.messages import BrokenRule, join
from lapsus.model import Answer, Question, Scheme
from lapsus.schemes.answer_rules import broken_rules

_TOGETHER = ("alone", "apart")
"""Rules by which one label rules another out."""


class Procedure(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is kept with a judgment of the way to it."""

    guideline: str | None = None
    """The language of the guideline's text that the annotator had at hand."""
    walk: tuple[str, ...] = ()
    """The labels that were asked one by one, in that order."""
    steps: tuple[str, ...] = ()
    """The steps that were taken, in that order."""

    def record(self) -> dict[str, Any]:
        """As metadata of the judgment; nothing where nothing is known."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


class Required(msgspec.Struct, frozen=True):
    """What a plan asks for beside the rules."""

    walk: bool = False
    steps: bool = False

    def broken(
        self, scheme: Scheme, answers: Mapping[str, Answer], procedure: Procedure
    ) -> Iterator[BrokenRule]:
        """What was left out of the way that the plan asks for."""
        for question in scheme.questions if self.walk else ():
            if question.in_order and (left := unasked(scheme, question, answers, procedure.walk)):
                names = {label.id: label for label in scheme.labels_of(question)}
                numbers = join([str(names[id].number or id) for id in left])
                yield BrokenRule("walk", question.id, {"question": question.name, "labels": numbers})
        if self.steps and (late := [step for step in scheme.steps if step.id not in procedure.steps]):
            marked = next((q for q in scheme.questions if kind_of(q).on_text), scheme.questions[0])
            yield BrokenRule("steps", marked.id, {"steps": join([step.title for step in late])})


def unasked(
    scheme: Scheme, question: Question, answers: Mapping[str, Answer], asked: tuple[str, ...]
) -> list[str]:
    """The labels that were neither asked nor ruled out by what was chosen."""
    chosen = answers.get(question.id, ())
    mine = tuple(chosen) if isinstance(chosen, tuple) else (chosen,)
    found = []
    for label in scheme.labels_of(question):
        if label.id in asked:
            continue
        with_it = broken_rules(scheme, {question.id: (*mine, label.id)}) if label.id not in mine else []
        if not any(rule.rule in _TOGETHER for rule in with_it):
            found.append(label.id)
    return found
