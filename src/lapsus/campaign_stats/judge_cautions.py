"""What has to be said beside the figures of programs, so that nobody takes them for more than they are."""

from __future__ import annotations

from collections.abc import Iterator

from lapsus.analysis.learned import learned_words
from lapsus.campaign_stats.judge_charts import Say, standing_name
from lapsus.campaign_stats.judge_figures import Judges
from lapsus.translation import translated
from lapsus.trust.ranking import Standing


def cautions(found: Judges, say: Say, language: str) -> list[str]:
    """In words: who passes where a floor does too, or is not shown to be better than one; who knew the documents."""
    return list(_cautions(found, say, language))


def _cautions(found: Judges, say: Say, language: str) -> Iterator[str]:
    stands = [one.standing for one in found.judges if one.standing is not None]
    colon = "：" if language == "ja" else ": "
    for one in (*stands, *found.beside):
        if not one.floor and _is_doubtful(one):
            yield f"{standing_name(one.judge, say)}{colon}{translated(one.verdict, language)}"
    for judge in found.judges:
        if judge.learned is not None:
            yield translated(learned_words(judge.name, judge.learned), language)


def _is_doubtful(one: Standing) -> bool:
    passed = [stand for stand in one.epsilons if stand.passes]
    return bool(passed) and (not one.beats_constant or any(stand.floors for stand in passed))
