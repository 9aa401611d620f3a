/** The steps that a guideline prescribes: one at a time, each with its own tools; all at once for those who know them. */
import { el, kbd, paragraphs } from "../dom.js";
import { remember, remembered } from "./label_walk.js";

/** Where it is kept that somebody wants all tools at once. */
const ALL = "all-tools";

export class Steps {
  /** @param {import("../judging_page.js").Page} page @param {() => void} changed called when other tools are offered */
  constructor(page, changed) {
    this.page = page;
    this.changed = changed;
    this.steps = page.scheme.steps ?? [];
    this.at = 0;
    /** Whether the plan wants them taken one after the other. */
    this.isRequired = page.unit.steps === "required";
    this.all = !this.isRequired && localStorage.getItem(ALL) === "yes";
    /** @type {string[]} */
    this.taken = remembered(page, "steps");
    this.buttons = this.steps.map((step, place) => {
      const button = el("button", { type: "button", class: "step", text: place + 1, "aria-label": page.words.of(step.title) });
      button.addEventListener("click", () => this.mayShow(place) && this.show(place));
      return button;
    });
    this.text = el("div", { class: "step-text" });
    this.element = el("div", { class: "scheme-steps" }, el("div", { class: "step-row" }, ...this.buttons, kbd("s"), this.allBox()), this.text);
    this.show(0);
  }

  /** The way out for those who know the steps, where the plan leaves it to them. */
  allBox() {
    if (this.isRequired) return null;
    const box = el("input", { type: "checkbox", id: "all-tools" });
    /** @type {any} */ (box).checked = this.all;
    box.addEventListener("change", () => {
      this.all = /** @type {any} */ (box).checked;
      localStorage.setItem(ALL, this.all ? "yes" : "");
      this.changed();
    });
    return el("label", { class: "all-tools small" }, box, " ", this.page.words.say("spans.all-tools"));
  }

  /** Whether a label's tool belongs to where one is. @param {string} label */
  offers(label) {
    const mine = this.steps[this.at].labels ?? [];
    return this.all || !mine.length || mine.includes(label);
  }

  /** Go to the step of a label, if one may. @param {string} label @returns {boolean} */
  reach(label) {
    if (this.offers(label)) return true;
    const place = this.steps.findIndex((step) => step.labels?.includes(label));
    if (place < 0) return true;
    if (!this.mayShow(place)) return false;
    this.show(place);
    return true;
  }

  /** Steps that must be taken are taken in order; back one may go at will. @param {number} place */
  mayShow(place) {
    return !this.isRequired || this.steps.slice(0, place).every((step) => this.taken.includes(step.id));
  }

  /** The steps that are still to be taken. */
  left() {
    return this.steps.filter((step) => !this.taken.includes(step.id));
  }

  next() {
    this.show((this.at + 1) % this.steps.length);
  }

  /** @param {number} place */
  show(place) {
    this.at = place;
    const step = this.steps[place];
    if (!this.taken.includes(step.id)) this.taken.push(step.id);
    remember(this.page, "steps", this.taken);
    this.buttons.forEach((button, one) => {
      button.setAttribute("aria-current", one === place ? "step" : "false");
      button.setAttribute("aria-disabled", String(!this.mayShow(one)));
    });
    this.text.replaceChildren(el("h3", { text: this.page.words.of(step.title) }), paragraphs(this.page.words.of(step.text) ?? ""));
    this.changed();
  }
}
