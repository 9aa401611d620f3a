/**
 * Practice and checks: the right answer about a unit, given with the very questions that its judges will see.
 * @typedef {import("./types.js").Widget} Widget
 * @typedef {import("./types.js").Question} Question
 */
import { drawDocument } from "./conversation.js";
import { byId, readJson } from "./dom.js";
import { askedAnswers, showParts } from "./rules.js";
import { loadWidgets } from "./widgets/registry.js";
import { fetchWords } from "./words.js";

const unit = readJson("unit");
const form = byId("known-form");
const { words: wordsUrl = "" } = form.dataset;

const fetched = fetch(unit.scheme.url).then((answer) => answer.json());
const [words, scheme, makeWidget] = await Promise.all([fetchWords(wordsUrl), fetched, fetched.then(loadWidgets)]);

/** After a mistake the page comes back with what was answered. @type {import("./types.js").Answers} */
let now = JSON.parse(byId("answers").value || "{}");
/** @type {Widget[]} */
let parts = [];

/** What the parts know of a page: nothing is saved, sent or explained here until the form is. */
const sheet = {
  words,
  scheme,
  unit,
  oneTouch: false,
  isClosed: false,
  guide: { on() {}, explain() {} },
  attend() {},
  chosen() {},
  submit: () => form.requestSubmit(),
  /** @param {string} question @param {any} answer */
  set(question, answer) {
    const { [question]: _, ...others } = now;
    now = askedAnswers(scheme, answer === undefined ? others : { ...others, [question]: answer });
    show();
  },
};

function show() {
  showParts(scheme, parts, now);
  byId("answers").value = JSON.stringify(now);
  byId("unanswered").hidden = true;
}

drawDocument(unit, scheme, words, () => {});
// What is written freely is not compared: nobody finds the same words.
const compared = scheme.questions.filter((/** @type {Question} */ question) => question.kind !== "text");
parts = compared.map((/** @type {Question} */ question) => makeWidget(question, /** @type {any} */ (sheet)));
byId("questions").replaceChildren(...parts.map((part) => part.element));
byId("preview").classList.toggle("has-spans", scheme.questions.some((/** @type {Question} */ question) => question.kind === "spans"));
show();

form.addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
  parts.forEach((part) => part.commit?.());
  if (Object.keys(now).length) return;
  event.preventDefault();
  byId("unanswered").hidden = false;
  parts[0]?.focus();
});
document.documentElement.dataset.ready = "";
