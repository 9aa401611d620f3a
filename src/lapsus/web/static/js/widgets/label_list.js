/** Labels from a long list: found by typing, kept as small chips. */
import { el, kbd, newId } from "../dom.js";
import { labelsOf, listOf } from "../scheme.js";
import { frame } from "./question_frame.js";

/**
 * @param {import("../types.js").Question} question
 * @param {import("../judging_page.js").Page} page
 * @returns {import("../types.js").Widget}
 */
export function labelListWidget(question, page) {
  return new List(question, page);
}

class List {
  /** @param {import("../types.js").Question} question @param {import("../judging_page.js").Page} page */
  constructor(question, page) {
    this.question = question;
    this.page = page;
    const { words } = page;
    this.labels = labelsOf(page.scheme, question);
    this.groups = listOf(page.scheme, question.labels_from)?.groups ?? [{ name: question.name, items: this.labels }];
    /** @type {string[]} */
    this.chosen = [];
    /** @type {HTMLElement[]} options that are shown */
    this.shown = [];
    this.at = -1;
    const id = newId();
    this.options = el("div", { class: "options", role: "listbox", id, hidden: true, "aria-multiselectable": question.kind === "labels" ? "true" : null });
    this.input = el("input", {
      type: "search", role: "combobox", "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list",
      autocomplete: "off", spellcheck: "false", placeholder: words.say("search"), disabled: page.isClosed,
    });
    this.chips = el("ul", { class: "chips" });
    const box = el("div", { class: "combo" }, this.input, kbd("/"), this.options);
    const { element, name, ask } = frame(question, page, this.chips, box);
    this.element = element;
    this.input.setAttribute("aria-labelledby", name);
    this.input.setAttribute("aria-describedby", ask);
    this.options.setAttribute("aria-labelledby", name);
    page.guide.on(this.input, { question });
    this.listen();
  }

  listen() {
    this.input.addEventListener("input", () => this.open());
    this.input.addEventListener("click", () => this.open());
    this.input.addEventListener("blur", () => this.close());
    this.input.addEventListener("keydown", (event) => this.key(event));
    // The list must not take the focus, or it would be gone before it is clicked.
    this.options.addEventListener("pointerdown", (event) => event.preventDefault());
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    const isOpen = !this.options.hidden;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!isOpen) this.open();
      else this.move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && isOpen && this.shown[this.at]) this.shown[this.at].click();
    else if (event.key === "Enter" && !isOpen) this.page.submit();
    else if (event.key === "Escape" && isOpen) this.close();
    else if (event.key === "Backspace" && !this.input.value && this.chosen.length) this.toggle(/** @type {string} */ (this.chosen.at(-1)));
    else return;
    event.preventDefault();
  }

  open() {
    const { words } = this.page;
    const wanted = this.input.value.trim().toLowerCase();
    this.shown = [];
    this.at = -1;
    const groups = this.groups.map((group) => {
      const items = group.items.filter((item) => this.matches(item, wanted)).map((item) => this.option(item));
      this.shown.push(...items);
      const name = newId();
      if (!items.length) return null;
      return el("div", { role: "group", "aria-labelledby": name }, el("div", { class: "options-name", id: name, text: words.of(group.name) }), ...items);
    });
    const nothing = el("p", { class: "quiet small", text: words.say("nothing-found") });
    this.options.replaceChildren(...groups.filter((group) => group !== null));
    if (!this.shown.length) this.options.append(nothing);
    this.options.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    if (wanted && this.shown.length) this.move(1);
  }

  /** By name and meaning in the reader's language, by name in the others. @param {import("../types.js").Label|import("../types.js").ListItem} item @param {string} wanted */
  matches(item, wanted) {
    const texts = [item.id, ...Object.values(item.name), this.page.words.of(item.definition)];
    return texts.some((text) => String(text).toLowerCase().includes(wanted));
  }

  /** @param {import("../types.js").Label|import("../types.js").ListItem} item */
  option(item) {
    const { words, guide } = this.page;
    const option = el(
      "div",
      { class: "option", role: "option", id: newId(), "aria-selected": String(this.chosen.includes(item.id)) },
      signOf(item),
      el("b", { text: words.of(item.name) }),
      el("span", { class: "quiet", text: ` ${words.of(item.definition)}` }),
    );
    option.addEventListener("click", () => this.toggle(item.id));
    guide.on(option, { question: this.question, label: /** @type {import("../types.js").Label} */ (item) });
    return option;
  }

  /** @param {number} by */
  move(by) {
    if (!this.shown.length) return;
    this.at = (this.at + by + this.shown.length) % this.shown.length;
    this.shown.forEach((option, place) => option.classList.toggle("now", place === this.at));
    this.shown[this.at].scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", this.shown[this.at].id);
  }

  close() {
    this.options.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  /** @param {string} id */
  toggle(id) {
    const has = this.chosen.includes(id);
    this.input.value = "";
    if (this.question.kind === "label") this.page.set(this.question.id, has ? undefined : id);
    else {
      const next = has ? this.chosen.filter((one) => one !== id) : [...this.chosen, id];
      this.page.set(this.question.id, next.length ? next : undefined);
    }
    this.close();
  }

  /** @param {any} answer */
  show(answer) {
    this.chosen = Array.isArray(answer) ? answer : answer === undefined ? [] : [answer];
    this.chips.replaceChildren(...this.chosen.map((id) => this.chip(id)));
    if (!this.options.hidden) this.open();
  }

  /** @param {string} id */
  chip(id) {
    const { words } = this.page;
    const label = this.labels.find((one) => one.id === id);
    const name = words.of(label?.name) ?? id;
    const take = el("button", { type: "button", class: "plain", "aria-label": words.say("take-away", { label: name }), text: "×", disabled: this.page.isClosed });
    take.addEventListener("click", () => {
      this.toggle(id);
      this.input.focus();
    });
    return el("li", { class: "chip" }, label ? signOf(label) : null, name, " ", take);
  }

  search() {
    this.input.focus();
    this.open();
    this.options.scrollIntoView({ block: "nearest" });
  }

  focus() {
    this.input.focus();
  }
}

/** The picture of an entry, where it has one. @param {import("../types.js").Label|import("../types.js").ListItem} item */
function signOf(item) {
  return "sign" in item && item.sign ? el("span", { class: "sign", "aria-hidden": "true", text: `${item.sign} ` }) : null;
}
