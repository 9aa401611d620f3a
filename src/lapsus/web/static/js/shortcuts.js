/** The keys that every judging page has. */
import { byId, el, newId, randomName } from "./dom.js";
import { own } from "./flag_threads.js";
import { openBelow } from "./key_bindings.js";

/**
 * @param {import("./judging_page.js").Page} page
 * @returns {import("./types.js").Binding[]}
 */
export function pageBindings(page) {
  const say = (/** @type {string} */ key) => page.words.say(`keys.${key}`);
  return [
    { keys: ["Enter"], label: say("submit"), run: () => page.submit() },
    { keys: ["Ctrl+Enter"], label: say("submit-typing"), run: () => page.submit() },
    { keys: ["j", "ArrowRight"], label: say("next"), run: () => page.bar.step("next") },
    { keys: ["k", "ArrowLeft"], label: say("previous"), run: () => page.bar.step("previous") },
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
 * A key for the questions: the one with focus, then those without an answer, then the others. A single answer that
 * was given is changed only where one looks: in the question that has focus.
 * @param {import("./judging_page.js").Page} page
 * @param {string} name
 * @returns {boolean} whether one of them took it
 */
export function speakToWidgets(page, name) {
  if (page.isClosed) return false;
  const isOpen = (/** @type {import("./types.js").Widget} */ part) => page.history.now[part.question.id] === undefined;
  const rank = (/** @type {import("./types.js").Widget} */ part) => (part.question.id === page.current ? 0 : isOpen(part) ? 1 : 2);
  for (const part of [...page.parts].sort((a, b) => rank(a) - rank(b))) {
    const isSingle = ["label", "scale"].includes(part.question.kind);
    if (isSingle && rank(part) === 2 && !page.oneTouch) continue;
    const binding = part.bindings?.find(({ keys }) => keys.includes(name));
    if (!(/^[0-9]$/.test(name) && part.digit?.(name))) {
      if (!binding) continue;
      binding.run();
    }
    if (isSingle) page.advance(part);
    return true;
  }
  return false;
}
