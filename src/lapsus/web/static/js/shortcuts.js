/** The keys that every judging page has. @typedef {import("./types.js").Widget} Widget */
import { byId, el, newId, randomName } from "./dom.js";
import { own } from "./flag_threads.js";
import { openBelow } from "./key_bindings.js";
import { isRequired } from "./scheme.js";

/**
 * @param {import("./judging_page.js").Page} page
 * @returns {import("./types.js").Binding[]}
 */
export function pageBindings(page) {
  const say = (/** @type {string} */ key) => page.words.say(`keys.${key}`);
  return [
    { keys: ["Enter"], label: say(hasMoreThanLabels(page.scheme) ? "enter" : "submit"), run: () => page.enter() },
    { keys: ["Ctrl+Enter"], label: say("submit-typing"), run: () => page.submit() },
    { keys: ["j", "ArrowRight"], label: say("next"), repeats: true, run: () => page.bar.step("next") },
    { keys: ["k", "ArrowLeft"], label: say("previous"), repeats: true, run: () => page.bar.step("previous") },
    { keys: ["u"], label: page.oneTouch ? say("back") : say("undo"), run: () => page.undo() },
    { keys: ["r", "Shift+u"], label: say("redo"), run: () => page.redo() },
    { keys: ["Ctrl+z"], label: "", quiet: true, run: () => page.undo() },
    { keys: ["Ctrl+y", "Ctrl+Shift+z"], label: "", quiet: true, run: () => page.redo() },
    { keys: ["c"], label: say("comment"), run: () => page.parts.find((part) => part.question.kind === "text")?.focus() },
    { keys: ["/"], label: say("search"), run: () => search(page) },
    { keys: ["f"], label: say("flag"), run: () => askFlag(page) },
    { keys: ["g"], label: say("guide"), run: () => page.guide.open() },
    { keys: ["?"], label: say("help"), run: () => page.keys.show() },
    { keys: ["Escape"], label: say("leave"), run: () => leave() },
  ];
}

/** Whether one goes on with Enter from several labels to another question. @param {import("./types.js").Scheme} scheme */
function hasMoreThanLabels({ questions }) {
  return questions.some((one) => one.kind === "labels" && !one.labels_from && questions.some((other) => other !== one && isRequired(other)));
}

/** What digits do here: which there are depends on the questions, and whom they speak to on where one is.
 * @param {import("./judging_page.js").Page} page @returns {import("./types.js").Binding[]} */
export function numberBindings(page) {
  const numbers = page.parts.flatMap((part) => part.numbers ?? []).map(Number).filter((number) => number >= 0);
  if (page.oneTouch || !numbers.length) return [];
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const keys = first === last ? [String(first)] : [String(first), "…", String(last)];
  return [{ keys, label: page.words.say(last > 9 ? "keys.number" : "keys.outlined"), run: () => undefined }];
}

/** The list of the question in focus, or of the next one that has a list; else the guideline. @param {import("./judging_page.js").Page} page */
function search(page) {
  const at = page.parts.findIndex((part) => part.question.id === page.current);
  const after = [...page.parts.slice(Math.max(0, at)), ...page.parts];
  const found = after.find((part) => part.search);
  if (found) found.search?.();
  else page.bar.jump();
}

/** Leave a field, so that keys speak to the page again. */
function leave() {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

/** A unit that somebody wants to talk about: ask why, and keep it like any answer until it is sent. @param {import("./judging_page.js").Page} page */
export function askFlag(page) {
  const { words, unit } = page;
  const open = byId("document").querySelector("dialog");
  if (open) return open.querySelector("textarea").focus();
  const id = newId();
  const area = el("textarea", { id, rows: 3, maxlength: 2000, required: true });
  const send = el("button", { class: "primary", text: words.say("flag.send") });
  const form = el("form", {}, el("label", { for: id, text: words.say("flag.ask") }), area, send);
  const dialog = openBelow(byId("document"), byId("questions"), words, words.say("flag.title"), form);
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = area.value.trim();
    if (!text) return;
    dialog.close();
    page.flags.push({ ...own(text), id: 0, unit: unit.number, settled: false, unread: false, replies: [] });
    page.drawThreads();
    await page.outbox.add({ campaign: unit.campaign, unit: unit.number, sheet: randomName(), kind: "flags", body: { text } });
    page.notices.show("flag", words.say("flag.done"));
  });
  area.focus({ preventScroll: true });
}

/**
 * A key for the questions. A digit speaks to the one that is outlined, and to no other: all of them may have it.
 * Letters speak to the one with focus, then to those without an answer, then to the others. A single answer that was
 * given is changed only where one looks: in the question that has focus.
 * @param {import("./judging_page.js").Page} page
 * @param {string} name
 * @returns {boolean} whether it is a key of theirs
 */
export function speakToWidgets(page, name) {
  if (page.isClosed) return false;
  const isDigit = /^[0-9]$/.test(name);
  if ((isDigit || page.parts.some((part) => bindingOf(part, name))) && page.refuses()) return true;
  if (isDigit) {
    const spoken = page.parts.find((part) => (page.oneTouch ? part.digit : part.question.id === page.current));
    if (!spoken?.digit?.(name)) bindingOf(spoken, name)?.run();
    return true;
  }
  const isOpen = (/** @type {Widget} */ part) => page.history.now[part.question.id] === undefined;
  const rank = (/** @type {Widget} */ part) => (part.question.id === page.current ? 0 : isOpen(part) ? 1 : 2);
  const having = page.parts.filter((part) => bindingOf(part, name)).sort((a, b) => rank(a) - rank(b));
  const stands = (/** @type {Widget} */ part) => ["label", "scale"].includes(part.question.kind) && rank(part) === 2 && !page.oneTouch;
  bindingOf(having.find((part) => !stands(part)), name)?.run();
  return having.length > 0;
}

/** @param {Widget|undefined} part @param {string} name */
function bindingOf(part, name) {
  return part?.bindings?.find(({ keys }) => keys.includes(name));
}
