"""Cells that no spreadsheet runs, and CSV files that are read to the letter."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lapsus.errors import InputError, LossError
from lapsus.formats import Source
from lapsus.formats.encoding import LIMIT, defused, opening, restored, rows, writing

RISKY_STARTS = tuple("=+-@＝＋－＠\t\r\n")
any_text = st.text(st.characters(exclude_categories=("Cs",)))
risky_text = st.builds(
    "{}{}{}".format, st.sampled_from(["", "'", "''", " "]), st.sampled_from(RISKY_STARTS), any_text
)


def read_all(path: Path) -> list[tuple[int, list[str]]]:
    member = Source(path).first()
    assert member is not None
    return list(rows(member))


def cells_of(tmp_path: Path, content: bytes) -> list[list[str]]:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    return [cells for _, cells in read_all(path)]


def error_of(tmp_path: Path, content: bytes) -> str:
    with pytest.raises(InputError) as caught:
        cells_of(tmp_path, content)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("-3", "'-3"),
        ("+81", "'+81"),
        ("@here", "'@here"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("  =1+1", "'  =1+1"),
        ("＝1+1", "'＝1+1"),
        ("'=x", "''=x"),
        ("''-x", "'''-x"),
        ("'tis", "'tis"),
        ("'", "'"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_risky_cells_are_defused(text: str, cell: str) -> None:
    assert defused(text) == cell
    assert restored(cell) == text


@given(st.one_of(any_text, risky_text))
def test_every_text_comes_back_and_is_never_run(text: str) -> None:
    cell = defused(text)
    assert restored(cell) == text
    assert not cell.startswith(RISKY_STARTS)
    assert not cell.lstrip().startswith(RISKY_STARTS[:8])


@given(st.lists(st.lists(st.one_of(any_text, risky_text), min_size=3, max_size=3), max_size=4))
def test_every_row_comes_back(written: list[list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        with writing(path) as write:
            write(["a", "b", "c"])
            for row in written:
                write(["x", *row[1:]])
        back = [[restored(cell) for cell in cells] for _, cells in read_all(path)]
    assert back == [["a", "b", "c"], *(["x", *row[1:]] for row in written)]


def test_numbers_are_not_texts(tmp_path: Path) -> None:
    with writing(tmp_path / "x.csv") as write:
        write(["a", "b", "c", "d"])
        write([-3, -0.5, "-3", None])
    assert (tmp_path / "x.csv").read_bytes() == b"a,b,c,d\r\n-3,-0.5,'-3,\r\n"


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_the_delimiter_is_told_from_the_header(tmp_path: Path, sign: str) -> None:
    content = f'a{sign}b{sign}"c d"\n1{sign}"x,y;z\tw"{sign}3\n'
    assert cells_of(tmp_path, content.encode()) == [["a", "b", "c d"], ["1", "x,y;z\tw", "3"]]


def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path: Path) -> None:
    assert cells_of(tmp_path, b"\xef\xbb\xbfa,b\n1,2\n") == [["a", "b"], ["1", "2"]]


def test_rows_know_the_line_where_they_begin(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b'a,b\n\n1,"x\ny\nz"\n,\n2,y\n')
    assert read_all(path) == [(1, ["a", "b"]), (3, ["1", "x\ny\nz"]), (7, ["2", "y"])]


def test_empty_columns_at_the_end_are_left_out(tmp_path: Path) -> None:
    assert cells_of(tmp_path, b"a,b,,\n1,2,,\n") == [["a", "b"], ["1", "2"]]


def test_uneven_rows_are_named_by_line(tmp_path: Path) -> None:
    assert error_of(tmp_path, b'a,b\n1,"x\ny"\n1\n') == "x.csv, line 4: 1 cells, but the header has 2"
    assert "line 2: 3 cells, but the header has 2" in error_of(tmp_path, b"a,b\n1,2,3\n")


def test_an_open_quote_is_named_by_line(tmp_path: Path) -> None:
    message = error_of(tmp_path, b'a,b\n1,2\n3,"x\n4,5\n')
    assert message.startswith("x.csv, line 3: not sound CSV:")
    assert "a quote may be open" in message


def test_an_empty_file_lacks_its_header(tmp_path: Path) -> None:
    assert "a first line with the names of the columns" in error_of(tmp_path, b"")
    assert "is empty" in error_of(tmp_path, b"\n,,\n")


def test_a_cell_may_be_long_but_not_endless(tmp_path: Path) -> None:
    long = b"x" * (1 << 20)
    assert cells_of(tmp_path, b"a,b\n1," + long + b"\n")[1][1] == long.decode()
    assert "field larger than field limit" in error_of(tmp_path, b'a,b\n1,"' + b"x\n" * (LIMIT // 2 + 1))
    assert "line 2: a line of more than" in error_of(tmp_path, b"a,b\n" + b"x" * (2 * LIMIT + 1001))


def test_a_row_that_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(LossError, match="a row of CSV holds at most"), writing(tmp_path / "x.csv") as write:
        write(["x" * LIMIT, "x"])


@pytest.mark.parametrize("encoding", ["cp932", "euc_jp", "utf-16", "utf-16-le", "utf-16-be"])
def test_other_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    content = "role,text\nuser,こんにちは、元気ですか。\n".encode(encoding)
    assert cells_of(tmp_path, content)[1] == ["user", "こんにちは、元気ですか。"]


def test_an_unknown_encoding_is_not_guessed(tmp_path: Path) -> None:
    message = error_of(tmp_path, "role,text\nuser,cafés à la crème\n".encode("latin-1"))
    assert "not UTF-8 text" in message
    assert "iconv -f" in message
    assert "CSV UTF-8" in message


def test_looking_at_a_file_never_fails(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for content in (b"", b"\xff\xfe\0", "é,è\n".encode("latin-1")):
        path.write_bytes(content)
        member = Source(path).first()
        assert member is not None
        assert opening(member, 2) == []
