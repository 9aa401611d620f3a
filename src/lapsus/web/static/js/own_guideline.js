/** A guideline of one's own: what is wrong with it is said while one types, and it is shown on a unit as annotators will
 * see it. What was written is kept by the buttons, and as one leaves. */
import { drawDocument } from "./conversation.js";
import { byId, el, readJson } from "./dom.js";
import { Guide } from "./guideline_panel.js";
import { askedAnswers, showParts } from "./rules.js";
import { loadWidgets } from "./widgets/registry.js";
import { fetchWords } from "./words.js";

const PAUSE = 400;
const fetched = fetchWords(byId("preview").dataset.words);
let waiting = 0;
let newest = 0;
/** What was answered for a try, as far as the guideline still asks for it. @type {Record<string, any>} */
let now = {};
let shown = readJson("shown");
/** The form that holds what is not kept yet. @type {HTMLFormElement|null} */
let unkept = null;

/** @param {{message: string, severe: boolean, input: string, where: string}[]} problems */
function tell(problems) {
  byId("sound").hidden = problems.some((one) => one.severe);
  byId("problem-list").replaceChildren(...problems.map((one) => {
    const where = el("a", { class: "small", href: `#${one.input || "text"}`, text: one.where });
    return el("li", { class: one.severe ? "warn" : "quiet" }, where, ` ${one.message}`);
  }));
}

/** The unit with the guideline's questions, where there are both. Questions can be answered to see what follows. */
async function look() {
  const { scheme, preview } = shown;
  byId("preview").hidden = !preview;
  if (!preview) return;
  const mine = newest;
  const [words, makeWidget] = await Promise.all([fetched, loadWidgets(scheme)]);
  if (mine !== newest) return;
  words.guideline = byId("seen-in")?.value ?? words.language;
  const guide = new Guide(scheme, words, "");
  /** @type {import("./types.js").Widget[]} */
  let parts = [];
  const show = () => showParts(scheme, parts, now);
  const sheet = {
    words, scheme, guide, unit: preview, oneTouch: false, isClosed: false,
    attend() {}, chosen() {}, advance() {}, submit() {},
    /** @param {string} question @param {any} answer */
    set(question, answer) {
      const { [question]: _, ...others } = now;
      now = askedAnswers(scheme, answer === undefined ? others : { ...others, [question]: answer });
      show();
    },
  };
  drawDocument(preview, scheme, words, () => {});
  now = askedAnswers(scheme, {});
  parts = scheme.questions.map((/** @type {import("./types.js").Question} */ question) => makeWidget(question, /** @type {any} */ (sheet)));
  for (const kind of ["spans", "preference"]) {
    byId("preview").classList.toggle(`has-${kind}`, scheme.questions.some((/** @type {import("./types.js").Question} */ question) => question.kind === kind));
  }
  byId("questions").replaceChildren(...parts.map((part) => part.element));
  guide.explain({});
  show();
}

/** @param {HTMLFormElement} form */
async function check(form) {
  const mine = ++newest;
  const said = new FormData(form);
  said.set("go", "check");
  try {
    const answer = await fetch(`${location.pathname}.json`, { method: "POST", body: new URLSearchParams(/** @type {any} */ (said)) });
    const found = await answer.json();
    if (mine !== newest || !found.problems) return;
    tell(found.problems);
    // What does not hold together just now leaves the last picture.
    if (found.scheme) shown = found;
    if (found.scheme) await look();
  } catch { /* no network just now: the button will tell */ }
}

/** Keep what was written before one goes elsewhere. Only what is small outlives a page that closes. @param {boolean} [closing] */
async function keep(closing = false) {
  if (!unkept) return;
  const said = new FormData(unkept);
  unkept = null;
  said.set("go", "keep");
  const body = new URLSearchParams(/** @type {any} */ (said));
  await fetch(location.pathname, { method: "POST", body, keepalive: closing, redirect: "manual" }).catch(() => undefined);
}

/** Open whatever an address leads to. */
function unfold() {
  const here = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = here; part; part = part.parentElement) if (part instanceof HTMLDetailsElement) part.open = true;
  here?.scrollIntoView({ block: "nearest" });
  const field = here?.matches("input, textarea, select") ? here : here?.querySelector("input:not([type=hidden]), textarea");
  /** @type {HTMLElement|null|undefined} */ (field)?.focus({ preventScroll: here !== field });
}

document.querySelectorAll("form[data-checked]").forEach((one) => {
  const form = /** @type {HTMLFormElement} */ (one);
  form.addEventListener("input", (event) => {
    clearTimeout(waiting);
    unkept = form;
    // The rest of the form depends on it.
    const at = /** @type {HTMLElement} */ (event.target);
    if ("keeps" in at.dataset) {
      const keeps = byId("keeps");
      keeps.value = `keep:${at.closest("details")?.id ?? ""}`;
      form.requestSubmit(keeps);
    } else waiting = setTimeout(() => check(form), PAUSE);
  });
});
addEventListener("submit", () => (unkept = null));
addEventListener("click", async (event) => {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!unkept || !link || link.pathname === location.pathname) return;
  event.preventDefault();
  await keep();
  location.href = link.href;
});
addEventListener("hashchange", unfold);
// Parts that were open are open again after a button was pressed.
const kept = `open:${location.pathname}`;
for (const id of JSON.parse(sessionStorage.getItem(kept) ?? "[]")) document.getElementById(id)?.setAttribute("open", "");
addEventListener("pagehide", () => {
  keep(true);
  sessionStorage.setItem(kept, JSON.stringify(Array.from(document.querySelectorAll(".part[open]"), (part) => part.id)));
});
byId("seen-in")?.addEventListener("change", look);
unfold();
await look();
document.documentElement.dataset.ready = "";
