/** Answers by number, for every question that has them: labels and levels. */
import { el } from "../dom.js";

const MOMENT = 800;

/** Numbers of one digit or two, typed on their keys. */
export class NumberKeys {
  /** @param {(number|undefined)[]} numbers @param {(number: number) => void} choose */
  constructor(numbers, choose) {
    this.numbers = numbers.filter((number) => number !== undefined).map(String);
    this.choose = choose;
    this.typed = "";
    /** What was typed so far, while a second digit may come. */
    this.element = el("kbd", { class: "typed", "aria-hidden": "true", hidden: true });
    /** @type {ReturnType<typeof setTimeout>|undefined} */
    this.timer = undefined;
  }

  /** @param {string} digit @returns {boolean} whether it can be part of a number */
  type(digit) {
    let typed = this.typed + digit;
    if (this.typed && !this.numbers.some((number) => number.startsWith(typed))) {
      this.commit();
      typed = digit;
    }
    const fitting = this.numbers.filter((number) => number.startsWith(typed));
    if (!fitting.length) return false;
    this.set(typed);
    if (fitting.length === 1 && fitting[0] === typed) this.commit();
    else this.timer = setTimeout(() => this.commit(), MOMENT);
    return true;
  }

  /** What was typed is all. */
  commit() {
    const { typed } = this;
    this.set("");
    if (this.numbers.includes(typed)) this.choose(Number(typed));
  }

  /** @param {string} typed */
  set(typed) {
    clearTimeout(this.timer);
    this.typed = typed;
    this.element.textContent = `${typed}…`;
    this.element.hidden = !typed;
  }
}
