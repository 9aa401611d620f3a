"""Controls of Label Studio: which question each stands for, and the labelling interface of a scheme."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from xml.etree import ElementTree as ET

from lapsus.errors import InputError
from lapsus.formats.labelstudio_data import DIALOGUE, Result
from lapsus.kinds import KINDS, Kind, kind_of, kinds_of
from lapsus.model import Question, Scheme, in_language
from lapsus.model.scheme import folded
from lapsus.notices import Notice
from lapsus.schemes import known_scheme, scheme_names

RELATION = "relation"
TURN = "lapsus.turn"
"""The control that marks which turn is judged; it answers nothing itself."""
NONE = ".none"
"""Ends the name of the control that says of marks or labels: there are none."""
NOTHING = "none"
"""What that control gives."""
_WORDS = {
    "none": {"en": "None of these", "ja": "該当なし"},
    "turn": {"en": "Judge this turn", "ja": "この発話を評価する"},
}


@dataclass(frozen=True)
class SchemeQuestion:
    """A question and the scheme it belongs to."""

    scheme: Scheme
    question: Question

    @cached_property
    def kind(self) -> Kind:
        """The question with all that its kind means."""
        return kind_of(self.question, self.scheme)

    @property
    def name(self) -> str:
        """What a control for it is called."""
        return f"{self.scheme.id}.{self.question.id}"

    @cached_property
    def labels(self) -> dict[str, str]:
        """Every spelling of a label, in small letters, and the id it stands for."""
        return {
            folded(name): label.id
            for label in self.scheme.labels_of(self.question)
            for name in (*label.name.values(), *label.aliases, label.id)
        }


class Controls:
    """The controls of a project. Once it is clear what one stands for, it stays so."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], SchemeQuestion] = {}

    def settle(self, results: Iterable[Result]) -> None:
        """Find out what the controls of an annotation stand for: by name, by labels, by their neighbours."""
        open_ones: dict[tuple[str, str], set[str]] = {}
        for result in results:
            key = (result.from_name, result.type)
            if result.type != RELATION and key not in self.known:
                open_ones.setdefault(key, set()).update(choices(result))
        doubtful: dict[tuple[str, str], list[SchemeQuestion]] = {}
        for (name, kind), values in open_ones.items():
            doubtful[name, kind] = list(_candidates(name, kind, values))
            if len(doubtful[name, kind]) == 1:
                self.known[name, kind] = doubtful.pop((name, kind))[0]
        neighbours = {asked.scheme.id for key, asked in self.known.items()}
        for (name, kind), candidates in doubtful.items():
            fitting = [asked for asked in candidates if asked.scheme.id in neighbours]
            if len(fitting) != 1:
                raise _unclear(name, candidates)
            self.known[name, kind] = fitting[0]

    def of(self, result: Result) -> SchemeQuestion:
        """What the control of a result stands for, once that is settled."""
        return self.known[result.from_name, result.type]


def choices(result: Result) -> list[str]:
    """The labels that a result gives."""
    found = result.value.get(result.type)
    if result.type == "taxonomy" and isinstance(found, list):
        if any(not isinstance(path, list) or len(path) != 1 for path in found):
            raise InputError("control-nested-choices-not", from_name=result.from_name)
        found = [path[0] for path in found]
    if not any(kind.offers_labels and result.type in kind.controls for kind in KINDS):
        return []
    if not isinstance(found, list) or any(not isinstance(item, str) for item in found):
        raise InputError("control-no-list-labels", from_name=result.from_name, type=result.type)
    return found


def _candidates(name: str, kind: str, values: set[str]) -> Iterator[SchemeQuestion]:
    """Questions that a control may stand for: the one it names, else those of that id, else those it fits."""
    types = list(dict.fromkeys(type for one in KINDS for type in one.controls))
    if kind not in types:
        known = ", ".join(types)
        raise InputError("control-gives-results-type", hint="known-types", name=name, kind=kind, known=known)
    if (exactly := asked_by_name(name)) is not None:
        yield exactly
        return
    fitting = [asked for asked in _all() if kind in asked.kind.controls]
    wanted = name.lower()
    named = [asked for asked in fitting if asked.question.id.lower() == wanted]
    if not named:
        named = [asked for asked in fitting if asked.scheme.id.lower() == wanted]
    if values and len(named) != 1:
        small = {folded(value) for value in values}
        named = [asked for asked in named or fitting if small <= asked.labels.keys()] or named
    yield from named


def asked_by_name(name: str) -> SchemeQuestion | None:
    """The question that a control called `<scheme>.<question>` stands for."""
    scheme_id, _, question_id = name.partition(".")
    scheme = known_scheme(scheme_id)
    question = scheme.question(question_id) if scheme else None
    return SchemeQuestion(scheme, question) if scheme is not None and question is not None else None


def asked_for_none(result: Result) -> SchemeQuestion | None:
    """The question to which a result says that there is nothing."""
    return asked_by_name(result.from_name.removesuffix(NONE)) if result.from_name.endswith(NONE) else None


def _all() -> Iterator[SchemeQuestion]:
    for name in scheme_names():
        if (scheme := known_scheme(name)) is not None:
            yield from (SchemeQuestion(scheme, question) for question in scheme.questions)


def _unclear(name: str, candidates: list[SchemeQuestion]) -> InputError:
    could_be = ", ".join(asked.name for asked in candidates)
    problem = Notice("could-stand", could_be=could_be) if candidates else Notice("fits-no-question-known")
    return InputError("control", hint="name-control-scheme-question", name=name, problem=problem)


def labelling_interface(scheme: Scheme, language: str) -> str:
    """The XML of an interface: a control a question, and one for "none" where there may be none."""
    view = ET.Element("View")
    view.append(ET.Comment(f" {scheme.id} {scheme.version}, {language} ".replace("--", "-")))
    ET.SubElement(view, "Header", value=in_language(scheme.title, language))
    ET.SubElement(view, "Paragraphs", name=DIALOGUE, value=f"${DIALOGUE}", layout="dialogue")
    by_turn = scheme.unit.role != "document"
    if by_turn:
        # Questions about a turn are asked of a region, which is made by choosing this label.
        turn = ET.SubElement(view, "ParagraphLabels", name=TURN, toName=DIALOGUE)
        ET.SubElement(turn, "Label", value=in_language(_WORDS["turn"], language), alias="turn")
    for kind in kinds_of(scheme).values():
        _ask(view, kind, f"{scheme.id}.{kind.question.id}", by_turn, language)
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def _ask(view: ET.Element, kind: Kind, name: str, by_turn: bool, language: str) -> None:
    question, tag = kind.question, kind.control_tag(language)
    ET.SubElement(view, "Header", value=in_language(question.ask, language).replace("\n", " "), size="5")
    attributes = {"name": name, "toName": DIALOGUE, **tag.attributes}
    region = {"perRegion": "true"} if by_turn else {}
    may_be_none = kind.several and not question.at_least
    if not kind.on_text:
        attributes |= region
        if question.required and not may_be_none:
            attributes["required"] = "true"
    control = ET.SubElement(view, tag.name, attributes)
    for choice in tag.choices:
        ET.SubElement(control, choice.name, dict(choice.attributes))
    if may_be_none:
        none = ET.SubElement(view, "Choices", {"name": f"{name}{NONE}", "toName": DIALOGUE, **region})
        ET.SubElement(none, "Choice", value=in_language(_WORDS["none"], language), alias=NOTHING)
