/**
 * The guideline beside the work: what it says about whatever has focus, and the whole of it on demand.
 * @typedef {import("./types.js").Question} Question
 * @typedef {import("./types.js").Label} Label
 * @typedef {import("./types.js").Example} Example
 * @typedef {{question?: Question, label?: Label, list?: import("./types.js").ReferenceList,
 *   step?: import("./types.js").Step}} Topic
 */
import { at } from "./addresses.js";
import { byId, el, paragraphs } from "./dom.js";
import { openDialog } from "./key_bindings.js";
import { isRequired, labelName, labelsOf, sign } from "./scheme.js";

export class Guide {
  /** @param {import("./types.js").Scheme} scheme @param {import("./words.js").Words} words @param {string} campaign */
  constructor(scheme, words, campaign) {
    this.scheme = scheme;
    this.words = words;
    this.campaign = campaign;
    this.place = byId("guide");
    /** @type {Topic} */
    this.topic = {};
  }

  /** Show what the guideline says about something. @param {Topic} topic */
  explain(topic) {
    if (same(topic, this.topic) && this.place.firstChild) return;
    this.topic = topic;
    const heading = el("h2", { class: "visually-hidden", text: this.words.say("guideline") });
    const threads = this.place.querySelector(".threads");
    this.place.replaceChildren(threads ?? "", heading, this.draw(topic), this.more());
    this.place.scrollTop = 0;
  }

  /** Let an element explain something when it has focus or the mouse. @param {HTMLElement} element @param {Topic} topic */
  on(element, topic) {
    element.addEventListener("focus", () => this.explain(topic));
    element.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && this.explain(topic));
  }

  more() {
    const whole = el("button", { type: "button", class: "plain", text: this.words.say("guide.whole") });
    whole.addEventListener("click", () => this.open());
    return el("p", { class: "small guide-more" }, whole);
  }

  /** @param {Topic} topic @returns {Node} */
  draw(topic) {
    if (topic.label && topic.question) return this.label(topic.question, topic.label);
    if (topic.list) return this.list(topic.list);
    if (topic.step) return this.section(topic.step.title, topic.step.text, "guide-step");
    if (topic.question) return this.question(topic.question);
    return this.section(this.scheme.title, this.scheme.summary);
  }

  /** @param {import("./types.js").Text} title @param {import("./types.js").Text} text */
  section(title, text, kind = "") {
    return el("div", { class: `guide-part ${kind}` }, el("h3", { text: this.words.of(title) }), paragraphs(this.words.of(text) ?? ""));
  }

  /** @param {Question} question @param {Label} label */
  label(question, label) {
    const name = [sign(label), labelName(this.words, label, label.id)].filter(Boolean).join(" ");
    const part = el("div", { class: "guide-part" }, el("h3", { text: name }), paragraphs(this.words.of(label.definition) ?? ""));
    const cell = (question.axes?.cells ?? []).find(({ at }) => label.cell && at[0] === label.cell[0] && at[1] === label.cell[1]);
    if (cell) part.append(el("p", { class: "quiet small", text: this.words.of(cell.definition) }));
    part.append(this.notes(label.notes), this.examples(label.examples));
    return part;
  }

  /** @param {Question} question */
  question(question) {
    const part = el("div", { class: "guide-part" }, el("h3", { text: this.words.of(question.name) }));
    part.append(el("p", { text: this.words.of(question.ask) }));
    if (question.levels) {
      const rows = question.levels.map((one) =>
        el("li", { value: one.value, text: this.words.of(one.meaning) }),
      );
      part.append(el("ol", { class: "levels" }, ...rows));
    }
    part.append(this.notes(question.notes), this.examples(question.examples));
    return part;
  }

  /** @param {import("./types.js").ReferenceList} list */
  list(list) {
    const part = el("div", { class: "guide-part" }, el("h3", { text: this.words.of(list.title) }));
    for (const group of list.groups) {
      part.append(el("h4", { text: this.words.of(group.name) }));
      const items = group.items.flatMap((item) => [
        el("dt", { text: [item.sign, this.words.of(item.name)].filter(Boolean).join(" ") }),
        el("dd", {}, this.words.of(item.definition) ?? "", this.said(this.words.of(item.examples))),
      ]);
      part.append(el("dl", { class: "guide-list" }, ...items));
    }
    return part;
  }

  /** @param {string[]|undefined} examples */
  said(examples) {
    return examples?.length ? el("span", { class: "quiet", text: ` ${examples.map((one) => `“${one}”`).join(" ")}` }) : null;
  }

  /** @param {import("./types.js").Notes|undefined} notes */
  notes(notes) {
    const found = this.words.of(notes) ?? [];
    return el("ul", { class: "notes" }, ...found.map((note) => el("li", {}, paragraphs(note))));
  }

  /** @param {Record<string, Example[]>|undefined} examples */
  examples(examples) {
    const made = (this.words.of(examples) ?? []).map((example) => this.example(example));
    return el("div", { class: "examples" }, ...made);
  }

  /** @param {Example} example */
  example(example) {
    const lines = [...(example.triples ?? []), ...(example.turns ?? [])].map((line) => el("p", { text: line }));
    if (example.text) lines.push(el("p", { text: example.text }));
    const verdict = el("p", { class: "why" });
    if (example.fits !== undefined) {
      const word = example.fits ? "fits" : "fits-not";
      verdict.append(el("b", { class: example.fits ? "good" : "warn", text: `${example.fits ? "✓" : "✗"} ${this.words.say(`guide.${word}`)}` }), " ");
    } else if (example.answer !== undefined) verdict.append(el("b", { text: String(example.answer) }), " ");
    verdict.append(example.why);
    return el("div", { class: "example" }, el("blockquote", {}, ...lines), verdict);
  }

  /** The whole guideline in a window, at the place of what has focus. */
  open() {
    const whole = el("div", { class: "guide-whole" }, paragraphs(this.words.of(this.scheme.summary) ?? ""));
    for (const section of this.scheme.background ?? []) whole.append(this.section(section.title, section.text));
    for (const step of this.scheme.steps ?? []) whole.append(this.section(step.title, step.text));
    /** @type {Element|null} */
    let here = null;
    const put = (/** @type {any} */ part, /** @type {Topic} */ topic) => {
      whole.append(part);
      if (same(topic, this.topic)) here = part;
    };
    for (const question of this.scheme.questions) {
      put(this.question(question), { question });
      if (!isRequired(question)) whole.lastElementChild?.firstElementChild?.append(el("span", { class: "quiet", text: ` ${this.words.say("optional")}` }));
      if (question.labels_from) continue;
      for (const label of labelsOf(this.scheme, question)) put(this.label(question, label), { question, label });
    }
    for (const list of this.scheme.lists ?? []) put(this.list(list), { list });
    const href = at(`/c/${this.campaign}/guideline?lang=${this.words.guideline ?? this.words.language}`);
    const print = el("a", { href, target: "_blank", rel: "noopener", text: this.words.say("guide.print") });
    openDialog(this.words, this.words.of(this.scheme.title) ?? "", el("p", { class: "small" }, print), whole).classList.add("wide-dialog");
    /** @type {any} */ (here)?.scrollIntoView({ block: "start" });
  }
}

/** @param {Topic} a @param {Topic} b */
function same(a, b) {
  return a.question === b.question && a.label === b.label && a.list === b.list && a.step === b.step;
}
