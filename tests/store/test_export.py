"""Out and in again: what was said comes back the same, with names or with other names, and once."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lapsus.errors import InputError
from lapsus.formats import read
from lapsus.formats.jsonl import Jsonl
from lapsus.model import Entry, Judgment, Span
from lapsus.samples import SAMPLES, sample_path
from lapsus.schemes import load_scheme
from lapsus.store import Chain, Imported, Nothing, Plan, Store
from lapsus.store.validation import is_storable
from tests.store.helpers import Clock, campaign, dialogue, judge_all, pair, people, reserve, save
from tests.store.test_concurrency import check_counts
from tests.strategies import pair_entries


def said(entries: Iterable[Entry]) -> list[Judgment]:
    return [judgment for entry in entries for judgment in entry.judgments]


def judged_campaign(store: Store) -> None:
    """Two people, changes of mind, a draft, a remark with everything in it."""
    campaign(store, documents=3, per_unit=2)
    avery, blake = people(store, "avery", "blake 👩‍🚀")
    for unit in reserve(store, avery):
        save(store, unit, avery, "T", seconds=2.25, given_at=datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC))
    save(store, 1 if store.judgments.get("chat", 1, avery) else 4, avery, "X", submitted=False)
    judge_all(store, avery)
    judge_all(store, blake)
    done = store.judgments.of_person("chat", avery)[0].unit
    save(store, done, avery, answers={"breakdown": "X", "comment": "a\0b が\u200d'\";--"})


def test_an_export_read_back_into_a_new_campaign_is_the_same(store: Store, tmp_path: Path) -> None:
    judged_campaign(store)
    for revisions in ("newest", "all"):
        entries = list(store.exports.export("chat", names="names", revisions=revisions))  # type: ignore[arg-type]
        Jsonl().write(entries, tmp_path / f"{revisions}.jsonl")
        name = f"again-{revisions}"
        store.campaigns.create(Plan(name, "breakdown", per_unit=2))
        done = store.imports.add_judgments(name, read(tmp_path / f"{revisions}.jsonl", "jsonl"))
        assert (done.documents, done.judgments, done.people) == (3, len(said(entries)), 0)
        assert list(store.exports.export(name, names="names", revisions=revisions)) == entries  # type: ignore[arg-type]
        assert store.progress.of_campaign(name).complete == store.progress.of_campaign("chat").complete == 9
    assert (
        len(said(store.exports.export("chat", revisions="all")))
        == len(said(store.exports.export("chat"))) + 1
    )
    check_counts(store)


def test_pseudonyms_are_steady_hide_names_and_differ_between_campaigns(store: Store) -> None:
    judged_campaign(store)
    once, twice = said(store.exports.export("chat")), said(store.exports.export("chat"))
    assert once == twice
    named = said(store.exports.export("chat", names="names"))
    assert (
        len({judgment.annotator for judgment in once}) == len({judgment.annotator for judgment in named}) == 2
    )
    assert not {judgment.annotator for judgment in once} & {judgment.annotator for judgment in named}
    store.campaigns.create(Plan("other", "breakdown"))
    store.imports.add_judgments("other", list(store.exports.export("chat", names="names")))
    elsewhere = {judgment.annotator for judgment in said(store.exports.export("other"))}
    assert not elsewhere & {judgment.annotator for judgment in once}
    plain = [msgspec.structs.replace(judgment, annotator="-") for judgment in once]
    assert plain == [msgspec.structs.replace(judgment, annotator="-") for judgment in named]


def test_unnamed_annotators_keep_their_numbers(store: Store) -> None:
    store.campaigns.create(Plan("chat", "breakdown"))
    judgment = Judgment("d0", "0", "?03", "breakdown", "1.0", {"breakdown": "O"})
    store.imports.add_judgments("chat", [Entry("d0", dialogue("d0"), (judgment,))])
    assert said(store.exports.export("chat")) == [judgment]


def test_an_export_is_of_one_moment(store: Store) -> None:
    campaign(store, documents=3)
    (me,) = people(store, "avery")
    entries = store.exports.export("chat")
    first = next(entries)
    judge_all(store, me)
    assert said([first, *entries]) == []
    assert len(said(store.exports.export("chat"))) == 9


@pytest.mark.parametrize("sample", SAMPLES)
def test_samples_go_in_and_out_unchanged(store: Store, sample: str) -> None:
    entries = list(read(sample_path(sample), "jsonl"))
    for scheme in sorted({judgment.scheme for judgment in said(entries)}):
        mine = [judgment for judgment in said(entries) if judgment.scheme == scheme]
        store.campaigns.create(Plan(scheme, scheme, per_unit=4))
        done = store.imports.add_judgments(scheme, entries)
        assert (done.documents, done.judgments) == (len(entries), len(mine))
        assert sum(done.passed_over.values()) == len(said(entries)) - len(mine)
        back = said(store.exports.export(scheme, names="names"))
        key = msgspec.json.encode
        assert sorted(map(key, back)) == sorted(map(key, mine))
        again = store.imports.add_judgments(scheme, entries)
        assert again == Imported(0, 0, len(mine), 0, done.passed_over)
    check_counts(store)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entries=st.lists(pair_entries, max_size=3, unique_by=lambda entry: entry.id))
def test_any_judgments_come_back_unchanged(store: Store, entries: list[Entry]) -> None:
    """Without checks, since invented answers keep no rules. What came with a judgment stays with it."""
    names = [judgment.annotator for judgment in said(entries)]
    assume(all(map(is_storable, names + [entry.id for entry in entries])))
    name = f"c{len(store.campaigns.all())}"
    store.campaigns.create(Plan(name, "semantic-errors"))
    store.imports.add_judgments(name, entries, check=False)
    back = said(store.exports.export(name, names="names", revisions="all"))
    key = msgspec.json.encode
    assert sorted(map(key, back)) == sorted(map(key, said(entries)))


def test_times_come_back_as_the_same_moments(store: Store) -> None:
    store.campaigns.create(Plan("chat", "breakdown"))
    tokyo = datetime(2026, 5, 1, 9, 0, tzinfo=timezone(timedelta(hours=9)))
    judgment = Judgment("d0", "0", "avery", "breakdown", "1.0", {"breakdown": "O"}, at=tokyo, seconds=0.1)
    store.imports.add_judgments("chat", [Entry("d0", dialogue("d0"), (judgment,))])
    (back,) = said(store.exports.export("chat", names="names"))
    assert back == judgment
    assert back.at is not None
    assert back.at.utcoffset() == timedelta(0)


def test_times_with_and_without_a_zone_stand_beside_each_other(store: Store) -> None:
    """A table's times have none; they count as those of Greenwich."""
    store.campaigns.create(Plan("chat", "breakdown"))
    moments = (datetime(2026, 5, 1, 9), datetime(2026, 5, 1, 8, tzinfo=UTC))
    given = tuple(
        Judgment("d0", segment, "avery", "breakdown", "1.0", {"breakdown": "O"}, at=at)
        for segment, at in zip("02", moments, strict=True)
    )
    assert store.imports.add_judgments("chat", [Entry("d0", dialogue("d0"), given)]).judgments == 2
    check_counts(store)


def test_imported_judgments_take_places_and_people_do_the_rest(store: Store) -> None:
    store.campaigns.create(Plan("chat", "breakdown", per_unit=2))
    given = [Judgment("d0", "0", name, "breakdown", "1.0", {"breakdown": "O"}) for name in ("a", "b", "c")]
    store.imports.add_judgments("chat", [Entry("d0", dialogue("d0"), tuple(given))])
    progress = store.progress.of_campaign("chat")
    assert (progress.done, progress.surplus, progress.complete, progress.wanted) == (2, 1, 1, 6)
    avery, blake = people(store, "avery", "blake")
    assert judge_all(store, avery) == 2
    assert judge_all(store, blake) == 2
    assert store.assignment.next_units(avery, "chat") == Nothing("done")
    assert len(said(store.exports.export("chat"))) == 7
    assert store.access.sign_in("a", "") is None
    check_counts(store)


def test_an_import_finishes_what_a_person_had_begun(store: Store, clock: Clock) -> None:
    campaign(store, documents=1, turns=2)
    (me,) = people(store, "avery")
    reserve(store, me)
    save(store, 1, me, "T", submitted=False)
    given = Judgment("d0", "0", "avery", "breakdown", "1.0", {"breakdown": "O"}, revision=5)
    store.imports.add_judgments("chat", [Entry("d0", None, (given,))])
    assert [unit.state for unit in store.assignment.own_units(me, "chat")] == ["done", "reserved"]
    assert save(store, 1, me, "X").revision == 6
    assert (store.progress.of_campaign("chat").done, store.progress.of_campaign("chat").people[0].drafts) == (
        1,
        0,
    )
    check_counts(store)


def test_an_import_votes_in_a_chain(store: Store) -> None:
    store.campaigns.create(Plan("chat", "breakdown"))
    store.campaigns.create(Plan("types", "error-types", chain=Chain("chat")))
    given = Judgment("d0", "0", "avery", "breakdown", "1.0", {"breakdown": "X"})
    store.imports.add_judgments("chat", [Entry("d0", dialogue("d0"), (given,))])
    assert store.progress.of_campaign("types").units == 1
    judged = Judgment("d0", "0", "blake", "error-types", "1.2", {"types": ("uninterpretable",)})
    assert store.imports.add_judgments("types", [Entry("d0", dialogue("d0"), (judged,))]).judgments == 1
    check_counts(store)


BAD = {
    "no such unit": Judgment("d0", "1", "avery", "breakdown", "1.0", {"breakdown": "O"}),
    "judged it already": Judgment("d0", "0", "avery", "breakdown", "1.0", {"breakdown": "T"}),
    "Z": Judgment("d0", "2", "avery", "breakdown", "1.0", {"breakdown": "Z"}),
    "U+0000": Judgment("d0", "2", "a\0", "breakdown", "1.0", {"breakdown": "O"}),
}


@pytest.mark.parametrize("words", BAD)
def test_a_bad_judgment_stops_the_import_and_nothing_of_it_stays(store: Store, words: str) -> None:
    store.campaigns.create(Plan("chat", "breakdown"))
    good = Judgment("d0", "0", "avery", "breakdown", "1.0", {"breakdown": "O"})
    with pytest.raises(InputError) as error:
        store.imports.add_judgments("chat", [Entry("d0", dialogue("d0"), (good, BAD[words]))])
    assert words in str(error.value)
    assert store.units.document_names("chat") == []
    assert store.people.all() == []


def test_judgments_that_break_rules_come_in_if_that_is_wanted(store: Store) -> None:
    store.campaigns.create(Plan("pairs", "semantic-errors"))
    cut = Judgment(
        "p", None, "avery", "semantic-errors", "1.0", {"errors": (Span("text", 1, 3, "addition"),)}
    )
    entries = [Entry("p", pair("p"), (cut,))]
    with pytest.raises(InputError, match=r"document 'p'.*import without checks"):
        store.imports.add_judgments("pairs", entries)
    store.imports.add_judgments("pairs", entries, check=False)
    assert said(store.exports.export("pairs", names="names")) == [cut]


def test_every_scheme_can_be_exported_and_judged_again(store: Store) -> None:
    """What the workbench saves is what the formats carry: no scheme's answers get lost on the way."""
    answers = {
        "breakdown": {"breakdown": "T", "comment": "hm"},
        "error-types": {"types": ("uninterpretable",)},
        "response-quality": {
            question.id: 3 if question.kind == "scale" else "Y"
            for question in load_scheme("response-quality").questions
            if question.required
        },
    }
    (me,) = people(store, "avery")
    for scheme, answer in answers.items():
        campaign(store, documents=1, turns=1, name=scheme, scheme=scheme)
        save(store, reserve(store, me, scheme)[0], me, campaign=scheme, answers=answer)
        assert [dict(judgment.answers) for judgment in said(store.exports.export(scheme))] == [answer]
