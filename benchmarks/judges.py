"""What `lapsus train judge` reaches on real corpora, cross-validated by document, and what it costs.

    LAPSUS_DATA=/path/to/corpora python benchmarks/judges.py [--only NAME ...] [--units 100000]

For each guideline: how well the judge ranks units (AUC, Spearman for scales), and one more person; two people, the best
constant answer and the judge, with 95% intervals over documents; for marks F1 of whole words. Then the seconds that
2,000 units take to learn, how many are judged a second, the words that the shipped judge of semantic errors marks,
beside people's, and the memory that judging many units takes. Corpora that are not there are left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Opinion
from lapsus.annotators.judge.agreement import Figure
from lapsus.annotators.judge.judge import Judge
from lapsus.annotators.judge.ranking import Ranking
from lapsus.annotators.library import load_model, model_file, shipped_models
from lapsus.annotators.training import documents_and_votes
from lapsus.errors import LapsusError
from lapsus.formats import read
from lapsus.formats.pairs import facts
from lapsus.measures.scores.ratings import spearman
from lapsus.model import Document, Entry, Judgment, Label, Question, Scheme, Segment, Span, Unit, UnitRule
from lapsus.reports import Table
from lapsus.schemes import load_scheme
from semantic_errors import marked_words

RATED = ("data", "replies", "relevance", "coherence")
RATINGS = {"grade": "coherence_1to5", "gupta": "appropriateness_mean5", "holistic": "context_coherence_1to5"}
COLUMNS = (
    "data",
    "question",
    "units",
    "ranking",
    "ranking of a person",
    "average precision (at random)",
    "people",
    "constant",
    "judge",
    "judge, beyond chance",
    "people, beyond chance",
)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", nargs="*", default=list(CORPORA), choices=list(CORPORA), help="which corpora"
    )
    parser.add_argument(
        "--units", type=int, default=100_000, help="units for the table of memory; 0: leave it out"
    )
    asked = parser.parse_args()
    folder = Path(os.environ.get("LAPSUS_DATA", "."))
    rows, costs = [], []
    for name in asked.only:
        try:
            scheme, entries = CORPORA[name](folder)
        except (OSError, LapsusError) as error:
            sys.stderr.write(f"{name} is left out: {error}\n")
            continue
        found, cost = learned(name, scheme, entries)
        rows += found
        costs.append(cost)
        sys.stderr.write(Table(COLUMNS, tuple(found)).to_text() + "\n")
    sys.stdout.write(Table(COLUMNS, tuple(rows), "How well it judges").to_text() + "\n")
    names = ("data", "units", "seconds to learn", "seconds for 2,000", "judged a second")
    sys.stdout.write(Table(names, tuple(costs), "What it costs").to_text() + "\n")
    sys.stdout.write(shipped())
    if ratings := tuple(rated_replies(folder)):
        sys.stdout.write(Table(RATED, ratings, "Response quality: replies not learned from").to_text() + "\n")
    sys.stdout.write(marked_words(folder).to_text() + "\n")
    if asked.units:
        sys.stdout.write(memory(asked.units) + "\n")


def shipped() -> str:
    """What the shipped judges say of themselves, cross-validated when they were made."""
    lines = []
    for name in shipped_models():
        judge = load_model(model_file(name))
        if isinstance(judge, Judge):
            lines += [name, *map(str, judge.account()), ""]
    return "\n".join(lines) + "\n"


def rated_replies(folder: Path) -> Iterator[tuple[str, int, str, str]]:
    """Spearman's correlation of the shipped judge's scales with people's ratings, text by text."""
    for name, key in RATINGS.items():
        try:
            with gzip.open(folder / "pool" / f"resp_en_{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
                rows = [json.loads(line) for line in lines]
        except OSError as error:
            sys.stderr.write(f"{name} is left out: {error}\n")
            continue
        judge = load_model(model_file("response-quality-en"))
        for data in dict.fromkeys(row.get("dataset", "") for row in rows):
            here = [row for row in rows if row.get("dataset", "") == data]
            given = [row["turns"][-1]["ratings"][key] for row in here]
            means = np.array([sum(one) / len(one) for one in given])
            said = judge.opinions([_last_turn(row) for row in here])
            scales = [_correlation(said, scale, means) for scale in ("relevance", "coherence")]
            yield f"{name} {data}".strip(), len(here), *scales


def _last_turn(row: Any) -> Unit:
    turns = [Segment(str(n), turn["role"], turn["text"]) for n, turn in enumerate(row["turns"])]
    return Unit(str(row["id"]), "en", turns[-1], tuple(turns[:-1]))


def _correlation(said: Sequence[Opinion], scale: str, means: NDArray[Any]) -> str:
    if any(scale not in one.distributions for one in said):
        return "unanswered"
    ours = [sum(int(level) * share for level, share in one.distributions[scale].items()) for one in said]
    return f"{spearman(np.array(ours), means):.3f}"


def learned(name: str, scheme: Scheme, entries: list[Entry]) -> tuple[list[tuple[Any, ...]], tuple[Any, ...]]:
    """The rows of one corpus: how well, and at what cost."""
    judge = Judge()
    judge.scheme = scheme
    lesson = documents_and_votes(entries, scheme)
    begin = time.perf_counter()
    try:
        judge.fit(*lesson)
    except LapsusError as error:
        sys.stderr.write(f"{name}: {error}\n")
    took = time.perf_counter() - begin
    rows = [
        (name, one.question, one.units, *ranked(one.ranking), *map(shown, (
            one.agreement.people, one.agreement.floor, one.agreement.judge,
            one.agreement.judge_beyond, one.agreement.people_beyond,
        )))
        for one in judge.reports_
    ]  # fmt: skip
    units = max((one.units for one in judge.reports_), default=0)
    speed = rate(judge, entries) if judge.origin_ else None
    return rows, (name, units, round(took, 1), round(took * 2000 / max(units, 1), 1), speed)


def ranked(ranking: Ranking | None) -> tuple[str, str, str]:
    """How well units are ranked, by the judge and by one more person, and average precision over prevalence."""
    if ranking is None:
        return "", "", ""
    person = "n/a" if ranking.people is None else f"{ranking.people:.3f}"
    precise = (
        "" if ranking.prevalence is None else f"{ranking.average_precision:.3f} ({ranking.prevalence:.3f})"
    )
    return shown(ranking.judge), person, precise


def rate(judge: Judge, entries: Iterable[Entry]) -> int:
    """Units judged a second, by a judge that is loaded and has read none of them."""
    documents = [entry.document for entry in islice(entries, 400) if entry.document]
    list(judge.judge(documents[:4]))
    judge.forget()  # what it learned from it would know already
    begin = time.perf_counter()
    count = sum(1 for _ in judge.judge(documents))
    return round(count / (time.perf_counter() - begin))


def shown(figure: Figure) -> str:
    """A value with its interval."""
    if figure.value is None:
        return "n/a"
    around = (
        f" [{figure.low:.2f}, {figure.high:.2f}]"
        if figure.low is not None and figure.high is not None
        else ""
    )
    return f"{figure.value:.3f}{around}"


def memory(units: int) -> str:
    """How much memory judging takes at its height, after a hundredth of the units and after all."""
    scheme = load_scheme("breakdown")
    judge = Judge()
    judge.scheme = scheme
    chats = [_chat(number) for number in range(40)]
    said = [
        Judgment(
            chat.id, turn.id, "ada", "breakdown", scheme.version, {"breakdown": "OX"[turn.text[0] == "K"]}
        )
        for chat in chats
        for turn in chat.segments
        if turn.role == "system"
    ]
    by_chat = [Entry(chat.id, chat, tuple(one for one in said if one.document == chat.id)) for chat in chats]
    judge.fit(*documents_and_votes(by_chat, scheme))
    few = 0
    for count, _ in enumerate(judge.judge(_chat(number) for number in range(units // 10 + 1)), 1):
        if count == max(units // 100, 1):
            few = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        if count == units:
            break
    many = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return f"memory at its height: {few:,} MB after {units // 100:,} units, {many:,} MB after {units:,}"


def _chat(number: int) -> Document:
    """An invented chat of ten system turns, no two alike."""
    turns = []
    for turn in range(10):
        word = "Kernel" if (number + turn) % 2 else "Garden"
        turns.append(Segment(f"u{turn}", "user", f"What about number {number * 7 + turn}?"))
        turns.append(Segment(f"s{turn}", "system", f"{word} {number} {turn} is as it was before."))
    return Document(f"chat-{number}", tuple(turns), "en")


def breakdown(name: str, only: str | None = None) -> Callable[[Path], tuple[Scheme, list[Entry]]]:
    """A corpus of the challenge."""
    return lambda folder: (load_scheme("breakdown"), list(read(folder / name, only=only)))


FAULTS = ("Interesting", "Engaging", "Specific", "Relevant", "Correct", "Semantically appropriate", "Fluent")
"""Of FED: what a turn is rated 0 on is a fault, and rare."""
BEHAVIOURS = ("Quan (more)", "AI", "Help", "inform", "Misund")


def yes_no(name: str, questions: Iterable[str]) -> Scheme:
    """A guideline of yes/no questions."""
    labels = tuple(Label(one, {"en": one}, {"en": one}) for one in ("yes", "no"))
    asked = (Question(id, "label", {"en": id}, {"en": id}, labels=labels) for id in questions)
    return Scheme(name, "1", {"en": name}, {"en": name}, UnitRule("system", "before"), tuple(asked))


def faults(folder: Path) -> tuple[Scheme, list[Entry]]:
    """FED: seven rare faults of a reply, five people each."""
    scheme, entries = yes_no("fed", FAULTS), list[Entry]()
    for record in json.loads((folder / "fed.json").read_text(encoding="utf-8")):
        if "response" not in record:
            continue
        said = [
            line.partition(": ")
            for line in [*record["context"].split("\n"), record["response"]]
            if ": " in line
        ]
        turns = [
            Segment(str(n), "system" if who == "System" else "user", text)
            for n, (who, _, text) in enumerate(said)
        ]
        document = Document(f"fed-{len(entries)}", tuple(turns), "en")
        given = record["annotations"]
        judgments = [
            Judgment(document.id, turns[-1].id, f"p{person}", "fed", "1", {
                id: "no" if given[id][person] else "yes" for id in FAULTS
                if person < len(given[id]) and isinstance(given[id][person], int | float)
            })
            for person in range(max(map(len, given.values())))
        ]  # fmt: skip
        entries.append(Entry(document.id, document, tuple(judgments)))
    return scheme, entries


def role_play(folder: Path) -> tuple[Scheme, list[Entry]]:
    """ChatGPT in role play: five behaviours, one person."""
    scheme, entries = yes_no("role-play", BEHAVIOURS), list[Entry]()
    with gzip.open(folder / "pool" / "chat_en_chatgpt_roleplay.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            turns = [Segment(str(n), turn["role"], turn["text"]) for n, turn in enumerate(row["turns"])]
            judgments = []
            for n, turn in enumerate(row["turns"]):
                if turn["role"] == "system" and (told := turn.get("labels", {}).get("naturalness")):
                    seen = {one.strip() for one in told.split(",")}
                    answers = {id: "yes" if id in seen else "no" for id in BEHAVIOURS}
                    judgments.append(Judgment(row["id"], str(n), "a", "role-play", "1", answers))
            entries.append(Entry(row["id"], Document(row["id"], tuple(turns), "en"), tuple(judgments)))
    return scheme, entries


def marks(name: str) -> Callable[[Path], tuple[Scheme, list[Entry]]]:
    """A pool of texts made from data, with marks; records are flattened into triples."""

    def load(folder: Path) -> tuple[Scheme, list[Entry]]:
        with gzip.open(folder / "pool" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        labels = sorted({span["label"] for row in rows for span in row["spans"]})
        scheme = _scheme(name, labels)
        return scheme, list(_marked(rows, scheme))

    return load


def _scheme(name: str, labels: Iterable[str]) -> Scheme:
    own = tuple(Label(label, {"en": label}, {"en": label}, on="text", covers="token") for label in labels)
    question = Question("errors", "spans", {"en": "Errors"}, {"en": "Which?"}, labels=own)
    return Scheme(name, "1", {"en": name}, {"en": name}, UnitRule("document", "all"), (question,))


def _marked(rows: Iterable[Any], scheme: Scheme) -> Iterator[Entry]:
    for place, row in enumerate(rows):
        text = row["text"]
        found, _ = facts(row["data"])
        data = (Segment.triple(f"t{n}", *fact) for n, fact in enumerate(found))
        document = Document(f"{place}", (*data, Segment("text", "text", text)), "en")
        people = row.get("annotators") or sorted({span["annotator"] for span in row["spans"]})
        yield Entry(document.id, document, tuple(
            Judgment(document.id, None, str(person), scheme.id, "1", {"errors": tuple(sorted({
                Span("text", span["start"], min(span["end"], len(text)), span["label"])
                for span in row["spans"]
                if span["annotator"] == person and span["start"] < min(span["end"], len(text))
            }))})
            for person in people
        ))  # fmt: skip


def pairs(folder: Path) -> tuple[Scheme, list[Entry]]:
    """The invented pairs that come with the package."""
    from lapsus.samples import sample_path

    return load_scheme("semantic-errors"), list(read(sample_path("pairs-en")))


CORPORA: dict[str, Callable[[Path], tuple[Scheme, list[Entry]]]] = {
    "dbdc5-en": breakdown("dbdc5-en.zip"),
    "dbdc3-en": breakdown("dbdc3-en.zip", "*/revised/*"),
    "dbdc2-ja": breakdown("dbdc2-ja.zip"),
    "fed": faults,
    "role-play": role_play,
    "pairs-en": pairs,
    "quintd": marks("d2t_en_quintd"),
    "spanannotators": marks("d2t_en_spanannotators"),
    "rotowire": marks("d2t_en_rotowire_accuracy"),
}

if __name__ == "__main__":
    main()
