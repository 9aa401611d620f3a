/** Long tables of people and events: a field that narrows them down, and heads by which they are sorted. */
import { el, newId } from "./dom.js";

/** Shorter tables are seen at a glance. */
const LONG = 8;

/** What a cell is sorted by: a moment, a choice, a number, or its words. @param {Element|undefined} cell */
function valueOf(cell) {
  const moment = cell?.querySelector("time")?.getAttribute("datetime");
  const choice = cell?.querySelector("select")?.value;
  return (moment ?? choice ?? cell?.textContent ?? "").trim();
}

/** @param {HTMLTableElement} table @param {number} column @param {boolean} falls */
function sort(table, column, falls) {
  const order = new Intl.Collator(document.documentElement.lang, { numeric: true });
  const rows = [...table.tBodies[0].rows];
  rows.sort((one, other) => order.compare(valueOf(one.cells[column]), valueOf(other.cells[column])) * (falls ? -1 : 1));
  table.tBodies[0].append(...rows);
  [...table.tHead?.rows[0].cells ?? []].forEach((head, place) => {
    if (place === column) head.setAttribute("aria-sort", falls ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
}

/** @param {HTMLTableElement} table */
function makeSortable(table) {
  [...table.tHead?.rows[0].cells ?? []].forEach((head, column) => {
    if (head.matches("[data-plain]")) return;
    const button = el("button", { type: "button", class: "sorts" }, ...head.childNodes);
    button.addEventListener("click", () => sort(table, column, head.getAttribute("aria-sort") === "ascending"));
    head.replaceChildren(button);
  });
}

/** @param {HTMLTableElement} table */
function makeSearchable(table) {
  const id = newId();
  const field = el("input", { type: "search", id, autocomplete: "off" });
  const count = el("output", { class: "quiet small", for: id });
  const look = () => {
    const wanted = /** @type {any} */ (field).value.trim().toLocaleLowerCase();
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) row.hidden = !(row.textContent ?? "").toLocaleLowerCase().includes(wanted);
    const found = rows.filter((row) => !row.hidden).length;
    count.textContent = wanted ? `${found} / ${rows.length}` : "";
  };
  field.addEventListener("input", look);
  const label = el("label", { for: id, class: "small", text: table.dataset.search ?? "" });
  (table.closest(".scroll") ?? table).before(el("div", { class: "table-search" }, label, field, count));
}

for (const table of /** @type {NodeListOf<HTMLTableElement>} */ (document.querySelectorAll("table[data-search]"))) {
  if (table.tBodies[0].rows.length < LONG) continue;
  makeSortable(table);
  makeSearchable(table);
}
