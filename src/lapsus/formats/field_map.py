"""Which field of somebody's records holds what: said by the user, kept in a small file, or told from the records."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import yaml

from lapsus.errors import InputError, UsageError
from lapsus.formats.messages import json_text
from lapsus.formats.speakers import ROLES, known_role, shell_word
from lapsus.model import Role
from lapsus.notices import Notice
from lapsus.registry import did_you_mean
from lapsus.text_files import read_text

FIELDS = ("text", "speaker", "dialogue", "time", "model", "language", "messages", "prompt", "reply")
"""What can be mapped. A turn a record has text and speaker; a talk a record has messages, or prompt and reply."""
_USUAL = {
    "text": ("text", "body", "utterance", "content", "message", "value", "msg", "sentence", "発話", "本文"),
    "speaker": ("speaker", "role", "sender", "from", "author", "direction", "who", "話者"),
    "dialogue": (
        "dialogue",
        "conversation",
        "session",
        "ticket",
        "thread",
        "chat",
        "dialog",
        "conv",
        "sid",
        "call",
        "case",
        "対話",
        "会話",
        "セッション",
    ),
    "time": ("time", "timestamp", "created_at", "date", "sent_at", "when", "日時", "時刻"),
    "model": (
        *("model", "system", "engine", "variant", "model_name", "version", "bot version"),
        *("モデル", "システム", "版"),
    ),
    "prompt": ("prompt", "question", "query", "q", "input", "instruction", "質問", "入力"),
    "reply": ("reply", "response", "resp", "answer", "output", "completion", "応答", "回答", "返答"),
}
_WORDS = (
    *("message", "text", "question", "query", "input", "prompt", "utterance", "says", "turn"),
    *(
        "reply",
        "response",
        "answer",
        "output",
        "発話",
        "発言",
        "質問",
        "入力",
        "メッセージ",
        "応答",
        "回答",
        "返答",
    ),
)
"""What stands beside a speaker in the name of a column with what was said: `Customer message`."""
_FEW = 6
"""A column of speakers has few values."""
_MACHINE = re.compile(r"bot|assist|agent|system|[ _-]ai\b|ボット|ロボ|アシスタント", re.IGNORECASE)
_ALTERNATING = 0.5
"""Speakers take turns: so often at least does the next row have another one."""
_NESTED = 3
"""How deep objects in records are looked into for columns."""


class FieldMap(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Names of fields; a dot leads into nested objects: `payload.text`."""

    text: str | None = None
    speaker: str | None = None
    dialogue: str | None = None
    time: str | None = None
    model: str | None = None
    language: str | None = None
    messages: str | None = None
    prompt: str | None = None
    reply: str | None = None
    system: tuple[str, ...] = ()
    """Whose turns are judged, by the names that stand in the records."""
    user: tuple[str, ...] = ()

    @property
    def names(self) -> dict[str, Role]:
        """Who speaks, by the usual names and those given."""
        own: dict[str, Role] = {name.lower(): "system" for name in self.system}
        return {**ROLES, **own, **{name.lower(): "user" for name in self.user}}

    def value(self, record: Mapping[str, Any], field: str) -> Any:
        """What a record has in a field; None where the field is not mapped or not there."""
        path = getattr(self, field)
        if path is None or path in record:
            return record.get(path) if path else None
        found: Any = record
        for key in path.split("."):
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    @property
    def taken(self) -> set[str]:
        """The keys of a record that are mapped."""
        return {path.split(".")[0] for field in FIELDS if (path := getattr(self, field))}

    def __str__(self) -> str:
        fields = ",".join(f"{field}={path}" for field in FIELDS if (path := getattr(self, field)))
        sides = [(side, ",".join(getattr(self, side))) for side in ("system", "user")]
        given = [("map", fields), *sides]
        return " ".join(f"--{option} {shell_word(words)}" for option, words in given if words)


def field_map(
    given: FieldMap | Mapping[str, Any] | str | None, system: str | None = None, user: str | None = None
) -> FieldMap | None:
    """A map as it was given: `text=body,speaker=sender`, a .yaml file or a mapping; and who is meant by which name."""
    if isinstance(given, FieldMap):
        return given
    if isinstance(given, str) and given.endswith((".yaml", ".yml")):
        known = _kept(Path(given))
    elif isinstance(given, str):
        known = _pairs(given)
    else:
        known = dict(given or {})
    for side, names in (("system", system), ("user", user)):
        if names:
            known[side] = names
        if isinstance(known.get(side), str):
            known[side] = [name.strip() for name in known[side].split(",") if name.strip()]
    if not known:
        return None
    for field in known:
        if field not in (*FIELDS, "system", "user"):
            raise UsageError("map-no-field", hint=did_you_mean(field, list(FIELDS)), field=field)
    try:
        return msgspec.convert(known, FieldMap)
    except msgspec.ValidationError as error:
        raise UsageError("map-not-sound", error=error) from error


def _pairs(given: str) -> dict[str, Any]:
    pairs = [pair.partition("=") for pair in given.split(",") if pair.strip()]
    if bad := next((field for field, sign, path in pairs if not sign or not path.strip()), None):
        hint = Notice("example-map-text-body")
        raise UsageError("map-names-no-field", hint=hint, bad=bad)
    return {field.strip(): path.strip() for field, _, path in pairs}


def _kept(path: Path) -> dict[str, Any]:
    try:
        found = yaml.safe_load(read_text(path))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError("cannot-read", where=str(path), error=error) from error
    if not isinstance(found, dict):
        raise InputError("no-map", where=str(path), hint="line-each-text-body")
    return found


def keep_map(known: FieldMap, path: Path) -> None:
    """Write a map to a small file that `--map` takes."""
    path.write_text(
        yaml.safe_dump(msgspec.to_builtins(known), allow_unicode=True, sort_keys=False), encoding="utf-8"
    )


def guessed_map(records: Sequence[Mapping[str, Any]]) -> tuple[FieldMap | None, bool]:
    """The map that records with a turn each would probably need, and whether all speakers are known by name."""
    texts = {
        key: [str(record[key]) for record in records if isinstance(record.get(key), str | int)]
        for key in (records[0] if records else ())
    }
    full = {key: cells for key, cells in texts.items() if len(cells) == len(records)}
    said = _named("text", full)
    speaker = _speaker({key: cells for key, cells in full.items() if key != said})
    rest = {key: cells for key, cells in full.items() if key != speaker}
    text = said or max(rest, key=lambda key: sum(map(len, rest[key])), default=None)
    if speaker is None or text is None:
        return None, False
    dialogue = _named("dialogue", rest) or next(
        (key for key, cells in rest.items() if key != text and 1 < len(set(cells)) < len(cells)), None
    )
    sides = {known_role(name) for name in full[speaker]}
    # Where nobody else answers, `system` is who is talked to, as in research on dialogue.
    names = {name.strip().lower() for name in full[speaker]}
    system = ("system",) if "system" in names and "system" not in sides else ()
    is_known = None not in sides and ("system" in sides or bool(system))
    time = _named("time", {key: cells for key, cells in rest.items() if key not in (text, dialogue)})
    return FieldMap(text=text, speaker=speaker, dialogue=dialogue, time=time, system=system), is_known


def probable_map(records: Sequence[Mapping[str, Any]]) -> FieldMap:
    """What the columns of some records probably hold, for people to put right; nothing where nothing tells."""
    rows = [flattened(record) for record in records]
    for key, cell in rows[0].items() if rows else ():
        if talk := talk_in(cell):
            inner, _ = guessed_map([flattened(message) for message in talk])
            text = inner.text if inner else _named("text", talk[0])
            speaker = inner.speaker if inner else _named("speaker", talk[0])
            rest = [name for name in rows[0] if name != key]
            dialogue, model = _named("dialogue", rest), _named("model", rest)
            whole = FieldMap(text=text, speaker=speaker, dialogue=dialogue, messages=key, model=model)
            return _speakers_told(
                whole, (flattened(message) for row in rows for message in talk_in(row.get(key)))
            )
    if both := exchange_map(rows):
        return both
    found, _ = guessed_map(rows)
    columns = list(dict.fromkeys(key for row in rows for key in row))
    if found is None:
        found = FieldMap(prompt=_named("prompt", columns), reply=_named("reply", columns) or _longest(rows))
        if found.prompt is None:
            found = FieldMap(text=found.reply) if found.reply else FieldMap()
    free = [key for key in columns if key not in found.taken]
    return _speakers_told(msgspec.structs.replace(found, model=_named("model", free)), rows)


def _speakers_told(found: FieldMap, messages: Iterable[Mapping[str, Any]]) -> FieldMap:
    cells = (one.get(found.speaker) for one in messages if found.speaker)
    return with_sides(found, [str(cell) for cell in cells if cell is not None])


def with_sides(found: FieldMap, names: Sequence[str]) -> FieldMap:
    """The map with who is probably judged, by the names of those who speak, in the order of their turns.

    As it is where all are known, or too many to be told. Who is not called after a machine and speaks first is a user.
    """
    known = {name: known_role(name) for name in dict.fromkeys(names)}
    own = [name for name, role in known.items() if role is None]
    if not own or len(known) > _FEW:
        return found
    system = [name for name in own if _MACHINE.search(name)]
    if not system and "system" not in known.values():
        system = own[-1:] if len(known) > 1 else []
    user = [name for name in own if name not in system]
    return msgspec.structs.replace(found, system=tuple(system), user=tuple(user))


def exchange_map(records: Sequence[Mapping[str, Any]]) -> FieldMap | None:
    """The map of records with a question and its answer each, where the names of two columns say so."""
    said = Counter(key for record in records for key, cell in record.items() if isinstance(cell, str))
    columns = [key for key, count in said.items() if 2 * count >= len(records)]
    prompt, reply = _of_side("user", columns), _of_side("system", columns)
    prompt, reply = prompt or _named("prompt", columns), reply or _named("reply", columns)
    if prompt is None or reply is None or prompt == reply:
        return None
    rest = [key for key in columns if key not in (prompt, reply)]
    dialogue, model = _named("dialogue", rest), _named("model", rest)
    return FieldMap(prompt=prompt, reply=reply, dialogue=dialogue, model=model)


def _of_side(role: Role, columns: Iterable[str]) -> str | None:
    """The one column whose name says that it holds what a side said: `Bot reply`, `ユーザー発話`."""
    names = tuple(name for name, side in ROLES.items() if side == role)
    found = [key for key in columns if _has_word(key, names) and _has_word(key, _WORDS)]
    return found[0] if len(found) == 1 else None


def _has_word(key: str, words: Sequence[str]) -> bool:
    """Whether a name has one of some words in it; in Japanese nothing stands between words."""
    own = re.split(r"[\W_]+", key.lower())
    return any(word in own or (not word.isascii() and word in key) for word in words)


def flattened(record: Mapping[str, Any], depth: int = _NESTED) -> dict[str, Any]:
    """A record with what its objects hold beside the rest, by paths: `payload.text`."""
    cells: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, Mapping) and value and depth > 1:
            inner = flattened({str(name): one for name, one in value.items()}, depth - 1)
            cells |= {f"{key}.{name}": one for name, one in inner.items()}
        else:
            cells[key] = value
    return cells


def talk_in(cell: Any) -> list[Mapping[str, Any]]:
    """The messages that a cell holds, perhaps as JSON; none where it is something else."""
    found = json_text(cell) if isinstance(cell, str) else cell
    is_talk = isinstance(found, list) and all(isinstance(one, Mapping) for one in found)
    return found if is_talk else []


def keys_seen(record: Mapping[str, Any]) -> list[str]:
    """The keys of a record, and those of the objects and lists of objects in it: `user.id`, `items[].body`."""
    found: list[str] = []
    for key, cell in flattened(record).items():
        found += [f"{key}[].{name}" for name in flattened(talk[0])] if (talk := talk_in(cell)) else [str(key)]
    return found


def _longest(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """The column with the most words in it."""
    sizes: Counter[str] = Counter()
    for row in rows:
        sizes.update({key: len(cell) for key, cell in row.items() if isinstance(cell, str)})
    return sizes.most_common(1)[0][0] if sizes else None


def _named(field: str, columns: Iterable[str]) -> str | None:
    """The column whose name says that it holds a field."""
    ends = [(key.strip().lower().rpartition(".")[2], key) for key in columns]
    if field == "dialogue":  # A message's id is no message, but a talk's id tells which talk it is.
        ends += [(re.sub(r"[_ -]?id$", "", end), key) for end, key in ends]
    plain = dict(reversed(ends))
    return next((plain[name] for name in _USUAL[field] if name in plain), None)


def _speaker(columns: Mapping[str, Sequence[str]]) -> str | None:
    """The column whose cells name speakers, or else the one whose own name says so."""
    few = {key: Counter(cell.strip().lower() for cell in cells) for key, cells in columns.items()}
    few = {key: cells for key, cells in few.items() if min(2, len(columns[key])) <= len(cells) <= _FEW}
    known = [key for key, cells in few.items() if all(map(known_role, cells))]
    return known[0] if known else _named("speaker", few) or _alternating({key: columns[key] for key in few})


def _alternating(columns: Mapping[str, Sequence[str]]) -> str | None:
    """The column of words, no dates, whose value changes from row to row the most, where that is often."""
    changes = {
        key: sum(one != other for one, other in pairwise(cells)) / (len(cells) - 1)
        for key, cells in columns.items()
        if len(cells) > 1 and any(letter.isalpha() for cell in cells for letter in cell)
    }
    best = max(changes, key=lambda key: changes[key], default=None)
    return best if best is not None and changes[best] >= _ALTERNATING else None
