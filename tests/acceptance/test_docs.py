"""The blocks of the documentation that need a corpus, with everything before them on their page."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.docs_blocks import PAGES, Session, blocks, name_of

WITH_CORPUS = [page for page in PAGES if any(block.marks.get("needs") == "corpus" for block in blocks(page))]


@pytest.mark.acceptance
@pytest.mark.parametrize("page", WITH_CORPUS, ids=name_of)
def test_blocks_that_need_a_corpus(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for corpus in Path(os.environ["LAPSUS_DATA"]).glob("*.zip"):
        (tmp_path / corpus.name).symlink_to(corpus)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAPSUS_DB", "campaigns.sqlite")
    session = Session(frozenset({"corpus"}))
    for block in blocks(page):
        session.run(block)
