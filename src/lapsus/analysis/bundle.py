"""A bundle: the judgments behind a report, its guideline and settings, and every figure that follows from them.

Whoever reads a paper can have all figures worked out again: `verify` says which of them differ.
"""

import hashlib
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec

from lapsus.analysis.agreement import agree
from lapsus.analysis.corpus import countable_questions, known_schemes, load_corpus
from lapsus.analysis.estimate import question_estimates
from lapsus.analysis.gold_standard import gold
from lapsus.analysis.trust import all_standings, only_drawn, people_and_judges
from lapsus.errors import InputError, UsageError
from lapsus.formats import read
from lapsus.formats.jsonl import Jsonl
from lapsus.formats.packed import DAMAGE
from lapsus.formats.sink import put_in_place
from lapsus.formats.source import check_zip_member
from lapsus.kinds import kind_of
from lapsus.measures.bootstrap import USUAL, Bootstrap
from lapsus.model import ANONYMOUS, Entry, Scheme
from lapsus.schemes import given_schemes, scheme_digest
from lapsus.schemes.scheme_check import findings
from lapsus.text_files import refuse_pipe
from lapsus.trust.ranking import PeopleAndJudges
from lapsus.version import __version__

VOTES, CONTENTS = "judgments.jsonl", "bundle.json"
MOST_RESAMPLES = 100_000
"""Of a bundle that is verified: a stranger's may ask for any number."""
_WORDS = ("signature", "signatures", "note", "notes", "data", "verdict")
"""What is no figure: signatures hold the version of the program, and the rest are words."""
_Figure: TypeAlias = float | int | str | bool | None


class Contents(msgspec.Struct, frozen=True):
    """What a bundle says of itself."""

    lapsus: str
    scheme: Scheme
    guideline: str
    """The digest of the guideline."""
    votes: str
    """The digest of the judgments."""
    method: str
    """How gold was made."""
    resamples: Annotated[int, msgspec.Meta(ge=0, le=MOST_RESAMPLES)]
    seed: Annotated[int, msgspec.Meta(ge=0)]
    figures: dict[str, _Figure]

    @property
    def stated(self) -> dict[str, _Figure]:
        """All that can be worked out again: the figures and both digests."""
        return {"guideline": self.guideline, "votes": self.votes, **self.figures}


class Difference(msgspec.Struct, frozen=True):
    """A figure that is not what the bundle says."""

    figure: str
    stated: _Figure
    found: _Figure


class Verification(msgspec.Struct, frozen=True):
    """What came of working everything out again."""

    figures: int
    differences: tuple[Difference, ...]
    made_with: str
    """The version that made the bundle."""
    verified_with: str


def write_bundle(
    entries: Iterable[Entry],
    scheme: Scheme,
    path: Path,
    *,
    method: str = "majority",
    bootstrap: Bootstrap = USUAL,
    overwrite: bool = False,
) -> int:
    """Write judgments with their documents, and all figures; how many `verify` works out again."""
    if bootstrap.resamples > MOST_RESAMPLES:
        raise UsageError("bundle-resamples", most=f"{MOST_RESAMPLES:,}")
    with tempfile.TemporaryDirectory() as folder:
        votes = Path(folder) / VOTES
        Jsonl().write(entries, votes)
        figures = _figures(votes, scheme, method, bootstrap)
        contents = Contents(
            __version__, scheme, scheme_digest(scheme), _digest(votes), method, bootstrap.resamples, bootstrap.seed,
            figures,
        )  # fmt: skip
        with put_in_place(path, overwrite=overwrite) as draft, zipfile.ZipFile(draft, "w") as packed:
            packed.writestr(CONTENTS, msgspec.json.format(msgspec.json.encode(contents), indent=1))
            packed.write(votes, VOTES, zipfile.ZIP_DEFLATED)
    return len(contents.stated)


def verify(path: Path) -> Verification:
    """Work out every figure of a bundle from the judgments in it."""
    refuse_pipe(path)
    with tempfile.TemporaryDirectory() as folder:
        try:
            with zipfile.ZipFile(path) as packed:
                for name in (CONTENTS, VOTES):
                    check_zip_member(path.name, packed.getinfo(name))
                contents = msgspec.json.decode(packed.read(CONTENTS), type=Contents)
                votes = Path(packed.extract(VOTES, folder))
        except (*DAMAGE, KeyError, msgspec.MsgspecError, RecursionError) as error:
            raise InputError("no-bundle", where=str(path), hint="lapsus-report-bundle-writes") from error
        if wrong := next((one for one in findings(contents.scheme) if one.severe), None):
            raise InputError(wrong.message, where=f"{path}/{CONTENTS}", hint="lapsus-report-bundle-writes")
        found: dict[str, Any] = {"guideline": scheme_digest(contents.scheme), "votes": _digest(votes)}
        plan = Bootstrap(contents.resamples, contents.seed)
        found |= _figures(votes, contents.scheme, contents.method, plan)
    stated = contents.stated
    differences = tuple(
        Difference(name, stated.get(name), found.get(name))
        for name in dict.fromkeys([*stated, *found])
        if not _same(stated.get(name), found.get(name))
    )
    return Verification(len(stated), differences, contents.lapsus, __version__)


def _figures(votes: Path, scheme: Scheme, method: str, bootstrap: Bootstrap) -> dict[str, Any]:
    """Shares, counts and coefficients with their intervals, of each system and annotator too; the gold of every
    question; each system's and program's figures as `lapsus estimate` and `lapsus trust` have them.
    """
    people = votes.with_name("people.jsonl")
    with given_schemes(known_schemes(scheme)):
        Jsonl().write(map(_by_people, read(votes)), people)
    compared = any(kind_of(question, scheme).pair_measure for question in countable_questions(scheme))
    found = dict(_flat(agree(people, scheme=scheme, by="system", each=compared, bootstrap=bootstrap).data))
    for question, made in gold(people, method=method, scheme=scheme).items():
        decided = sorted((unit, str(answer)) for unit, answer in made.by_unit().items())
        found[f"gold.{question}.decided"] = len(decided)
        found[f"gold.{question}.undecided"] = len(made.undecided)
        found[f"gold.{question}.answers"] = hashlib.sha256(msgspec.json.encode(decided)).hexdigest()
    return found | dict(_flat(_compared(votes, scheme)))


def _by_people(entry: Entry) -> Entry:
    judgments = tuple(one for one in entry.judgments if not one.by_program)
    return msgspec.structs.replace(entry, judgments=judgments)


def _compared(votes: Path, scheme: Scheme) -> dict[str, Any]:
    """What systems and programs come to. Whoever had a program's answer in view tells little of whether it is right."""
    whole = load_corpus(votes, scheme=scheme)
    corpus = replace(whole, judgments=[one for one in whole.judgments if "suggested" not in one.metadata])
    who = people_and_judges(corpus, scheme, by_name=False, need_people=False, need_judges=False)
    found: dict[str, Any] = {}
    if who.judges and who.people and not any(name.startswith(ANONYMOUS) for name in who.people):
        for standing in all_standings(corpus, scheme, jury=True):
            found[f"trust.{standing.question}.{standing.judge}"] = _numbers(standing)
    corpus = only_drawn(corpus, scheme, who.people)
    for question in countable_questions(scheme):
        said = corpus.votes(scheme, question)
        judges = [PeopleAndJudges(who.people, (name,)) for name in who.judges if name in said.annotators]
        for seen in judges or [PeopleAndJudges(who.people, ())]:
            for one in question_estimates(corpus, scheme, question, said, seen, "system"):
                what = " - ".join(filter(None, (one.system, one.minus))) or "all"
                name = f"estimate.{question.id}.{one.by}.{one.measure}.{one.label}.{what}"
                found[name] = _numbers(one)
    return found


def _numbers(found: msgspec.Struct) -> dict[str, Any]:
    """What is no word: the rest says again what the figures are of."""
    fields: dict[str, Any] = msgspec.to_builtins(found, enc_hook=str)
    return {name: value for name, value in fields.items() if not isinstance(value, str)}


def _flat(data: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(data, list | tuple):
        data = {str(place): one for place, one in enumerate(data)}
    if not isinstance(data, Mapping):
        yield before, data
        return
    for name, value in data.items():
        if name not in _WORDS:
            yield from _flat(value, f"{before}.{name}" if before else name)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-9 * max(1.0, abs(one))
    return bool(one == other)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
