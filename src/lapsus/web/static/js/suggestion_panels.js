/**
 * What stands by a judge: what a program would answer, and what is told after an answer in the practice.
 * @typedef {import("./types.js").Answers} Answers
 * @typedef {import("./judging_page.js").Page} Page
 */
import { el, kbd, newId, paragraphs } from "./dom.js";
import { labelName, labelsOf, sign } from "./scheme.js";

/** No label has this key: labels have letters and digits. */
export const TAKE_KEY = ".";
const LONGEST = 160;

/** A program's answers, marked as such, with a way to take them over. @param {Page} page @returns {HTMLElement|null} */
export function suggestionPanel(page) {
  const { suggestion } = page.unit;
  if (!suggestion) return null;
  const { words } = page;
  const id = newId();
  const take = el(
    "button",
    { type: "button", class: "take", "aria-keyshortcuts": TAKE_KEY, "aria-describedby": id },
    words.say("suggestion.take"), " ", kbd(TAKE_KEY),
  );
  take.addEventListener("click", () => page.takeSuggestion());
  return el(
    "div",
    { class: "aid suggested", role: "group", "aria-labelledby": id },
    el("p", { id }, el("span", { class: "quiet", text: words.say("suggestion.by", { name: suggestion.by }) }), " ", inWords(page, suggestion.answers)),
    take,
  );
}

/** How the practice went: kindly, with what would have been right. @param {Page} page @returns {HTMLElement|null} */
export function feedbackPanel(page) {
  const { feedback } = page.unit;
  if (!feedback || !page.submitted) return null;
  const { words } = page;
  const told = el("div", { class: `aid feedback ${feedback.right ? "fine" : "other"}`, role: "status" });
  told.append(el("p", {}, el("b", { text: words.say(feedback.right ? "practice.right" : "practice.other") })));
  if (!feedback.right) {
    const rows = feedback.answers.map((answers) => el("li", {}, inWords(page, answers)));
    told.append(el("p", { text: words.say(rows.length > 1 ? "practice.any" : "practice.one") }), el("ul", {}, ...rows));
  }
  if (feedback.text) told.append(el("div", { dir: "auto" }, paragraphs(feedback.text)));
  return told;
}

/** Answers in a few words, question by question. @param {Page} page @param {Answers} answers */
function inWords(page, answers) {
  const answered = page.scheme.questions.filter((question) => answers[question.id] !== undefined);
  const isOnly = answered.length === 1;
  const said = answered.map((question) => {
    const found = answerInWords(page, question, answers[question.id]);
    return isOnly ? found : `${page.words.of(question.name)}: ${found}`;
  });
  return el("span", { class: "answers-said", dir: "auto", text: said.join(" · ") });
}

/** @param {Page} page @param {import("./types.js").Question} question @param {any} answer @returns {string} */
function answerInWords({ scheme, words }, question, answer) {
  const labels = new Map(labelsOf(scheme, question).map((label) => [label.id, label]));
  const name = (/** @type {string} */ id) => [sign(labels.get(id)), labelName(words, labels.get(id), id)].filter(Boolean).join(" ");
  if (question.kind === "label") return name(answer);
  if (question.kind === "preference") return name(String(answer).split("|")[0]);
  if (!Array.isArray(answer)) return String(answer).length > LONGEST ? `${String(answer).slice(0, LONGEST - 1)}…` : String(answer);
  if (!answer.length) return words.catalogue.empty[question.kind] ?? words.say("suggestion.nothing");
  /** @type {Map<string, number>} */
  const times = new Map();
  for (const one of answer) times.set(one.label ?? one, (times.get(one.label ?? one) ?? 0) + 1);
  return words.join(Array.from(times, ([id, count]) => (count > 1 ? `${name(id)} × ${count}` : name(id))));
}
