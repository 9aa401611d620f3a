"""Judging in batches: hand in, leave, come back, and the same judgments as if each unit had been asked about.

What was handed in is remembered beside the journal. One unit is asked about first, so that nothing is handed in that
the server does not take; units whose reply cannot be taken are asked about afterwards, as always.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import msgspec

from lapsus.annotators.bulk import Journal
from lapsus.annotators.detection import UnfinishedError
from lapsus.annotators.language_model.annotator import LanguageModel
from lapsus.annotators.language_model.prompt import unit_digest
from lapsus.annotators.language_model.providers.batches import Batches, BatchRequest
from lapsus.errors import InputError, LapsusError, UsageError
from lapsus.formats.sink import put_in_place
from lapsus.model import Unit
from lapsus.model.frozen import decoder
from lapsus.notices import Notice

T = TypeVar("T")


class PendingError(UnfinishedError):
    """A batch was handed in and is not done: to be come back to."""

    def __init__(self, what: str, ids: Sequence[str], done: int, total: int) -> None:
        super().__init__(what, hint=Notice("batch-come-back"))
        self.ids, self.done, self.total = tuple(ids), done, total


class _HandedIn(msgspec.Struct, frozen=True):
    """One batch."""

    id: str
    asked: tuple[str, ...]
    """The names of its requests: the place of a unit and that of a sample."""


class _State(msgspec.Struct):
    """What was handed in, as a file holds it."""

    model: str
    form: str
    dropped: list[str]
    settings: list[dict[str, object]]
    units: list[tuple[str, str | None, str]]
    """Document, segment and digest of each unit."""
    batches: list[_HandedIn] = []
    under_way: int = 0
    """Requests of a batch that is being handed in: after a kill nobody knows whether it arrived."""


class BatchRun:
    """One model's batches beside its journal."""

    def __init__(self, model: LanguageModel, journal: Journal) -> None:
        self.model, self.journal = model, journal
        self.path = journal.path.with_suffix(".batch")
        if (kind := model.provider.batches) is None:
            raise UsageError("no-batch-interface", hint="batch-without", host=model.provider.name)
        self._batches: Batches = kind(model.service, model.name.partition(":")[2])
        self._work = model.work()
        self._tried: set[tuple[str, str | None, str]] = set()
        """Units with a reply in the current batches; they are not submitted again."""

    @property
    def is_pending(self) -> bool:
        """Whether something was handed in that was not fetched yet."""
        return self.path.exists()

    def collect(self, units: Iterable[Unit]) -> None:
        """Fetch what was handed in; raises `PendingError` where it is not done. Answers go to the journal."""
        state = self._read()
        if requests := state.under_way:
            state.under_way = 0
            self._remember(state)
            host = self.model.service.where.host
            raise LapsusError(
                Notice("batch-unknown", requests=requests, host=host), hint=Notice("batch-cancel")
            )
        total = sum(len(one.asked) for one in state.batches)
        found = self._told(lambda: [self._batches.progress(one.id) for one in state.batches])
        if failed := [one.failed for one in found if one.failed]:
            self.path.unlink()
            raise LapsusError(Notice("batch-failed", said=failed[0][:300]), hint=Notice("batch-without"))
        ids, done = [one.id for one in state.batches], sum(one.done for one in found)
        if not all(one.is_over for one in found):
            what = Notice("batch-pending", ids=", ".join(ids), done=done, total=total)
            raise PendingError(what, ids, done, total)
        self.model.learned(state.form, state.dropped)
        replies = self._told(
            lambda: {
                name: reply
                for one in state.batches
                for name, reply in self._batches.replies(one.id, one.asked)
            }
        )
        here = {_known(unit): unit for unit in units}
        for place, known in enumerate(state.units):
            said = [replies.get(f"{place}-{sample}") for sample in range(self.model.sampling.samples)]
            if None in said or known not in here:
                continue
            self._tried.add(known)
            whole = [reply for reply in said if isinstance(reply, dict)]
            if len(whole) == len(said):
                self._take(here[known], whole)
        self.path.unlink()

    def _take(self, unit: Unit, replies: Sequence[dict[str, object]]) -> None:
        found = self.model.heard_in_batch(unit, replies)
        self.model.tokens.update(found.tokens)
        self.model.batch_tokens.update(found.tokens)
        self.journal.keep(self._work, [unit], [found])

    def submit(self, units: Iterable[Unit]) -> None:
        """Hand in what no answer is known of; raises `PendingError` then. Returns where nothing is left to hand in."""
        waiting = [
            unit
            for unit in units
            if self.journal.find(self._work, [unit]) is None and _known(unit) not in self._tried
        ]
        if not waiting:
            return
        first = self.model.answered(waiting[0])
        self.model.take(waiting[0], first)
        if self.model.ended is not None:
            raise self.model.ended
        self.journal.keep(self._work, [waiting[0]], [first])
        chosen = list(self._within_budget(waiting[1:]))
        if not chosen or self.model.form is None:
            return
        languages = {str(unit.language): unit for unit in chosen}
        settings = [self.model.setting(self.model.prompt_language(one)) for one in languages.values()]
        state = _State(
            self.model.name, self.model.form, self.model.dropped, settings, [_known(one) for one in chosen]
        )
        for part in self._parts(chosen):
            state.under_way = len(part)
            self._remember(state)
            try:
                id = self._told(partial(self._batches.submit, part))
            except Exception:
                state.under_way = 0
                self._remember(state)
                raise
            state.batches.append(_HandedIn(id, tuple(one.id for one in part)))
            state.under_way = 0
            self._remember(state)
        ids = [one.id for one in state.batches]
        what = Notice("batch-submitted", units=len(chosen), ids=", ".join(ids))
        raise PendingError(what, ids, 0, sum(len(one.asked) for one in state.batches))

    def _remember(self, state: _State) -> None:
        """Whatever happens now, what was handed in is found again."""
        if not state.batches and not state.under_way:
            self.path.unlink()
            return
        with put_in_place(self.path, overwrite=True) as draft:
            draft.write_bytes(msgspec.json.encode(state))

    def _told(self, ask: Callable[[], T]) -> T:
        """What the provider says. Nonsense is told, and what was handed in stays remembered."""
        try:
            return ask()
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            host = self.model.service.where.host
            raise LapsusError(Notice("batch-nonsense", host=host), hint=Notice("batch-come-back")) from error

    def _within_budget(self, units: Sequence[Unit]) -> Iterator[Unit]:
        """As many as are expected to stay within what may be used: a batch cannot be stopped half-way."""
        used = self.model.tokens.total()
        for unit in units:
            expected = self.model.expected(unit)
            used += expected.prompt + expected.completion
            if self.model.budget is not None and used > self.model.budget:
                return
            yield unit

    def _parts(self, units: Sequence[Unit]) -> Iterator[list[BatchRequest]]:
        """Batches as large as the provider takes them."""
        part: list[BatchRequest] = []
        size = 0
        for place, unit in enumerate(units):
            asked = [BatchRequest(f"{place}-{n}", body) for n, body in enumerate(self.model.requests(unit))]
            more = sum(len(msgspec.json.encode(one.body)) + 200 for one in asked)
            if part and (len(part) + len(asked) > self._batches.most or size + more > self._batches.largest):
                yield part
                part, size = [], 0
            part += asked
            size += more
        if part:
            yield part

    def _read(self) -> _State:
        try:
            state = decoder(_State).decode(self.path.read_bytes())
        except (msgspec.DecodeError, RecursionError) as error:
            raise InputError(str(error), where=str(self.path)) from None
        others = [name for one in state.settings for name in self.model.differences({"setting": one})]
        if others:
            told = ", ".join(dict.fromkeys(others))
            raise UsageError(
                "begun-another", where=str(self.path), hint="go-same-options-remove", others=told
            )
        return state


def _known(unit: Unit) -> tuple[str, str | None, str]:
    return unit.document, unit.key.segment, unit_digest(unit)
