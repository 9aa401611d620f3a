"""Japanese that users read: one word for a thing, one spelling for a word, brackets of its own width."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lapsus.schemes import load_scheme, scheme_names

ROOT = Path(__file__).parent.parent
PATTERNS = {"cues.yaml", "moves.yaml", "patterns.yaml", "signs.yaml", "statements.yaml"}
"""What people may write in a chat, however they spell it."""
PAGES = [
    *(path for path in (ROOT / "src" / "lapsus").rglob("*.yaml") if path.name not in PATTERNS),
    *(ROOT / "docs" / "ja").rglob("*.md"),
    ROOT / "README.ja.md",
]
REJECTED = {
    "署名": "シグネチャ",
    "の省略|省略(?:誤り|エラー)": "欠落",
    "充足": "網羅性",
    "応答のしていること": "応答の対話行為",
    "定数の事前分布": "つねに事前分布",
    "半分対半分": "アノテータを半々に",
    "持ち帰": "書き出す",
    "お仕事": "お願い",
    "サーバ(?!ー)": "サーバー",
    "ユーザ(?!ー)": "ユーザー",
    "だれ": "誰",
    "わか[らりるれっ]": "分かる",
    "やりとり": "やり取り",
    "アノテーター": "アノテータ",
    "手引き|指針": "ガイドライン",
    "違和感(?!あり)": "違和感あり",
    r"[ぁ-んァ-ヶ一-龠]\((?!\d*,?\w*=)[^)]*[ぁ-んァ-ヶ一-龠]": "（…）",
    r"[ぁ-んァ-ヶ一-龠]\(\{|\(\d\)\s?[ぁ-んァ-ヶ一-龠]": "（…）",
}


@pytest.mark.parametrize("rejected", REJECTED)
def test_one_spelling_each(rejected: str) -> None:
    found = [
        f"{path.relative_to(ROOT).as_posix()}:{number}: {line.strip()[:80]}"
        for path in PAGES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(rejected, line)
    ]
    assert found == [], f"say {REJECTED[rejected]}"


def test_the_marks_have_one_name_each() -> None:
    labels = {label.id: label.name["ja"] for label in load_scheme("breakdown").questions[0].labels}
    assert labels == {"O": "破綻ではない", "T": "違和感あり", "X": "明らかな破綻"}


@pytest.mark.parametrize("name", scheme_names())
def test_a_manual_spells_the_marks_out(name: str) -> None:
    """Where a mark is named in a sentence, so is what it means."""
    lines = (ROOT / "src" / "lapsus" / "schemes" / "data" / f"{name}.yaml").read_text("utf-8").splitlines()
    sentences = [line for line in lines if re.search("[ぁ-ん]", line)]
    assert not [line for line in sentences if re.search(r"[TX](?:が|のほう|です|、|を|か)", line)]
