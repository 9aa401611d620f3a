/** Which of two replies is better. They stand side by side, in an order that is drawn for each person and unit, and kept with the answer. */
import { el } from "../dom.js";
import { formatted } from "../formatted_text.js";
import { labelsOf } from "../scheme.js";
import { labelWidget } from "./label.js";

/** What was preferred, without the order in which the replies were shown. @param {import("../types.js").Answer|undefined} answer */
export function preferred(answer) {
  return typeof answer === "string" ? answer.split("|")[0] : answer;
}

/**
 * @param {import("../types.js").Question} question
 * @param {import("../judging_page.js").Page} page
 * @returns {import("../types.js").Widget}
 */
export function preferenceWidget(question, page) {
  const order = orderOf(page);
  const place = (/** @type {import("../types.js").Label} */ label) => (order.includes(label.id) ? order.indexOf(label.id) : order.length);
  const labels = [...labelsOf(page.scheme, question)].sort((one, other) => place(one) - place(other));
  const set = (/** @type {string} */ id, /** @type {string|undefined} */ answer) => page.set(id, answer && `${answer}|${order}`);
  // The page itself, but for what becomes of an answer.
  const asked = new Proxy(page, {
    get(target, key) {
      const found = key === "set" ? set : Reflect.get(target, key);
      return typeof found === "function" ? found.bind(target) : found;
    },
  });
  const widget = labelWidget({ ...question, labels }, asked);
  // Several questions about the same replies show them once.
  if (page.scheme.questions.find((one) => one.kind === "preference")?.id === question.id) {
    widget.element.querySelector(".choices")?.before(el("div", { class: "replies" }, ...Array.from(order, (id) => drawReply(id, page))));
  }
  return { ...widget, question, show: (answer) => widget.show(preferred(answer)) };
}

/** @param {string} id @param {import("../judging_page.js").Page} page */
function drawReply(id, page) {
  const segment = page.unit.context.find((/** @type {import("../types.js").Segment} */ segment) => segment.id === id);
  return el(
    "article",
    { class: "reply", "aria-label": page.words.say("reply", { name: id }), data: { reply: id } },
    el("h3", { text: id }),
    el("p", { class: "said", lang: page.unit.language }, segment ? formatted(segment) : ""),
  );
}

/** The order in which this person sees the replies of this unit: as kept with an answer, else by lot, the same each time.
 * @param {import("../judging_page.js").Page} page */
function orderOf(page) {
  for (const question of page.scheme.questions.filter((one) => one.kind === "preference")) {
    const kept = String(page.history?.now[question.id] ?? "").split("|")[1];
    if (kept === "AB" || kept === "BA") return kept;
  }
  let hash = 2166136261;
  for (const sign of `${page.outbox?.person}/${page.unit.campaign}/${page.unit.number}`) hash = Math.imul(hash ^ (sign.codePointAt(0) ?? 0), 16777619);
  // Units that differ in their last digit only are to be far apart.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash >>> 16) % 2 ? "BA" : "AB";
}
