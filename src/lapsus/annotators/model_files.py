"""Models on disk: one zip with JSON, safetensors and ONNX in it. Never pickle: loading a file runs none of it."""

import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.cases import Origin
from lapsus.annotators.optional_libraries import require
from lapsus.errors import InputError
from lapsus.formats.packed import DAMAGE
from lapsus.model import EMPTY, Scheme
from lapsus.model.frozen import decoder
from lapsus.version import __version__

FORMAT = 1
"""Of the file. A Lapsus that meets a higher number than its own says that it is too old."""
LARGEST = 1 << 29
"""Bytes that a model may unpack to; those that are shipped have a twentieth."""
LARGEST_JSON = 1 << 25
"""Bytes of its JSON: as objects it takes many times as much."""
MOST_EXPANSION = 60
"""How many times larger than its file a model may be, where it is not small."""
SMALL = 1 << 24
SHIPPED = Path(str(files("lapsus.annotators") / "models"))
"""Where the models that come with the package lie."""
HEADER, SCHEME, LEARNED, ARRAYS, FILES = (
    "model.json", "scheme.json", "learned.json", "arrays.safetensors", "files/"
)  # fmt: skip
REPORTS = "reports"
"""In what was learned: how good it was found to be. It decides about no answer."""
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)


class State(NamedTuple):
    """What a method learned, in forms that can be kept."""

    data: Mapping[str, Any] = EMPTY
    """Plain JSON values."""
    arrays: Mapping[str, NDArray[Any]] = EMPTY
    files: Mapping[str, bytes] = EMPTY
    """Other safe formats, by name: an ONNX graph, a tokenizer's JSON."""


class Header(msgspec.Struct, frozen=True):
    """What a model is: the method, its parameters, the scheme it answers to and what it was fitted on."""

    method: str
    name: str = msgspec.field(name="called")
    parameters: dict[str, Any]
    scheme: str
    labels: tuple[str, ...]
    """Those of the one question that a method for one scheme answers."""
    origin: Origin | None
    version: str = ""
    """Of the scheme; models of before have it in their origin only."""
    digest: str = ""
    """Of every word of the scheme."""
    format: int = msgspec.field(default=FORMAT, name="lapsus-model")
    lapsus: str = __version__


def fingerprint(*states: State) -> str:
    """Of the files in models: what was fitted on some fits no others."""
    hashed = hashlib.blake2b(digest_size=12)
    for state in states:
        for name, content in sorted(state.files.items()):
            hashed.update(name.encode() + content)
    return hashed.hexdigest()


def model_digest(
    method: str, guideline: str, parameters: Mapping[str, Any], words: Mapping[str, str], state: State
) -> str:
    """Of all that decides about a model's answers; what it is called, where it lies and how good it is do not.

    What is empty counts as not there, so that a model of before keeps its digest when later ones hold more.
    """
    hashed = hashlib.blake2b(digest_size=8)
    data = {name: value for name, value in state.data.items() if value and name != REPORTS}
    plain = [method, guideline, dict(parameters), dict(words), data]
    hashed.update(msgspec.json.encode(plain, order="sorted"))
    for name, array in sorted(state.arrays.items()):
        hashed.update(msgspec.json.encode([name, array.dtype.str, array.shape]))
        hashed.update(np.ascontiguousarray(array).tobytes())
    for name, content in sorted(state.files.items()):
        hashed.update(msgspec.json.encode([name, len(content)]) + content)
    return hashed.hexdigest()


def write_model(path: Path, header: Header, state: State, scheme: Scheme | None = None) -> None:
    """Write a model with the guideline that it judges by. The same model gives the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        _add(archive, HEADER, msgspec.json.format(msgspec.json.encode(header), indent=1))
        if scheme is not None:
            _add(archive, SCHEME, msgspec.json.encode(scheme))
        _add(archive, LEARNED, msgspec.json.encode(dict(state.data), order="sorted"))
        if state.arrays:
            numpy_format = require("safetensors.numpy", None, "purpose-keeping")
            arrays = {name: np.ascontiguousarray(array) for name, array in sorted(state.arrays.items())}
            _add(archive, ARRAYS, numpy_format.save(arrays))
        for name, content in sorted(state.files.items()):
            _add(archive, f"{FILES}{name}", content)
    path.write_bytes(packed.getvalue())


def read_model(path: Path) -> tuple[Header, State]:
    """Read a model, or say what is wrong with the file."""
    members = _members(path)
    header = _header(_model_members(path, members), path)
    try:
        return header, _state(members)
    except (msgspec.DecodeError, RecursionError, KeyError, ValueError, TypeError, MemoryError) as error:
        raise damaged(path, error) from error


def read_header(path: Path) -> Header:
    """What a model is, without what it learned: quick."""
    return _header(_model_members(path, _members(path, HEADER)), path)


def read_guideline(path: Path) -> Scheme | None:
    """The scheme that a model holds. Models of before hold none: they are for one scheme alone."""
    members = _members(path, SCHEME, HEADER)
    _model_members(path, members)
    try:
        return decoder(Scheme).decode(members[SCHEME]) if SCHEME in members else None
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise damaged(path, error) from error


def _model_members(path: Path, members: dict[str, bytes]) -> bytes:
    """The header of a model's file, which every model has."""
    if HEADER not in members:
        raise InputError("no-model-lapsus", where=str(path), hint="lapsus-train-makes-one")
    return members[HEADER]


def _members(path: Path, *names: str) -> dict[str, bytes]:
    """The files in a model's file; or some of them."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_size(archive.infolist(), path.stat().st_size)
            wanted = [one for one in archive.infolist() if not names or one.filename in names]
            return {info.filename: archive.read(info) for info in wanted}
    except FileNotFoundError:
        raise InputError("no-file", where=str(path)) from None
    except DAMAGE as error:
        raise InputError("cannot-read-model", where=str(path), error=error) from error


def damaged(path: Path, error: Exception) -> InputError:
    """A model whose parts do not fit together."""
    return InputError("damaged-model", where=str(path), hint="make-fetch-again", error=error)


def _header(content: bytes, path: Path) -> Header:
    try:
        number = msgspec.json.decode(content)["lapsus-model"]
        if isinstance(number, int) and number > FORMAT:
            raise InputError("made-newer-lapsus", where=str(path), hint="update-lapsus-use")
        return decoder(Header).decode(content)
    except (msgspec.DecodeError, RecursionError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise damaged(path, error) from error


def _state(members: dict[str, bytes]) -> State:
    arrays: dict[str, NDArray[Any]] = {}
    if ARRAYS in members:
        safetensors = require("safetensors", None, "purpose-reading")
        numpy_format = require("safetensors.numpy", None, "purpose-reading")
        try:
            arrays = numpy_format.load(members[ARRAYS])
        except safetensors.SafetensorError as error:
            raise ValueError(str(error)) from error
    files = {name.removeprefix(FILES): content for name, content in members.items() if name.startswith(FILES)}
    return State(msgspec.json.decode(members[LEARNED], type=dict[str, Any]), arrays, files)


def _check_size(members: Sequence[zipfile.ZipInfo], size: int) -> None:
    """Complain before anything is unpacked. Nothing is read beyond the size that a member says it has."""
    for info in members:
        if info.filename in (HEADER, LEARNED) and info.file_size > LARGEST_JSON:
            raise ValueError(f"{info.filename} would unpack to {info.file_size:,} bytes")
    whole = sum(info.file_size for info in members)
    if whole > LARGEST or whole > max(SMALL, MOST_EXPANSION * size):
        raise ValueError(f"{size:,} bytes would unpack to {whole:,}")


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, _FIXED_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)
