"""The files of words are read by one loader, whole and in every language."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lapsus
from lapsus.word_files import LANGUAGES, word_file, words_in

SOURCE = Path(lapsus.__file__).parent
FILES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.yaml"))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty package `spoken`, of this test alone."""
    folder = tmp_path / "spoken"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    sys.modules.pop("spoken", None)
    word_file.cache_clear()
    words_in.cache_clear()


@pytest.mark.parametrize("path", FILES)
def test_every_file_of_the_program_is_sound(path: str) -> None:
    assert word_file("lapsus", path)


def test_what_one_language_lacks_is_named(package: Path) -> None:
    (package / "words.yaml").write_text(
        "hello: {en: Hello, ja: こんにちは}\nbye: {then: {en: Bye}}\n", "utf-8"
    )
    with pytest.raises(ValueError, match=r"words\.yaml: not in every language: bye\.then$"):
        word_file("spoken", "words.yaml")


def test_a_key_that_stands_twice_is_refused(package: Path) -> None:
    (package / "words.yaml").write_text("hello: a\nbye: b\nhello: c\n", "utf-8")
    with pytest.raises(ValueError, match="twice"):
        word_file("spoken", "words.yaml")


def test_folders_of_words_have_the_same_keys_in_every_language(package: Path) -> None:
    for language in LANGUAGES:
        (package / language).mkdir()
        (package / language / "a.yaml").write_text("top: {inner: x}\n", "utf-8")
    assert words_in("ja", "spoken", ".") == {"a.top.inner": "x"}
    words_in.cache_clear()
    (package / "ja" / "b.yaml").write_text("more: y\n", "utf-8")
    with pytest.raises(ValueError, match=r"not in every language: b\.more$"):
        words_in("en", "spoken", ".")
