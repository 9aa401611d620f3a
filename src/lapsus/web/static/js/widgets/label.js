/** One of several labels. */
import { el } from "../dom.js";
import { isRequired, labelsOf, lettersOf, numbersOf, sign } from "../scheme.js";
import { NumberKeys } from "./number_keys.js";
import { frame, keyOn, roving } from "./question_frame.js";

/**
 * @param {import("../types.js").Question} question
 * @param {import("../judging_page.js").Page} page
 * @returns {import("../types.js").Widget}
 */
export function labelWidget(question, page) {
  const labels = labelsOf(page.scheme, question);
  const numbers = numbersOf(labels);
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
  const chooseByKey = (/** @type {number} */ place) => {
    // From here Tab goes on to the next question.
    if (!page.oneTouch) buttons[place].focus();
    choose(labels[place].id);
    page.advance(question);
  };
  const typed = new NumberKeys(numbers, (number) => {
    const place = numbers.indexOf(number);
    // Whoever went elsewhere before the number was complete stays there.
    if (page.oneTouch || page.current === question.id) chooseByKey(place);
    else choose(labels[place].id);
  });
  element.firstElementChild?.append(typed.element);
  const keys = labels.map((label, place) => [...(numbers[place] === undefined ? [] : [String(numbers[place])]), ...lettersOf(label)]);
  const buttons = labels.map((label, place) => {
    const pressed = keys[place].filter((key) => key.length === 1);
    const button = el(
      "button",
      { type: "button", class: "choice", role: "radio", "aria-checked": "false", "aria-keyshortcuts": pressed.join(" ") || null, data: { label: label.id } },
      keyOn(label, numbers[place]),
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
    numbers: typed.numbers,
    digit: (digit) => typed.type(digit),
    commit: () => typed.commit(),
    // Where there are several questions, numbers are said of all of them at once.
    bindings: labels.map((label, place) => ({
      keys: page.oneTouch ? keys[place] : lettersOf(label),
      label: page.words.of(label.name) ?? label.id,
      run: () => chooseByKey(place),
    })),
    focus: () => (buttons.find((button) => button.tabIndex === 0) ?? buttons[0])?.focus(),
  };
}
