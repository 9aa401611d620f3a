/**
 * A text in pieces that are selected as wholes, and the marks on it. Offsets count code points, as everywhere in the
 * data; a JavaScript string counts otherwise, so texts are taken apart into code points first.
 * @typedef {import("../types.js").Mark} Mark
 * @typedef {import("../types.js").Segment} Segment
 */
import { breakable, el, newId } from "../dom.js";
import { formatted } from "../formatted_text.js";

export class TokenText {
  /**
   * @param {Segment} segment
   * @param {[number, number][]} tokens
   * @param {HTMLElement} host the element that shows the segment
   * @param {string} label what it is, for those who hear it
   */
  constructor(segment, tokens, host, label) {
    this.segment = segment;
    // What is not seen, since it only marks a text up, is chosen by nobody.
    const hidden = (segment.layout ?? []).filter(([, , name]) => name === "hidden");
    this.tokens = tokens.filter(([start, end]) => !hidden.some(([from, to]) => from <= start && end <= to));
    this.points = Array.from(segment.text);
    /** @type {{element: HTMLElement, start: number, end: number, token: number|null}[]} */
    this.pieces = [];
    this.box = segment.parts ? this.cells(host) : this.words(host);
    this.box.classList.add("tokens");
    for (const [name, value] of Object.entries({ role: "listbox", "aria-multiselectable": "true", "aria-label": label, tabindex: "0" })) {
      this.box.setAttribute(name, value);
    }
  }

  /** @param {HTMLElement} host */
  cells(host) {
    const box = el("div", { class: "cells" });
    this.tokens.forEach(([start, end], token) => {
      const element = this.option("cell", start, end);
      this.pieces.push({ element, start, end, token });
      box.append(element);
    });
    host.replaceChildren(box);
    return box;
  }

  /** @param {HTMLElement} host */
  words(host) {
    let at = 0;
    /** @type {[number, number, number|null][]} */
    const cuts = [];
    this.tokens.forEach(([start, end], token) => {
      cuts.push([at, start, null], [start, end, token]);
      at = end;
    });
    cuts.push([at, this.points.length, null]);
    let next = 0;
    const seen = new Set();
    // A token across an edge of the layout is drawn in pieces; the first that is seen is what is chosen.
    const draw = (/** @type {number} */ from, /** @type {number} */ to, /** @type {boolean} */ isHidden) => {
      const drawn = [];
      for (let place = next; place < cuts.length && cuts[place][0] < to; place++) {
        const [start, end, token] = [Math.max(from, cuts[place][0]), Math.min(to, cuts[place][1]), cuts[place][2]];
        if (cuts[place][1] <= to) next = place + 1;
        if (end <= start) continue;
        const element = token === null || isHidden ? el("span", { class: "gap", text: this.slice(start, end) }) : this.option("token", start, end);
        drawn.push(element);
        if (isHidden) continue;
        this.pieces.push({ element, start, end, token });
        if (token !== null && seen.has(token)) ["role", "aria-selected"].forEach((name) => element.removeAttribute(name));
        seen.add(token);
      }
      return drawn;
    };
    host.replaceChildren(formatted(this.segment, draw));
    return host;
  }

  /** @param {string} kind @param {number} start @param {number} end */
  option(kind, start, end) {
    return el("span", { class: kind, role: "option", id: newId(), "aria-selected": "false" }, el("span", { class: "word" }, ...breakable(this.slice(start, end))));
  }

  /** @param {number} start @param {number} end */
  slice(start, end) {
    return this.points.slice(start, end).join("");
  }

  /** Which token an element belongs to. @param {EventTarget|null} target @returns {number|null} */
  tokenAt(target) {
    const found = this.pieces.find((piece) => piece.element === target || (target instanceof Node && piece.element.contains(target)));
    return found?.token ?? null;
  }

  /** @param {number} token */
  element(token) {
    return /** @type {any} */ (this.pieces.find((piece) => piece.token === token)).element;
  }

  /** Show what is selected. @param {number|null} from @param {number|null} to @param {number|null} head */
  select(from, to, head) {
    for (const piece of this.pieces) {
      const inside = from !== null && to !== null && piece.start >= this.tokens[from][0] && piece.end <= this.tokens[to][1];
      piece.element.classList.toggle("selected", inside);
      piece.element.classList.toggle("head", piece.token !== null && piece.token === head);
      if (piece.element.role) piece.element.setAttribute("aria-selected", String(inside));
    }
    if (head === null) this.box.removeAttribute("aria-activedescendant");
    else this.box.setAttribute("aria-activedescendant", this.element(head).id);
  }

  /** The tokens that a mark covers. @param {Mark} mark @returns {[number, number]|null} */
  rangeOf(mark) {
    const inside = this.tokens.map((_, place) => place).filter((place) => this.tokens[place][0] < mark.end && mark.start < this.tokens[place][1]);
    return inside.length ? [inside[0], /** @type {number} */ (inside.at(-1))] : null;
  }

  /**
   * Draw marks, overlapping ones in lanes under each other, each with its name.
   * @param {Mark[]} marks those of this segment
   * @param {(mark: Mark) => {place: number, name: string}} styleOf which colour and pattern, and what it is called
   * @param {Mark|null} picked
   */
  draw(marks, styleOf, picked) {
    const lanes = inLanes(marks, (mark) => styleOf(mark).name.length);
    this.box.dataset.lanes = String(Math.min(4, Math.max(1, ...lanes.values(), 0) + (lanes.size ? 1 : 0)));
    const tagged = new Set();
    for (const { element, start, end } of this.pieces) {
      const here = marks.filter((mark) => mark.start < end && start < mark.end);
      element.querySelectorAll(".tag").forEach((tag) => tag.remove());
      element.classList.toggle("marked", here.length > 0);
      element.style.backgroundImage = here.map((mark) => `var(--stroke-${styleOf(mark).place % 5})`).join(", ");
      element.style.backgroundSize = here.map((mark) => `var(--stroke-size-${styleOf(mark).place % 5})`).join(", ");
      element.style.backgroundPosition = here.map((mark) => `0 calc(var(--lane-top) + ${lanes.get(mark)} * var(--lane))`).join(", ");
      for (const mark of here) {
        const isFirst = !tagged.has(mark) || this.segment.parts;
        tagged.add(mark);
        if (isFirst) element.append(this.tag(mark, styleOf(mark), lanes.get(mark) ?? 0, mark === picked));
      }
    }
  }

  /** @param {import("../types.js").Mark} mark @param {{place: number, name: string}} style @param {number} lane @param {boolean} isPicked */
  tag(mark, { place, name }, lane, isPicked) {
    const tag = el("span", { class: `tag tag-${place % 5}${isPicked ? " picked" : ""}`, text: name });
    tag.style.setProperty("--at", String(lane));
    return Object.assign(tag, { mark });
  }
}

/**
 * Which lane each mark is drawn in: the first in which nothing else is in its way. Its name needs room too.
 * @param {Mark[]} marks
 * @param {(mark: Mark) => number} length of its name
 * @returns {Map<Mark, number>}
 */
export function inLanes(marks, length) {
  const lanes = new Map();
  /** @type {number[]} where each lane is free again */
  const free = [];
  for (const mark of [...marks].sort((a, b) => a.start - b.start || b.end - a.end)) {
    let lane = free.findIndex((end) => end <= mark.start);
    if (lane < 0) lane = free.length;
    free[lane] = Math.max(mark.end, mark.start + length(mark));
    lanes.set(mark, lane);
  }
  return lanes;
}
