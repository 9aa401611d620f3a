"""`lapsus.watch`: one pass over logs that keep coming. Another pass goes on where this one ended."""

import hashlib
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, Unpack

import msgspec

from lapsus.annotators.detection import AnyModel, detect
from lapsus.annotators.language_model.asking import Asking
from lapsus.annotators.library import refuse_unknown
from lapsus.errors import InputError, UsageError
from lapsus.formats import read
from lapsus.model import EMPTY, Document, Entry, Judgment, Scheme, UnitKey, units
from lapsus.model.judgment import latest
from lapsus.model.unit import SAMPLE, WHOLE, visible_part
from lapsus.mutation.sources import Guide
from lapsus.schemes import AnyScheme, load_scheme
from lapsus.store import Plan, Store
from lapsus.trust.confidence_sequences import corrected_share, drift_bounds
from lapsus.watching.state import Kept, WatchState, queue_name, told_of
from lapsus.watching.webhooks import Webhook

ERROR = 0.05
"""The chance of a false alarm in a window."""
DAY = 86_400
CHUNK = 50
"""Documents that are judged before they are noted: what a kill costs at most."""


class Alarm(msgspec.Struct, frozen=True):
    """The corrected share has moved from the first window's, or lies above the limit."""

    kind: Literal["drift", "limit"]
    window: int
    low: float
    high: float


class Watched(msgspec.Struct, frozen=True):
    """How it stands after a pass."""

    new: int
    """Units judged in this pass."""
    judged: int
    errors: int
    to_people: int
    answered: int
    window: int
    share: float | None
    """The judge's share of errors in this window, corrected by people's; None while nothing can be told."""
    interval: tuple[float, float] | None
    """It holds at any time one looks."""
    alarms: tuple[Alarm, ...]
    """New ones."""
    unsent: tuple[str, ...]
    """Events that the webhook did not take; they are sent again at the next pass."""


class Rules(msgspec.Struct, frozen=True):
    """What is watched for, and what goes to people. Drawn units are drawn by their names: always the same ones."""

    sample: float = 0.02
    """The share of documents of which one unit is drawn for people, to correct the judge."""
    flagged: bool = True
    """Units that the judge calls errors go to people too."""
    doubt: float = 0.1
    """So do units whose share of errors, as the judge sees it, is this near to one half."""
    limit: float | None = None
    """Alarm where the corrected share surely lies above."""
    window: float = 30.0
    """Days. The first window is what later ones are held against."""


def watch(
    data: Any,
    state: Path | str,
    *,
    judge: AnyModel | None = None,
    scheme: AnyScheme = "breakdown",
    good: Sequence[str] = (),
    rules: Rules | None = None,
    store: Store | None = None,
    campaign: str | None = None,
    webhook: Webhook | None = None,
    language: str | None = None,
    only: str | None = None,
    now: float | None = None,
    stop: threading.Event | None = None,
    **asking: Unpack[Asking],
) -> Watched:
    """Judge what is new in `data`, fill the campaign's queue, take people's answers, and tell what is to be told.

    `state` is a file that remembers; killed at any time, another pass goes on without judging twice. Without `judge`
    the judgments of programs that the data hold count, as a guard writes them. `campaign` is a standing one in `store`,
    made where there is none. `now` is seconds since 1970.
    """
    refuse_unknown(asking, watch)
    if (campaign is None) != (store is None):
        raise UsageError("watch-campaign-database", hint="watch-name-both")
    guide, chosen = Guide.of(load_scheme(scheme), good), rules or Rules()
    known = WatchState(Path(state))
    with closing(known), told_of(known.path):
        one = _Pass(known, guide, chosen, time.time() if now is None else now)
        source = read(data, only=only, language=language, growing=True)
        fresh = [entry for entry in source if entry.document is not None]
        new = one.judge(fresh, judge, stop, asking)
        if store is not None and campaign is not None:
            one.fill(store, campaign)
            one.take_answers(store, campaign)
        alarms = one.alarms()
        unsent = one.tell(webhook) if webhook is not None else ()
        return one.standing(new, alarms, unsent)


class _Pass:
    def __init__(self, state: WatchState, guide: Guide, rules: Rules, now: float) -> None:
        self._state, self._guide, self._rules, self._now = state, guide, rules, now
        self._errors = [expected for _, _, expected in guide.errors()]
        told = {"scheme": guide.scheme.id, "sample": repr(rules.sample), "window": repr(rules.window)}
        with state.step():
            for name, value in told.items():
                before = state.setting(name)
                if before is not None and before != value:
                    raise UsageError(
                        "watch-other-setting", where=str(state.path), name=name, before=before, now=value
                    )
                state.note(name, value)
            if (begun := state.setting("begun")) is None:
                begun = repr(now)
                state.note("begun", begun)
        try:
            self.window = max(0, int((now - float(begun)) / (rules.window * DAY)))
        except (ValueError, OverflowError) as error:
            raise InputError("watch-state-unreadable", where=str(state.path), reason=str(error)) from None

    @property
    def _scheme(self) -> Scheme:
        return self._guide.scheme

    # Judging.

    def judge(
        self,
        entries: Sequence[Entry],
        judge: AnyModel | None,
        stop: threading.Event | None,
        asking: Asking,
    ) -> int:
        new = 0
        wanted = [one for entry in entries if (one := self._unjudged(entry, given=judge is None)) is not None]
        for begin in range(0, len(wanted), CHUNK):
            some = wanted[begin : begin + CHUNK]
            if judge is None:
                new += sum(map(self._keep, some))
                continue
            found = detect(some, model=judge, scheme=self._scheme, stop=stop, **asking)
            for entry in found:
                if not found.is_stopped:
                    new += self._keep(entry)
            for model in found.asked:
                if model.ended is not None:
                    raise model.ended
            if stop is not None and stop.is_set():
                break
        return new

    def _unjudged(self, entry: Entry, *, given: bool) -> Entry | None:
        """A document of which only units are judged that were not yet; None where there are none."""
        document, known = entry.document, self._state.known(entry.id)
        if document is None:
            return None
        found = [
            unit.key.segment for unit in units(document, self._scheme.unit) if unit.key.segment not in known
        ]
        said: tuple[Judgment, ...] = ()
        if given:
            every = latest(one for one in entry.judgments if one.scheme == self._scheme.id and one.by_program)
            said = tuple({one.segment: one for one in every if one.segment in found}.values())
            found = [one.segment for one in said]
        if not found:
            return None
        drawn = {"role": self._scheme.unit.role, "units": {one or WHOLE: {"weight": 1} for one in found}}
        metadata = {**document.metadata, SAMPLE: drawn}
        return Entry(entry.id, msgspec.structs.replace(document, metadata=metadata), said)

    def _keep(self, entry: Entry) -> int:
        """Note what was said of a document, what of it goes to people, and that flags are to be told."""
        if entry.document is None:
            return 0
        given = {one.segment: one for one in entry.judgments}
        # A unit that a model refuses to judge is not asked again and again: it goes to people.
        said = {
            unit.key.segment: given.get(unit.key.segment) for unit in units(entry.document, self._scheme.unit)
        }
        drawn = self._drawn(entry.id, list(said))
        kept, queue = [], {}
        for segment, judgment in said.items():
            answers = judgment.answers if judgment is not None else EMPTY
            is_error = any(one.is_met(answers) for one in self._errors)
            why = [
                name
                for name, holds in (
                    ("drawn", segment in drawn),
                    ("flagged", is_error and self._rules.flagged),
                    ("doubtful", judgment is None or self._is_doubtful(judgment)),
                )
                if holds
            ]
            kept.append(Kept(UnitKey(entry.id, segment), is_error, segment in drawn, " ".join(why)))
            if why:
                name = queue_name(entry.id, segment)
                queue[name] = msgspec.json.encode(self._alone(entry.document, segment, name))
        with self._state.step():
            self._state.add(entry.id, self.window, kept, queue)
            flagged = [one.key.segment for one in kept if one.is_error]
            if flagged:
                digest = hashlib.sha256(
                    "\0".join([entry.id, *(str(one) for one in said)]).encode()
                ).hexdigest()
                about = {"document": entry.id, "segments": flagged, "scheme": self._scheme.id}
                self._state.event(f"flags-{digest[:24]}", "flags", about)
        return len(kept)

    def _drawn(self, document: str, segments: Sequence[str | None]) -> frozenset[str | None]:
        """One unit of some documents, chosen by their names: as good as chance, and the same after a kill."""
        number = int.from_bytes(hashlib.sha256(f"{document}\0{segments[0]}".encode()).digest()[:16], "big")
        if number / 2**128 >= self._rules.sample:
            return frozenset()
        return frozenset({segments[number % len(segments)]})

    def _is_doubtful(self, judgment: Judgment) -> bool:
        for expected in self._errors:
            shares = judgment.distributions.get(expected.question)
            share = sum(shares.get(label, 0.0) for label in expected.labels) if shares else 0.0
            if shares and abs(share - 0.5) <= self._rules.doubt:
                return True
        return False

    def _alone(self, document: Document, segment: str | None, name: str) -> Document:
        """A document of which one unit alone is judged, without what comes after it."""
        seen = visible_part(document, self._scheme.unit, segment)
        drawn = {"role": self._scheme.unit.role, "units": {segment or WHOLE: {"weight": 1}}}
        return msgspec.structs.replace(seen, id=name, metadata={**document.metadata, SAMPLE: drawn})

    # People.

    def fill(self, store: Store, campaign: str) -> None:
        """The queue goes into the campaign; what is there already stays as it is."""
        if campaign not in {one.name for one in store.campaigns.all()}:
            store.campaigns.create(Plan(campaign, self._scheme.id), self._scheme)
            store.campaigns.set_state(campaign, "open")
        waiting = self._state.waiting()
        if waiting:
            store.campaigns.add_documents(campaign, list(waiting.values()))
            with self._state.step():
                self._state.queued(waiting)

    def take_answers(self, store: Store, campaign: str) -> None:
        """People's answers about drawn units, each the first time that it is seen, and whether all is judged."""
        wanted = self._state.unlabelled()
        said: dict[str, list[bool]] = {}
        for judgment in store.judgments.counted(campaign) if wanted else ():
            if judgment.document in wanted and not judgment.by_program:
                bad = any(one.is_met(judgment.answers) for one in self._errors)
                said.setdefault(judgment.document, []).append(bad)
        with self._state.step():
            for name, votes in said.items():
                window, is_error = wanted[name]
                self._state.label(name, window, sum(votes) / len(votes) - is_error)
        if store.progress.is_complete(campaign):
            judged = store.progress.of_campaign(campaign).units
            with self._state.step():
                self._state.event(
                    f"finished-{campaign}-{judged}", "finished", {"campaign": campaign, "units": judged}
                )

    # Telling.

    def alarms(self) -> tuple[Alarm, ...]:
        """What is surely so, and was not told of this window before."""
        limit, now = self._rules.limit, self._state.period(self.window)
        error = ERROR / 2 if limit is not None and self.window else ERROR
        found: list[Alarm] = []
        if limit is not None and (share := corrected_share(now, error)) is not None and share[1] > limit:
            found.append(Alarm("limit", self.window, share[1], share[2]))
        if self.window and not now.is_empty:
            low, high = (float(one) for one in drift_bounds(self._state.reference(), now, error))
            if low > 0 or high < 0:
                found.append(Alarm("drift", self.window, low, high))
        with self._state.step():
            return tuple(
                one
                for one in found
                if self._state.event(f"{one.kind}-{one.window}", "alarm", msgspec.to_builtins(one))
            )

    def tell(self, webhook: Webhook) -> tuple[str, ...]:
        """Send what was not taken yet; what could not be sent, in words."""
        for id, kind, body in self._state.unsent():
            if (trouble := webhook.send(kind, id, body, int(self._now))) is not None:
                return (f"{id}: {trouble}",)
            with self._state.step():
                self._state.sent(id)
        return ()

    def standing(self, new: int, alarms: tuple[Alarm, ...], unsent: tuple[str, ...]) -> Watched:
        """How it stands."""
        share = corrected_share(self._state.period(self.window), ERROR)
        value, interval = (None, None) if share is None else (share[0], (share[1], share[2]))
        return Watched(
            new,
            **self._state.counts(),
            window=self.window,
            share=value,
            interval=interval,
            alarms=alarms,
            unsent=unsent,
        )
