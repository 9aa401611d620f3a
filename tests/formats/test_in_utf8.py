"""Text in other encodings: what is told, and what is left alone."""

from pathlib import Path

import pytest

from lapsus.errors import InputError
from lapsus.formats import read
from lapsus.formats.in_utf8 import OTHER_ENCODING, encoding_of, open_in_utf8

JA = "はい、会議は三時からです。"


@pytest.mark.parametrize(
    ("content", "codec"),
    [
        (JA.encode(), None),
        (JA.encode("utf-8-sig"), None),
        (JA.encode("cp932"), "cp932"),
        (JA.encode("euc_jp"), "euc_jp"),
        (JA.encode("utf-16"), "utf-16"),
        (f'{{"text": "{JA}"}}'.encode("utf-16-le"), "utf-16-le"),
        (f"話者,発話\n客,{JA}\n".encode("utf-16-be"), "utf-16-be"),
        (b"plain", None),
        (b"a\0b in the middle", None),
        (b"", None),
        ("cafés à la crème".encode("latin-1"), None),
        ("네, 회의는 세 시부터입니다 ㅋㅋ".encode("euc_kr"), None),
        ("是的，会议三点开始。".encode("gbk"), None),
    ],
)
def test_the_encoding_is_told(content: bytes, codec: str | None) -> None:
    assert encoding_of(content) == codec


@pytest.mark.parametrize("place", range(0, 60, 7))
def test_broken_utf8_is_not_taken_for_japanese(place: int) -> None:
    whole = (JA * 3).encode()
    assert encoding_of(whole[:place] + b"\xff" + whole[place:]) is None


@pytest.mark.parametrize("encoding", ["cp932", "euc_jp", "utf-16", "utf-16-le", "utf-8"])
@pytest.mark.parametrize("ahead", [0, 1, 1 << 16, (1 << 17) - 1, (1 << 18) + 3])
def test_signs_are_whole_wherever_pieces_end(tmp_path: Path, encoding: str, ahead: int) -> None:
    text = "x" * ahead + "\n" + f"{JA}\n" * 9000
    (tmp_path / "x.txt").write_bytes(text.encode(encoding))
    with open_in_utf8(lambda: (tmp_path / "x.txt").open("rb"), "x.txt") as stream:
        assert stream.read(5) + stream.read() == text.encode()


def test_what_is_no_longer_sound_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = f"c,user,{JA}\n" * 9000
    path.write_bytes(f"conversation,role,text\n{rows}".encode("cp932") + b"c,user,\x81\n")
    with pytest.raises(InputError, match=r"begins in Shift_JIS.*iconv"):
        list(read(path))


def test_files_of_a_folder_may_differ(tmp_path: Path) -> None:
    for name, encoding in (("a", "cp932"), ("b", "euc_jp"), ("c", "utf-16"), ("d", "utf-8")):
        text = f"conversation,role,text\n{name},user,{JA}\n{name},assistant,{JA}\n"
        (tmp_path / f"{name}.csv").write_bytes(text.encode(encoding))
    heard: set[tuple[str, str]] = set()
    token = OTHER_ENCODING.set(lambda name, shown: heard.add((name[-5:], shown)))
    try:
        texts = [entry.document.segments[0].text for entry in read(tmp_path) if entry.document]
    finally:
        OTHER_ENCODING.reset(token)
    assert texts == [JA] * 4
    assert heard == {("a.csv", "Shift_JIS (CP932)"), ("b.csv", "EUC-JP"), ("c.csv", "UTF-16")}
