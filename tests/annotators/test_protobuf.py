"""Messages of protobuf, field by field."""

from __future__ import annotations

import pytest

from lapsus.annotators.byte_graphs import content_field, fields, number_field


def test_what_is_written_is_read() -> None:
    large = bytes(300)
    message = (
        number_field(1, 5) + content_field(16, large) + number_field(200, 1 << 40) + content_field(3, b"")
    )
    found = list(fields(message))
    assert [field.number for field in found] == [1, 16, 200, 3]
    assert [field.value for field in found] == [5, None, 1 << 40, None]
    assert [field.content for field in found[1::2]] == [large, b""]
    assert b"".join(field.whole for field in found) == message


def test_fields_of_four_and_eight_bytes_are_passed_over() -> None:
    message = b"\x0d" + b"1234" + b"\x11" + b"12345678" + number_field(3, 7)
    assert [(field.number, field.value) for field in fields(message)] == [(1, None), (2, None), (3, 7)]
    assert [field.content for field in fields(message)][:2] == [b"1234", b"12345678"]


@pytest.mark.parametrize(
    ("message", "numbers"),
    [
        (number_field(1, 300), [300]),
        (content_field(1, b"\x01\xac\x02"), [1, 300]),
        (content_field(1, b""), []),
    ],
)
def test_numbers_come_one_by_one_or_packed(message: bytes, numbers: list[int]) -> None:
    (field,) = fields(message)
    assert field.numbers == numbers


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        (content_field(1, b"text")[:-1], "cut short"),
        (b"\x0d123", "cut short"),
        (b"\xff" * 20, "without an end"),
        (b"\x08", "without an end"),
        (b"\x0b", "of kind 3"),
    ],
)
def test_what_is_not_well_formed_is_told(message: bytes, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        list(fields(message))
