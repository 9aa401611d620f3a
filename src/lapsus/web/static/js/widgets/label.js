/** One of several labels. */
import { el, kbd } from "../dom.js";
import { isRequired, keysOf, labelsOf, sign } from "../scheme.js";
import { frame, roving } from "./question_frame.js";

/**
 * @param {import("../types.js").Question} question
 * @param {import("../judging_page.js").Page} page
 * @returns {import("../types.js").Widget}
 */
export function labelWidget(question, page) {
  const labels = labelsOf(page.scheme, question);
  const group = el("div", { class: "choices", role: "radiogroup" });
  const { element, name, ask } = frame(question, page, group);
  group.setAttribute("aria-labelledby", name);
  group.setAttribute("aria-describedby", ask);
  /** @type {string|undefined} */
  let chosen;

  const choose = (/** @type {string} */ id) => {
    const takesBack = chosen === id && !isRequired(question);
    page.set(question.id, takesBack ? undefined : id);
    if (!takesBack) page.chosen(question);
  };
  const buttons = labels.map((label) => {
    const keys = keysOf(label);
    const button = el(
      "button",
      { type: "button", class: "choice", role: "radio", "aria-checked": "false", "aria-keyshortcuts": keys.join(" ") || null, data: { label: label.id } },
      ...keys.slice(0, 1).map(kbd),
      sign(label) && el("span", { class: "sign", "aria-hidden": "true", text: sign(label) }),
      el("span", { text: page.words.of(label.name) }),
    );
    button.addEventListener("click", () => choose(label.id));
    page.guide.on(button, { question, label });
    return button;
  });
  group.append(...buttons);
  const stop = roving(group, buttons);

  return {
    question,
    element,
    show(answer) {
      chosen = typeof answer === "string" ? answer : undefined;
      labels.forEach((label, place) => buttons[place].setAttribute("aria-checked", String(label.id === chosen)));
      stop(buttons[Math.max(0, labels.findIndex((label) => label.id === chosen))]);
    },
    bindings: labels.map((label, place) => ({
      keys: keysOf(label),
      label: page.words.of(label.name) ?? label.id,
      run: () => {
        // From here Tab goes on to the next question.
        if (!page.oneTouch) buttons[place].focus();
        choose(label.id);
      },
    })),
    focus: () => (buttons.find((button) => button.tabIndex === 0) ?? buttons[0])?.focus(),
  };
}
