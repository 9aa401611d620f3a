"""The judges that a server allows: shipped models, files of one folder, language models at named endpoints.

What comes from a page only ever chooses among what the operator of the server allowed: no path, no address and no key
is taken from it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgspec
import regex

from lapsus.annotators import Annotator, as_usual
from lapsus.annotators.language_model import Endpoint, LanguageModel, Sampling, Service, endpoint
from lapsus.annotators.language_model.prices import price_of
from lapsus.annotators.language_model.providers import PROVIDERS, provider_of
from lapsus.annotators.library import METHODS, OPENAI, SUFFIX, is_language_model, load_model
from lapsus.annotators.model_files import SHIPPED, Header, read_header
from lapsus.errors import LapsusError, UsageError
from lapsus.model import Scheme

FOLDER: Final = "LAPSUS_JUDGES"
ENDPOINTS: Final = "LAPSUS_ENDPOINTS"
KEY: Final = "LAPSUS_API_KEY"
"""Variables whose name begins so may hold keys; nothing else of the environment is ever read for a page."""
MOST_SAMPLES: Final = 20
_MODEL: Final = regex.compile(r"[\w.:/@+-]{1,200}")
_KEY: Final = regex.compile(rf"{KEY}(_[A-Z0-9_]{{1,60}})?")

SourceKind: TypeAlias = Literal["shipped", "file", "openai"]


class JudgeSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which program judges and how it is asked. The key is known by the name of its variable alone."""

    kind: SourceKind
    model: str
    endpoint: str = ""
    key_env: str = ""
    samples: int = 1
    reasons: bool = False


class ModelChoice(msgspec.Struct, frozen=True):
    """A model that judges under a guideline."""

    kind: SourceKind
    model: str
    title: str
    languages: tuple[str, ...] = ()
    """Those it has learned."""
    unread: tuple[str, ...] = ()
    """Those of the documents that it cannot read: where there are any, it cannot be chosen."""


class EndpointChoice(msgspec.Struct, frozen=True):
    """Where language models may be asked."""

    url: str
    host: str
    is_local: bool


@dataclass(frozen=True)
class JudgeSources:
    """What the operator of a server allows."""

    folder: Path | None = None
    """Where the files of trained judges lie."""
    endpoints: tuple[Endpoint, ...] = ()

    @classmethod
    def named(cls, folder: Path | None, endpoints: Iterable[str]) -> JudgeSources:
        """From options, and from the environment where there are none."""
        place = folder or (Path(os.environ[FOLDER]) if os.environ.get(FOLDER) else None)
        if place is not None and not place.is_dir():
            raise UsageError("no-folder", where=str(place), hint="holds-files-trained-judges")
        addresses = list(endpoints) or os.environ.get(ENDPOINTS, "").split()
        return cls(place, tuple(endpoint(address) for address in addresses))

    def models(self, scheme: Scheme, languages: Collection[str] = ()) -> list[ModelChoice]:
        """The models that judge under a guideline: shipped ones, then those of the folder.

        With the languages of the documents, each says which of them it cannot read.
        """
        found: list[tuple[SourceKind, Path]] = [
            ("shipped", path) for path in sorted(SHIPPED.glob(f"*{SUFFIX}"))
        ]
        if self.folder is not None:
            found += [("file", path) for path in sorted(self.folder.glob(f"*{SUFFIX}")) if path.is_file()]
        choices = []
        for kind, path in found:
            try:
                header = read_header(path)
            except LapsusError:
                # Somebody may just be copying it there.
                continue
            if header.scheme == scheme.id:
                name = path.name.removesuffix(SUFFIX)
                known = header.origin.languages if header.origin else ()
                unread = _unread(kind, header, languages)
                choices.append(ModelChoice(kind, name, header.name, known, unread))
        return choices

    def endpoint_choices(self) -> list[EndpointChoice]:
        """Where language models may be asked."""
        return [EndpointChoice(one.url, one.host, one.is_local) for one in self.endpoints]

    def providers(self) -> list[str]:
        """The interfaces that language models can be asked over, the commonest first."""
        return list(PROVIDERS.names())

    def keys(self) -> list[str]:
        """The names of the variables that hold a key."""
        return sorted(name for name, value in os.environ.items() if value and _KEY.fullmatch(name))

    def may(self, spec: Mapping[str, Any]) -> bool:
        """Whether what was asked for can be done by this server."""
        try:
            asked = msgspec.convert(spec, JudgeSpec)
        except msgspec.ValidationError:
            return False
        if asked.kind == "openai":
            return self._endpoint(asked.endpoint) is not None and (
                not asked.key_env or asked.key_env in self.keys()
            )
        return self._file(asked) is not None

    def make(self, asked: JudgeSpec, scheme: Scheme, stop: threading.Event) -> Annotator:
        """The program, ready to judge; complains where it is not allowed here. Nothing is sent yet."""
        if asked.kind == "openai":
            return self._language_model(asked, scheme, stop)
        path = self._file(asked)
        if path is None:
            raise UsageError("no-model-here", hint="choose-one-list", model=asked.model[:80])
        annotator = as_usual(load_model(path))
        annotator.must_judge_under(scheme)
        return annotator

    def _file(self, asked: JudgeSpec) -> Path | None:
        """The file of a model, by its name among those that there are: a path is no name."""
        place = SHIPPED if asked.kind == "shipped" else self.folder
        known = place.glob(f"*{SUFFIX}") if place is not None else ()
        return next((path for path in known if path.name == f"{asked.model}{SUFFIX}"), None)

    def _endpoint(self, address: str) -> Endpoint | None:
        return next((one for one in self.endpoints if one.url == address), None)

    def _language_model(self, asked: JudgeSpec, scheme: Scheme, stop: threading.Event) -> LanguageModel:
        where = self._endpoint(asked.endpoint)
        if where is None:
            raise UsageError("endpoint-not-allowed-here", hint="operator-server-names")
        if not _MODEL.fullmatch(asked.model):
            raise UsageError("no-name-model", hint="server-calls-without-spaces")
        if asked.key_env and asked.key_env not in self.keys():
            raise UsageError("no-key-servers-environment")
        key = os.environ.get(asked.key_env) if asked.key_env else None
        if key and not (where.is_local or where.is_encrypted):
            raise UsageError("key-would-sent-unencrypted", where=where.host, hint="use-https")
        if not 1 <= asked.samples <= MOST_SAMPLES:
            raise UsageError("ask-1-times", most_samples=MOST_SAMPLES)
        named = asked.model if is_language_model(asked.model) else f"{OPENAI}{asked.model}"
        provider, model = provider_of(named)
        service = Service(where, key, stop=stop, headers=provider.headers)
        sampling, why = Sampling(asked.samples), asked.reasons
        return LanguageModel(
            model,
            service,
            scheme,
            sampling=sampling,
            reasons=why,
            provider=provider,
            price=price_of(named, where),
        )


def _unread(kind: SourceKind, header: Header, languages: Collection[str]) -> tuple[str, ...]:
    """Languages that a model has not learned. One's own judge may be tried on others, if its method can read them."""
    known = header.origin.languages if header.origin else ()
    reads_all = header.method in METHODS.names() and METHODS.get(header.method).any_language
    if not known or (kind == "file" and reads_all):
        return ()
    return tuple(sorted(set(languages) - set(known)))
