/** Several labels: in the grid of the guideline where it has one. What a choice rules out is said at once. */
import { el, kbd } from "../dom.js";
import { Judge, ruledOut, seenOf } from "../rules.js";
import { isRequired, labelName, labelsOf, lettersOf, numbersOf } from "../scheme.js";
import { Walk } from "./label_walk.js";
import { NumberKeys } from "./number_keys.js";
import { frame, keyOn, roving } from "./question_frame.js";

/**
 * @param {import("../types.js").Question} question
 * @param {import("../judging_page.js").Page} page
 * @returns {import("../types.js").Widget}
 */
export function labelGridWidget(question, page) {
  return new Grid(question, page);
}

class Grid {
  /** @param {import("../types.js").Question} question @param {import("../judging_page.js").Page} page */
  constructor(question, page) {
    this.question = question;
    this.page = page;
    this.labels = labelsOf(page.scheme, question);
    this.judge = new Judge(page.scheme, question, seenOf(page.unit), page.words);
    /** @type {string[]} */
    this.chosen = [];
    /** @type {string|null} what was asked for although it is ruled out: asked for again, it takes the place */
    this.offered = null;
    const numbers = numbersOf(this.labels);
    /** @type {Map<string, HTMLElement>} */
    this.buttons = new Map(this.labels.map((label, place) => [label.id, this.button(label, numbers[place])]));
    const rules = Boolean(question.alone?.length || question.apart?.length || question.in_order);
    this.reason = el("p", { class: rules ? "reason" : "reason rare", role: "status" });
    // Whoever went elsewhere before the number was complete stays there.
    this.typed = new NumberKeys(numbers, (number) => this.toggle(this.labels[numbers.indexOf(number)].id, page.current === question.id));
    this.numbers = this.typed.numbers;
    const grid = el("div", { class: question.axes ? "grid" : "choices many" });
    const { element, name } = frame(question, page, grid, this.reason);
    this.element = element;
    grid.setAttribute("role", "group");
    grid.setAttribute("aria-labelledby", name);
    element.firstElementChild?.append(this.typed.element);
    if (question.axes) this.drawAxes(grid);
    else grid.append(...this.buttons.values());
    this.stop = roving(grid, [...this.buttons.values()]);
    this.walk = question.in_order ? new Walk(this) : null;
    if (this.walk) grid.before(this.walk.element);
    this.mustWalk = this.walk !== null && page.unit.walk === "required" && !page.isClosed;
    this.none = this.noneButton();
    if (this.none) grid.after(this.none);
    this.bindings = this.makeBindings();
  }

  /** The page is drawn: a walk that must be taken begins by itself. */
  begin() {
    if (this.mustWalk) this.walk?.resume();
  }

  procedure() {
    return { walk: this.walk?.done ?? [] };
  }

  /** What the plan still asks for. @returns {import("../types.js").Broken[]} */
  unfinished() {
    const left = this.mustWalk ? (this.walk?.left() ?? []) : [];
    if (!left.length) return [];
    const { words } = this.page;
    const labels = words.join(left.map((label) => String(label.number ?? label.id)));
    const message = words.rule("walk", { question: words.of(this.question.name) ?? "", labels });
    return [{ rule: "walk", question: this.question.id, message }];
  }

  /** @param {import("../types.js").Label} label @param {number|undefined} number */
  button(label, number) {
    const { words, guide } = this.page;
    const button = el(
      "button",
      { type: "button", class: "choice", role: "checkbox", "aria-checked": "false", data: { label: label.id } },
      keyOn(label, number),
      el("span", { class: "choice-name", text: words.of(label.name) }),
      el("span", { class: "visually-hidden why-not" }),
    );
    button.addEventListener("click", () => this.toggle(label.id));
    guide.on(button, { question: this.question, label });
    return button;
  }

  /** Rows and columns; each cell lists its labels. @param {HTMLElement} grid */
  drawAxes(grid) {
    const { words } = this.page;
    const { rows, columns } = /** @type {any} */ (this.question.axes);
    grid.style.setProperty("--columns", String(columns.values.length));
    grid.append(...columns.values.map((/** @type {any} */ column) => el("div", { class: "column-name", title: words.of(column.definition), text: words.of(column.name) })));
    for (const row of rows.values) {
      grid.append(el("div", { class: "row-name", title: words.of(row.definition), text: words.of(row.name) }));
      for (const column of columns.values) {
        const mine = this.labels.filter((label) => label.cell?.[0] === row.id && label.cell?.[1] === column.id);
        const name = `${words.of(row.name)}, ${words.of(column.name)}`;
        grid.append(el("div", { class: "cell", role: "group", "aria-label": name }, ...mine.map((label) => this.buttons.get(label.id))));
      }
    }
  }

  noneButton() {
    if (!isRequired(this.question) || (this.question.at_least ?? 0) > 0) return null;
    const none = el("button", { type: "button", class: "choice none", role: "checkbox", "aria-checked": "false" }, this.numbers.includes("0") ? null : kbd("0"), this.page.words.say("none-fits"));
    none.addEventListener("click", () => this.page.set(this.question.id, []));
    return none;
  }

  makeBindings() {
    const { words } = this.page;
    const bindings = this.labels.map((label) => ({
      keys: label.number === undefined ? lettersOf(label) : [],
      label: words.of(label.name) ?? "",
      run: () => this.toggle(label.id, true),
    }));
    if (this.none && !this.numbers.includes("0")) bindings.push({ keys: ["0"], label: words.say("none-fits"), run: () => this.none?.click() });
    if (this.walk) bindings.push(...this.walk.bindings());
    return bindings;
  }

  /** Choose or take back. @param {string} id @param {boolean} [byKey] */
  toggle(id, byKey = false) {
    if (byKey) this.buttons.get(id)?.focus();
    if (this.chosen.includes(id)) return this.keep(this.chosen.filter((one) => one !== id));
    const why = this.judge.together([...this.chosen, id])[0];
    if (why && this.offered !== id) {
      this.offered = id;
      this.reason.textContent = `${why.message} ${this.page.words.say("ruled.instead", { label: labelNumber(this, id) })}`;
      return undefined;
    }
    const fitting = why ? this.chosen.filter((other) => !this.judge.together([other, id]).length) : this.chosen;
    return this.keep([...fitting, id]);
  }

  /** @param {string[]} ids */
  keep(ids) {
    const ordered = this.labels.map((label) => label.id).filter((id) => ids.includes(id));
    this.page.set(this.question.id, ordered.length ? ordered : undefined);
  }

  /** @param {any} answer */
  show(answer) {
    this.chosen = Array.isArray(answer) ? answer : [];
    this.offered = null;
    const out = ruledOut(this.judge, this.chosen);
    for (const [id, button] of this.buttons) {
      const why = out.get(id);
      button.setAttribute("aria-checked", String(this.chosen.includes(id)));
      button.classList.toggle("ruled", Boolean(why));
      button.title = why?.message ?? "";
      /** @type {any} */ (button.querySelector(".why-not")).textContent = why ? `: ${this.page.words.say("ruled.out")} ${why.message}` : "";
    }
    this.none?.setAttribute("aria-checked", String(Array.isArray(answer) && !answer.length));
    this.reason.textContent = this.sayRuledOut([...out.keys()]);
  }

  /** What is ruled out, and why, in a few words. @param {string[]} out */
  sayRuledOut(out) {
    const { words } = this.page;
    if (!out.length) return "";
    const alone = this.question.alone ?? [];
    const name = (/** @type {string} */ id) => this.judge.name(id);
    const single = this.chosen.find((id) => alone.includes(id));
    if (single) return words.say("ruled.alone", { label: name(single) });
    const lines = [];
    const singles = out.filter((id) => alone.includes(id));
    if (singles.length) lines.push(words.say("ruled.others-alone", { labels: words.join(singles.map((id) => labelNumber(this, id))) }));
    for (const id of this.chosen) {
      const others = out.filter((other) => (this.question.apart ?? []).some((pair) => pair.includes(id) && pair.includes(other)));
      if (others.length) lines.push(words.say("ruled.apart", { label: name(id), others: words.join(others.map(name)) }));
    }
    return lines.join(" ");
  }

  /** @param {string} digit */
  digit(digit) {
    return this.typed.type(digit);
  }

  commit() {
    this.typed.commit();
  }

  focus() {
    const stop = [...this.buttons.values()].find((button) => button.tabIndex === 0);
    stop?.focus();
  }
}

/** @param {Grid} grid @param {string} id */
function labelNumber(grid, id) {
  const label = grid.labels.find((one) => one.id === id);
  return String(label?.number ?? labelName(grid.page.words, label, id));
}
