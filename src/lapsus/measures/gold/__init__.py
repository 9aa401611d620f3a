"""Votes put together. Methods are asked for as one writes them: `majority@t=0.5`, `mace(em)`."""

from collections.abc import Callable

from lapsus.errors import UsageError
from lapsus.measures.gold.result import Gold, adjudicated
from lapsus.measures.gold.spans import span_dawid_skene
from lapsus.measures.score import compute, parse_measure
from lapsus.model.votes import LabelSetVotes, LabelVotes, ScaleVotes, SpanVotes, Votes
from lapsus.notices import Notice
from lapsus.registry import Registry

__all__ = ["METHODS", "Gold", "adjudicated", "make_gold"]

_ROOM = "lapsus.measures.gold"

METHODS: Registry[Callable[..., Gold]] = Registry(
    Notice("way-make-gold"),
    _ROOM,
    {
        "distribution": f"{_ROOM}.counts:distribution",
        "majority": f"{_ROOM}.counts:majority",
        "dawid_skene": f"{_ROOM}.dawid_skene:dawid_skene",
        "mace": f"{_ROOM}.mace:mace",
        "label_sets": f"{_ROOM}.counts:label_sets",
        "mean": f"{_ROOM}.counts:mean",
        "median": f"{_ROOM}.counts:median",
        "spans": f"{_ROOM}.spans:merged_spans",
    },
)
"""Each is a function `(votes, *arguments, **parameters)`: what is in brackets, what is after `@`."""

_MADE_FOR: dict[type, tuple[str, tuple[str, ...]]] = {
    LabelVotes: ("one label", ("majority", "distribution", "dawid_skene", "mace")),
    LabelSetVotes: ("several labels", ("label_sets",)),
    ScaleVotes: (Notice("number"), ("mean", "median")),
    SpanVotes: ("spans", ("spans", "dawid_skene")),
}


def make_gold(text: str, votes: Votes, **given: object) -> Gold:
    """Gold by a method as one writes it: `majority@t=0.5`, `mace(em)`, `spans@at_least=2`.

    `given` is what nobody writes, such as a guideline's order of ties; a method takes what it knows of.
    """
    measure = parse_measure(text)
    name = measure.name.lower().replace("-", "_")
    method = METHODS.get(name)
    if name == "dawid_skene" and isinstance(votes, SpanVotes):
        method = span_dawid_skene
    what, own = _MADE_FOR[type(votes)]
    others = {other for _, names in _MADE_FOR.values() for other in names} - set(own)
    if name in others:
        raise UsageError(
            "is-not-made-for-answers-with", hint="use", name=name, reason=what, better=" or ".join(own)
        )
    return compute(measure, method, votes, **given)
