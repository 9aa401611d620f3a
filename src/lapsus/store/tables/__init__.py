"""The tables. What people said is in `judgment` and only ever grows; the rest says who may, who will and who did.

A row of `assignment` is what one person has to do with one unit. It also points at the newest and the newest
submitted revision, so that no reader goes through history. Counters (`taken`, `done`, `level`, those of `member`
and `campaign_total`) change in the transaction that gives reason to, so that nothing is ever recounted.
"""

from __future__ import annotations

from lapsus.store.tables.base import (
    EPOCH,
    FULL,
    NAMES,
    WHOLE,
    Moment,
    metadata,
)
from lapsus.store.tables.campaigns import (
    api_token,
    assignment,
    attempt,
    campaign,
    campaign_document,
    campaign_total,
    check_result,
    document,
    draft,
    draft_file,
    event,
    expected,
    flag,
    flag_reply,
    identity,
    invitation,
    judgment,
    member,
    message,
    person,
    scheme,
    setting,
    unit,
)
from lapsus.store.tables.challenges import (
    challenge,
    challenge_document,
    challenge_pair,
    challenge_run,
    challenge_team,
)
from lapsus.store.tables.learning import learned_document, learned_unit, learning
from lapsus.store.tables.stats import (
    decision,
    figure_block,
    figure_change,
    figure_day,
    figure_pattern,
    figure_state,
    gold,
    program_run,
)
from lapsus.store.tables.talks import talk, talk_answer, talk_turn

__all__ = [
    "EPOCH",
    "FULL",
    "NAMES",
    "WHOLE",
    "Moment",
    "api_token",
    "assignment",
    "attempt",
    "campaign",
    "campaign_document",
    "campaign_total",
    "challenge",
    "challenge_document",
    "challenge_pair",
    "challenge_run",
    "challenge_team",
    "check_result",
    "decision",
    "document",
    "draft",
    "draft_file",
    "event",
    "expected",
    "figure_block",
    "figure_change",
    "figure_day",
    "figure_pattern",
    "figure_state",
    "flag",
    "flag_reply",
    "gold",
    "identity",
    "invitation",
    "judgment",
    "learned_document",
    "learned_unit",
    "learning",
    "member",
    "message",
    "metadata",
    "person",
    "program_run",
    "scheme",
    "setting",
    "talk",
    "talk_answer",
    "talk_turn",
    "unit",
]
