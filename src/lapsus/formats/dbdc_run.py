"""The breakdown challenge's format for runs: for each dialogue a `<id>.labels.json`, in a folder for each system."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from lapsus.errors import InputError, InvalidError
from lapsus.formats.base import Format, Loss, ReadOptions
from lapsus.formats.dbdc import SCHEME, breakdown_labels, label_id, label_losses
from lapsus.formats.dbdc_records import (
    AnnotationExtra,
    DialogueExtra,
    RunDialogue,
    RunLabel,
    RunTurn,
    TurnExtra,
    decode,
    extra_of,
    turn_index,
)
from lapsus.formats.sink import inner, sink
from lapsus.formats.source import Member, Source
from lapsus.model import Entry, Judgment, Scheme
from lapsus.notices import Notice
from lapsus.schemes import load_scheme

SUFFIX = ".labels.json"
TOLERANCE = 1e-3
"""How far the sum of the three probabilities may be from 1."""


class DbdcRun(Format):
    """What a detector said: labels and distributions, without the dialogues."""

    name = "dbdc-run"
    title = Notice("run-breakdown-challenge-labels")

    def suits(self, scheme: Scheme) -> bool:
        """Breakdown labels, nothing else."""
        return scheme.id == SCHEME

    def recognises(self, source: Source) -> bool:
        """By the file ending."""
        return source.first(SUFFIX) is not None

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """One file at a time. The run is named after its file or folder."""
        run = source.name.removesuffix(SUFFIX).removesuffix(".zip")
        labels = breakdown_labels()
        for member in source.members(SUFFIX):
            dialogue = decode(RunDialogue, member)
            try:
                yield _entry(dialogue, member, run, labels)
            except InvalidError as error:
                raise InputError(error.what, where=error.where, hint=error.hint).at(member.name) from error

    def losses(self, entry: Entry) -> Iterator[Loss]:
        """Dialogues, and anything but breakdown labels."""
        if entry.document is not None:
            yield Loss(Notice("documents-run-holds-labels"), severe=not entry.judgments)
        labels = set(breakdown_labels().values())
        for judgment in entry.judgments:
            yield from label_losses(judgment, labels)
            if judgment.segment is None:
                yield Loss(Notice("judgments-no-turn"), severe=True)

    def write(self, entries: Iterable[Entry], path: Path) -> None:
        """A file a dialogue, in a folder a system where the system is known."""
        with sink(path) as files:
            for entry in entries:
                system = entry.document.system if entry.document else None
                content = msgspec.json.format(msgspec.json.encode(_dialogue(entry)), indent=1)
                files.add(f"{inner(*([system] if system else []), entry.id)}{SUFFIX}", content)


def check_distribution(shares: Mapping[str, float], where: str) -> None:
    """Raise InvalidError unless the probabilities are from 0 to 1 and sum to 1."""
    if problem := _problem(shares):
        raise InvalidError(problem, where=where)


def _problem(shares: Mapping[str, float]) -> str | None:
    """What is wrong with a distribution; None: nothing."""
    if any(not 0 <= share <= 1 + TOLERANCE for share in shares.values()):
        return Notice("probabilities-must-0-1", shares=list(shares.values()))
    if abs(sum(shares.values()) - 1) > TOLERANCE:
        return Notice("probabilities-sum-not-1", shares=sum(shares.values()))
    return None


def _entry(dialogue: RunDialogue, member: Member, run: str, labels: dict[str, str]) -> Entry:
    name = dialogue.dialogue_id or member.path.name.removesuffix(SUFFIX)
    judgments: list[Judgment] = []
    seen: set[str] = set()
    about_all = (dialogue.lapsus or DialogueExtra()).metadata
    for turn in dialogue.turns:
        about_turn = about_all | (turn.lapsus or TurnExtra()).metadata
        segment = (turn.lapsus.id if turn.lapsus else None) or str(turn.turn_index)
        if segment in seen:
            raise InvalidError("stands-there-twice", where=Notice("turn", segment=segment))
        seen.add(segment)
        for number, label in enumerate(turn.labels, 1):
            # A file may hold several answers a turn; the second and later ones get names of their own.
            who = label.annotator_id or (run if number == 1 else f"{run}.{number}")
            judgments.append(_judgment(label, name, segment, who, labels, about_turn))
    return Entry(name, None, tuple(judgments))


def _judgment(
    label: RunLabel,
    document: str,
    segment: str,
    who: str,
    labels: dict[str, str],
    metadata: dict[str, Any],
) -> Judgment:
    where = Notice("turn", segment=segment)
    answers: dict[str, str] = {"breakdown": label_id(labels, label.breakdown, where)}
    extra = label.lapsus or AnnotationExtra()
    if extra.comment is not None:
        answers["comment"] = extra.comment
    distributions = dict(extra.distributions)
    if label.o is not None and label.t is not None and label.x is not None:
        shares = {"O": label.o, "T": label.t, "X": label.x}
        check_distribution(shares, where)
        distributions["breakdown"] = shares
    elif (label.o, label.t, label.x) != (None, None, None):
        raise InvalidError("give-all-three-prob-o", where=where)
    return Judgment(
        document,
        segment,
        who,
        SCHEME,
        extra.version or load_scheme(SCHEME).version,
        answers,
        distributions=distributions,
        revision=extra.revision,
        at=extra.at,
        seconds=extra.seconds,
        metadata=metadata | extra.metadata,
    )


def _dialogue(entry: Entry) -> RunDialogue:
    turns: dict[str, RunTurn] = {}
    for judgment in entry.judgments:
        segment = judgment.segment or ""
        if segment not in turns:
            index = turn_index(segment)
            extra = TurnExtra(id=segment) if index is None else msgspec.UNSET
            turns[segment] = RunTurn(len(turns) if index is None else index, [], extra)
        turns[segment].labels.append(_label(judgment))
    return RunDialogue(list(turns.values()), entry.id)


def _label(judgment: Judgment) -> RunLabel:
    distributions = {key: dict(shares) for key, shares in judgment.distributions.items()}
    shares = distributions.get("breakdown", {})
    in_place = set(shares) == {"O", "T", "X"} and _problem(shares) is None
    if in_place:
        del distributions["breakdown"]
    comment = judgment.answers.get("comment")
    return RunLabel(
        str(judgment.answers["breakdown"]),
        shares["O"] if in_place else None,
        shares["T"] if in_place else None,
        shares["X"] if in_place else None,
        annotator_id=judgment.annotator,
        lapsus=extra_of(
            judgment, distributions, None if comment is None else str(comment), judgment.metadata
        ),
    )
