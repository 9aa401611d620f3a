"""The breakdown challenge's own format: a `<id>.log.json` a dialogue, a folder a system."""

from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import regex

from lapsus.errors import InputError, InvalidError
from lapsus.formats.base import Format, Loss, ReadOptions, foreign_judgment
from lapsus.formats.dbdc_records import (
    Annotation,
    AnnotationExtra,
    Dialogue,
    DialogueExtra,
    Turn,
    TurnExtra,
    decode,
    extra_of,
    turn_index,
)
from lapsus.formats.sink import inner, sink
from lapsus.formats.source import Member, Source
from lapsus.model import (
    EMPTY,
    Document,
    Entry,
    FrozenDict,
    Judgment,
    Scheme,
    Segment,
    anonymous_annotator,
    freeze,
)
from lapsus.model.scheme import folded
from lapsus.notices import Notice
from lapsus.registry import did_you_mean
from lapsus.schemes import load_scheme

SUFFIX = ".log.json"
SCHEME = "breakdown"
SPLITS = frozenset({"train", "dev", "develop", "development", "eval", "test", "ref", "valid"})
"""Folder names that say which part of a corpus this is, not which system spoke."""
_COUNT = regex.compile(r"_\d+$")
_ROLES = {"S": "system", "U": "user"}
_SPEAKERS = {role: speaker for speaker, role in _ROLES.items()}
_IN_PLACE = frozenset({"speaker-id", "group-id"})


class Dbdc(Format):
    """Dialogues with breakdown labels, as the challenge gives them out."""

    name = "dbdc"
    title = Notice("dialogue-breakdown-detection-challenge")

    def suits(self, scheme: Scheme) -> bool:
        """Breakdown labels, nothing else."""
        return scheme.id == SCHEME

    def recognises(self, source: Source) -> bool:
        """By the file ending."""
        return source.first(SUFFIX) is not None

    def read(self, source: Source, options: ReadOptions) -> Iterator[Entry]:
        """One file at a time."""
        reader = _Reader(options)
        for member in source.members(SUFFIX):
            dialogue = decode(Dialogue, member)
            try:
                yield reader.entry(dialogue, member)
            except InvalidError as error:
                raise InputError(error.what, where=error.where, hint=error.hint).at(member.name) from error

    def losses(self, entry: Entry) -> Iterator[Loss]:
        """Anything but dialogues and breakdown judgments of their turns."""
        if entry.document is None:
            yield Loss(Notice("judgments-without-their-dialogue"), severe=True)
            return
        if any(segment.role not in _SPEAKERS for segment in entry.document.segments):
            yield Loss(Notice("segments-no-turns-system"), severe=True)
        turns = {segment.id for segment in entry.document.segments}
        labels = set(breakdown_labels().values())
        for judgment in entry.judgments:
            yield from label_losses(judgment, labels)
            if judgment.segment not in turns:
                yield Loss(Notice("judgments-no-turn"), severe=True)

    def write(self, entries: Iterable[Entry], path: Path) -> None:
        """A file a dialogue, in folders by split and system."""
        with sink(path) as files:
            for entry in entries:
                if entry.document is not None:
                    known = (entry.document.metadata.get(key) for key in ("split", "system"))
                    folders = [str(name) for name in known if name]
                    content = msgspec.json.encode(_dialogue(entry, entry.document))
                    files.add(f"{inner(*folders, entry.id)}{SUFFIX}", msgspec.json.format(content, indent=1))


def breakdown_labels() -> dict[str, str]:
    """Every spelling of a breakdown label and the id it stands for."""
    question = load_scheme(SCHEME).question("breakdown")
    labels = question.labels if question else ()
    return {name: label.id for label in labels for name in (label.id, *label.aliases)}


def label_id(labels: dict[str, str], name: str, where: str) -> str:
    """The id of a label, whichever way it is spelt."""
    if (id := labels.get(name) or _folded_labels(tuple(labels.items())).get(folded(name))) is None:
        hint = did_you_mean(name, ["O", "T", "X", "NB", "PB", "B"])
        raise InvalidError("unknown-breakdown-label", where=where, hint=hint, name=name)
    return id


@cache
def _folded_labels(labels: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {folded(name): id for name, id in labels}


def label_losses(judgment: Judgment, labels: Collection[str]) -> Iterator[Loss]:
    """What is lost of a judgment where only breakdown labels and comments have a place."""
    yield from foreign_judgment(judgment, SCHEME, ("breakdown", "comment"))
    if judgment.scheme == SCHEME:
        if "breakdown" not in judgment.answers:
            yield Loss(Notice("comments-without-label"), severe=True)
        elif judgment.answers["breakdown"] not in labels:
            yield Loss(Notice("labels-not-scheme"), severe=True)


class _Reader:
    """Turns files into entries. Most annotations say one of three things, so they share their answers."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self.labels = breakdown_labels()
        self.version = load_scheme(SCHEME).version
        self.answers: dict[str, FrozenDict[str, Any]] = {
            name: FrozenDict(breakdown=label) for name, label in self.labels.items()
        }
        self.flags: dict[str | None, FrozenDict[str, Any]] = {"": EMPTY, None: EMPTY}

    def entry(self, dialogue: Dialogue, member: Member) -> Entry:
        name = dialogue.dialogue_id or member.path.name.removesuffix(SUFFIX)
        segments = tuple(self._segment(turn) for turn in dialogue.turns)
        extra = dialogue.lapsus or DialogueExtra()
        language = self.options.language_of(segments) if extra.format is None else extra.language
        document = Document(name, segments, language, _metadata(dialogue, extra, member))
        judgments: list[Judgment] = []
        for turn, segment in zip(dialogue.turns, segments, strict=True):
            if turn.annotations:
                self._add_judgments(judgments, turn.annotations, name, segment.id)
        return Entry(name, document, tuple(judgments))

    def _segment(self, turn: Turn) -> Segment:
        if turn.speaker not in _ROLES:
            raise InvalidError(
                "unknown-speaker",
                where=Notice("turn", segment=turn.turn_index),
                hint="known-s-u",
                speaker=turn.speaker,
            )
        extra = turn.lapsus or TurnExtra()
        metadata = dict(extra.metadata)
        if turn.time:
            metadata["time"] = turn.time
        if turn.annotation_id:
            metadata["annotation-id"] = turn.annotation_id
        role: Any = _ROLES[turn.speaker]
        return Segment(extra.id or str(turn.turn_index), role, turn.utterance, None, freeze(metadata))

    def _add_judgments(
        self, judgments: list[Judgment], annotations: list[Annotation], document: str, segment: str
    ) -> None:
        version = self.version
        for place, annotation in enumerate(annotations, 1):
            answers = self.answers.get(annotation.breakdown)
            if answers is None:
                id = label_id(self.labels, annotation.breakdown, f"turn {segment}, annotation {place}")
                answers = self.answers[annotation.breakdown] = self.answers[id]
            flag = annotation.ungrammatical_sentence
            if (metadata := self.flags.get(flag)) is None:
                metadata = self.flags[flag] = FrozenDict({"ungrammatical-sentence": flag})
            who = annotation.annotator_id or anonymous_annotator(place)
            if annotation.comment:
                answers = FrozenDict({**answers, "comment": annotation.comment})
            if annotation.lapsus:
                judgment = _with_extra(annotation.lapsus, document, segment, who, version, answers, metadata)
            else:
                judgment = Judgment(
                    document, segment, who, SCHEME, version, answers, EMPTY, 1, None, None, metadata
                )
            judgments.append(judgment)


def _with_extra(
    extra: AnnotationExtra,
    document: str,
    segment: str,
    who: str,
    version: str,
    answers: FrozenDict[str, Any],
    metadata: FrozenDict[str, Any],
) -> Judgment:
    if extra.comment is not None:
        answers = FrozenDict({**answers, "comment": extra.comment})
    return Judgment(
        document,
        segment,
        who,
        SCHEME,
        extra.version or version,
        answers,
        distributions=freeze(extra.distributions),
        revision=extra.revision,
        at=extra.at,
        seconds=extra.seconds,
        metadata=freeze({**metadata, **extra.metadata}),
    )


def _metadata(dialogue: Dialogue, extra: DialogueExtra, member: Member) -> dict[str, Any]:
    named = {"speaker-id": dialogue.speaker_id, "group-id": dialogue.group_id}
    metadata = {key: value for key, value in named.items() if value} | extra.metadata
    if extra.format is None:
        folders = list(member.path.parts[:-1])
        if folders and folders[-1].lower() not in SPLITS:
            metadata.setdefault("system", _COUNT.sub("", folders.pop()))
        elif dialogue.speaker_id:
            metadata.setdefault("system", dialogue.speaker_id)
        if folders and folders[-1].lower() in SPLITS:
            metadata.setdefault("split", folders[-1])
    return metadata


def _dialogue(entry: Entry, document: Document) -> Dialogue:
    metadata = document.metadata
    rest = {key: value for key, value in metadata.items() if key not in _IN_PLACE or not _text_of(value)}
    by_segment: dict[str | None, list[Judgment]] = {}
    for judgment in entry.judgments:
        by_segment.setdefault(judgment.segment, []).append(judgment)
    return Dialogue(
        turns=[_turn(place, s, by_segment.get(s.id, [])) for place, s in enumerate(document.segments)],
        dialogue_id=document.id,
        speaker_id=_text_of(metadata.get("speaker-id")),
        group_id=_text_of(metadata.get("group-id")),
        lapsus=DialogueExtra(1, document.language, rest),
    )


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def _turn(place: int, segment: Segment, judgments: list[Judgment]) -> Turn:
    index = turn_index(segment.id)
    rest = dict(segment.metadata)
    time, annotation_id = rest.get("time"), rest.get("annotation-id")
    if keeps_time := isinstance(time, str) and time != "":
        del rest["time"]
    if keeps_id := isinstance(annotation_id, str) and annotation_id != "":
        del rest["annotation-id"]
    extra = TurnExtra(id=segment.id if index is None else None, metadata=rest)
    return Turn(
        turn_index=place if index is None else index,
        speaker=_SPEAKERS[segment.role],
        utterance=segment.text,
        annotations=[_annotation(number, judgment) for number, judgment in enumerate(judgments, 1)],
        time=time if keeps_time else None,
        annotation_id=annotation_id if keeps_id else msgspec.UNSET,
        lapsus=extra if extra != TurnExtra() else msgspec.UNSET,
    )


def _annotation(number: int, judgment: Judgment) -> Annotation:
    comment = judgment.answers.get("comment")
    flag = judgment.metadata.get("ungrammatical-sentence")
    keeps_flag = isinstance(flag, str) and flag != ""
    rest = dict(judgment.metadata)
    if keeps_flag:
        del rest["ungrammatical-sentence"]
    return Annotation(
        breakdown=str(judgment.answers["breakdown"]),
        annotator_id="" if judgment.annotator == anonymous_annotator(number) else judgment.annotator,
        comment=str(comment or ""),
        ungrammatical_sentence=flag if keeps_flag else "",
        lapsus=extra_of(judgment, judgment.distributions, "" if comment == "" else None, rest),
    )
