"""A language model as an annotator: it gets units, which hold nothing of what came after, and leaves judgments."""

from __future__ import annotations

import copy
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import msgspec

from lapsus.annotators.base import Annotator
from lapsus.annotators.cases import cases_of
from lapsus.annotators.language_model.aligned import Aligned
from lapsus.annotators.language_model.completion import Chat, Sampling, check_samples, together
from lapsus.annotators.language_model.prices import ANSWER_SECONDS, TOKENS_A_SECOND, Expected, Price, cost
from lapsus.annotators.language_model.prompt import (
    Prompt,
    fitting_language,
    make_prompt,
    unit_digest,
    unit_message,
)
from lapsus.annotators.language_model.prompt_frames import prompt_frame
from lapsus.annotators.language_model.providers import Completion, Provider
from lapsus.annotators.language_model.providers.openai import OpenAi
from lapsus.annotators.language_model.reply import Taken, take
from lapsus.annotators.language_model.service import Service, ServiceError
from lapsus.errors import LapsusError, UsageError
from lapsus.http_client import StoppedError, one_line
from lapsus.model import Answer, Document, Entry, Judgment, Scheme, Unit, UnitKey
from lapsus.notices import Notice

if TYPE_CHECKING:
    from lapsus.annotators.bulk import Work

ASKED = 3
"""How often a model is asked for an answer that can be taken."""
GIVE_UP = 5
"""Failures of the server in a row after which the rest is not tried."""
ANSWER_TOKENS, REASON_TOKENS = 20, 60
"""About how many tokens the answer to a question has, and a reason."""
_TOLD = 4000
"""Characters of a bad answer that are shown back to the model."""
_SAID = 120
"""Characters of what a model said instead of an answer."""
_REASON = 500
"""Characters of the reason why a unit could not be judged."""


class Refused(NamedTuple):
    """A unit that could not be judged, and why."""

    unit: UnitKey
    reason: str


class Answered(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a unit: a judgment, or why there is none; neither where it was not asked about."""

    judgment: Judgment | None = None
    refused: str = ""
    status: int | None = None
    """Of a server that did not do what it was asked, with `refused` for what it said."""
    hopeless: bool = False
    hint: str | None = None
    tokens: dict[str, int] = {}
    """Used for it, whatever came of it."""
    refusal: Judgment | None = None
    """Where the model will not answer: a judgment without answers, by which a journal knows that it was asked."""


class _Sample(NamedTuple):
    """One answer that was taken, and what it cost."""

    answers: Mapping[str, Answer]
    completions: Sequence[Completion]
    reason: str | None


class _InvalidError(Exception):
    """The model gave no answer that can be taken."""


class _RefusalError(_InvalidError):
    """The model, or its provider, will not answer: to ask again would cost as much and help as little."""


class LanguageModel(Annotator):
    """Judges units of any scheme by asking a server. `refused` holds what it could not judge, and why."""

    method = "openai"
    title = "a language model, asked over its provider's interface"
    needs_fit = False
    uses_words = False
    any_language = True
    costs = True

    def __init__(
        self,
        model: str,
        service: Service,
        scheme: Scheme,
        *,
        language: str | None = None,
        examples: int | None = None,
        sampling: Sampling | None = None,
        parallel: int = 4,
        reasons: bool = False,
        provider: Provider | None = None,
        budget: int | None = None,
        price: Price | None = None,
        aligned: Aligned | None = None,
        batch: bool = False,
    ) -> None:
        """`language`: of the prompt; by default each document's own, where the scheme has it. `reasons`: ask why.

        `provider`: whose interface is spoken; by default OpenAI's chat completions. `budget`: so many tokens, and
        nothing more is asked; what is under way then is waited for. `price`: what tokens cost, where that is known.
        `aligned`: what is added to the guideline's prompt. `batch`: whether a run hands requests in many at once.
        """
        super().__init__()
        self.provider = provider or OpenAi()
        self.name = f"{self.provider.name}:{model}"
        """Who is named as annotator in the judgments."""
        self.scheme = scheme
        self.refused: list[Refused] = []
        self.tokens: Counter[str] = Counter()
        """Used since it was made (`prompt`, `completion`), also for units that it could not judge."""
        self.service, self._chat = service, Chat(model, service, self.provider)
        self._form: str | None = None
        self.language, self.examples, self.parallel = language, examples, parallel
        self.reasons, self.budget, self.price, self.aligned = reasons, budget, price, aligned
        self.batch, self.batch_tokens = batch, Counter[str]()
        """`batch_tokens`: those of `tokens` that were used in batches."""
        self.sampling = sampling or Sampling()
        self._prompts: dict[str, Prompt] = {}
        self._in_a_row = 0
        self._prompt(None)
        if self.sampling.samples > 1:
            check_samples(scheme)

    def variant(self, scheme: Scheme | None = None, aligned: Aligned | None = None) -> Self:
        """The same model under another guideline or prompt: tokens are counted, and the server known, for both."""
        other = copy.copy(self)
        other.scheme, other.aligned = scheme or self.scheme, aligned
        other.refused, other._prompts, other._in_a_row = [], {}, 0
        other._prompt(None)
        return other

    @property
    def form(self) -> str | None:
        """How the form of answers was asked for: json_schema, json_object or text; None before the first answer."""
        return self._form or self._chat.form

    @property
    def dropped(self) -> list[str]:
        """Of temperature, seed and max_tokens what the model does not take: it is asked without."""
        wished = self.sampling._asdict()
        unknown = {name for name in self.provider.unknown if wished.get(name) is not None}
        return sorted(self._chat.dropped | unknown)

    def work(self) -> Work[Any, Any]:
        """Units are asked about one by one."""
        from lapsus.annotators.language_model.asking import AskUnits

        return AskUnits(self)

    def _judgments(self, documents: Iterable[Document | Entry]) -> Iterator[Judgment]:
        """A judgment a unit, in the order of the documents, though the server is asked about several at once."""
        from lapsus.annotators.bulk import Run

        cases = (case.unit for item in documents for case in cases_of(item, self.scheme))
        return Run().judgments(self, cases, in_order=True)

    def judge_units(self, units: Iterable[Unit]) -> Iterator[Judgment]:
        """A judgment a unit, as they come: several are asked for at once. Ends early once the service is stopped."""
        from lapsus.annotators.bulk import Run

        return Run().judgments(self, units)

    def answered(self, unit: Unit) -> Answered:
        """Ask about a unit. Many threads may do so."""
        spent: Counter[str] = Counter()
        try:
            return Answered(self._judgment(unit, spent), tokens=dict(spent))
        except StoppedError:
            return Answered(tokens=dict(spent))
        except _InvalidError as error:
            said = one_line(str(error))[:_REASON]
            kept = self._refusal(unit, said) if isinstance(error, _RefusalError) else None
            return Answered(refused=said, tokens=dict(spent), refusal=kept)
        except ServiceError as error:
            return Answered(None, error.what, error.status, error.hopeless, error.hint, dict(spent))

    def take(self, unit: Unit, found: Answered) -> tuple[Judgment, ...]:
        """Count what came of a unit; its judgment, where there is one."""
        self.tokens.update(found.tokens)
        if self.budget is not None and self.tokens.total() >= self.budget and self.ended is None:
            hint = Notice("judged-kept-same-again")
            self.ended = LapsusError("budget-tokens-used-up", hint=hint, budget=self.budget)
            self.service.stop.set()
        if found.judgment is not None:
            self._in_a_row, self._form = 0, found.judgment.metadata.get("form")
            return (found.judgment,)
        if found.status is not None:
            self._failed(
                unit,
                ServiceError(found.refused, status=found.status, hopeless=found.hopeless, hint=found.hint),
            )
        elif found.refused:
            self._in_a_row = 0
            self.refused.append(Refused(unit.key, found.refused))
        return ()

    @property
    def cost(self) -> dict[str, Any] | None:
        """What was used so far has cost; None where the price is not known."""
        found = cost(self.price, self.tokens - self.batch_tokens)
        if found is not None and self.price is not None and self.batch_tokens:
            found["amount"] += (cost(self.price.in_batches, self.batch_tokens) or found)["amount"]
        return found

    def expected(self, unit: Unit, before: Judgment | None = None) -> Expected:
        """About what a unit will take, all samples together: guessed from its letters, or as another one took."""
        prompt, samples = self._prompt(unit.language), self.sampling.samples
        told = samples * (guessed_tokens(prompt.system) + guessed_tokens(unit_message(unit)))
        tokens = before.metadata.get("tokens") if before is not None else None
        if before is not None and before.seconds and isinstance(tokens, Mapping):
            return Expected(told, int(tokens.get("completion", 0)), before.seconds / self.parallel)
        said = samples * (ANSWER_TOKENS * len(self.scheme.questions) + (REASON_TOKENS if self.reasons else 0))
        seconds = samples * ANSWER_SECONDS + said / TOKENS_A_SECOND
        return Expected(told, said, seconds / self.parallel)

    def expects(self, units: Iterable[Unit]) -> Expected:
        """About what units will take together."""
        return sum(map(self.expected, units), Expected())

    def must_go_on(self, judgments: Iterable[Judgment], where: str) -> None:
        """Refuse kept answers that were given under another setting: no run mixes two."""
        for judgment in judgments:
            if others := self.others(judgment):
                raise UsageError(
                    "begun-another", where=where, hint="go-same-options-remove", others=", ".join(others)
                )

    def others(self, judgment: Judgment) -> tuple[str, ...]:
        """What is another now than when a judgment was made: the scheme, or something of the setting."""
        scheme = (judgment.scheme, judgment.version) == (self.scheme.id, self.scheme.version)
        return (*(() if scheme else ("scheme",)), *self.differences(judgment.metadata))

    def setting(self, language: str) -> dict[str, Any]:
        """What decides about the answers; every judgment carries it."""
        return {
            "model": self._chat.model,
            "host": self._chat.service.where.host,
            "language": language,
            "prompt": self._prompt(language).digest,
            "samples": self.sampling.samples,
            "temperature": self.sampling.heat,
            "seed": self.sampling.seed,
            "max_tokens": self.sampling.max_tokens,
        }

    def differences(self, metadata: Mapping[str, Any]) -> tuple[str, ...]:
        """What of the setting is another than that of a judgment with this metadata."""
        before = metadata.get("setting")
        if not isinstance(before, Mapping) or before.get("language") not in self.scheme.languages:
            return ("model",)
        now = self.setting(before["language"])
        return tuple(name for name in now if name not in before or before[name] != now[name])

    def _failed(self, unit: Unit, error: ServiceError) -> None:
        if not error.hopeless:
            self.refused.append(Refused(unit.key, error.what))
        self._in_a_row += 1
        if self.ended is None and (error.hopeless or self._in_a_row >= GIVE_UP):
            self.ended = error
            self.service.stop.set()

    def prompt_language(self, unit: Unit) -> str:
        """The language of the prompt by which a unit is judged."""
        return self._prompt(unit.language).language

    def _prompt(self, language: str | None) -> Prompt:
        own = self.aligned.language if self.aligned is not None else fitting_language(self.scheme, language)
        chosen = self.language or own
        if chosen not in self._prompts:
            self._prompts[chosen] = make_prompt(
                self.scheme, chosen, examples=self.examples, reasons=self.reasons, aligned=self.aligned
            )
        return self._prompts[chosen]

    def requests(self, unit: Unit) -> list[dict[str, Any]]:
        """What the server is asked about a unit, a request for each sample, for a batch."""
        prompt, messages = self._prompt(unit.language), [_message("user", unit_message(unit))]
        return [
            self._chat.body(prompt.system, messages, prompt.schema, self._wishes(seed))
            for seed in self._seeds()
        ]

    def learned(self, form: str, dropped: Iterable[str]) -> None:
        """What another process found out about the server."""
        self._chat.form = form
        self._chat.dropped.update(dropped)

    def heard_in_batch(self, unit: Unit, replies: Sequence[Mapping[str, Any]]) -> Answered:
        """What the replies to `requests` say; nothing where one cannot be taken, so that it is asked for again."""
        prompt, samples = self._prompt(unit.language), []
        spent: Counter[str] = Counter()
        for reply in replies:
            found = self.provider.completion(reply, str(self.form))
            if found is None:
                return Answered(tokens=dict(spent))
            spent.update(prompt=found.prompt_tokens, completion=found.completion_tokens)
            try:
                taken, problems = self._taken(found, unit, prompt)
            except _RefusalError as error:
                said = one_line(str(error))[:_REASON]
                return Answered(refused=said, tokens=dict(spent), refusal=self._refusal(unit, said))
            if problems:
                return Answered(tokens=dict(spent))
            samples.append(_Sample(taken.answers, [found], taken.reason))
        return Answered(self._made(unit, prompt, samples, None), tokens=dict(spent))

    def _seeds(self) -> list[int | None]:
        seed = self.sampling.seed
        return [None if seed is None else seed + place for place in range(self.sampling.samples)]

    def _wishes(self, seed: int | None) -> dict[str, Any]:
        wishes = {"temperature": self.sampling.heat, "seed": seed, "max_tokens": self.sampling.max_tokens}
        return {name: value for name, value in wishes.items() if value is not None}

    def _judgment(self, unit: Unit, spent: Counter[str]) -> Judgment:
        prompt, started = self._prompt(unit.language), time.monotonic()
        samples = [self._sample(unit, prompt, seed, spent) for seed in self._seeds()]
        return self._made(unit, prompt, samples, round(time.monotonic() - started, 3))

    def _made(
        self, unit: Unit, prompt: Prompt, samples: Sequence[_Sample], seconds: float | None
    ) -> Judgment:
        """The judgment that samples make; `seconds` is None where they came in a batch."""
        asked = [completion for sample in samples for completion in sample.completions]
        answers, distributions = together(self.scheme, [sample.answers for sample in samples])
        metadata: dict[str, Any] = {
            "setting": self.setting(prompt.language),
            "material": unit_digest(unit),
            "form": asked[-1].form,
            "answered_by": asked[-1].model,
            "tries": len(asked),
            "tokens": {
                "prompt": sum(one.prompt_tokens for one in asked),
                "completion": sum(one.completion_tokens for one in asked),
            },
        }
        price = self.price.in_batches if self.price is not None and seconds is None else self.price
        if (paid := cost(price, metadata["tokens"])) is not None:
            metadata["cost"] = paid
        if self.dropped:
            metadata["without"] = self.dropped
        if reasons := [sample.reason for sample in samples if sample.reason]:
            metadata["reason"] = reasons[0] if len(reasons) == 1 else reasons
        who, now = (self.name, self.scheme.id, self.scheme.version), datetime.now(UTC)
        return Judgment(*unit.key, *who, answers, distributions, at=now, seconds=seconds, metadata=metadata)

    def _refusal(self, unit: Unit, said: str) -> Judgment:
        """What a journal keeps of a unit that the model will not judge: that, and what it said."""
        scheme, language = self.scheme, self._prompt(unit.language).language
        metadata = {"setting": self.setting(language), "material": unit_digest(unit), "refused": said}
        return Judgment(*unit.key, self.name, scheme.id, scheme.version, {}, metadata=metadata)

    def _sample(self, unit: Unit, prompt: Prompt, seed: int | None, spent: Counter[str]) -> _Sample:
        """Ask until there is an answer that can be taken; each time the model is told what was wrong."""
        messages = [_message("user", unit_message(unit))]
        completions: list[Completion] = []
        problems: tuple[str, ...] = ()
        for _ in range(ASKED):
            found = self._chat.complete(prompt.system, messages, prompt.schema, self._wishes(seed))
            completions.append(found)
            spent.update(prompt=found.prompt_tokens, completion=found.completion_tokens)
            taken, problems = self._taken(found, unit, prompt)
            if not problems:
                return _Sample(taken.answers, completions, taken.reason)
            # Most providers take no message without a word.
            said = found.content[:_TOLD].strip() or "{}"
            told = [_message("assistant", said), _message("user", prompt.again(problems))]
            messages = [*messages[:1], *told]
        told_why = "; ".join(problems)
        if (
            problems == (prompt_frame("problem-no-json", prompt.language),)
            and completions[-1].content.strip()
        ):
            # A model that will not judge says so in words, and those are the reason.
            told_why += f": “{one_line(completions[-1].content)[:_SAID]}”"
        raise _InvalidError(Notice("no-answer-can-taken", asked=ASKED, told_why=told_why))

    def _taken(self, found: Completion, unit: Unit, prompt: Prompt) -> tuple[Taken, tuple[str, ...]]:
        """The answers in a reply, and what is wrong with it."""
        if found.refusal:
            raise _RefusalError(Notice("model-will-not-answer", one_line=one_line(found.refusal)[:_SAID]))
        taken = take(found.content, unit, self.scheme, prompt.language, was_cut=found.was_cut)
        if taken.problems and found.was_cut:
            return taken, (prompt_frame("problem-cut", prompt.language),)
        return taken, taken.problems


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


@lru_cache(maxsize=64)
def guessed_tokens(text: str) -> int:
    """About how many tokens a text has: four letters each in alphabets, one and a half in other scripts."""
    narrow = sum(sign < "\u2e80" for sign in text)
    return round(narrow / 4 + (len(text) - narrow) / 1.5)
