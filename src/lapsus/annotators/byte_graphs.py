"""Graphs of ONNX that multiply bytes, made to come out right on every processor.

onnxruntime multiplies unsigned inputs by signed weights. Processors of the x86 family that have no instruction for it
(VNNI: Intel before Ice Lake, AMD before Zen 4) add such products in pairs of sixteen bits, and what does not fit is
cut off without a word. Weights that are unsigned too are multiplied in another way, which is exact everywhere.

`exact_here(content)` promises:

- a graph whose figures are those of exact sums, whichever processor this is;
- where sums are exact anyway, the very bytes that were given, and so the same speed;
- elsewhere the same graph with unsigned weights: the sums are the same whole numbers, only slower to come by;
- nothing of the model's file changes: it is done each time that a graph is opened.

Inner graphs, which the readers do not have, stay as they are. `make_session` opens a graph so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from lapsus.annotators.optional_libraries import require

_VERSION, _GRAPH, _OPSET = 1, 7, 8
"""The numbers of fields of a model..."""
_NODE, _INITIALIZER, _GIVEN, _FOUND = 1, 5, 11, 12
"""...of a graph..."""
_INPUT, _OUTPUT, _KIND = 1, 2, 4
"""...of a node..."""
_DIMS, _TYPE, _INTEGERS, _NAME, _RAW = 1, 2, 5, 8, 9
"""...and of a tensor."""
_UNSIGNED, _SIGNED, _WHOLE = 2, 3, 6
"""Types of numbers: bytes of both kinds, and those of four bytes."""
_TOP_BIT: Final = 0x80
"""Turned over in a signed byte, it gives the unsigned one that is 128 more."""
_SIZE: Final = 64


# Messages of protobuf, as much as it takes to change a graph without the library `onnx`. Messages that follow each
# other are read as one, so that what is put after a message adds to it.

_NUMBER, _EIGHT_BYTES, _CONTENT, _FOUR_BYTES = 0, 1, 2, 5
_LENGTHS: Final = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}
_LONGEST: Final = 10
"""Bytes that a number takes at most."""


class Field(NamedTuple):
    """One field of a message. It holds places in the message, since copies of large ones take long."""

    number: int
    value: int | None
    """Of a field that is a number."""
    message: bytes
    start: int
    begin: int
    """Where its content begins..."""
    end: int
    """...and ends."""

    @property
    def content(self) -> bytes:
        """Of a field that is no number: text, bytes, or a message of its own."""
        return self.message[self.begin : self.end]

    @property
    def whole(self) -> bytes:
        """The field as it stands in the message."""
        return self.message[self.start : self.end]

    @property
    def numbers(self) -> list[int]:
        """The number, or those that were packed into one field."""
        if self.value is not None:
            return [self.value]
        found, place = [], self.begin
        while place < self.end:
            number, place = _number_at(self.message, place)
            found.append(number)
        return found


def fields(message: bytes) -> Iterator[Field]:
    """All fields, in order. What is not well-formed is a ValueError."""
    start = 0
    while start < len(message):
        key, begin = _number_at(message, start)
        value = None
        if key & 7 == _NUMBER:
            value, end = _number_at(message, begin)
        elif key & 7 == _CONTENT:
            length, begin = _number_at(message, begin)
            end = begin + length
        elif key & 7 in _LENGTHS:
            end = begin + _LENGTHS[key & 7]
        else:
            raise ValueError(f"a field of kind {key & 7}")
        if end > len(message):
            raise ValueError("a field that is cut short")
        yield Field(key >> 3, value, message, start, begin, end)
        start = end


def number_field(number: int, value: int) -> bytes:
    """A field that is a number, zero or above."""
    return _number(number << 3 | _NUMBER) + _number(value)


def content_field(number: int, content: bytes) -> bytes:
    """A field of text, bytes, or a message of its own."""
    return _number(number << 3 | _CONTENT) + _number(len(content)) + content


def _number_at(message: bytes, place: int) -> tuple[int, int]:
    """A number, and where it ends: seven bits a byte, the lowest first."""
    if message[place : place + 1] < b"\x80" and place < len(message):  # most are of one byte
        return message[place], place + 1
    found = 0
    for shift, byte in enumerate(message[place : place + _LONGEST]):
        found |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return found, place + shift + 1
    raise ValueError("a number without an end")


def _number(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


class _Places(NamedTuple):
    weights: int
    zero: int


_MULTIPLIERS: Final = {
    "DynamicQuantizeMatMul": _Places(1, 3),
    "MatMulInteger": _Places(1, 3),
    "MatMulIntegerToFloat": _Places(1, 5),
    "QAttention": _Places(1, 7),
}
"""Nodes that multiply bytes: which of their inputs are the weights, and the byte that stands for zero."""


class _Tensor(NamedTuple):
    dims: Sequence[int]
    content: bytes


def make_session(content: bytes, *, by_turn: bool = True) -> Any:
    """A session; ValueError for bytes that are no graph. `by_turn`: it reads one turn at a time, in one thread.

    Fusing sums with what follows them, and a store of memory of its own, make that slower.
    """
    runtime = require("onnxruntime", None, "purpose-judging")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    if by_turn:
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    try:
        return runtime.InferenceSession(exact_here(content), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no base of their own
        raise ValueError(f"the encoder cannot be read: {error}") from error


def exact_here(content: bytes) -> bytes:
    """The graph as this processor computes it exactly. Bytes that are no graph may be a ValueError."""
    return content if sums_are_exact() else with_unsigned_weights(content)


@cache
def sums_are_exact() -> bool:
    """Whether products of unsigned and signed bytes add up here.

    That is tried out, not looked up: every system tells in its own way what a processor can do, some do not tell, and
    which instructions are used is up to onnxruntime. One row and several are multiplied by different code.
    """
    runtime = require("onnxruntime", None, "purpose-judging")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = runtime.InferenceSession(_trial(), options, providers=["CPUExecutionProvider"])
    right = _SIZE * 255 * 127
    for rows in (1, 8):
        (sums,) = session.run(None, {"given": np.full((rows, _SIZE), 255, dtype=np.uint8)})
        if not (sums == right).all():
            return False
    return True


def with_unsigned_weights(content: bytes) -> bytes:
    """The same graph, in which what was multiplied by signed weights is multiplied by unsigned ones."""
    model = list(fields(content))
    # A model may come in pieces, each with some of the graph.
    graph = list(fields(b"".join(field.content for field in model if field.number == _GRAPH)))
    signed = _signed_tensors(field.content for field in graph if field.number == _INITIALIZER)
    added: dict[str, _Tensor] = {}
    parts = [field.whole for field in model if field.number != _GRAPH]
    changed = [_changed(field, signed, added) for field in graph]
    changed += [content_field(_INITIALIZER, _written(name, _UNSIGNED, one)) for name, one in added.items()]
    return b"".join([*parts, content_field(_GRAPH, b"".join(changed))])


def _changed(part: Field, signed: Mapping[str, _Tensor], added: dict[str, _Tensor]) -> bytes:
    """A part of a graph. A node that multiplies by signed weights gets others, which go to `added`.

    The signed ones stay, since something else may need them; onnxruntime drops what nothing needs.
    """
    node = list(fields(part.content)) if part.number == _NODE else []
    places = next((_MULTIPLIERS.get(_text(field)) for field in node if field.number == _KIND), None)
    if places is None:
        return part.whole
    inputs = [_text(field) for field in node if field.number == _INPUT]
    inputs += [""] * (places.zero + 1 - len(inputs))
    weights, zero = inputs[places.weights], inputs[places.zero]
    # A zero that is only found on the way cannot be moved along.
    if weights not in signed or (zero and zero not in signed):
        return part.whole
    inputs[places.weights], inputs[places.zero] = f"{weights}:unsigned", f"{zero or weights}:unsigned zero"
    added[inputs[places.weights]] = _unsigned(signed[weights])
    added[inputs[places.zero]] = _unsigned(signed[zero] if zero else _Tensor((), b"\0"))
    named = [content_field(_INPUT, name.encode()) for name in inputs]
    rest = [field.whole for field in node if field.number != _INPUT]
    return content_field(_NODE, b"".join([*named, *rest]))


def _signed_tensors(tensors: Iterable[bytes]) -> dict[str, _Tensor]:
    """Those of signed bytes, by name."""
    found = {}
    for tensor in tensors:
        parts = list(fields(tensor))
        if any(field.number == _TYPE and field.value == _SIGNED for field in parts):
            name = "".join(_text(field) for field in parts if field.number == _NAME)
            found[name] = _Tensor(_integers(parts, _DIMS), _content(parts))
    return found


def _content(tensor: Sequence[Field]) -> bytes:
    """The bytes of a tensor, which are kept as they are or as numbers."""
    raw = b"".join(field.content for field in tensor if field.number == _RAW)
    return raw or bytes(number & 0xFF for number in _integers(tensor, _INTEGERS))


def _integers(parts: Iterable[Field], number: int) -> list[int]:
    return [value for field in parts if field.number == number for value in field.numbers]


def _text(field: Field) -> str:
    return field.content.decode()


def _unsigned(tensor: _Tensor) -> _Tensor:
    content = np.frombuffer(tensor.content, dtype=np.uint8) ^ _TOP_BIT
    return tensor._replace(content=content.tobytes())


def _written(name: str, kind: int, tensor: _Tensor) -> bytes:
    dims = [number_field(_DIMS, size) for size in tensor.dims]
    rest = [
        number_field(_TYPE, kind),
        content_field(_NAME, name.encode()),
        content_field(_RAW, tensor.content),
    ]
    return b"".join(dims + rest)


def _trial() -> bytes:
    """A graph that multiplies what it is given by the largest weights."""

    def port(name: str, kind: int) -> bytes:
        # The fields of a name and its type, of a type that is a tensor, and of what a tensor is made of.
        return content_field(1, name.encode()) + content_field(2, content_field(1, number_field(1, kind)))

    weights = _written("weights", _SIGNED, _Tensor((_SIZE, _SIZE), bytes([127]) * _SIZE**2))
    node = [(_INPUT, b"given"), (_INPUT, b"weights"), (_OUTPUT, b"sums"), (_KIND, b"MatMulInteger")]
    graph = [
        content_field(_NODE, b"".join(content_field(*part) for part in node)),
        content_field(2, b"trial"),
        content_field(_INITIALIZER, weights),
        content_field(_GIVEN, port("given", _UNSIGNED)),
        content_field(_FOUND, port("sums", _WHOLE)),
    ]
    model = [number_field(_VERSION, 9), content_field(_GRAPH, b"".join(graph))]
    return b"".join([*model, content_field(_OPSET, number_field(2, 20))])
