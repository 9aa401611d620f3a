/** Marks on stretches of text: whole words, or whole elements of a triple. */
import { byId, el, kbd } from "../dom.js";
import { pretty } from "../key_bindings.js";
import { Judge, seenOf } from "../rules.js";
import { isRequired, keysOf, labelsOf, numbersOf } from "../scheme.js";
import { Cursor } from "./token_cursor.js";
import { frame } from "./question_frame.js";
import { mayTie, tied, toggled, untied, without } from "./mark_list.js";
import { Steps } from "./steps.js";
import { TokenText } from "./tokens.js";

/**
 * @param {import("../types.js").Question} question
 * @param {import("../judging_page.js").Page} page
 * @returns {import("../types.js").Widget}
 */
export function spansWidget(question, page) {
  return new Spans(question, page);
}

class Spans {
  /** @param {import("../types.js").Question} question @param {import("../judging_page.js").Page} page */
  constructor(question, page) {
    this.question = question;
    this.page = page;
    this.labels = labelsOf(page.scheme, question);
    this.judge = new Judge(page.scheme, question, seenOf(page.unit), page.words);
    /** @type {import("../types.js").Mark[]} */
    this.marks = [];
    /** @type {import("../types.js").Mark|null} the mark that delete and tie are about */
    this.picked = null;
    /** @type {import("../types.js").Mark|null} the first of two to be tied */
    this.tying = null;
    this.texts = this.takeTexts();
    this.status = el("p", { class: "span-status quiet", role: "status" });
    this.alert = el("p", { class: "span-refused warn", role: "alert" });
    /** Why the mark that was asked for last is not there. */
    this.refused = "";
    this.hint = el("p", { class: "quiet small", text: page.words.say("spans.select-first") });
    this.list = el("ul", { class: "marks" });
    this.tools = el("div", { class: "tools" });
    this.steps = page.scheme.steps?.length ? new Steps(page, () => this.stepChanged()) : null;
    const body = [this.tools, this.status, this.alert, this.hint, this.list];
    this.element = frame(question, page, ...(this.steps ? [this.steps.element] : []), ...body).element;
    this.bindings = this.drawTools();
    this.offer();
    this.cursor = new Cursor(this.texts, () => this.moved());
    for (const text of this.texts) {
      text.box.addEventListener("focus", () => {
        page.attend(question.id);
        if (!this.steps) page.guide.explain({ question });
      });
      text.box.addEventListener("click", (event) => this.pickTag(event));
    }
  }

  /** The texts on which a label may stand, in the order in which they are shown. */
  takeTexts() {
    const { unit, words, isClosed } = this.page;
    const onAny = this.labels.some((label) => !label.on);
    const wanted = seenOf(unit).segments.filter((one) => onAny || this.labels.some((label) => label.on === one.role));
    const ordered = [...wanted.filter((one) => one.parts), ...wanted.filter((one) => !one.parts)];
    return ordered.map((segment) => {
      const host = byId("document").querySelector(`[data-segment="${CSS.escape(segment.id)}"]`);
      const name = segment.parts ? segment.parts.join(", ") : words.common(`roles.${segment.role}`);
      const text = new TokenText(segment, unit.tokens[segment.id] ?? [], segment.parts ? host : host.querySelector(".said"), name);
      text.box.classList.toggle("closed", isClosed);
      return text;
    });
  }

  /** The buttons, and their keys. @returns {import("../types.js").Binding[]} */
  drawTools() {
    const { words, guide } = this.page;
    /** @type {import("../types.js").Binding[]} */
    const bindings = [];
    const tool = (/** @type {string[]} */ keys, /** @type {string} */ text, /** @type {() => void} */ run, kind = "") => {
      const button = el("button", { type: "button", class: `tool ${kind}` }, ...keys.slice(0, 1).map((key) => kbd(pretty(key))), el("span", { text }));
      // The selection stays where it is.
      button.addEventListener("pointerdown", (event) => event.preventDefault());
      button.addEventListener("click", () => run());
      bindings.push({ keys, label: text, run });
      this.tools.append(button);
      return button;
    };
    // A label without a key of its own has its number, as those of other questions do.
    const numbers = numbersOf(this.labels);
    this.labels.forEach((label, place) => {
      const keys = keysOf(label);
      const button = tool(keys.length || !numbers[place] ? keys : [String(numbers[place])], words.of(label.name) ?? label.id, () => this.apply(label), `tool-${place % 5}`);
      button.dataset.label = label.id;
      guide.on(button, { question: this.question, label });
      if (label.covers === "element" && label.key) {
        const text = words.say("spans.whole", { label: words.of(label.name) });
        tool([`Shift+${label.key}`], text, () => this.apply(label, true), `tool-${place % 5}`).dataset.whole = label.id;
      }
    });
    if (this.question.ties?.length) this.tieTool = tool(["t"], words.say("spans.tie"), () => this.tie());
    this.deleteTool = tool(["Delete", "Backspace"], words.say("spans.delete"), () => this.remove());
    if (isRequired(this.question) && !(this.question.at_least ?? 0)) {
      this.none = tool(["n"], words.say("spans.none"), () => this.nothing(), "none");
      this.none.setAttribute("aria-pressed", "false");
    }
    if (this.steps) bindings.push({ keys: ["s"], label: words.say("spans.step"), run: () => this.steps?.next() });
    return bindings;
  }

  /** There is nothing to mark. */
  nothing() {
    this.say("");
    this.page.set(this.question.id, []);
  }

  /** Show the tools of the step that one is at. */
  offer() {
    for (const button of this.tools.querySelectorAll("[data-label], [data-whole]")) {
      const { label: id, whole } = /** @type {HTMLElement} */ (button).dataset;
      /** @type {HTMLElement} */ (button).hidden = Boolean(this.steps) && !this.steps?.offers(id ?? whole ?? "");
    }
  }

  /** Another step: its tools, and the cursor where its labels may stand. */
  stepChanged() {
    this.offer();
    if (!this.cursor || !this.steps || this.steps.all) return;
    const roles = this.labels.filter((label) => this.steps?.offers(label.id)).map((label) => label.on);
    const fits = (/** @type {TokenText|null} */ text) => text && roles.some((role) => !role || role === text.segment.role);
    const text = fits(this.cursor.text) ? null : this.texts.find((one) => fits(one) && one.tokens.length);
    if (text) text.box.focus();
  }

  procedure() {
    return { steps: this.steps?.taken ?? [] };
  }

  /** What the plan still asks for. @returns {import("../types.js").Broken[]} */
  unfinished() {
    const { words } = this.page;
    const refused = this.refused;
    // Told once: whoever submits again means it.
    this.refused = this.alert.textContent = "";
    if (refused) return [{ rule: "refused", question: this.question.id, message: words.say("spans.refused", { why: refused }) }];
    const left = this.steps?.isRequired && !this.page.isClosed ? this.steps.left() : [];
    if (!left.length) return [];
    const message = words.rule("steps", { steps: words.join(left.map((step) => words.of(step.title) ?? step.id)) });
    return [{ rule: "steps", question: this.question.id, message }];
  }

  /** Put a label on what is selected, or take it off again. @param {import("../types.js").Label} label @param {boolean} [whole] */
  apply(label, whole = false) {
    const { words } = this.page;
    // What was selected when it was asked for: the label's step may move the cursor.
    const selection = this.cursor.selection;
    if (this.steps && !this.steps.reach(label.id)) return this.refuse(words.say("spans.later-step"));
    if (!selection) return this.refuse(words.say("spans.select-first"));
    const { text } = selection;
    const [from, to] = whole ? [0, text.tokens.length - 1] : [selection.from, selection.to];
    const places = label.covers === "element" && text.segment.parts ? text.tokens.slice(from, to + 1) : [[text.tokens[from][0], text.tokens[to][1]]];
    const marks = places.map(([start, end]) => ({ segment: text.segment.id, start, end, label: label.id }));
    const why = this.judge.place(marks[0])[0];
    if (why) return this.refuse(why.message);
    this.page.guide.explain({ question: this.question, label });
    return this.keep(toggled(this.marks, marks));
  }

  /** @param {import("../types.js").Mark[]} marks */
  keep(marks) {
    this.picked = null;
    this.say("");
    this.page.set(this.question.id, marks.length ? marks : undefined);
  }

  remove() {
    const mark = this.atCursor();
    if (mark) this.keep(without(this.marks, [mark]));
    else this.say(this.page.words.say("spans.no-mark"));
  }

  /** Tie two marks: the one at hand and the next one chosen, or at once where only two can be meant. */
  tie() {
    const { words } = this.page;
    const ties = this.question.ties ?? [];
    const mark = this.atCursor();
    if (this.tying && mark && mayTie(ties, this.tying, mark)) {
      const [one, other] = [this.tying, mark];
      this.tying = null;
      return this.keep(tied(this.marks, one, other));
    }
    if (mark && mark.tie !== undefined && !this.tying) return this.keep(untied(this.marks, mark));
    const start = mark ?? this.onlyLoose(ties);
    if (!start) return this.say(words.say("spans.no-mark"));
    const partners = this.marks.filter((other) => mayTie(ties, start, other));
    const loose = partners.filter((other) => other.tie === undefined);
    if (loose.length === 1 && partners.length === 1) return this.keep(tied(this.marks, start, loose[0]));
    if (!partners.length) return this.say(words.rule("tie", { allowed: words.join(ties.map((pair) => pair.map((id) => this.judge.name(id)).join(" + "))) }));
    this.tying = start;
    return this.say(words.say("spans.tie-with", { quote: this.judge.quote(start) }));
  }

  /** @param {[string, string][]} ties */
  onlyLoose(ties) {
    const loose = this.marks.filter((mark) => mark.tie === undefined && this.marks.some((other) => other.tie === undefined && mayTie(ties, mark, other)));
    return loose.length === 2 ? loose[0] : null;
  }

  /** The mark that is meant: the one picked, else the shortest under the cursor. */
  atCursor() {
    if (this.picked) return this.picked;
    const selection = this.cursor.selection;
    if (!selection) return null;
    const [start, end] = [selection.text.tokens[selection.from][0], selection.text.tokens[selection.to][1]];
    const here = this.marks.filter((mark) => mark.segment === selection.text.segment.id && mark.start < end && start < mark.end);
    return here.sort((a, b) => a.end - a.start - (b.end - b.start))[0] ?? null;
  }

  /** @param {import("../types.js").Mark} mark */
  pick(mark) {
    const text = this.texts.find((one) => one.segment.id === mark.segment);
    const range = text?.rangeOf(mark);
    if (text && range) this.cursor.set(text, range[0], range[1]);
    this.picked = mark;
    if (this.tying && this.tying !== mark) this.tie();
    else this.moved();
  }

  /** @param {MouseEvent} event */
  pickTag(event) {
    const tag = event.target instanceof Element ? event.target.closest(".tag") : null;
    if (tag) this.pick(/** @type {any} */ (tag).mark);
  }

  /** The selection has moved, or the marks have: say what can be done with it. */
  moved() {
    if (!this.cursor) return;
    const selection = this.cursor.selection;
    const role = selection?.text.segment.role;
    if (this.picked && !this.marks.includes(this.picked)) this.picked = null;
    for (const button of this.tools.querySelectorAll("[data-label], [data-whole]")) {
      const { label: id, whole } = /** @type {HTMLElement} */ (button).dataset;
      const on = this.labels.find((label) => label.id === (id ?? whole))?.on;
      button.classList.toggle("ready", Boolean(selection) && (!on || on === role));
    }
    const mark = this.atCursor();
    this.deleteTool?.classList.toggle("ready", Boolean(mark));
    this.tieTool?.classList.toggle("ready", Boolean(mark) || Boolean(this.tying));
    this.draw();
  }

  draw() {
    const styleOf = (/** @type {import("../types.js").Mark} */ mark) => ({
      place: Math.max(0, this.labels.findIndex((label) => label.id === mark.label)),
      name: this.judge.name(mark.label) + (mark.tie === undefined ? "" : ` ↔${mark.tie}`),
    });
    this.hint.hidden = this.marks.length > 0 || this.page.isClosed;
    for (const text of this.texts) text.draw(this.marks.filter((mark) => mark.segment === text.segment.id), styleOf, this.picked);
    this.list.replaceChildren(...this.marks.map((mark) => this.row(mark, styleOf(mark))));
  }

  /** @param {import("../types.js").Mark} mark @param {{place: number, name: string}} style */
  row(mark, { place, name }) {
    const { words, isClosed } = this.page;
    const quote = this.judge.quote(mark);
    const pick = el("button", { type: "button", class: "plain pick" }, el("span", { class: `tag tag-${place % 5}`, text: name }), " ", el("span", { class: "quote", lang: this.page.unit.language, text: quote }));
    const gone = el("button", { type: "button", class: "plain", "aria-label": words.say("spans.delete-one", { label: name, quote }), text: "×", disabled: isClosed });
    pick.addEventListener("click", () => this.pick(mark));
    gone.addEventListener("click", () => this.keep(without(this.marks, [mark])));
    return el("li", { class: mark === this.picked ? "picked" : null }, pick, gone);
  }

  /** A mark is not made: say why, aloud, and let nobody submit without having been told. @param {string} why */
  refuse(why) {
    this.refused = why;
    this.alert.textContent = why;
    this.status.textContent = "";
  }

  /** @param {string} text */
  say(text) {
    this.refused = "";
    this.alert.textContent = "";
    this.status.textContent = text;
  }

  /** @param {any} answer */
  show(answer) {
    this.marks = Array.isArray(answer) ? answer : [];
    if (this.tying && !this.marks.includes(this.tying)) this.tying = null;
    this.none?.setAttribute("aria-pressed", String(Array.isArray(answer) && !answer.length));
    this.moved();
  }

  focus() {
    // Earlier turns can be marked too; what is judged comes first.
    const judged = this.texts.find((text) => text.box.closest(".target"));
    (this.cursor.text ?? judged ?? this.texts[0])?.box.focus();
  }
}
