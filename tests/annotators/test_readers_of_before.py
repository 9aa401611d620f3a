"""The readers that models of before name: those files still open, and judge as they did."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from lapsus.annotators.encoder.japanese import ENCODER, NETS, TREES, Japanese, mixed
from lapsus.annotators.encoder.japanese_kernel import (
    Reply,
    Scale,
    TurnVectors,
    likeness,
    numbers_near,
    usual_reply,
)
from lapsus.annotators.encoder.japanese_nets import Nets
from lapsus.annotators.encoder.japanese_surface import form_rows
from lapsus.annotators.encoder.japanese_tokenizer import UNKNOWN, Pieces, normal_form
from lapsus.annotators.encoder.japanese_trees import Trees
from lapsus.annotators.encoder.japanese_vectors import Vectors
from lapsus.annotators.encoder.reader import Passage
from lapsus.annotators.encoder.turn_features import TurnWords
from lapsus.annotators.features.sentence_encoder import LONGEST, WIDTH
from lapsus.annotators.library import default_model, load_model
from lapsus.annotators.model_files import State, read_model
from lapsus.model import Document, Segment
from tests.annotators.invented import ASKED, GREETED
from tests.annotators.models_of_before import write_before

SAID = ("何が好きですか?", "今日は暑いですね。", "映画", "")


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> State:
    path = tmp_path_factory.mktemp("before") / "ja.lapsus"
    write_before("ja", path)
    _, model = read_model(path)
    arrays = {name.removeprefix("reader."): array for name, array in model.arrays.items()}
    return State(model.data["reader_data"], arrays)


@pytest.fixture(scope="module")
def pieces(state: State) -> Pieces:
    return Pieces(state.data["pieces"], state.data["scores"])


@pytest.fixture(scope="module")
def reader(state: State) -> Japanese:
    return Japanese.restore(state)


def vectors_of(state: State, pieces: Pieces) -> Vectors:
    arrays = {
        name.removeprefix(ENCODER): array for name, array in state.arrays.items() if name.startswith(ENCODER)
    }
    return Vectors(pieces, arrays)


def test_nothing_is_one_unknown_piece(pieces: Pieces) -> None:
    assert pieces.ids(" \u3000\u200b") == pieces.ids("") == [1, UNKNOWN, 2]


def test_normal_form_keeps_the_wide_tilde_and_joins_spaces() -> None:
    assert normal_form("　ＡＢＣ\t ｶﾞ～ ") == "▁ABC▁ガ～"


def test_the_likelier_cut_wins() -> None:
    cut = Pieces(
        ["<unk>", "<s>", "</s>", "▁", "a", "b", "ab", "▁ab"], [0, 0, 0, -2.0, -2.0, -2.0, -3.0, -6.0]
    )
    assert cut.ids("ab") == [1, 3, 6, 2]
    assert cut.ids("abx") == [1, 3, 6, UNKNOWN, 2]


def test_vectors_do_not_depend_on_company(state: State, pieces: Pieces) -> None:
    texts = [f"{number}番目の話をしましょう。" * (number % 4 + 1) for number in range(120)]
    together = vectors_of(state, pieces).of(texts)
    alone = vectors_of(state, pieces)
    assert np.allclose(together, np.vstack([alone.of([text]) for text in texts]), atol=5e-5)
    assert np.array_equal(alone.of(texts[::-1])[::-1], alone.of(texts))


def test_empty_and_endless_utterances_have_vectors(state: State, pieces: Pieces) -> None:
    endless = "海" * (LONGEST * 3)
    rows = vectors_of(state, pieces).of(["", endless, endless + "山", " "])
    assert not rows[0].any()
    assert np.array_equal(rows[1], rows[2])
    assert rows.shape == (4, WIDTH)
    assert np.isfinite(rows).all()


def test_logits_do_not_depend_on_company(state: State) -> None:
    passages = [Passage(ASKED, text) for text in SAID]
    together, alone = Japanese(state).logits(passages), Japanese(state)
    assert np.allclose(together, np.vstack([alone.logits([passage]) for passage in passages]), atol=2e-3)


def test_reads_nothing_and_odd_things(reader: Japanese) -> None:
    assert reader.logits([]).shape == (0, 3)
    odd = [
        Passage((), ""),
        Passage((), "🎉"),
        Passage((TurnWords(False, ""),), "hello there"),
        Passage(GREETED * 40, "。"),
    ]
    assert np.isfinite(reader.logits(odd)).all()


def test_a_reader_can_be_kept(reader: Japanese) -> None:
    again = Japanese.restore(reader.state())
    passages = [Passage(ASKED, text) for text in SAID]
    assert np.array_equal(again.logits(passages), Japanese.restore(reader.state()).logits(passages))


def test_the_same_turn_is_most_like_itself() -> None:
    rows = np.eye(3, 4, dtype=np.float32)
    like = likeness(TurnVectors(rows, rows, rows, rows), TurnVectors(rows, rows, rows, rows))
    for part in (*like, numbers_near(rows, rows)):
        assert part.diagonal() == pytest.approx(1)
        assert (part[~np.eye(3, dtype=bool)] < 0.8).all()


def test_a_scale_draws_in_what_lies_far_out() -> None:
    scale = Scale.of(np.array([[0.0], [2.0]], dtype=np.float32))
    assert scale(np.array([[1.0], [99.0]], dtype=np.float32)).ravel() == pytest.approx([0, 4])


def test_a_reply_that_is_guessed_fits_best() -> None:
    one = np.eye(2, dtype=np.float32)
    reply = Reply(
        np.vstack([one, np.zeros((1, 2), dtype=np.float32)]), np.zeros(2, dtype=np.float32), one, one
    )
    last = np.array([[1, 0], [1, 0]], dtype=np.float32)
    fits = reply.fit_of(TurnVectors(np.array([[1, 0], [0, 1]], dtype=np.float32), last, last, last))
    assert fits[0] == pytest.approx([1, 1, 1])
    assert fits[1] == pytest.approx([0, -1, 0])


def test_a_reply_that_people_gave_is_the_usual_one() -> None:
    ways = np.eye(4, dtype=np.float32)
    nothing = np.zeros((4, 4), dtype=np.float32)
    said = TurnVectors(nothing, ways[[0, 1, 0, 1]], ways[[2, 3, 2, 3]], nothing)
    asked = TurnVectors(ways[[0, 1]], ways[[2, 2]], nothing[:2], nothing[:2])
    usual, unusual = usual_reply(asked, said)
    assert (usual > 0).all()
    assert (unusual < 0).all()
    assert abs(usual[1]) > abs(usual[0])
    blind = usual_reply(asked, said, np.array([[False, True, False, True], [True, True, True, True]]))
    assert blind[0] == pytest.approx([0, 0], abs=1e-5)
    assert blind[1] == pytest.approx(unusual)


def test_trees_say_what_their_nodes_say() -> None:
    arrays = {
        "sizes": np.array([3, 1, 5], dtype=np.int32),
        "skip": np.array([2, 0, 0, 0, 2, 0, 2, 0, 0], dtype=np.int16),
        "column": np.array([0, 0, 0, 0, 1, 0, 0, 0, 0], dtype=np.int16),
        "bound": np.array([0.5, 0, 0, 0, 1.0, 0, -1.0, 0, 0], dtype=np.float32),
        "values": np.eye(6, dtype=np.float16),
    }
    rows = np.array([[0.5, 1.0], [0.6, 1.1], [-2.0, 9.0]], dtype=np.float32)
    ends = [[0, 2, 3], [1, 2, 5], [0, 2, 4]]
    wanted = [np.eye(6)[places].mean(axis=0) for places in ends]
    assert Trees.restore(arrays).mean(rows) == pytest.approx(np.array(wanted))
    assert Trees.restore(arrays).mean(rows[:0]).shape == (0, 6)


def test_the_form_shows_what_is_taken_up() -> None:
    again, answer, other = form_rows(
        [
            Passage(ASKED, "本当に暑いですね。"),
            Passage(ASKED, "食べ物は何でも好きです。"),
            Passage(ASKED, "ええ"),
        ]
    )
    assert len(again) == len(answer) == len(other) == form_rows([Passage((), "")]).shape[1]
    assert not np.array_equal(again, answer)
    taken = slice(-18, -10)
    assert answer[taken][0] > other[taken][0]
    assert answer[taken][3] > other[taken][3]
    assert again[taken][4] == 1
    assert np.isfinite(form_rows([Passage((), ""), Passage((TurnWords(False, ""),), "🎉")])).all()


def made_nets(nets: int, known: int, vector: int, width: int) -> dict[str, np.ndarray]:
    drawn = np.random.default_rng(3)
    sizes = {
        "known": (known, width),
        "turn": (vector, width),
        "pair": (2 * vector, width),
        "join": (5 * width, width),
        "out": (width, 3),
    }
    arrays = {"middle": drawn.normal(size=known), "spread": drawn.uniform(0.5, 2, size=known)}
    for name, (rows, columns) in sizes.items():
        arrays[f"{name}.weight"] = drawn.normal(size=(nets, rows, columns)) / np.sqrt(rows)
        arrays[f"{name}.bias"] = drawn.normal(size=(nets, columns))
    return arrays


def test_networks_answer_as_their_layers_say_number_by_number() -> None:
    arrays = made_nets(nets=2, known=4, vector=3, width=5)
    drawn = np.random.default_rng(4)
    known = drawn.normal(size=(1, 4)) * 9
    turns = [drawn.normal(size=(1, 3)) for _ in range(3)]

    def bent(number: float) -> float:
        return 0.5 * number * (1 + math.tanh(math.sqrt(2 / math.pi) * (number + 0.044715 * number**3)))

    def layer(name: str, net: int, row: list[float]) -> list[float]:
        weight, bias = arrays[f"{name}.weight"][net], arrays[f"{name}.bias"][net]
        return [
            sum(value * weight[i][j] for i, value in enumerate(row)) + bias[j] for j in range(weight.shape[1])
        ]

    scaled = (known[0] - arrays["middle"]) / arrays["spread"]
    drawn_in = [min(4.0, max(-4.0, number)) for number in scaled.tolist()]
    target, last, before = ([8 * number for number in row[0]] for row in turns)
    products = [8 * a * b for a, b in zip(turns[0][0], turns[1][0], strict=True)]
    apart = [8 * abs(a - b) for a, b in zip(turns[0][0], turns[1][0], strict=True)]
    shares = []
    for net in range(2):
        parts = layer("known", net, drawn_in)
        for row in (target, last, before):
            parts = parts + layer("turn", net, row)
        parts = parts + layer("pair", net, products + apart)
        joined = layer("join", net, [bent(number) for number in parts])
        powers = [math.exp(number) for number in layer("out", net, [bent(number) for number in joined])]
        shares.append([power / sum(powers) for power in powers])
    expected = [(first + second) / 2 for first, second in zip(*shares, strict=True)]
    scene = TurnVectors(*(row.astype(np.float32) for row in turns), np.zeros((1, 0), dtype=np.float32))
    said = Nets.restore(arrays).mean(known.astype(np.float32), scene)[0]
    assert said == pytest.approx(expected, abs=1e-4)


def test_trees_and_networks_have_the_same_say(state: State) -> None:
    known = np.zeros((1, len(state.arrays[f"{NETS}middle"])), dtype=np.float32)
    silent = np.zeros((1, WIDTH), dtype=np.float32)
    scene = TurnVectors(silent, silent, silent, silent)
    parts = {
        prefix: {
            name.removeprefix(prefix): array
            for name, array in state.arrays.items()
            if name.startswith(prefix)
        }
        for prefix in (TREES, NETS)
    }
    trees, nets = Trees.restore(parts[TREES]), Nets.restore(parts[NETS])
    said = mixed(known, scene, trees, nets)
    assert said == pytest.approx((trees.mean(known) + nets.mean(known, scene)) / 2)
    assert said.sum() == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize(
    ("language", "turns", "expected"),
    [
        ("ja", ("今日は暑いですね。", "夏は何が好きですか?"), (0.2342, 0.2354, 0.5305)),
        ("en", ("Hi there. Nice day.", "Do you like the summer?"), (0.2572, 0.3248, 0.4180)),
    ],
)
def test_a_model_of_before_opens_and_judges_as_it_did(
    language: str, turns: tuple[str, str], expected: tuple[float, ...], tmp_path: Path
) -> None:
    """The shares were printed by the version that such files come from."""
    path = tmp_path / "before.lapsus"
    write_before(language, path, read_model(default_model("en"))[1].files["tokenizer.json"])
    model = load_model(path)
    document = Document("d", (Segment("0", "user", turns[0]), Segment("1", "system", turns[1])), language)
    (judgment,) = model.judge([document])
    assert tuple(judgment.distributions["breakdown"].values()) == pytest.approx(expected, abs=1e-3)
    model.save(tmp_path / "again.lapsus")
    assert list(load_model(tmp_path / "again.lapsus").judge([document])) == [judgment]
