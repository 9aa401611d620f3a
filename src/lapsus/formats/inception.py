"""Marks for INCEpTION: UIMA CAS JSON, with the layers of its basic project for spans and relations."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from lapsus.formats.labelstudio_places import to_utf16
from lapsus.formats.marks_export import Marked, MarksExport
from lapsus.formats.sink import Sink, inner
from lapsus.formats.span_links import links
from lapsus.notices import Notice

SPAN: Final = "custom.Span"
RELATION: Final = "custom.Relation"
TIED: Final = "Tied"
_SOFA = 1
_DOCUMENT = 2


class Inception(MarksExport):
    """A document a file, with its marks and the lines between them."""

    name = "inception"
    title = Notice("inception-marks-uima-cas")

    def add(self, files: Sink, marked: Marked) -> None:
        """One file."""
        content = msgspec.json.format(msgspec.json.encode(cas_of(marked)), indent=1)
        files.add(f"{marked.folder}/{inner(marked.layout.document.id)}.json", content)


def cas_of(marked: Marked) -> dict[str, Any]:
    """The JSON of a CAS. Offsets count UTF-16 units there, as Java does."""
    text = marked.layout.text
    structures: list[dict[str, Any]] = [
        {"%ID": _SOFA, "%TYPE": "uima.cas.Sofa", "sofaNum": 1, "sofaID": "_InitialView", "mimeType": "text"}
        | {"sofaString": text},
        {"%ID": _DOCUMENT, "%TYPE": "uima.tcas.DocumentAnnotation", "%FLAGS": ["DocumentAnnotation"]}
        | {"@sofa": _SOFA, "begin": 0, "end": to_utf16(text, len(text))}
        | {"language": marked.layout.document.language or "x-unspecified"},
    ]
    ids: list[int] = []
    for span in marked.spans:
        start, end = (to_utf16(text, at) for at in marked.place(span))
        ids.append(_DOCUMENT + 1 + len(ids))
        structures.append(
            {"%ID": ids[-1], "%TYPE": SPAN, "@sofa": _SOFA, "begin": start, "end": end, "label": span.label}
        )
    for one, other in links(marked.spans):
        target = structures[_DOCUMENT + other]
        structures.append(
            {"%ID": len(structures) + 1, "%TYPE": RELATION, "@sofa": _SOFA, "begin": target["begin"]}
            | {"end": target["end"], "@Governor": ids[one], "@Dependent": ids[other], "label": TIED}
        )
    members = [structure["%ID"] for structure in structures if structure["%ID"] != _SOFA]
    return {
        "%TYPES": _TYPES,
        "%FEATURE_STRUCTURES": structures,
        "%VIEWS": {"_InitialView": {"%SOFA": _SOFA, "%MEMBERS": members}},
    }


def _type(name: str, **features: str) -> dict[str, Any]:
    return {
        "%NAME": name,
        "%SUPER_TYPE": "uima.tcas.Annotation",
        **{key: {"%NAME": key, "%RANGE": kind} for key, kind in features.items()},
    }


_TYPES: Final = {
    SPAN: _type(SPAN, label="uima.cas.String"),
    RELATION: _type(RELATION, Dependent=SPAN, Governor=SPAN, label="uima.cas.String"),
}
