"""Which methods there are, the bounds of their parameters, and models by name or file."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from lapsus.annotators.base import Annotator
from lapsus.annotators.breakdown import SCHEME
from lapsus.annotators.model_files import SHIPPED, Header, damaged, read_guideline, read_model
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.model import Document, Scheme, Segment
from lapsus.notices import Notice
from lapsus.registry import Registry, did_you_mean
from lapsus.schemes import AnyScheme, load_scheme

if TYPE_CHECKING:
    from lapsus.annotators.language_model.asking import Asking

METHODS: Registry[type[Annotator]] = Registry(
    "kind-method",
    "lapsus.annotators",
    {
        "judge": "lapsus.annotators.judge.judge:Judge",
        "floor": "lapsus.annotators.floors:Floor",
        "prior": "lapsus.annotators.floors:Prior",
        "majority": "lapsus.annotators.floors:Majority",
        "crf": "lapsus.annotators.challenge.crf:Crf",
        "lstm": "lapsus.annotators.challenge.lstm:Lstm",
        "rules": "lapsus.annotators.challenge.rules:Rules",
        "svm": "lapsus.annotators.challenge.svm:Svm",
        "acts": "lapsus.annotators.challenge.acts:Acts",
        "ncm": "lapsus.annotators.challenge.ncm:Ncm",
        "encoder": "lapsus.annotators.encoder.encoder:Encoder",
        "triples": "lapsus.annotators.triples.triples:Triples",
    },
)

OPENAI = "openai:"
"""How most language models are named where an annotator is asked for: openai:MODEL."""
SUFFIX = ".lapsus"
"""The usual ending of a model's file."""
_PROBE = Document(
    "probe",
    (
        Segment("0", "user", "a"),
        Segment("1", "system", "a"),
        Segment.triple("2", "a", "b", "c"),
        Segment("3", "text", "a"),
    ),
)
"""Judged once when a model is loaded, so that parts that do not fit together show then and not later."""


def make_annotator(
    method: str, settings: Mapping[str, Any] | None = None, scheme: AnyScheme | None = None
) -> Annotator:
    """An annotator of that method. Settings may be text, as a command line gives them.

    `scheme` is the guideline, its name or file; a method that is for one alone needs none.
    """
    kind = METHODS.get(method)
    defaults = kind.defaults()
    given = {}
    for name, value in (settings or {}).items():
        if name not in defaults:
            raise UsageError(
                "method-no-parameter", hint=did_you_mean(name, sorted(defaults)), method=method, name=name
            )
        given[name] = _value(name, value, defaults[name])
    annotator = kind(**given)
    if scheme is not None:
        annotator.scheme = load_scheme(scheme)
    return annotator


def load_model(path: Path | str) -> Annotator:
    """A model from its file; what is wrong with the file is said."""
    path = Path(path)
    header, state = read_model(path)
    scheme = read_guideline(path)
    try:
        annotator = make_annotator(header.method, header.parameters)
        if annotator.made_for:
            _check_labels(header, annotator.scheme)
        if scheme is not None:
            annotator.scheme = scheme
    except LapsusError as error:
        raise InputError(error.what, where=str(path), hint=error.hint) from error
    except (TypeError, ValueError) as error:
        raise damaged(path, error) from error
    try:
        with np.errstate(all="ignore"):
            annotator.restore(header.origin, state)
            list(annotator.judge([_PROBE]))
    except LapsusError as error:
        raise error.at(str(path)) from None
    except Exception as error:
        # Whatever a method and the libraries under it raise over parts that do not fit together.
        raise damaged(path, error) from error
    annotator.name = header.name
    return annotator


def _check_labels(header: Header, scheme: Scheme) -> None:
    """A method that is for one scheme alone must answer with the labels of that scheme."""
    labels = tuple(label.id for label in scheme.labels_of(scheme.questions[0]))
    if (header.scheme, header.labels) != (scheme.id, labels):
        raise InputError(
            "answers-scheme-labels",
            hint=Notice("method", method=header.method, id=scheme.id, labels=", ".join(labels)),
            scheme=header.scheme,
            labels=", ".join(header.labels),
        )


def go_on_from(name: Path | str, method: str, settings: Mapping[str, Any] | None = None) -> Annotator:
    """A model by its file or shipped name, ready to be adapted; some of its parameters may be set anew."""
    path = model_file(name)
    model = load_model(path)
    if model.method != method:
        raise UsageError("model-method-not", where=str(path), method=model.method, method2=method)
    if not model.adapts:
        raise UsageError("method-cannot-go-model", hint="train-anew-without", method=method)
    if fixed := [name for name in settings or {} if name in model.defaults() and name not in model.adaptable]:
        may = ", ".join(name for name in model.adaptable if name in model.defaults())
        raise UsageError("fixed-model", where=str(path), hint="may-set", fixed=fixed[0], may=may)
    again = make_annotator(method, {**model.parameters(), **(settings or {})}, model.scheme)
    again.restore(model.origin_, model.state())
    return again


def default_model(language: str, scheme: str = SCHEME) -> Path:
    """Where the model that is shipped for a language and a scheme lies: its own, or one for every language."""
    name = f"{scheme}-{language}"
    path = next((path for one in (name, scheme) if (path := _shipped(one)).is_file()), None)
    if path is None:
        raise UsageError("install-no-model", hint="say-lang-where-language", name=name)
    return path


def model_file(name: Path | str) -> Path:
    """The file of a model that is named by its path, or by its name where it is shipped."""
    path = Path(name)
    return path if path.exists() or not _shipped(str(name)).is_file() else _shipped(str(name))


def find_annotator(
    name: str,
    scheme: AnyScheme | None = None,
    *,
    stop: threading.Event | None = None,
    **asking: Unpack[Asking],
) -> Annotator:
    """A model from its file or by its name if it is shipped, a method that needs no fitting, or a language model.

    A language model judges under `scheme`, breakdown by default, and is asked as `asking` says until `stop` is set.
    """
    if name in METHODS.names():
        annotator = make_annotator(name)
        if annotator.needs_fit:
            hint = Notice("lapsus-train-data-o", name=name, suffix=SUFFIX)
            raise UsageError("method-must-learn-before", hint=hint, name=name)
        return annotator
    path = model_file(name)
    if is_language_model(name):
        from lapsus.annotators.language_model.asking import make_language_model

        return make_language_model(name, load_scheme(scheme or SCHEME), stop=stop, **asking)
    if not path.is_file():
        known = [*METHODS.names(), *shipped_models()]
        raise UsageError("neither-models-file-nor", hint=did_you_mean(name, known), name=name)
    return load_model(path)


def is_language_model(name: str) -> bool:
    """Whether a name is that of a language model: PROVIDER:MODEL, and no file is called so."""
    prefix, colon, _ = name.partition(":")
    if not colon or model_file(name).is_file():
        return False
    from lapsus.annotators.language_model.providers import PROVIDERS

    return prefix in PROVIDERS.names()


def refuse_unknown(asking: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """Complain of a keyword that a function takes neither itself nor to ask a language model."""
    if not asking:
        return
    from lapsus.annotators.language_model.asking import Asking

    known = Asking.__annotations__
    if unknown := next((name for name in asking if name not in known), None):
        names = [*(name for name in signature(function).parameters if name != "asking"), *known]
        hint = did_you_mean(unknown, names)
        raise UsageError("no-parameter", hint=hint, part=unknown, group=function.__name__)


def refuse_asking(asking: Mapping[str, Any]) -> None:
    """Complain where something was said that means nothing to a detector."""
    for name, value in asking.items():
        if value is not None and value is not False:
            option = "the prompt's language" if name == "words" else f"--{name.replace('_', '-')}"
            raise UsageError("language-models", hint="with-model", option=option, openai=OPENAI)


def shipped_models() -> list[str]:
    """The names of the models that come with this install."""
    return sorted(path.name.removesuffix(SUFFIX) for path in SHIPPED.glob(f"*{SUFFIX}"))


def _shipped(name: str) -> Path:
    """Where a model of that name lies, if it is shipped."""
    return SHIPPED / f"{Path(name).name}{SUFFIX}"


def _value(name: str, value: Any, default: Any) -> Any:
    """A setting in the type of its default."""
    kind = type(default)
    if isinstance(value, kind) or (kind is float and isinstance(value, int)):
        return value
    try:
        if isinstance(value, str) and kind in (int, float):
            return kind(value)
        if isinstance(value, str) and kind is bool:
            return {"true": True, "yes": True, "false": False, "no": False}[value.lower()]
    except (ValueError, KeyError):
        pass
    kinds = {int: Notice("whole-number"), float: Notice("number"), bool: Notice("yes-no"), str: "text"}
    raise UsageError("parameter-not", name=name, kinds=kinds.get(kind, kind.__name__), value=value)


def need_at_least(least: float, **given: float) -> None:
    """Complain about the first parameter that is below, endless, or no number."""
    for name, value in given.items():
        if not least <= value < math.inf:
            raise UsageError("least-not", name=name, least=least, value=value)


def need_above_zero(**given: float) -> None:
    """Complain about the first parameter that is zero, below it, endless, or no number."""
    for name, value in given.items():
        if not 0 < value < math.inf:
            raise UsageError("above-0-not", name=name, value=value)


def need_share(**given: float) -> None:
    """Complain about the first parameter that is not from 0 to 1."""
    for name, value in given.items():
        if not 0 <= value <= 1:
            raise UsageError("0-1-not", name=name, value=value)


def one_or_more(kind: str, text: str, known: Sequence[str]) -> tuple[str, ...]:
    """The names of a list with commas between, each once. Complain about one that is not known, and about none."""
    names = tuple(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))
    for name in names:
        if name not in known:
            raise UsageError("no-called", hint=did_you_mean(name, list(known)), kind=kind, name=name)
    if not names:
        raise UsageError("least-one-needed", hint="known", kind=kind, known=", ".join(known))
    return names
