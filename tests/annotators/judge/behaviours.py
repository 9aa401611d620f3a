"""A guideline of one's own with five yes/no questions, four of which invented turns show and one a coin decides."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lapsus.model import Document, Entry, Judgment, Scheme, Segment
from lapsus.schemes import read_scheme

QUESTIONS = ("asks", "food", "repeats", "rude", "luck")
"""Whether it asks something, is about food, repeats itself, is rude; the last is answered by tossing a coin."""
_TOPICS = {
    True: [
        "The soup is hot.",
        "I bake bread at home.",
        "Rice and beans are cheap.",
        "This cake is too sweet.",
    ],
    False: [
        "The train leaves at nine.",
        "My car is red.",
        "It rains in the hills.",
        "The museum is closed today.",
    ],
}
_ASKED = {
    True: ["What do you cook?", "Which fruit do you like?", "Do you eat cheese?"],
    False: ["Where do you live?", "Do you own a bicycle?", "When does it open?"],
}
_RUDE = ["You are stupid.", "Shut up, idiot.", "Nobody likes you, you fool."]


def yes_no_scheme(folder: Path, version: str = "1", *, more: str = "") -> Path:
    """The scheme's file."""
    lines = [
        "scheme: behaviours",
        f'version: "{version}"',
        "title: {en: Behaviours}",
        "summary: {en: What does the turn do?}",
        "unit: {role: system, context: before}",
        "questions:",
    ]
    for id in (*QUESTIONS, *([more] if more else [])):
        lines += [
            f"  - id: {id}",
            "    kind: label",
            f"    name: {{en: {id}}}",
            f"    ask: {{en: Does it show {id}?}}",
            "    labels:",
            '      - {id: "yes", name: {en: "yes"}, definition: {en: it does}}',
            '      - {id: "no", name: {en: "no"}, definition: {en: it does not}}',
        ]
    path = folder / f"behaviours-{version}.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def scheme(folder: Path) -> Scheme:
    return read_scheme(yes_no_scheme(folder))


def entries(count: int, seed: int = 0, rude: float = 0.3) -> list[Entry]:
    """Dialogues of four system turns, judged by three people who err now and then. `rude`: how often turns are."""
    generator = np.random.default_rng(seed)
    found = []
    for number in range(count):
        turns: list[Segment] = []
        judgments: list[Judgment] = []
        said: list[str] = []
        for place in range(4):
            turns.append(Segment(f"u{place}", "user", str(generator.choice(["Hello.", "Go on.", "I see."]))))
            drawn = (bool(generator.random() < share) for share in (0.5, 0.5, 0.3, rude))
            asks, food, repeats, is_rude = drawn
            repeats = repeats and bool(said)
            if repeats:
                text = said[-1]
            else:
                text = str(generator.choice(_ASKED[food] if asks else _TOPICS[food]))
                text += f" {generator.choice(_RUDE)}" if is_rude else ""
            truth = {
                "asks": "?" in text,
                "food": any(text.startswith(one) for one in (*_TOPICS[True], *_ASKED[True])),
                "repeats": repeats,
                "rude": any(one in text for one in _RUDE),
            }
            said.append(text)
            turns.append(Segment(f"s{place}", "system", text))
            for person in ("ann", "ben", "cleo"):
                answers = {
                    id: "yes" if truth[id] != (generator.random() < min(0.08, rude / 4)) else "no"
                    for id in QUESTIONS[:4]
                }
                answers["luck"] = "yes" if generator.random() < 0.5 else "no"
                judgments.append(
                    Judgment(f"d{seed}-{number}", f"s{place}", person, "behaviours", "1", answers)
                )
        document = Document(f"d{seed}-{number}", tuple(turns), "en")
        found.append(Entry(document.id, document, tuple(judgments)))
    return found
