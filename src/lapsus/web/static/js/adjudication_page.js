/** Deciding: take most people's answer, one person's, or give one's own. */
import { AnswerGuard } from "./answer_guard.js";
import { byId, el, randomName, readJson } from "./dom.js";
import { isTyping, keyName } from "./key_bindings.js";
import { askedAnswers, isAsked } from "./rules.js";

const LABELS = ["label", "labels", "preference"];
const unit = readJson("unit");
/** @type {HTMLScriptElement|null} */
const script = document.querySelector("script[data-csrf]");
const given = script?.dataset ?? {};
const language = given.language ?? "en";
const form = byId("own-form");
const status = byId("status");
const guard = new AnswerGuard(byId("main"), dropped);

/** @type {Record<string, string>} */
let words = {};
/** @type {{question: string, span: any, taken: boolean, people: string[]}[]} the marks that somebody made, or we */
let marks = unit.marks.map((/** @type {any} */ mark) => ({ ...mark, taken: false }));
let key = randomName();
let busy = false;

const catalogue = fetch(given.words ?? "").then((answer) => answer.json()).then((found) => { words = found.words; });

/** @param {string} name @param {Record<string, any>} [values] */
function say(name, values = {}) {
  return (words[`decide.${name}`] ?? name).replace(/\{(\w+)\}/g, (whole, part) => values[part] ?? whole);
}

/** Words of a guideline in the reader's language. @param {Record<string, string>} text */
function read(text) {
  return text?.[language] ?? text?.en ?? Object.values(text ?? {})[0] ?? "";
}

/** @param {any} scheme @param {any} question */
function labelsOf(scheme, question) {
  if (!question.labels_from) return question.labels ?? [];
  const list = (scheme.lists ?? []).find((/** @type {any} */ one) => one.id === question.labels_from);
  return (list?.groups ?? []).flatMap((/** @type {any} */ group) => group.items);
}

/** The controls of one question. @param {any} scheme @param {any} question */
function controls(scheme, question) {
  const standing = unit.decisions[0]?.how === "withdrawn" ? null : unit.decisions[0];
  const first = standing?.answers ?? unit.majority ?? {};
  const answer = first[question.id];
  const box = el("fieldset", { class: "question", data: { question: question.id, kind: question.kind } });
  box.append(el("legend", { text: read(question.name) }));
  const option = (/** @type {string} */ kind, /** @type {any} */ value, /** @type {string} */ text, /** @type {boolean} */ on) =>
    el("label", { class: "option" }, el("input", { type: kind, name: question.id, value, checked: on }), ` ${text}`);
  if (question.kind === "text") {
    box.append(el("textarea", { rows: "2", name: question.id, "aria-label": read(question.name), text: answer ?? "" }));
  } else if (question.kind === "spans") {
    box.append(el("p", { class: "small quiet", text: say("take") }), el("div", { class: "marks" }));
    const mine = new Set((answer ?? []).map(spanName));
    for (const mark of marks) mark.taken = mine.has(spanName(mark.span));
    showMarks(box, scheme, question);
    watchSelection(box, scheme, question);
  } else if (question.kind === "scale") {
    for (const level of question.levels) {
      box.append(option("radio", level.value, `${level.value} ${read(level.meaning)}`, answer === level.value));
    }
  } else if (!LABELS.includes(question.kind)) {
    // A kind of another package: one of the answers that people or programs gave.
    const said = new Set([...unit.groups, ...unit.programs].flatMap((/** @type {any} */ group) => JSON.stringify(group.answers[question.id]) ?? []));
    for (const one of said) box.append(option("radio", one, String(JSON.parse(one)), one === JSON.stringify(answer)));
  } else {
    const several = question.kind === "labels";
    for (const label of labelsOf(scheme, question)) {
      const on = several ? (answer ?? []).includes(label.id) : String(answer).split("|")[0] === label.id;
      const text = `${label.number ? `${label.number} ` : ""}${read(label.name)}`;
      box.append(option(several ? "checkbox" : "radio", label.id, text, on));
    }
  }
  if (question.required === false && !["labels", "spans", "text"].includes(question.kind)) {
    box.append(option("radio", "", say("clear"), answer === undefined));
  }
  return box;
}

/** @param {any} span */
function spanName(span) {
  return JSON.stringify([span.segment, span.start, span.end, span.label]);
}

/** A stretch of a text in code points. @param {string} segment @param {number} start @param {number} end */
function quoted(segment, start, end) {
  const all = [...unit.context, unit.target].find((one) => one?.id === segment);
  return Array.from(all?.text ?? "").slice(start, end).join("");
}

/** @param {any} box @param {any} scheme @param {any} question */
function showMarks(box, scheme, question) {
  const names = new Map(labelsOf(scheme, question).map((/** @type {any} */ label) => [label.id, read(label.name)]));
  const list = box.querySelector(".marks");
  list.replaceChildren(...marks.filter((mark) => mark.question === question.id).map((mark) => {
    const input = el("input", { type: "checkbox", checked: mark.taken });
    input.addEventListener("change", () => { mark.taken = input.checked; });
    const { segment, start, end, label } = mark.span;
    const who = mark.people.length ? ` (${mark.people.length})` : "";
    return el("label", { class: "option" }, input, " ", el("b", { text: names.get(label) ?? label }), ` ${quoted(segment, start, end)}${who}`);
  }));
}

/** Words that are selected in the text may be marked: whole tokens, as everybody marks them.
 * @param {HTMLElement} box @param {any} scheme @param {any} question */
function watchSelection(box, scheme, question) {
  const offer = el("p", { class: "offer", hidden: true });
  box.append(offer);
  document.addEventListener("selectionchange", () => {
    const found = selected();
    offer.hidden = !found;
    if (!found) return;
    const role = [...unit.context, unit.target].find((one) => one?.id === found.segment)?.role;
    const fitting = labelsOf(scheme, question).filter((/** @type {any} */ label) => !label.on || label.on === role);
    offer.replaceChildren(`${say("add")} “${quoted(found.segment, found.start, found.end)}”: `, ...fitting.map((/** @type {any} */ label) => {
      const button = el("button", { type: "button", text: read(label.name) });
      // Before the click the selection would be gone.
      button.addEventListener("mousedown", (event) => event.preventDefault());
      button.addEventListener("click", () => {
        const span = { ...found, label: label.id };
        const known = marks.find((mark) => spanName(mark.span) === spanName(span));
        if (known) known.taken = true;
        else marks.push({ question: question.id, span, taken: true, people: [] });
        showMarks(box, scheme, question);
        offer.hidden = true;
      });
      return button;
    }));
  });
}

/** What is selected in a segment, grown to whole tokens and counted in code points. */
function selected() {
  const selection = getSelection();
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  const place = (range.startContainer.parentElement)?.closest("[data-segment]");
  if (!place || !place.contains(range.endContainer)) return null;
  const segment = /** @type {HTMLElement} */ (place).dataset.segment ?? "";
  // A triple's parts are elements of their own: what comes before is counted, whatever it stands in.
  const before = document.createRange();
  before.selectNodeContents(place);
  before.setEnd(range.startContainer, range.startOffset);
  const start = Array.from(before.toString()).length;
  const end = start + Array.from(range.toString()).length;
  const touched = (unit.tokens[segment] ?? []).filter((/** @type {[number, number]} */ [from, to]) => from < end && start < to);
  return touched.length ? { segment, start: touched[0][0], end: touched[touched.length - 1][1] } : null;
}

/** What the controls say. */
function own() {
  /** @type {Record<string, any>} */
  const answers = {};
  for (const box of form.querySelectorAll("fieldset")) {
    const { question, kind } = box.dataset;
    const chosen = [...box.querySelectorAll("input:checked")].map((input) => input.value);
    if (kind === "text") answers[question] = box.querySelector("textarea").value.trim() || null;
    else if (kind === "spans") answers[question] = marks.filter((mark) => mark.question === question && mark.taken).map((mark) => mark.span);
    else if (kind === "labels") answers[question] = chosen.length || box.dataset.required ? chosen : null;
    else answers[question] = chosen[0] ? (LABELS.includes(kind) ? chosen[0] : JSON.parse(chosen[0])) : null;
  }
  return answers;
}

/** Something did not count: say so. @param {"too-soon"|"held"} why */
async function dropped(why) {
  await catalogue;
  if (busy) return;
  status.textContent = say(`dropped.${why}`);
  status.className = "small warn";
}

/** @param {{how: string, follows?: number, answers?: Record<string, any>}} choice */
async function decide(choice) {
  if (busy || guard.refuses()) return;
  busy = true;
  status.textContent = "";
  const body = { key, reason: byId("reason").value, ...choice };
  try {
    const answer = await fetch(`${location.pathname}.json${location.search}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRF-Token": given.csrf ?? "" },
      body: JSON.stringify(body),
    });
    const result = await answer.json();
    if (!answer.ok) {
      status.textContent = say("failed", { message: (result.messages ?? [result.message]).join(" ") });
      status.className = "small warn";
      key = randomName();
    } else if (result.next) {
      status.textContent = say("saved");
      location.href = location.pathname.replace(/\d+$/, String(result.next)) + location.search;
      return;
    } else {
      location.hash = "standing";
      location.reload();
      return;
    }
  } catch {
    status.textContent = say("offline");
    status.className = "small warn";
  }
  busy = false;
}

/** @type {Promise<void>|null} */
let opening = null;

/** The form for one's own answer is made when it is first wanted. */
function openOwn() {
  opening ??= makeOwn();
  return opening;
}

async function makeOwn() {
  const [scheme] = await Promise.all([fetch(unit.scheme.url).then((answer) => answer.json()), catalogue]);
  const asked = () => {
    const answers = askedAnswers(scheme, own());
    for (const question of scheme.questions) {
      /** @type {HTMLElement} */ (form.querySelector(`fieldset[data-question="${CSS.escape(question.id)}"]`)).hidden = !isAsked(scheme, question, answers);
    }
    return answers;
  };
  for (const question of scheme.questions) {
    const box = controls(scheme, question);
    if (question.at_least || question.required !== false) box.dataset.required = "yes";
    form.append(box);
  }
  form.append(el("button", { class: "primary", text: say("save") }));
  form.addEventListener("change", asked);
  asked();
  form.addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    decide({ how: "own", answers: asked() });
  });
}

byId("own").addEventListener("toggle", openOwn);
for (const button of document.querySelectorAll("button[data-how]")) {
  const { how, follows } = /** @type {HTMLElement} */ (button).dataset;
  button.addEventListener("click", () => decide(follows ? { how: how ?? "", follows: Number(follows) } : { how: how ?? "" }));
}

document.addEventListener("keydown", (event) => {
  const name = keyName(event);
  if (event.altKey || event.isComposing) return;
  if (isTyping(event.target)) {
    if (name === "Escape") /** @type {HTMLElement} */ (event.target).blur();
    return;
  }
  const button = document.querySelector(`button[data-key="${CSS.escape(name)}"]`);
  const go = { j: "next", ArrowRight: "next", k: "previous", ArrowLeft: "previous" }[name];
  if (button && event.repeat) dropped("held");
  else if (button) /** @type {HTMLElement} */ (button).click();
  else if (go && !(event.target instanceof HTMLInputElement)) byId(go)?.click();
  else if (name === "c") byId("reason").focus();
  else if (name === "e") {
    byId("own").open = true;
    openOwn().then(() => form.querySelector("input, textarea")?.focus());
  } else return;
  event.preventDefault();
});
guard.drawn();
