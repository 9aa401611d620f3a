"""Models on disk: one zip with JSON, safetensors and ONNX in it. Never pickle: loading a file runs none of it."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.examples import Origin
from lapsus.annotators.extras import require
from lapsus.errors import InputError
from lapsus.model import EMPTY
from lapsus.model.decoding import decoder
from lapsus.version import __version__

FORMAT = 1
"""Of the file. A Lapsus that meets a higher number than its own says that it is too old."""
LARGEST = 1 << 31
"""Bytes that a member may unpack to."""
HEADER, LEARNED, ARRAYS, FILES = "model.json", "learned.json", "arrays.safetensors", "files/"
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    KeyError,
)
"""All that the standard library raises, here or there, over a zip that is broken."""


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
    called: str
    parameters: dict[str, Any]
    scheme: str
    labels: tuple[str, ...]
    origin: Origin | None
    format: int = msgspec.field(default=FORMAT, name="lapsus-model")
    lapsus: str = __version__


def write_model(path: Path, header: Header, state: State) -> None:
    """Write a model. The same model gives the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        _add(archive, HEADER, msgspec.json.format(msgspec.json.encode(header), indent=1))
        _add(archive, LEARNED, msgspec.json.encode(dict(state.data), order="sorted"))
        if state.arrays:
            numpy_format = require("safetensors.numpy", "detect", "keeping a model")
            arrays = {name: np.ascontiguousarray(array) for name, array in sorted(state.arrays.items())}
            _add(archive, ARRAYS, numpy_format.save(arrays))
        for name, content in sorted(state.files.items()):
            _add(archive, f"{FILES}{name}", content)
    path.write_bytes(packed.getvalue())


def read_model(path: Path) -> tuple[Header, State]:
    """Read a model, or say what is wrong with the file."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: _read(archive, info) for info in archive.infolist()}
    except FileNotFoundError:
        raise InputError("no such file", where=str(path)) from None
    except _DAMAGE as error:
        raise InputError(f"cannot be read as a model: {error}", where=str(path)) from error
    if HEADER not in members:
        raise InputError("is no model of Lapsus", where=str(path), hint="`lapsus train` makes one")
    header = _header(members[HEADER], path)
    try:
        return header, _state(members)
    except (msgspec.DecodeError, RecursionError, KeyError, ValueError) as error:
        raise damaged(path, error) from error


def damaged(path: Path, error: Exception) -> InputError:
    """A model whose parts do not fit together."""
    return InputError(f"is a damaged model: {error}", where=str(path), hint="make or fetch it again")


def _header(content: bytes, path: Path) -> Header:
    try:
        number = msgspec.json.decode(content)["lapsus-model"]
        if isinstance(number, int) and number > FORMAT:
            raise InputError("was made by a newer Lapsus", where=str(path), hint="update Lapsus to use it")
        return decoder(Header).decode(content)
    except (msgspec.DecodeError, RecursionError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise damaged(path, error) from error


def _state(members: dict[str, bytes]) -> State:
    arrays: dict[str, NDArray[Any]] = {}
    if ARRAYS in members:
        safetensors = require("safetensors", "detect", "reading a model")
        numpy_format = require("safetensors.numpy", "detect", "reading a model")
        try:
            arrays = numpy_format.load(members[ARRAYS])
        except safetensors.SafetensorError as error:
            raise ValueError(str(error)) from error
    files = {name.removeprefix(FILES): content for name, content in members.items() if name.startswith(FILES)}
    return State(msgspec.json.decode(members[LEARNED], type=dict[str, Any]), arrays, files)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.file_size > LARGEST:
        raise ValueError(f"{info.filename} would unpack to {info.file_size:,} bytes")
    return archive.read(info)


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, _FIXED_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, content)
