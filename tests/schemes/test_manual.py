from __future__ import annotations

import html

import pytest

from lapsus.errors import UsageError
from lapsus.model import in_language
from lapsus.schemes import check_scheme, load_scheme
from lapsus.schemes.library import OWN
from lapsus.schemes.manual import manual
from tests.schemes.test_scheme_check import GOOD


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_word_of_the_scheme_is_in_the_manual(name: str, language: str) -> None:
    scheme = load_scheme(name)
    page = html.unescape(manual(scheme, language))
    for question in scheme.questions:
        assert in_language(question.ask, language) in page
        for label in question.labels:
            assert in_language(label.name, language) in page
            for example in label.examples.get(language, ()):
                assert example.why in page
        for level in question.levels:
            assert in_language(level.meaning, language) in page
    assert f'lang="{language}"' in page


def test_rules_are_said_in_words() -> None:
    page = manual(load_scheme("error-types"), "en")
    assert "Never together: 10 Unclear intention and 11 Topic transition error." in page
    assert "at least 50%" in page
    assert "T (Possible breakdown) / X (Breakdown)" in page
    assert "T（違和感あり） / X（明らかな破綻）" in manual(load_scheme("error-types"), "ja")


def test_nothing_in_a_scheme_can_run_in_the_page() -> None:
    scheme, _ = check_scheme(GOOD.replace("It is warm.", "'<script>alert(1)</script>'"), "own.yaml")
    assert scheme is not None
    page = manual(scheme, "en")
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_nothing_is_fetched_from_elsewhere() -> None:
    page = manual(load_scheme("response-quality"), "ja")
    assert "http://" not in page
    assert "https://" not in page


def test_a_language_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="en, ja"):
        manual(load_scheme("breakdown"), "fr")
