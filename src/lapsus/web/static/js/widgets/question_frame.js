/** What every question has around it: its name, what it asks, room for a kind word; and moving inside a group. */
import { el, kbd, newId } from "../dom.js";
import { isRequired, keysOf, listOf } from "../scheme.js";

const NEXT = new Set(["ArrowRight", "ArrowDown"]);
const BACK = new Set(["ArrowLeft", "ArrowUp"]);

/**
 * @param {import("../types.js").Question} question
 * @param {import("../judging_page.js").Page} page
 * @param {...Node} body
 * @returns {{element: HTMLElement, name: string, ask: string, broken: HTMLElement}} ids of the elements that say what is asked
 */
export function frame(question, page, ...body) {
  const [name, ask, broken] = [newId(), newId(), newId()];
  const heading = el("h2", { class: "question-name", id: name, text: page.words.of(question.name) });
  if (!isRequired(question)) heading.append(el("span", { class: "quiet", text: ` ${page.words.say("optional")}` }));
  const asked = el("p", { class: "question-ask", id: ask, text: page.words.of(question.ask) });
  const list = listOf(page.scheme, question.reference);
  if (list) {
    const look = el("button", { type: "button", class: "plain", text: page.words.say("see-list", { title: page.words.of(list.title) }) });
    look.addEventListener("click", () => page.guide.explain({ list }));
    asked.append(" ", look);
  }
  const said = el("p", { class: "broken", id: broken, role: "alert" });
  const element = el(
    "section",
    { class: `question kind-${question.kind}`, data: { question: question.id }, "aria-labelledby": name },
    el("div", { class: "question-head" }, heading, asked),
    ...body,
    said,
  );
  element.addEventListener("focusin", () => page.attend(question.id));
  page.guide.on(/** @type {any} */ (element.firstChild), { question });
  return { element, name, ask, broken: said };
}

/** The key that stands on a label. A place in the list is a key only while its question is the one that digits speak to.
 * @param {import("../types.js").Label} label @param {number|undefined} number */
export function keyOn(label, number) {
  const own = label.number ?? (label.key ? keysOf(label)[0] : undefined);
  const key = own ?? number ?? keysOf(label)[0];
  if (key === undefined) return null;
  const shown = kbd(String(key));
  shown.classList.toggle("place", own === undefined && number !== undefined);
  return shown;
}

/**
 * One stop of the Tab key for a group of controls; arrows move inside it.
 * @param {HTMLElement} group
 * @param {HTMLElement[]} items
 * @returns {(item?: HTMLElement) => void} makes an item the one that Tab comes to; the first where none is given
 */
export function roving(group, items) {
  const stop = (item = items[0]) => items.forEach((one) => (one.tabIndex = one === item ? 0 : -1));
  stop();
  group.addEventListener("focusin", (event) => {
    const item = items.find((one) => one === event.target);
    if (item) stop(item);
  });
  group.addEventListener("keydown", (event) => {
    const at = items.indexOf(/** @type {HTMLElement} */ (event.target));
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const by = NEXT.has(event.key) ? 1 : BACK.has(event.key) ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    items[(at + by + items.length) % items.length].focus();
  });
  return stop;
}
