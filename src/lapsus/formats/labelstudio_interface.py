"""The labelling interface of a Label Studio project that asks what a scheme asks, with the names that are read back."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from lapsus.formats.labelstudio_answers import NOTHING
from lapsus.formats.labelstudio_controls import NONE, TURN
from lapsus.formats.labelstudio_data import DIALOGUE
from lapsus.kinds import Kind, kinds_of
from lapsus.model import Scheme, in_language

_WORDS = {
    "none": {"en": "None of these", "ja": "該当なし"},
    "turn": {"en": "Judge this turn", "ja": "この発話を評価する"},
}


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
