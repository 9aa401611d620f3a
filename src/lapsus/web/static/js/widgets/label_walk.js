/** The way through labels one by one, in the order of the guideline. */
import { el, kbd } from "../dom.js";
import { ruledOut } from "../rules.js";

/** What was done on the way to an answer, over a reload of the page. @param {import("../judging_page.js").Page} page @param {string} what @returns {string[]} */
export function remembered(page, what) {
  // Only where somebody judges is anything kept of the way.
  if (!page.unit.guideline) return [];
  return JSON.parse(sessionStorage.getItem(`${what}:${page.unit.campaign}:${page.unit.number}`) ?? "[]");
}

/** @param {import("../judging_page.js").Page} page @param {string} what @param {string[]} names */
export function remember(page, what, names) {
  if (page.unit.guideline) sessionStorage.setItem(`${what}:${page.unit.campaign}:${page.unit.number}`, JSON.stringify(names));
}

/** Label by label, for those who want to be led. */
export class Walk {
  /** @param {any} grid the grid to walk through */
  constructor(grid) {
    this.grid = grid;
    this.at = -1;
    /** @type {string[]} the labels that were asked, in that order; kept while the page is open */
    this.done = remembered(grid.page, "walk");
    const { words } = grid.page;
    const count = grid.labels.length;
    this.start = el("button", { type: "button", class: "plain", "aria-pressed": "false" }, words.say("walk-through.start", { count }), " ", kbd("w"));
    this.start.addEventListener("click", () => this.toggle());
    this.asked = el("span", { class: "walk-asked", role: "status" });
    this.yes = this.answer("y", words.say("walk-through.yes"), true);
    this.no = this.answer("n", words.say("walk-through.no"), false);
    this.bar = el("span", { class: "walk-bar", hidden: true }, this.asked, this.yes, this.no);
    this.element = el("div", { class: "walk-through" }, this.start, this.bar);
  }

  /** @param {string} key @param {string} text @param {boolean} fits */
  answer(key, text, fits) {
    const button = el("button", { type: "button" }, text, " ", kbd(key));
    button.addEventListener("click", () => this.say(fits));
    return button;
  }

  bindings() {
    const { words } = this.grid.page;
    return [
      { keys: ["w"], label: words.say("walk-through.start", { count: this.grid.labels.length }), run: () => this.toggle() },
      { keys: ["y"], label: words.say("walk-through.yes-long"), run: () => this.say(true) },
      { keys: ["n"], label: words.say("walk-through.no-long"), run: () => this.say(false) },
    ];
  }

  toggle() {
    this.go(this.at < 0 || this.grid.page.unit.walk === "required" ? 0 : -1);
  }

  /** @param {boolean} fits */
  say(fits) {
    const label = this.grid.labels[this.at];
    if (!label) return;
    if (!this.done.includes(label.id)) this.done.push(label.id);
    remember(this.grid.page, "walk", this.done);
    if (fits !== this.grid.chosen.includes(label.id)) this.grid.toggle(label.id);
    this.go(this.at + 1);
  }

  /** The labels that were neither asked nor ruled out by what is chosen. @returns {import("../types.js").Label[]} */
  left() {
    const out = ruledOut(this.grid.judge, this.grid.chosen);
    return this.grid.labels.filter((/** @type {import("../types.js").Label} */ label) => !this.done.includes(label.id) && !out.has(label.id));
  }

  /** Go on where the walk was left off. */
  resume() {
    const next = this.left()[0];
    this.go(next ? this.grid.labels.indexOf(next) : this.grid.labels.length);
  }

  /** Go to a label, or on to the next that is not ruled out. @param {number} at -1: nowhere */
  go(at) {
    const { labels, judge, buttons, page, question } = this.grid;
    const out = ruledOut(judge, this.grid.chosen);
    while (at >= 0 && at < labels.length && out.has(labels[at].id)) at += 1;
    const label = labels[at];
    this.at = label || at < 0 ? at : labels.length;
    buttons.forEach((/** @type {HTMLElement} */ button) => button.classList.remove("here"));
    this.start.setAttribute("aria-pressed", String(at >= 0));
    this.bar.hidden = at < 0;
    this.yes.hidden = this.no.hidden = !label;
    this.asked.textContent = label ? page.words.say("walk-through.asks", { label: judge.name(label.id) }) : page.words.say("walk-through.end");
    if (!label) return;
    buttons.get(label.id).classList.add("here");
    page.guide.explain({ question, label });
  }
}
