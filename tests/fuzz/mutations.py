"""Sound files made unsound: bytes changed, JSON bent, zips packed anew with odd names and contents."""

from __future__ import annotations

import io
import json
import random
import warnings
import zipfile
from typing import Any

ODD_BYTES = (
    b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"[" * 5000, b'{"a":' * 2000, b"NaN", b"1e999", b"-1", b"9" * 400, b"\r",
    b"\n\n", b'"', b"\\ud800", b"<!ENTITY a 'x'>", b"]]>", b",,,,", b"\x1b[2J", b"\xe2\x80\xae",
    b"!!timestamp ", b"!!int ", b": 0x_\n", b"1" * 5000, b"1:" * 3000,
)  # fmt: skip
ODD_VALUES: tuple[Any, ...] = (
    None, True, "", "\0", "\x1b[31m", "x" * 5000, -1, 0, 2**31, 10**30, 1e308, [], {}, [[]], {"": None},
    [[[[[[[[[[]]]]]]]]]], "../../x", "😀\u202e", ["O", "O"], {"id": 1},
)  # fmt: skip
ODD_NAMES = (
    "", "../x.json", "/x", "a\0b", "\x1b[2J.json", "a/" * 300, "x" * 5000, "con.json", "é\u202e.log.json", ".", "..",
)  # fmt: skip


def mutated(content: bytes, rng: random.Random) -> bytes:
    """The content with something wrong in it."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        ways = [_bytes_changed, _bytes_changed]
        if content.startswith(b"PK"):
            ways += [_repacked] * 4
        elif content.lstrip()[:1] in (b"{", b"["):
            ways += [_json_bent] * 4
        content = rng.choice(ways)(content, rng)
    return content


def _bytes_changed(content: bytes, rng: random.Random) -> bytes:
    place, end = sorted((rng.randint(0, len(content)), rng.randint(0, len(content))))
    end = min(end, place + rng.choice((1, 8, 200, 10**9)))
    match rng.randrange(5):
        case 0:
            return content[:place]
        case 1:
            return content[:place] + content[end:]
        case 2:
            return content[:end] + content[place:end] * rng.choice((1, 3)) + content[end:]
        case 3:
            return content[:place] + rng.choice(ODD_BYTES) + content[end:]
        case _:
            changed = bytearray(content)
            for _ in range(rng.choice((1, 3, 20))):
                if changed:
                    changed[rng.randrange(len(changed))] = rng.randrange(256)
            return bytes(changed)


def _json_bent(content: bytes, rng: random.Random) -> bytes:
    """Lines of JSON, or one value, with a node replaced, dropped or doubled."""
    try:
        return json.dumps(_bent(json.loads(content), rng)).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        pass
    lines = content.splitlines()
    place = rng.randrange(len(lines))
    try:
        lines[place] = json.dumps(_bent(json.loads(lines[place]), rng)).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return _bytes_changed(content, rng)
    return b"\n".join(lines) + b"\n"


def _bent(value: Any, rng: random.Random) -> Any:
    if rng.random() < 0.25 or not isinstance(value, dict | list) or not value:
        return rng.choice(ODD_VALUES)
    if isinstance(value, list):
        place = rng.randrange(len(value))
        inside = [_bent(value[place], rng)] if rng.random() < 0.8 else rng.choice(([], [value[place]] * 3))
        return [*value[:place], *inside, *value[place + 1 :]]
    key = rng.choice(list(value))
    changed = dict(value)
    match rng.randrange(6):
        case 0:
            del changed[key]
        case 1:
            changed[f"{key}{rng.choice(('x', chr(0), ''))}"] = rng.choice(ODD_VALUES)
        case _:
            changed[key] = _bent(value[key], rng)
    return changed


def _repacked(content: bytes, rng: random.Random) -> bytes:
    """The same zip with a member bent, renamed, doubled, left out or said to be larger than it is."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    except Exception:
        return _bytes_changed(content, rng)
    if not members:
        return _bytes_changed(content, rng)
    place = rng.randrange(len(members))
    name, inside = members[place]
    match rng.randrange(6):
        case 0:
            members[place] = (rng.choice(ODD_NAMES), inside)
        case 1:
            del members[place]
        case 2:
            members.append((name, mutated(inside, rng)))
        case 3:
            members[place] = (name, b" " * 3_000_000)
        case _:
            members[place] = (name, mutated(inside, rng))
    packed = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")
        for name, inside in members:
            archive.writestr(zipfile.ZipInfo(name), inside, zipfile.ZIP_DEFLATED)
    return packed.getvalue()
