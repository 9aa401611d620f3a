/** Texts as users saw them: elements over ranges of the raw text, all of which is in them, as text. */
import { el } from "./dom.js";

/** @type {Record<string, "em"|"strong"|"del"|"code">} */
const ELEMENTS = { em: "em", strong: "strong", del: "del", code: "code" };
/** @type {Record<string, string>} */
const ROLES = { list: "list", item: "listitem", number: "listitem", table: "table", row: "row", cell: "cell", head: "columnheader" };

/**
 * @param {import("./types.js").Segment} segment
 * @param {(start: number, end: number, isHidden: boolean) => (Node|string)[]} [draw] makes the text itself; then it is looked at and not read as a list or a table
 * @returns {DocumentFragment}
 */
export function formatted(segment, draw) {
  const points = Array.from(segment.text);
  const text = draw ?? ((start, end) => [points.slice(start, end).join("")]);
  const whole = document.createDocumentFragment();
  /** @type {{node: Node & ParentNode, end: number, name?: string}[]} */
  const open = [{ node: whole, end: points.length }];
  let at = 0;
  const fill = (/** @type {number} */ to) => {
    if (to > at) open[open.length - 1].node.append(...text(at, to, open.some((one) => one.name === "hidden")));
    at = Math.max(at, to);
  };
  const close = (/** @type {number} */ until) => {
    while (open.length > 1 && open[open.length - 1].end <= until) {
      fill(open[open.length - 1].end);
      open.pop();
    }
  };
  for (const [start, end, name, more] of segment.layout ?? []) {
    close(start);
    fill(start);
    const node = element(name, more, draw !== undefined);
    open[open.length - 1].node.append(node);
    open.push({ node, end, name });
  }
  close(points.length);
  fill(points.length);
  return whole;
}

/** @param {string} name @param {string} more @param {boolean} isPlain @returns {HTMLElement} */
function element(name, more, isPlain) {
  if (isPlain) return el("span", { class: `md-${name}` });
  if (name === "link") return el("a", { class: "md-link", href: more, target: "_blank", rel: "noopener noreferrer nofollow" });
  return el(ELEMENTS[name] ?? "span", { class: `md-${name}`, role: ROLES[name] });
}
