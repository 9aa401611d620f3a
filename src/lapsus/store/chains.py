"""Chains: the votes of one campaign choose the units of another, in the transaction in which the last vote comes in.

Both campaigns have the same documents in the same order, so their units have the same numbers. A unit is chosen
once it has all the votes that its campaign's plan asks for. Should a vote change later, it is chosen anew; one
that somebody has begun to judge stays.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, insert, literal, select, update

from lapsus.errors import InputError
from lapsus.kinds import kind_of
from lapsus.model import Document, Scheme, TargetRule
from lapsus.model.frozen import decoder
from lapsus.model.unit import Screened
from lapsus.notices import Notice
from lapsus.store import tables as t
from lapsus.store.document_intake import DocumentIntake
from lapsus.store.known_answers import KnownAnswers, open_known
from lapsus.store.random_order import shuffle_of
from lapsus.store.records import Chain, Chosen, Plan
from lapsus.store.rows import ANSWERS, SUBMITTED, campaign_row, plan_of, scheme_of, set_levels
from lapsus.store.validation import chunks

CHUNK = 500


def checked_chain(conn: Connection, plan: Plan, scheme: Scheme, source: int) -> Chain:
    """The chain of a plan with its rule filled in, if the two campaigns fit together."""
    other = scheme_of(conn, source)
    where = Notice("campaign", campaign=plan.name)
    if plan.chain is not None and plan_of(campaign_row(conn, source)).collect is not None:
        if plan.chain.rule is not None:
            raise InputError("no-rule-after-talks", where=where)
        return plan.chain
    rule = (plan.chain.rule if plan.chain else None) or scheme.target
    if plan.chain is None or rule is None:
        raise InputError("scheme-does-not-say", where=where, hint="give-chain-rule", id=scheme.id)
    question = other.question(rule.question)
    if rule.scheme != other.id or question is None or not kind_of(question).by_label:
        raise InputError(
            "rule-counts-labels-question",
            where=where,
            scheme=rule.scheme,
            question=rule.question,
            campaign=plan.chain.campaign,
        )
    if unknown := set(rule.labels) - {label.id for label in other.labels_of(question)}:
        raise InputError("rule-names-unknown-labels", where=where, unknown=", ".join(sorted(unknown)))
    if scheme.unit.role != other.unit.role:
        raise InputError("one-judges-other", where=where, role=other.unit.role, role2=scheme.unit.role)
    return Chain(plan.chain.campaign, rule)


def followers(conn: Connection, campaign: int) -> Sequence[Row[Any]]:
    """The campaigns whose units this one's votes choose."""
    query = select(t.campaign).where(t.campaign.c.source == campaign).order_by(t.campaign.c.id)
    return conn.execute(query).all()


def copy_documents(conn: Connection, source: int, campaign: int, known: KnownAnswers | None = None) -> None:
    """Give a campaign the documents and units of the one it is chained to that it does not have yet."""
    row = campaign_row(conn, campaign, lock="units")
    plan = plan_of(row)
    place = t.campaign_document
    last = conn.scalar(select(func.max(place.c.position)).where(place.c.campaign == campaign)) or 0
    new = select(place).where(place.c.campaign == source, place.c.position > last).order_by(place.c.position)
    fresh = {"campaign": campaign, "level": t.FULL, "part": "main"}
    rows = [
        row._asdict() | fresh | {"shuffle": shuffle_of(plan.seed, row.digest)} for row in conn.execute(new)
    ]
    if not rows:
        return
    if plan.chain is not None and plan.chain.rule is None:
        _judge_all(conn, row, [one["digest"] for one in rows])
        for follower in followers(conn, campaign):
            copy_documents(conn, campaign, follower.id)
        return
    conn.execute(insert(place), rows)
    same = t.unit.c.number, t.unit.c.document, t.unit.c.segment
    numbers = literal(False), literal(0), literal(0), literal(plan.per_unit)
    units = select(literal(campaign), *same, *numbers).where(
        t.unit.c.campaign == source, t.unit.c.document > last
    )
    names = ["campaign", "number", "document", "segment", "active", "taken", "done", "wanted"]
    conn.execute(insert(t.unit).from_select(names, units))
    total = t.campaign_total
    more = {"documents": total.c.documents + len(rows)}
    conn.execute(update(total).where(total.c.campaign == campaign).values(more))
    if plan.has_known:
        open_known(conn, campaign, known or KnownAnswers(plan, scheme_of(conn, campaign)), last)
    for follower in followers(conn, campaign):
        copy_documents(conn, campaign, follower.id)


def _judge_all(conn: Connection, row: Row[Any], digests: list[str]) -> None:
    """Take in talks that were collected: here every unit is judged."""
    adding = DocumentIntake(conn, row, scheme_of(conn, row.id))
    wanted = select(t.document.c.digest, t.document.c.content).where(t.document.c.digest.in_(digests))
    contents = {one.digest: one.content for one in conn.execute(wanted)}
    adding.add([Screened(decoder(Document).decode(contents[digest])) for digest in digests])
    adding.finish()


def choose_units(conn: Connection, source: int, units: Sequence[int] | None) -> None:
    """Let the votes on some units (or on all) say which units of the following campaigns are to be judged."""
    if not (following := followers(conn, source)):
        return
    ready = select(t.unit.c.number).where(t.unit.c.campaign == source, t.unit.c.done >= t.unit.c.wanted)
    if units is not None:
        ready = ready.where(t.unit.c.number.in_(units))
    numbers: list[int] = sorted(conn.scalars(ready))
    for follower in following:
        chain = plan_of(follower).chain
        if chain is not None and chain.rule is not None:
            for chunk in chunks(numbers, CHUNK):
                _apply(conn, source, follower.id, chain.rule, chunk)


def _apply(conn: Connection, source: int, campaign: int, rule: TargetRule, numbers: list[int]) -> None:
    votes = votes_on(conn, source, numbers, rule.question)
    query = select(t.unit).where(t.unit.c.campaign == campaign, t.unit.c.number.in_(numbers))
    changed: list[Row[Any]] = []
    for row in conn.execute(query.order_by(t.unit.c.number).with_for_update()):
        admitted = rule.admits(votes.get(row.number, {}))
        is_planned = row.wanted < t.FULL
        if is_planned and admitted != row.active and (admitted or row.taken == 0):
            changed.append(row)
    if not changed:
        return
    mine = (t.unit.c.campaign == campaign) & t.unit.c.number.in_([row.number for row in changed])
    conn.execute(update(t.unit).where(mine).values(active=~t.unit.c.active))
    set_levels(conn, campaign, {row.document for row in changed})
    total, signs = t.campaign_total, [-1 if row.active else 1 for row in changed]
    places = sum(sign * row.wanted for sign, row in zip(signs, changed, strict=True))
    more = {"units": total.c.units + sum(signs), "wanted": total.c.wanted + places}
    conn.execute(update(total).where(total.c.campaign == campaign).values(more))


def chosen_so_far(conn: Connection, source: int, campaign: int) -> Chosen:
    """How many units have all their votes, and how many of these are to be judged in the campaign that follows."""
    unit, count = t.unit, select(func.count()).select_from(t.unit)
    ready = count.where(unit.c.campaign == source, unit.c.done >= unit.c.wanted)
    active = count.where(unit.c.campaign == campaign, unit.c.active)
    return Chosen(conn.scalar(ready) or 0, conn.scalar(active) or 0, 0)


def votes_on(
    conn: Connection, campaign: int, units: Sequence[int], question: str
) -> dict[int, Mapping[str, int]]:
    """How many people gave each label to each unit. Costs as much as there are judgments of these units."""
    mine, said = t.assignment, t.judgment
    query = select(mine.c.unit, said.c.answers).join(said, SUBMITTED)
    counted = query.where(mine.c.campaign == campaign, mine.c.unit.in_(units), mine.c.state == "done")
    votes: dict[int, Counter[str]] = {}
    for row in conn.execute(counted):
        answer = ANSWERS.decode(row.answers).get(question, ())
        labels = answer if isinstance(answer, tuple) else (answer,)
        votes.setdefault(row.unit, Counter()).update(label for label in labels if isinstance(label, str))
    return dict(votes)
