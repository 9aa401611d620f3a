/** A level of a scale, with what each level means, and a calculator where the guideline has one. */
import { el, newId } from "../dom.js";
import { isRequired } from "../scheme.js";
import { NumberKeys } from "./number_keys.js";
import { frame, roving } from "./question_frame.js";

/**
 * @param {import("../types.js").Question} question
 * @param {import("../judging_page.js").Page} page
 * @returns {import("../types.js").Widget}
 */
export function scaleWidget(question, page) {
  const levels = question.levels ?? [];
  const strip = el("div", { class: "strip", role: "radiogroup" });
  const meaning = el("p", { class: "meaning quiet" });
  const body = question.calculator ? [calculator(question, page)] : [];
  const { element, name, ask } = frame(question, page, strip, meaning, ...body);
  strip.setAttribute("aria-labelledby", name);
  strip.setAttribute("aria-describedby", ask);
  /** @type {number|undefined} */
  let chosen;

  const set = (/** @type {number} */ value) => page.set(question.id, chosen === value && !isRequired(question) ? undefined : value);
  const explain = (/** @type {import("../types.js").Level|undefined} */ level) => {
    const shown = level ?? levels.find((one) => one.value === chosen);
    meaning.textContent = shown ? `${shown.value}: ${page.words.of(shown.meaning)}` : "";
  };
  const buttons = levels.map((level) => {
    const label = `${level.value}: ${page.words.of(level.meaning)}`;
    const button = el("button", { type: "button", class: "level", role: "radio", "aria-checked": "false", "aria-label": label, text: level.value });
    button.addEventListener("click", () => set(level.value));
    // What merely has the focus is not told: whoever reads the first level first is drawn to it. Arrows ask for it.
    button.addEventListener("focus", (event) => strip.contains(/** @type {Node|null} */ (event.relatedTarget)) && explain(level));
    button.addEventListener("blur", () => explain(undefined));
    button.addEventListener("pointerenter", () => explain(level));
    button.addEventListener("pointerleave", () => explain(undefined));
    page.guide.on(button, { question });
    return button;
  });
  strip.append(...buttons);
  const stop = roving(strip, buttons);
  const typed = new NumberKeys(levels.map((level) => level.value), (value) => {
    set(value);
    // Whoever went elsewhere before the number was complete stays there.
    if (page.current !== question.id) return;
    buttons[levels.findIndex((level) => level.value === value)].focus();
    page.advance(question);
  });
  element.firstElementChild?.append(typed.element);

  return {
    question,
    element,
    show(answer) {
      chosen = typeof answer === "number" ? answer : undefined;
      const at = levels.findIndex((level) => level.value === chosen);
      buttons.forEach((button, place) => button.setAttribute("aria-checked", String(place === at)));
      stop(buttons[Math.max(0, at)]);
      explain(undefined);
    },
    numbers: typed.numbers,
    digit: (digit) => typed.type(digit),
    commit: () => typed.commit(),
    focus: () => (buttons.find((button) => button.tabIndex === 0) ?? buttons[0])?.focus(),
  };
}

/**
 * Two counts and the level that follows from them; another level may still be chosen.
 * @param {import("../types.js").Question} question
 * @param {import("../judging_page.js").Page} page
 */
function calculator(question, page) {
  const rule = /** @type {import("../types.js").Calculator} */ (question.calculator);
  const sum = el("output", { class: "sum number quiet" });
  const count = (/** @type {string} */ text, /** @type {number} */ least) => {
    const id = newId();
    const input = el("input", { type: "number", id, min: least, max: 99, inputmode: "numeric", autocomplete: "off" });
    return { input, row: el("div", { class: "count" }, input, el("label", { for: id, text })) };
  };
  const whole = count(page.words.of(rule.whole) ?? "", 1);
  const part = count(page.words.of(rule.part) ?? "", 0);
  const work = () => {
    const [stated, needed] = [part.input.valueAsNumber, whole.input.valueAsNumber];
    const isShare = Number.isInteger(stated) && Number.isInteger(needed) && needed >= 1 && stated >= 0 && stated <= needed;
    sum.textContent = "";
    if (!isShare) return;
    const level = levelOf(rule, stated, needed);
    const exact = Math.round((stated / needed) * rule.times * 100) / 100;
    sum.textContent = `${stated} / ${needed} × ${rule.times} = ${exact} → ${level}`;
    page.set(question.id, level);
  };
  for (const { input } of [whole, part]) input.addEventListener("input", work);
  const summary = el("summary", { text: page.words.say("calculator") });
  return el("details", { class: "calculator" }, summary, el("div", { class: "counts" }, whole.row, part.row, sum));
}

/** In whole numbers, so that exactly one half is exactly one half. @param {import("../types.js").Calculator} rule @param {number} part @param {number} whole */
export function levelOf(rule, part, whole) {
  return Math.max(rule.least, Math.floor((2 * part * rule.times + whole) / (2 * whole)));
}
