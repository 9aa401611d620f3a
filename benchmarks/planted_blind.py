"""A third set of planted errors: for benchmarks/planted.py --hand third.

Written before its writer had read the rules of `check`, after what serving stacks, frameworks of agents and tired models
do. Measured blind, once: among the first forty 79% of 117 in English and 74% of 117 in Japanese, 1.4% and 2.2% of good
turns called likely. Then the rules were mended with the misses in sight: later figures flatter.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable

from lapsus.mutation.turn_rules import Scene

# fmt: off
# ruff: noqa: E501
WORDS: dict[str, dict[str, list[str]]] = {
    "empty": {"both": ["\u200b\n", "<br>", "&nbsp;", "```\n```", "**  **", "\u3000", "- ", "None", "<p></p>", "\ufeff", "undefined", ". . ."]},
    "refusal": {
        "en": ["I apologize, but I don't feel comfortable continuing with this request.", "Unfortunately that goes against the usage policy, so I have to stop here. Is there something else you'd like to do?", "Sorry, no can do. Company rules prevent me from touching this one.", "For safety reasons this conversation cannot be continued along these lines.", "I must decline. As a language model I am not permitted to produce such content.", "It wouldn't be appropriate for me to provide that information."],
        "ja": ["安全上の理由により、このご依頼にはお応えすることができません。ご理解のほどお願いいたします。", "大変申し訳ございませんが、利用規約に抵触するおそれがあるため、ここまでとさせていただきます。", "言語モデルである私には、そのような内容を作成する権限がありません。", "すみませんが、この手の質問に答えるのは遠慮しておきます。", "その情報をお伝えするのは適切ではないと判断しました。", "当サービスではそのようなご質問は受け付けておりません。"],
    },
    "other-language": {
        "en": ["Certamente! Ecco alcune informazioni che potrebbero esserti utili.", "Claro! Vou verificar isso para você agora mesmo, só um momento.", "Tentu saja, berikut penjelasan yang Anda minta.", "Elbette, hemen yardımcı olayım. Lütfen biraz bekleyin.", "بالطبع، إليك ما طلبته بالتفصيل.", "Dạ vâng, mình xin gửi bạn thông tin chi tiết ngay đây.", "沒問題，以下是我為您整理的重點。"],
        "ja": ["沒問題，以下是我為您整理的重點。", "Certainly. Below you will find the points that matter most in this situation.", "Claro, vou explicar isso em detalhes para você.", "Tentu saja, berikut penjelasan yang Anda minta.", "네, 요청하신 내용을 정리해 보았습니다.", "好的，我们来一步一步看这个问题。", "{half}Let me continue in English: the remaining points are straightforward and follow from what was said above, so there is no need to repeat every single detail of the reasoning here."],
    },
    "error-text": {
        "en": ["Sorry, something went wrong on our end. Please try again later. (ref 8f3a21c0)", "Oops! We hit a snag while generating this response. Regenerate", "There was an error generating a response"],
        "ja": ["申し訳ありません。システムで問題が発生しました。時間をおいて再度お試しください。（参照番号 8f3a21c0）", "応答の生成中に問題が発生しました。再生成してください。", "ネットワークに接続できませんでした"],
        "both": ["Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error', 'message': 'Overloaded'}}", "TypeError: Cannot read properties of undefined (reading 'map')", "{\"response\": {json}, \"confidence\": 0.42}", "Thought: I should look this up first.\nAction: search\nAction Input: {\"query\": \"status\"}", "psycopg2.OperationalError: could not connect to server: Connection refused", "<tool_call>{\"name\": \"lookup\", \"arguments\": {\"id\": null}}</tool_call>", "[object Object]", "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()"],
    },
    "leak": {
        "en": ["{reply}\n\n[INTERNAL: escalate to tier 2 if the customer mentions a refund]", "Per my system message I should keep this short and never reveal pricing. {reply}", "Hello {{user.first_name | default: \"there\"}}, {reply}", "<think>Okay, the user wants an answer. I should be polite.</think>\n{reply}", "{reply} [/INST]", "Dear <Customer Name>,\n\n{reply}", "### Assistant:\n{reply}", "{reply}\n\nUser: And what about the other one?\nAssistant: Good question!", "{reply}<|im_end|>\n<|im_start|>user"],
        "ja": ["{reply}\n\n［社内メモ：返金の話が出たら二次対応へ回すこと］", "システムメッセージの指示に従い、料金には触れずに短く答えます。{reply}", "{{user.last_name}}様、{reply}", "<think>丁寧に答えればよさそうだ。</think>\n{reply}", "{reply} [/INST]", "＜お名前＞様\n\n{reply}", "### アシスタント：\n{reply}", "{reply}\n\nユーザー：もう一つのほうはどうですか。\nアシスタント：いい質問ですね。", "{reply}<|im_end|>\n<|im_start|>user"],
    },
    "abuse": {
        "en": ["{reply} Next time use your brain before you ask.", "Are you kidding me? Even a toddler would understand this.", "I'm sick of your whining.", "You're a waste of my time and everyone else's.", "Get lost, loser.", "What kind of imbecile asks that?"],
        "ja": ["{reply}次からは少しは頭を使ってから聞いてください。", "冗談でしょう。幼稚園児でも分かりますよ。", "お前の愚痴にはもううんざりだ。", "あなたの相手をするのは時間の無駄です。", "とっとと失せろ、負け犬。", "どこの間抜けがそんなことを聞くんですか。"],
    },
    "left": {
        "en": ["Is there anything else I can help you with today?", "Welcome back! How can I help?", "Great, I'm glad that is sorted out!", "Please hold on while I check that for you.", "Let me know how it goes!", "Sounds good!", "I hope you are having a lovely week so far."],
        "ja": ["ほかにお手伝いできることはございますか。", "おかえりなさいませ。ご用件をどうぞ。", "解決してよかったです！", "確認いたしますので少々お待ちください。", "また結果を教えてくださいね。", "いいですね！", "今週も良い日が続いているといいですね。"],
    },
}
# fmt: on


def _written(kind: str) -> Callable[[Scene], str | None]:
    def write(scene: Scene) -> str | None:
        asks = re.search(
            r"[?？]|(?:ください|下さい|ですか|ますか)|\b(?:please|can you|write|give|tell)\b", scene.asked
        )
        if kind == "left" and not asks:
            return None
        known = WORDS[kind]
        text = scene.chance.choice(known.get(scene.language, []) + known.get("both", []))
        text = text.replace("{half}", scene.reply[: min(60, len(scene.reply) // 2)])
        return text.replace("{json}", json.dumps(scene.reply, ensure_ascii=False)).replace(
            "{reply}", scene.reply
        )

    return write


def cut_off(scene: Scene) -> str | None:
    """The reply ends at any sign between a third and nine tenths of it, as at a limit of tokens."""
    text = scene.reply
    if len(text) < 100:
        return None
    cut = text[: int(len(text) * scene.chance.uniform(0.33, 0.9))]
    # Where it happens to end with a sentence or a line, nothing shows that something is missing.
    return None if re.search(r"[.!?。！？:：)）」|`*]\s*$|\n\s*$", cut) or cut.count("```") % 2 else cut


def same_again(scene: Scene) -> str | None:
    """An earlier reply comes again, with another opening or none."""
    earlier = [text for text in scene.earlier if len(text) > 50]
    if not earlier:
        return None
    openings = ["", "", "かしこまりました。"] if scene.language == "ja" else ["", "", "Sure! "]
    return scene.chance.choice(openings) + scene.chance.choice(earlier)


def looping(scene: Scene) -> str | None:
    """From somewhere on, the last few words come again and again until the limit."""
    if len(scene.reply) < 60 or "```" in scene.reply:
        return None
    start = scene.reply[: scene.chance.randrange(30, len(scene.reply) - 10)]
    if scene.language == "ja":
        return start + start[-scene.chance.randint(4, 15) :] * scene.chance.randint(5, 20)
    words = start.split()[-scene.chance.randint(1, 6) :]
    return start + (" " + " ".join(words)) * scene.chance.randint(6, 20)


def encoding(scene: Scene) -> str | None:
    """All of the reply went through a wrong code page, was escaped, or lost its signs beyond ASCII."""
    text = scene.reply
    if scene.language == "en":
        text = text.replace("'", "’").replace("- ", "– ")
        if text == scene.reply:
            return None
        ways = [
            text.encode().decode("cp1252", "replace"),
            text.encode("cp1252", "replace").decode("utf-8", "replace"),
            text.encode().decode("latin-1").encode().decode("cp1252", "replace"),
            re.sub(r"[’–]", lambda sign: f"&#{ord(sign[0])};", text),
        ]
    else:
        ways = [
            text.encode("euc-jp", "replace").decode("cp932", "replace"),
            text.encode().decode("cp932", "replace"),
            text.encode("cp932", "replace").decode("utf-8", "replace"),
            json.dumps(text)[1:-1],
            re.sub(r"[^\x00-\x7f]", lambda sign: f"&#x{ord(sign[0]):x};", text),
            html.escape(re.sub(r"[ぁ-ん]", "\ufffd", text)),
        ]
    return scene.chance.choice(ways)


def another_chat(scene: Scene) -> str | None:
    """Another conversation's reply as it is, of any length beyond a few words."""
    said = [one for one in scene.others if len(one) > 40 and one not in scene.earlier and one != scene.reply]
    return scene.chance.choice(said) if said else None


def against_tool(scene: Scene) -> str | None:
    """A value of the tool's result comes out as another one: a number far off, a code with another letter or digit."""
    codes = re.findall(r"\b(?=\w*\d)(?=\w*[A-Z])[A-Z0-9]{5,8}\b", scene.evidence)
    numbers = set(re.findall(r"(?<![\w.])\d{1,6}(?![\w.])", scene.evidence)) - {"0", "1"}
    known = [code for code in codes if code in scene.reply]
    if known and scene.chance.random() < 0.5:
        code = scene.chance.choice(known)
        place = scene.chance.randrange(len(code))
        pool = "23456789" if code[place].isdigit() else "ABCDEFGHJKLMNPQRSTUVWXYZ"
        other = scene.chance.choice(pool.replace(code[place], ""))
        return scene.reply.replace(code, code[:place] + other + code[place + 1 :])
    places = [
        found for found in re.finditer(r"(?<![\w.,:/-])\d[\d,]*(?![\w,:/-]|\.\d)", scene.reply)
        if found[0].replace(",", "") in numbers and not scene.reply[found.end() : found.end() + 2].startswith(". ")
    ]  # fmt: skip
    if not places:
        return None
    spot = scene.chance.choice(places)
    number = int(spot[0].replace(",", ""))
    off = scene.chance.choice([number * 2, number + 7, number * 10, number + max(2, number // 3)])
    return (
        scene.reply[: spot.start()] + (f"{off:,}" if "," in spot[0] else str(off)) + scene.reply[spot.end() :]
    )


THIRD: dict[str, Callable[[Scene], str | None]] = {
    **{kind: _written(kind) for kind in WORDS},
    "cut-off": cut_off,
    "same-again": same_again,
    "looping": looping,
    "encoding": encoding,
    "another-chat": another_chat,
    "against-tool": against_tool,
}
"""By the names of the first set."""
