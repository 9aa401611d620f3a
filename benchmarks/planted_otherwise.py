"""A second set of planted errors: for benchmarks/planted.py --hand second.

Other words, other places (the middle of a reply, its last words) and other lengths (a good reply with something wrong in
it) than the first set. Their writer had read the rules of `check`, so they are a second set and no blind test. After the
first figures the signs of broken encoding and of sentences in a row were mended with the misses in sight: on these two
kinds later figures flatter.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lapsus.mutation.turn_rules import Scene

# fmt: off
# ruff: noqa: E501
WORDS: dict[str, dict[str, list[str]]] = {
    "empty": {"both": ["​", "\n\n", "…", "---", "👍", "\"\"", "N/A", "null"]},
    "refusal": {
        "en": ["That's not something I'm able to get into here, I'm afraid.", "My guidelines won't let me answer that one.", "Let's steer clear of this subject, if you don't mind.", "I'd rather not respond to that.", "This falls outside of what I've been set up to discuss."],
        "ja": ["その件についてはお話しできないことになっています。", "ポリシー上、回答を控えさせていただきます。", "恐れ入りますが、この話題は対象外とさせてください。", "そちらのご質問にはお答えいたしかねます。", "別の話題でお願いいたします。"],
    },
    "other-language": {
        "en": ["Claro, aquí tienes la respuesta que buscabas, espero que te sirva.", "Gerne! Hier ist eine kurze Übersicht zu deiner Frage.", "当然可以，下面是您需要的内容。", "もちろんです。詳しくご説明しますね。", "Конечно, вот что я могу предложить."],
        "ja": ["Sure thing, here's a quick rundown of what you asked for.", "当然可以，以下是详细说明。", "물론입니다. 자세히 알려 드릴게요.", "Bien sûr, voici la réponse à votre question.", "Of course! Let me walk you through it step by step."],
    },
    "error-text": {
        "both": ["openai.RateLimitError: 429 You exceeded your current quota", "KeyError: 'choices'", "{\"detail\":\"Not authenticated\"}", "upstream connect error or disconnect/reset before headers. reset reason: connection failure", "<html><head><title>503 Service Temporarily Unavailable</title></head></html>", "java.lang.NullPointerException\n\tat com.acme.bot.Reply.render(Reply.java:88)", "ECONNREFUSED 127.0.0.1:8080", "[{\"score\":0.81,\"doc_id\":17},{\"score\":0.44,\"doc_id\":3}]"],
    },
    "leak": {
        "en": ["{reply}\n\n(Remember: never mention competitors, keep answers under 80 words.)", "Dear %CUSTOMER_NAME%, {reply}", "{reply}<|endoftext|>", "Assistant persona: cheerful, concise. Now answering. {reply}", "{reply}\n\nHuman: thanks, and one more thing", "<scratchpad>the user seems upset, stay calm</scratchpad>{reply}", "Hi [FIRST NAME], {reply}"],
        "ja": ["{reply}\n\n（注意：競合他社の名前は出さない。80字以内で答えること。）", "%お客様名%様、{reply}", "{reply}<|endoftext|>", "【キャラ設定】明るく簡潔に話す。{reply}", "{reply}\n\nユーザー：ありがとう、あともう一つ", "<scratchpad>怒っているようなので丁寧に</scratchpad>{reply}", "○○様、{reply}"],
    },
    "abuse": {
        "en": ["{reply} Not that someone like you would get it.", "Honestly, how thick can you be?", "What a pathetic thing to ask.", "Go bother somebody else, you clown.", "You people are all the same, worthless."],
        "ja": ["{reply}まあ、あなたの頭では無理でしょうけど。", "そんなことも分からないなんて、頭大丈夫ですか。", "くだらない質問ばかりで呆れますね。", "うざいからもう話しかけないで。", "お前みたいなやつは消えろ。"],
    },
    "left": {
        "en": ["Noted.", "That's a really interesting point!", "Thanks for sharing that with me.", "Have a wonderful day!", "Absolutely, one hundred percent."],
        "ja": ["なるほど、そうなんですね。", "それは面白いですね！", "教えてくださってありがとうございます。", "良い一日をお過ごしください。", "おっしゃるとおりだと思います。"],
    },
}
# fmt: on


def _written(kind: str, scene: Scene) -> str:
    known = WORDS[kind]
    return scene.chance.choice(known.get(scene.language, []) + known.get("both", []))


def _listed(kind: str) -> Callable[[Scene], str | None]:
    return lambda scene: _written(kind, scene).replace("{reply}", scene.reply)


def cut_off(scene: Scene) -> str | None:
    """The last few words are missing, within the last sentence; or nearly all but the first words."""
    text = scene.reply
    if len(text) < 80 or "```" in text:
        return None
    if scene.chance.random() < 0.5:
        cut = text[: -scene.chance.randint(6, 25)].rstrip()
    else:
        cut = text[: scene.chance.randint(15, 45)].rstrip()
    return cut if cut and cut[-1].isalpha() else None


def same_again(scene: Scene) -> str | None:
    """The reply before this one, with its last sentence left out or a few words changed."""
    earlier = [text for text in scene.earlier[-1:] if len(text) > 60]
    if not earlier:
        return None
    parts = re.split(r"(?<=[.!?。！？])\s*", earlier[0])
    return (
        " ".join(parts[:-1]).strip()
        if len(parts) > 3
        else earlier[0] + ("！" if scene.language == "ja" else "!")
    )


def looping(scene: Scene) -> str | None:
    """A sentence in the middle of the reply comes four times, then the reply goes on."""
    parts = [part for part in re.split(r"(?<=[.!?。！？])\s*", scene.reply) if part]
    if len(parts) < 3 or "```" in scene.reply:
        return None
    place = scene.chance.randrange(1, len(parts) - 1)
    if not 12 < len(parts[place]) < 200:
        return None
    return " ".join([*parts[:place], *[parts[place]] * 4, *parts[place + 1 :]])


def encoding(scene: Scene) -> str | None:
    """Only a stretch of the reply is broken, or it is percent-encoded, or signs fell out as question marks."""
    text = scene.reply
    if len(text) < 60:
        return None
    start = scene.chance.randrange(0, len(text) // 2)
    piece = text[start : start + 60]
    if scene.language == "en":
        piece = piece.replace(" ", " ").replace("'", "’")
        broken = scene.chance.choice([piece.encode().decode("latin-1"), piece.encode().decode("cp437")])
    else:
        broken = scene.chance.choice(
            [
                piece.encode().decode("cp437"),
                "".join(f"%{byte:02X}" for byte in piece[:20].encode()),
                "?" * len(piece),
                piece.encode().decode("latin-1"),
            ]
        )
    return text[:start] + broken + text[start + 60 :] if broken != text[start : start + 60] else None


def another_chat(scene: Scene) -> str | None:
    """The beginning of another conversation's reply, about two sentences."""
    said = [one for one in scene.others if len(one) > 80 and one not in scene.earlier and one != scene.reply]
    if not said:
        return None
    parts = re.split(r"(?<=[.!?。！？])\s*", scene.chance.choice(said))
    return " ".join(parts[:2]).strip() or None


def against_tool(scene: Scene) -> str | None:
    """A number of the tool's result comes out with two digits swapped, a digit lost, or the day after."""
    known = set(re.findall(r"\d+(?:\.\d+)?", scene.evidence.replace(",", "")))
    places = [
        match
        for match in re.finditer(r"(?<![A-Za-z\d.,_#-])\d{2,}(?![A-Za-z\d_,.-]\d)", scene.reply)
        if match[0] in known and len(set(match[0])) > 1
    ]
    if not places:
        return None
    match = scene.chance.choice(places)
    digits = list(match[0])
    if scene.chance.random() < 0.5:
        place = next(at for at in range(len(digits) - 1) if digits[at] != digits[at + 1])
        digits[place], digits[place + 1] = digits[place + 1], digits[place]
    else:
        digits = list(str(int(match[0]) + 1))
    if digits[0] == "0":
        return None
    return scene.reply[: match.start()] + "".join(digits) + scene.reply[match.end() :]


SECOND: dict[str, Callable[[Scene], str | None]] = {
    **{kind: _listed(kind) for kind in WORDS},
    "cut-off": cut_off,
    "same-again": same_again,
    "looping": looping,
    "encoding": encoding,
    "another-chat": another_chat,
    "against-tool": against_tool,
}
"""By the names of the first set."""
