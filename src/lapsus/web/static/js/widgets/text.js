/** Words of one's own. */
import { el, kbd } from "../dom.js";
import { isRequired, isOneTouch } from "../scheme.js";
import { frame } from "./question_frame.js";

/**
 * @param {import("../types.js").Question} question
 * @param {import("../judging_page.js").Page} page
 * @returns {import("../types.js").Widget}
 */
export function textWidget(question, page) {
  const area = el("textarea", { rows: isRequired(question) ? 4 : 2, maxlength: 10000, disabled: page.isClosed });
  const ready = (page.words.of(question.suggest) ?? []).map((text) => {
    const button = el("button", { type: "button", class: "suggestion", text });
    button.addEventListener("click", () => {
      area.value = area.value ? `${area.value.trimEnd()} ${text}` : text;
      keep();
    });
    return button;
  });
  const suggestions = el("p", { class: "suggestions" }, ...ready);
  const { element, name, ask } = frame(question, page, suggestions, area);
  area.setAttribute("aria-labelledby", name);
  area.setAttribute("aria-describedby", ask);
  page.guide.on(area, { question });

  const keep = (typing = false) => page.set(question.id, area.value.trim() ? area.value : undefined, { typing });
  area.addEventListener("input", () => keep(true));

  // Where one touch answers, a comment is there on demand and does not stand in the way.
  const opener = el("button", { type: "button", class: "plain opener" }, page.words.of(question.name) ?? "", " ", kbd("c"));
  const isFolded = isOneTouch(page.scheme);
  const unfold = (/** @type {boolean} */ open) => {
    element.classList.toggle("folded", isFolded && !open);
    opener.setAttribute("aria-expanded", String(open));
  };
  if (isFolded) {
    element.prepend(opener);
    unfold(false);
    opener.addEventListener("click", () => focus());
  }
  const focus = () => {
    unfold(true);
    area.focus();
  };

  return {
    question,
    element,
    show(answer) {
      const text = typeof answer === "string" ? answer : "";
      if (area.value.trim() !== text.trim() || document.activeElement !== area) area.value = text;
      if (isFolded && text) unfold(true);
    },
    focus,
  };
}
