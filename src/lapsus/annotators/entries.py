"""Between annotators and entries, as readers give them and writers take them."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator

from lapsus.annotators.base import Annotator
from lapsus.annotators.breakdown import SCHEME
from lapsus.annotators.cases import document_of
from lapsus.errors import InputError
from lapsus.kinds import countable
from lapsus.kinds.votes import collect_votes, scheme_votes
from lapsus.measures.scores.breakdown_labels import breakdown_votes
from lapsus.model import Document, Entry, Judgment, Scheme
from lapsus.model.votes import LabelVotes, Votes
from lapsus.schemes import load_scheme


def joined(entries: Iterable[Entry]) -> list[Entry]:
    """The entries, with judgments that stand apart, as in a table beside the dialogues, put to their documents."""
    whole: list[Entry] = []
    apart: defaultdict[str, list[Judgment]] = defaultdict(list)
    for entry in entries:
        if entry.document is not None:
            whole.append(entry)
        else:
            apart[entry.id] += entry.judgments
    found = [Entry(one.id, one.document, (*one.judgments, *apart.pop(one.id, ()))) for one in whole]
    return found + [Entry(id, None, tuple(judgments)) for id, judgments in apart.items()]


def training_data(entries: Iterable[Entry]) -> tuple[list[Document], LabelVotes]:
    """Dialogues and how people judged their turns for breakdown: what the challenge's methods are fitted on."""
    documents: list[Document] = []
    judgments: list[Judgment] = []
    for entry in joined(entries):
        if entry.document is not None:
            documents.append(entry.document)
            judgments += (judgment for judgment in entry.judgments if judgment.scheme == SCHEME)
    if not judgments:
        raise InputError("nothing-in-it-is-judged-under", hint="give-dialogues-breakdown-labels", id=SCHEME)
    return documents, breakdown_votes(collect_votes(judgments, load_scheme(SCHEME).questions[0]))


def without_dialogues() -> InputError:
    """What to say of a table of judgments: its rows have the text of judged turns only, so no dialogue is whole."""
    return InputError("holds-judgments-without-dialogues", hint="give-file-holds-both")


def documents_and_votes(entries: Iterable[Entry], scheme: Scheme) -> tuple[list[Entry], dict[str, Votes]]:
    """Documents and the votes on a scheme's questions: what `fit` takes.

    The entries keep only judgments under the scheme that this one goes on from.
    """
    kept: list[Entry] = []
    judgments: list[Judgment] = []
    lone = 0
    before = scheme.target.scheme if scheme.target else None
    for entry in joined(entries):
        if entry.document is not None:
            judgments += (judgment for judgment in entry.judgments if judgment.scheme == scheme.id)
            earlier = tuple(judgment for judgment in entry.judgments if judgment.scheme == before)
            kept.append(Entry(entry.id, entry.document, earlier))
        else:
            lone += any(judgment.scheme == scheme.id for judgment in entry.judgments)
    if not judgments and lone:
        raise without_dialogues()
    if not judgments:
        raise InputError("nothing-in-it-is-judged-under", hint="give-judged-documents", id=scheme.id)
    questions = countable(scheme.questions)
    return kept, {question.id: scheme_votes(judgments, scheme, question) for question in questions}


def judged_entries(annotator: Annotator, documents: Iterable[Document | Entry]) -> Iterator[Entry]:
    """Each document with the annotator's judgments. Only the documents of a batch are in memory.

    An annotator that could not judge to the end is an error, after what it did judge.
    """
    waiting: deque[Document] = deque()

    def noted() -> Iterator[Document | Entry]:
        for item in documents:
            if (document := document_of(item)) is not None:
                waiting.append(document)
                yield item

    found: list[Judgment] = []
    for judgment in annotator.judge(noted()):
        while waiting[0].id != judgment.document:
            yield _entry(waiting.popleft(), found)
            found = []
        found.append(judgment)
    if annotator.ended is not None:
        raise annotator.ended
    while waiting:
        yield _entry(waiting.popleft(), found)
        found = []


def _entry(document: Document, judgments: list[Judgment]) -> Entry:
    return Entry(document.id, document, tuple(judgments))
