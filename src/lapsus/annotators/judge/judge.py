"""The judge: learns any guideline from judgments, and says honestly how well."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from lapsus.annotators.base import Annotator, Opinion, Progress, TrainingData, part_of
from lapsus.annotators.cases import Case, Origin, packed
from lapsus.annotators.judge.counting import SpareStatements, count
from lapsus.annotators.judge.decisions import Decision, decide
from lapsus.annotators.judge.encoder_training import GRAPH, TOKENIZER, OwnVectors
from lapsus.annotators.judge.feature_sets import READER, FeatureSets
from lapsus.annotators.judge.features import Vectors, feature_rows
from lapsus.annotators.judge.learning import (
    Model,
    Report,
    learn,
    predicted,
    report_lines,
    report_table,
    short_lines,
)
from lapsus.annotators.judge.people_answers import (
    LEAST,
    PeopleAnswers,
    drawn_cases,
    learnable_answers,
    learnable_marks,
    left_open,
    origin_of_answers,
    parted_for_tuning,
    people_answers,
)
from lapsus.annotators.judge.regression import Projection, Weights, fit, predict, predict_logits
from lapsus.annotators.judge.sentence_vectors import sentence_vectors
from lapsus.annotators.judge.span_features import PairReadings, can_read
from lapsus.annotators.judge.spans import (
    Marked,
    Side,
    learn_spans,
    mark,
    need_places,
    restored_sides,
    side_arrays,
)
from lapsus.annotators.library import need_at_least
from lapsus.annotators.model_files import REPORTS, State
from lapsus.annotators.optional_libraries import one_thread
from lapsus.errors import InputError, UsageError
from lapsus.kinds import Kind, countable, kinds_of
from lapsus.kinds.votes import marks_in
from lapsus.model import EMPTY, Answer, Unit
from lapsus.model.votes import SpanVotes, Votes
from lapsus.notices import as_text
from lapsus.reports import Table

MOST: Final = 20_000
"""Units that are learned from at most: memory stays bounded, and more bring little."""
_AT_ONCE: Final = 256
_OPEN_PENALTY: Final = 0.1
_OFTEN: Final = 0.02
"""Share of people who leave a question open, from which the judge learns to leave it open too."""
_LEFT_OPEN: Final = 0.5
"""Share of people who would leave a question open, from which the judge does."""
_DECIMALS: Final = 5


class Judge(Annotator):
    """Learns every question of kind label, labels, scale and spans from people's votes.

    Frozen multilingual sentence vectors of a unit and of what it answers, some numbers, and the votes of the scheme
    that this one goes on from are the features; a regularised regression gives each answer its share, and answers are
    given as often as by people. Marks are learned word by word: see `spans`.
    """

    method = "judge"
    title = "learns any guideline from your own judgments, in seconds; 16 languages"
    any_language = True
    uses_words = False

    def __init__(
        self,
        *,
        seed: int = 0,
        most: int = MOST,
        encoder: str = "",
        tune: bool = False,
        features: str = READER,
    ) -> None:
        super().__init__()
        need_at_least(0, seed=seed)
        need_at_least(LEAST, most=most)
        if tune and not encoder:
            raise UsageError("nothing-tune", hint="name-encoder-your-own")
        self.seed = seed
        self.most = most
        self.encoder = encoder
        """A folder as Hugging Face has them, or a name that a hub knows; empty: the shipped sentence vectors."""
        self.tune = tune
        """Whether it is trained through, on a part of the documents."""
        self.features = features
        """Further features beside the vectors: any of signs, words and reader, with commas between them."""
        self.features_ = FeatureSets(features)
        self.own_: OwnVectors | None = None
        self.models_: dict[str, Model] = {}
        """For questions of kind label, labels and scale; all of them give shares, and those that are useful answers."""
        self.hidden_: Weights | None = None
        """A layer between features and questions, where `tools/train` learned one with them."""
        self.open_: dict[str, Weights] = {}
        """For questions that people often leave open: the weights of "answered" and "left open"."""
        self.sides_: dict[str, tuple[Side, ...]] = {}
        """For questions of kind spans: what was learned of the labels on each kind of segment."""
        self.readings_: PairReadings | None = None
        """The shipped reader of data and text, where marks on such pairs were learned."""
        self.counted_: dict[str, str] = {}
        """For questions whose levels the guideline works out: what is counted, where `tools/train` measured that."""
        self.spare_: SpareStatements | None = None
        """What it knows of statements that could go, where it counts them."""
        self.earlier_: tuple[str, ...] = ()
        self.reports_: tuple[Report, ...] = ()
        self.measured_by: Mapping[str, Votes] = EMPTY
        """For questions on which people saw suggestions: the votes of those who did not, by which it is measured."""

    def forget(self) -> None:
        """Compute every vector anew."""
        self._vectors.forget()

    def parameters(self) -> dict[str, Any]:
        """The parameters as they are set; of an encoder its name, not where it lies on somebody's disk."""
        return {**super().parameters(), "encoder": Path(self.encoder).name}

    @property
    def unanswered(self) -> list[str]:
        """The questions that it gives no answer to: not told better than by chance, or with too few answers."""
        answered = {report.question for report in self.reports_ if report.answered}
        answered |= self.counted_.keys() - {report.question for report in self.reports_}
        return [question.id for question in countable(self.scheme.questions) if question.id not in answered]

    def summary(self) -> list[str]:
        """Agreement with people beyond chance, a line a question."""
        return short_lines(self.reports_, self.unanswered)

    def account(self) -> list[str | Table]:
        """The table of agreement, and what follows from it."""
        return [report_table(self.reports_), *report_lines(self.reports_, self.unanswered)]

    def report(self) -> dict[str, Any]:
        """What `account` tells, as JSON values."""
        return {
            "agreement": msgspec.to_builtins(self.reports_, enc_hook=as_text),
            "unanswered": self.unanswered,
        }

    def _learn_from(self, training: TrainingData, languages: Sequence[str], progress: Progress) -> Origin:
        if not any(kind.choices or kind.on_text for kind in kinds_of(self.scheme).values()):
            raise UsageError("asks-nothing-judge-can", hint="learns-questions-kind-label", id=self.scheme.id)
        cases = drawn_cases(training.cases, self.most, self.seed)
        self.features_ = FeatureSets(self.features, languages)
        texts = packed(training.texts[name] for name in {case.unit.document for case in cases})
        if self.encoder:
            cases = self._with_own_encoder(training, cases, part_of(progress, 0.0, 0.7))
            progress = part_of(progress, 0.7, 1.0)
        units = [case.unit.key for case in cases]
        given = learnable_answers(self.scheme, training.votes, units)
        marks = learnable_marks(self.scheme, training.votes, cases)
        if not given and not marks:
            raise InputError(
                "no-question-answered-documents", hint="judge-more-documents", id=self.scheme.id, least=LEAST
            )
        self.models_, self.hidden_, self.open_, self.sides_, self.readings_ = {}, None, {}, {}, None
        share = 1.0 if not marks else 0.4 if given else 0.0
        with one_thread():
            reports = self._learn_choices(cases, given, units, part_of(progress, 0.0, share)) if given else []
            for place, (id, votes) in enumerate(marks.items()):
                step = (1.0 - share) / len(marks)
                part = part_of(progress, share + place * step, share + (place + 1) * step)
                reports.append(self._learn_marks(id, votes, cases, part))
        self.reports_ = tuple(reports)
        # A file holds fewer digits, and here it must judge as it does where it was loaded.
        self._set_weights(self._state())
        return msgspec.structs.replace(
            origin_of_answers(self.scheme, cases, given, marks, languages), texts=texts
        )

    def _with_own_encoder(
        self, training: TrainingData, cases: Sequence[Case], progress: Progress
    ) -> Sequence[Case]:
        """Load the encoder and tune it where asked; the cases that are left to learn from.

        What it was tuned on it knows too well to be measured by, and a regression would trust it too far there.
        """
        from lapsus.annotators.judge.encoder_training import LoadedEncoder

        loaded = LoadedEncoder(self.encoder)
        if self.tune:
            tuned, cases = parted_for_tuning(cases, self.seed)
            given = learnable_answers(self.scheme, training.votes, [case.unit.key for case in tuned])
            if not given:
                raise InputError("too-little-tune-encoder", hint="judge-more-documents-leave", least=LEAST)
            loaded.tune(tuned, given, self.seed, progress)
        self.own_ = loaded.vectors()
        return cases

    def _learn_choices(
        self,
        cases: Sequence[Case],
        given: Mapping[str, PeopleAnswers],
        units: Sequence[Any],
        progress: Progress,
    ) -> list[Report]:
        # The labels of the earlier scheme that votes were given to.
        self.earlier_ = tuple(sorted({label for case in cases for label in case.earlier}))
        rows = self._rows(cases, part_of(progress, 0.0, 0.6))
        self.projection_ = Projection.of(rows, 3 * self._vectors.width)
        ready = self.projection_.rows(rows)
        reports = []
        for place, (id, one) in enumerate(given.items()):
            model, report = learn(one, ready[one.rows], self.seed, self._unaided(one, units))
            reports.append(report)
            self.models_[id] = model._replace(weights=self.projection_.turned_back(model.weights))
            part_of(progress, 0.6, 1.0)(place + 1, len(given))
        self.open_ = self._left_open(given, ready)
        return reports

    def _learn_marks(self, id: str, votes: SpanVotes, cases: Sequence[Case], progress: Progress) -> Report:
        kind, unaided = kinds_of(self.scheme)[id], marks_in(self.measured_by.get(id))
        units = [case.unit for case in cases]
        self.readings_ = PairReadings() if can_read(units) else None
        sides, report = learn_spans(
            kind, votes, units, self._vectors, self.readings_, self.seed, unaided, progress
        )
        if report.answered:
            self.sides_[id] = sides
        return report

    def _unaided(self, given: PeopleAnswers, units: Sequence[Any]) -> PeopleAnswers | None:
        votes = self.measured_by.get(given.kind.question.id)
        return None if votes is None else people_answers(given.kind, votes, units)

    def _left_open(
        self, given: Mapping[str, PeopleAnswers], ready: NDArray[np.float32]
    ) -> dict[str, Weights]:
        found = {}
        for id, left in left_open(given, len(ready)).items():
            if id in self.models_ and not given[id].kind.question.required and left.mean() > _OFTEN:
                shares = np.column_stack([1 - left, left])
                weights = fit(ready, shares, _OPEN_PENALTY, exclusive=True)
                found[id] = self.projection_.turned_back(weights)
        return found

    @property
    def _vectors(self) -> Vectors:
        return sentence_vectors() if self.own_ is None else self.own_

    def _rows(self, cases: Sequence[Case], progress: Progress) -> NDArray[np.float32]:
        blocks = []
        for place in range(0, len(cases), _AT_ONCE):
            blocks.append(self.feature_rows(cases[place : place + _AT_ONCE]))
            progress(place + len(blocks[-1]), len(cases))
        return np.vstack(blocks)

    def feature_rows(self, cases: Sequence[Case]) -> NDArray[np.float32]:
        """A row a case: what the judge looks at."""
        rows = feature_rows(cases, self._vectors, self.earlier_)
        return np.hstack([rows, self.features_.rows([case.unit for case in cases])])

    def _opinions(self, cases: Sequence[Case]) -> list[Opinion]:
        with one_thread():
            chosen = self._choices(cases) if self.models_ else [Opinion({}, {}) for _ in cases]
            marked = {id: self._marked(id, sides, cases) for id, sides in self.sides_.items()}
        return [
            _with_marks(opinion, {id: marks[place] for id, marks in marked.items()}, kinds_of(self.scheme))
            for place, opinion in enumerate(chosen)
        ]

    def _marked(self, id: str, sides: Sequence[Side], cases: Sequence[Case]) -> list[Marked]:
        units = [case.unit for case in cases]
        kind = kinds_of(self.scheme)[id]
        need_places(kind, units, self.scheme.id)
        return mark(kind, sides, units, self._vectors, self.readings_)

    def _choices(self, cases: Sequence[Case]) -> list[Opinion]:
        rows = self.projection_.scaled(self.feature_rows(cases))
        rows = rows if self.hidden_ is None else raised(rows, self.hidden_)
        kinds = {id: kind for id, kind in kinds_of(self.scheme).items() if id in self.models_}
        shares = {id: predicted(rows, self.models_[id], kind) for id, kind in kinds.items()}
        left = {id: predict(rows, weights, exclusive=True)[:, 1] for id, weights in self.open_.items()}
        silent = frozenset(self.unanswered)
        found = []
        for place in range(len(cases)):
            answers = {
                id: decide(kind, shares[id][place], self.models_[id].decision)
                for id, kind in kinds.items()
                if id not in silent and not (id in left and left[id][place] >= _LEFT_OPEN)
            }
            distributions = {id: _plain(kind, shares[id][place]) for id, kind in kinds.items()}
            signs = self.features_.evidence(cases[place].unit)
            counted = self._count(cases[place].unit, answers, distributions)
            found.append(Opinion(answers, distributions, evidence=counted or signs))
        return found

    def _count(
        self, unit: Unit, answers: dict[str, Answer], distributions: dict[str, dict[str, float]]
    ) -> list[dict[str, Any]]:
        """Put what can be counted in place of what was learned; the words that lower a level, as JSON values."""
        found, kinds = [], kinds_of(self.scheme)
        for id, what in self.counted_.items():
            counted = count(what, unit, kinds[id].numbers or (), self.spare_)
            if counted is None:
                continue
            distributions[id] = _plain(kinds[id], counted.shares)
            if id not in self.unanswered:
                answers[id] = kinds[id].best((np.array(kinds[id].numbers) == counted.level).astype(float))
                if counted.found:
                    found.append({"question": id, "quotes": list(counted.found)})
        return found

    def _state(self) -> State:
        arrays: dict[str, NDArray[Any]] = {}
        if self.models_:
            arrays = {"mean": self.projection_.mean, "spread": self.projection_.spread}
        for id, sides in self.sides_.items():
            arrays |= {f"{name}.{id}": array for name, array in side_arrays(sides).items()}
        for id, model in self.models_.items():
            arrays |= {f"slopes.{id}": model.weights.slopes, f"bias.{id}": model.weights.bias}
            arrays[f"offsets.{id}"] = model.decision.offsets
        if self.hidden_ is not None:
            arrays |= {"hidden-slopes": self.hidden_.slopes, "hidden-bias": self.hidden_.bias}
        if self.spare_ is not None:
            arrays |= {"spare-slopes": self.spare_.weights.slopes, "spare-bias": self.spare_.weights.bias}
        for id, weights in self.open_.items():
            arrays |= {f"open-slopes.{id}": weights.slopes, f"open-bias.{id}": weights.bias}
        data = {
            "vectors": self._vectors.name,
            "earlier": list(self.earlier_),
            "sides": {id: [list(side.labels) for side in sides] for id, sides in self.sides_.items()},
            "least": {id: model.decision.least for id, model in self.models_.items()},
            "open": list(self.open_),
            REPORTS: msgspec.to_builtins(self.reports_, enc_hook=as_text),
        }
        if self.features_.readers:
            data["readers"] = self.features_.readers
        if competing := [id for id, model in self.models_.items() if model.competing]:
            data["competing"] = competing
        if self.counted_:
            data["counted"] = self.counted_
        if self.spare_ is not None:
            data["spare_cut"] = self.spare_.cut
        if self.readings_ is not None:
            data["pair_reader"] = self.readings_.fingerprint
        if self.own_ is not None:
            data["width"] = self.own_.width
        files = {} if self.own_ is None else self.own_.files
        # The slopes of a hidden layer are most of a file; half of the digits are enough for them.
        kept = {name: np.float16 if name == "hidden-slopes" else np.float32 for name in arrays}
        return State(data, {name: array.astype(kept[name]) for name, array in arrays.items()}, files)

    def _restore(self, state: State) -> None:
        if GRAPH in state.files:
            graph, tokenizer = state.files[GRAPH], state.files[TOKENIZER]
            self.own_ = OwnVectors(str(state.data["vectors"]), graph, tokenizer, int(state.data["width"]))
        if state.data["vectors"] != self._vectors.name:
            raise UsageError("learned-vectors-not-here", data=state.data["vectors"])
        readers = dict(state.data.get("readers", {}))
        self.features_ = FeatureSets(self.features, readers)
        if readers != self.features_.readers:
            raise UsageError("learned-other-readers-chat")
        if "pair_reader" in state.data:
            self.readings_ = PairReadings(str(state.data["pair_reader"]))
        self.counted_ = dict(state.data.get("counted", {}))
        self.earlier_ = tuple(map(str, state.data["earlier"]))
        self.reports_ = msgspec.convert(state.data["reports"], tuple[Report, ...])
        self._set_weights(state)

    def _set_weights(self, state: State) -> None:
        arrays = {name: np.asarray(array, dtype=np.float64) for name, array in state.arrays.items()}
        width = 3 * self._vectors.width
        if state.data["least"]:
            self.projection_ = Projection(width, arrays["mean"], arrays["spread"], np.zeros((width, 0)))
        self.sides_ = {
            id: restored_sides(
                labels,
                {
                    name.removesuffix(f".{id}"): array
                    for name, array in arrays.items()
                    if name.endswith(f".{id}")
                },
            )
            for id, labels in state.data["sides"].items()
        }
        self.models_ = {
            id: Model(
                Weights(arrays[f"slopes.{id}"], arrays[f"bias.{id}"]),
                Decision(arrays[f"offsets.{id}"], int(least)),
                id in state.data.get("competing", ()),
            )
            for id, least in state.data["least"].items()
        }
        if "hidden-slopes" in arrays:
            self.hidden_ = Weights(arrays["hidden-slopes"], arrays["hidden-bias"])
        if "spare-slopes" in arrays:
            spare = Weights(arrays["spare-slopes"], arrays["spare-bias"])
            self.spare_ = SpareStatements(spare, float(state.data["spare_cut"]))
        self.open_ = {
            id: Weights(arrays[f"open-slopes.{id}"], arrays[f"open-bias.{id}"]) for id in state.data["open"]
        }


def raised(rows: NDArray[np.float32], layer: Weights) -> NDArray[np.float32]:
    """The numbers of a hidden layer: what is below zero is nothing."""
    return np.maximum(predict_logits(rows, layer), 0.0).astype(np.float32)


def _plain(kind: Kind, shares: NDArray[np.float64]) -> dict[str, float]:
    """A distribution in few decimals; one over single answers still adds up to 1."""
    rounded = shares.round(_DECIMALS)
    if not kind.several:
        most = int(rounded.argmax())
        rounded[most] = round(float(1 - (rounded.sum() - rounded[most])), _DECIMALS)
    return kind.as_json(rounded)


def _with_marks(opinion: Opinion, marked: Mapping[str, Marked], kinds: Mapping[str, Kind]) -> Opinion:
    """An opinion with marks; those that break a rule of how many there are, are left out."""
    if not marked:
        return opinion
    kept = {id: one for id, one in marked.items() if kinds[id].allows(one.spans)}
    expected = {label: number for one in marked.values() for label, number in one.expected.items()}
    answers = {**opinion.answers, **{id: one.spans for id, one in kept.items()}}
    scores = {id: one.scores for id, one in kept.items()}
    return Opinion(answers, opinion.distributions, scores, expected=expected)
